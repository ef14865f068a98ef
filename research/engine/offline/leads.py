"""Leads without a model: names to search for next, and with which words.

A multi-hop question is answered through a name that it doesn't contain. Such a name occurs in a
page that was read; the more of the question occurs next to it, the better the lead. It is searched
together with the remaining words of the question. The page that answers may also name the page that
was read, so a page's title is a lead as well, with the words that the page leaves open; and so is a
name of the question that no page contains. For an open-ended question, leads are recurring phrases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from research.engine.evidence.ledger import Lead, Ledger
from research.engine.offline.passages.coverage import (
    QuestionScale,
    in_words,
    page_terms,
    plain_title,
    words_of_page,
)
from research.engine.offline.planning import query_of
from research.engine.offline.questions.phrases import recurring_phrases
from research.engine.ports import Page
from research.engine.records import Complexity
from research.engine.text import entities
from research.engine.text.sentences import sentence_terms, split_sentences
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set

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
    """Return the leads of all that was read so far, strongest first, without what was looked up."""
    if ledger.complexity is Complexity.COMPLEX:
        found = recurring_phrases(ledger)
        return sorted(found, key=lambda lead: (-lead.strength, lead.text))[:MOST_LEADS]
    scale = QuestionScale.of(ledger)
    named = [*_unknown_names(ledger, scale)]
    for page in ledger.pages.values():
        named += [_page_subject(scale, page), *_named_in_page(scale, page)]
    return _fresh_leads(ledger, scale, sorted(named, key=lambda each: -each.strength))


@dataclass(frozen=True)
class _Named:
    """A name, its position, and the question's terms that occur next to it."""

    text: str
    url: str
    strength: float
    held: frozenset[str]
    is_subject: bool = False


def _unknown_names(ledger: Ledger, scale: QuestionScale) -> Iterator[_Named]:
    """Return the names of the question that no page contains; each is looked up separately."""
    for name in entities.written_names(ledger.question):
        words, written = term_set(name), in_words(name)
        told = any(written in words_of_page(page.text) for page in ledger.pages.values())
        if is_name(name) and not told and words != frozenset(scale.weights):
            yield _Named(name, "", 1.0, frozenset(scale.weights))


def _page_subject(scale: QuestionScale, page: Page) -> _Named:
    """Return the subject of a page."""
    held = page_terms(page) & scale.weights.keys()
    return _Named(plain_title(page.title), page.url, scale.share(held), held, is_subject=True)


def _named_in_page(scale: QuestionScale, page: Page) -> Iterator[_Named]:
    """Names in a page, worth half what their sentence covers, half what the page does."""
    asked, subject = frozenset(scale.weights), term_set(plain_title(page.title))
    title, whole = term_set(page.title) & asked, scale.share(page_terms(page) & asked)
    for names, terms in zip(_names_by_sentence(page.text), sentence_terms(page.text), strict=True):
        held = terms & asked | title
        strength = (scale.share(held) + whole) / 2
        for name in names:
            words = term_set(name)
            new = words - asked
            if new and 2 * len(new) >= len(words) and words != subject:
                yield _Named(name, page.url, strength, held)


@lru_cache(maxsize=256)
def _names_by_sentence(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the names in each sentence of a page."""
    told = (entities.written_names(sentence.text) for sentence in split_sentences(text))
    return tuple(tuple(filter(is_name, names)) for names in told)


def is_name(text: str) -> bool:
    """No number, date or abbreviation, nor a whole clause."""
    return 2 < len(text) < LONGEST_NAME and bool(term_set(text)) and not _NO_NAME.fullmatch(text)


def _fresh_leads(ledger: Ledger, scale: QuestionScale, found: list[_Named]) -> list[Lead]:
    """Return the first of each name, without titles of pages that were read and names searched."""
    titles = [term_set(plain_title(page.title)) for page in ledger.pages.values()]
    taken = [*titles, *(term_set(name) for name in ledger.followed)]
    fresh: list[Lead] = []
    for each in found:
        words = term_set(each.text)
        if not each.is_subject and any(_is_same_name(words, other) for other in taken):
            continue
        query = _lead_query(ledger, scale, each)
        if query not in ledger.queries and not (each.is_subject and query == each.text):
            taken.append(words)
            fresh.append(Lead(each.text, query, each.url, each.strength, each.held))
        if len(fresh) == MOST_LEADS:
            break
    return fresh


def _lead_query(ledger: Ledger, scale: QuestionScale, named: _Named) -> str:
    """Return a name with the heaviest words of the question that don't occur next to it."""
    known = named.held | term_set(named.text)
    words = query_of(ledger.question).split()
    left = [word for word in words if not term_set(word) & known]
    heaviest = sorted(left, key=lambda word: -scale.share(term_set(word)))[:OPEN_WORDS]
    return " ".join([named.text, *(word for word in left if word in heaviest)])


def _is_same_name(one: frozenset[str], other: frozenset[str]) -> bool:
    return one == other or jaccard(one, other) >= SAME_NAME
