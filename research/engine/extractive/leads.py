"""Leads without a model: what to search for next, and with which words.

A question in several hops is answered through a name that it doesn't say. Such a name stands
in a page that was read, and the more of the question stands with it, the better the lead; it
is searched together with the words of the question that don't stand there. The page that
answers may also name the one that was read rather than be named by it, so a page's own
title is a lead too, with what the page leaves open; and so is a name of the question that no
page holds. For an open-ended question, leads are recurring phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from research.engine import features
from research.engine.extractive.coverage import Scale, in_words, page_terms, plain_title
from research.engine.extractive.phrases import recurring
from research.engine.extractive.planning import query_of
from research.engine.ledger import Lead, Ledger
from research.engine.records import Complexity
from research.engine.similarity import jaccard
from research.engine.text import sentence_terms, sentences, term_set
from research.engine.tools import Page

MOST_LEADS = 12
LONGEST_NAME = 60
OPEN_WORDS = 5
SAME_NAME = 0.6
_NO_NAME = re.compile(
    r"(?:(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|(?:mon|tues|wednes|thurs"
    r"|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|\W|\d+(?:st|nd|rd|th|s)?|\w\.)\s*)+\w?",
    re.IGNORECASE,
)


def find_leads(ledger: Ledger) -> list[Lead]:
    """The leads of all that was read so far, strongest first, without what was looked up."""
    if ledger.complexity is Complexity.COMPLEX:
        found = recurring(ledger)
        return sorted(found, key=lambda lead: (-lead.strength, lead.text))[:MOST_LEADS]
    scale = Scale.of(ledger)
    found = [*_unknown(ledger, scale)]
    for page in ledger.pages.values():
        found += [*_subject(ledger, scale, page), *_named(ledger, scale, page)]
    return _fresh(ledger, sorted(found, key=lambda lead: -lead.strength))


def _unknown(ledger: Ledger, scale: Scale) -> Iterator[Lead]:
    """Names of the question that no page holds."""
    for name in features.names(ledger.question):
        words = term_set(name)
        told = any(in_words(name) in in_words(page.text) for page in ledger.pages.values())
        if is_name(name) and not told and words != frozenset(scale.weights):
            yield Lead(name, name, "", 1.0, words)


def _subject(ledger: Ledger, scale: Scale, page: Page) -> Iterator[Lead]:
    """What a page is about, with what it leaves open."""
    title, held = plain_title(page.title), page_terms(page) & scale.weights.keys()
    query = _query(ledger, scale, title, held)
    if query != title:
        yield Lead(title, query, page.url, scale.share(held), held)


def _named(ledger: Ledger, scale: Scale, page: Page) -> Iterator[Lead]:
    """Names in a page, worth half what their sentence covers, half what the page does."""
    asked, subject = frozenset(scale.weights), term_set(plain_title(page.title))
    title, whole = term_set(page.title) & asked, scale.share(page_terms(page) & asked)
    for names, terms in zip(_names(page.text), sentence_terms(page.text), strict=True):
        held = terms & asked | title
        strength = (scale.share(held) + whole) / 2
        for name in names:
            words = term_set(name)
            new = words - asked
            if new and 2 * len(new) >= len(words) and words != subject:
                query = _query(ledger, scale, name, held | words)
                yield Lead(name, query, page.url, strength, held)


@lru_cache(maxsize=256)
def _names(text: str) -> tuple[tuple[str, ...], ...]:
    """The names in each sentence of a page."""
    told = (features.names(sentence.text) for sentence in sentences(text))
    return tuple(tuple(filter(is_name, names)) for names in told)


def is_name(text: str) -> bool:
    """No number, date or abbreviation, nor a whole clause."""
    return 2 < len(text) < LONGEST_NAME and bool(term_set(text)) and not _NO_NAME.fullmatch(text)


def _query(ledger: Ledger, scale: Scale, name: str, held: frozenset[str]) -> str:
    """A name with the heaviest words of the question that don't stand with it."""
    words = query_of(ledger.question).split()
    left = [word for word in words if not term_set(word) & held]
    heaviest = sorted(left, key=lambda word: -scale.share(term_set(word)))[:OPEN_WORDS]
    return " ".join([name, *(word for word in left if word in heaviest)])


def _fresh(ledger: Ledger, leads: list[Lead]) -> list[Lead]:
    """The first of each name, without titles of pages that were read and names searched."""
    titles = {page.url: term_set(plain_title(page.title)) for page in ledger.pages.values()}
    taken = [*titles.values(), *(term_set(name) for name in ledger.followed)]
    fresh: list[Lead] = []
    for lead in leads:
        words = term_set(lead.text)
        is_subject = words == titles.get(lead.url)
        if not is_subject and any(_same(words, other) for other in taken):
            continue
        if lead.query not in ledger.queries:
            taken.append(words)
            fresh.append(lead)
        if len(fresh) == MOST_LEADS:
            break
    return fresh


def _same(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or jaccard(one, other) >= SAME_NAME
