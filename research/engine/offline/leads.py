"""Leads without a model: names to search for next, and with which words.

A multi-hop question is answered through a name that it doesn't contain. Such a name occurs in a
page that was read; the more of the question occurs next to it, the better the lead. It is searched
together with the remaining words of the question. The page that answers may also name the page that
was read, so a page's title is a lead as well, with the words that the page leaves open; and so is a
name of the question that no page contains. For an open-ended question, leads are recurring phrases.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from research.engine.evidence.ledger import SUPPORTS, Lead, Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.offline.passages.coverage import (
    QuestionScale,
    in_words,
    page_terms,
    plain_title,
    words_of_page,
)
from research.engine.offline.planning import query_of
from research.engine.ports import Page
from research.engine.records import Complexity, QuoteSource
from research.engine.text import entities
from research.engine.text.sentences import sentence_terms, split_sentences
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import STOP_WORDS, split_terms, split_tokens, term_set

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
LONGEST = 60
_BREAK = re.compile(r"[^\w\s'’-]+|\b\d+(?:[.,]\d+)*\b")

_DETERMINES = re.compile(r"\b(?:an?|the|its|their|his|her|your|our)\s\W*$", re.IGNORECASE)
_PREPOSED = re.compile(
    r"\b(?:of|in|on|at|by|for|from|with|without|into|as|between|under|over|through|against"
    r"|about|every|no)\s\W*$",
    re.IGNORECASE,
)
_IS = re.compile(r"\s+(?:is|are|was|were|has|have|can|may|must|will|would|should)\b")
_ARTICLE = re.compile(r"\s+(?:an?|the|its|their)\b")
_NO_NOUN = re.compile(r"[a-z]{2}ed$|n['’]t\b|['’]s?$")
_GERUND = re.compile(r"^[a-z]+ing\b")


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


@dataclass
class _Candidate:
    """A lead in the making: its wording and place, and how each source supports it.

    They are those of the first sentence that writes it as it would a noun, if any (`is_thing`).
    """

    text: str
    source: QuoteSource
    by_key: dict[str, float] = field(default_factory=dict)
    is_thing: bool = False

    @property
    def strength(self) -> float:
        """0-1; several independent sources strengthen a lead with falling weight."""
        ordered = sorted(self.by_key.values(), reverse=True)
        return round(min(1.0, sum(v * 0.6**rank for rank, v in enumerate(ordered)) / 1.5), 4)


def recurring_phrases(ledger: Ledger) -> list[Lead]:
    """Return the phrases that supporting quotes of two or more sources share."""
    found = _keep_maximal(
        [c for c in _collect_candidates(ledger) if len(c.by_key) > 1 and c.is_thing]
    )
    return [Lead(each.text, each.text, each.source.url, each.strength) for each in found]


def _collect_candidates(ledger: Ledger) -> list[_Candidate]:
    known = term_set(ledger.question)
    found: dict[str, _Candidate] = {}
    for record in ledger.evidence:
        aspect = ledger.aspects.get(record.aspect_id or "")
        if aspect is None:
            continue
        wanted = known | term_set(aspect.text)
        for source in record.sources:
            for text, sentence in _named_phrases(source, wanted):
                label = " ".join(sorted(term_set(text)))
                each = found.setdefault(label, _Candidate(text, source))
                value = max(SUPPORTS, record.relevance) / _explained_share(ledger, source, text)
                key = source.independence_key
                each.by_key[key] = max(each.by_key.get(key, 0.0), value)
                if not each.is_thing and is_thing(text, sentence):
                    each.text, each.source, each.is_thing = text, source, True
    return [c for label, c in found.items() if not set(label.split()) <= known]


def _named_phrases(source: QuoteSource, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the new phrases of a quote's sentences that speak of what is wanted, each with its
    sentence.
    """
    for sentence in split_sentences(source.quote):
        if not term_set(sentence.text) & wanted:
            continue
        for text in find_phrases(sentence.text):
            words = term_set(text)
            new = len(words - wanted)
            fresh = new * 2 >= len(words) and new > 0
            if fresh and len(text) < LONGEST and not entities.find_dates(text):
                yield text, sentence.text


def _explained_share(ledger: Ledger, source: QuoteSource, text: str) -> float:
    """Return the share of a page about a phrase; one mentioned in passing is a lead."""
    page = ledger.pages[source.url].text.casefold()
    return 1 + math.log(max(1, page.count(plain_quote(text).casefold())))


def _keep_maximal(found: list[_Candidate]) -> list[_Candidate]:
    """Without phrases that are part of another one nearly as strong."""
    bags = [frozenset(split_terms(c.text)) for c in found]
    return [
        candidate
        for i, candidate in enumerate(found)
        if not any(
            bags[i] < bags[j] and other.strength >= 0.7 * candidate.strength
            for j, other in enumerate(found)
        )
    ]


def is_thing(phrase: str, sentence: str) -> bool:
    """Return whether a sentence uses a phrase as a noun rather than as a noun and a verb.

    It follows an article or a preposition ("of mercury floats", but not "without causing data") or
    opens the sentence before a form of "to be"; it doesn't precede an article ("the user presses
    the key").
    """
    written = r"\W+".join(map(re.escape, phrase.split()))
    match = re.search(rf"(?<!\w){written}(?!\w)", sentence)
    if match is None or _NO_NOUN.search(phrase):
        return False
    before, after = sentence[: match.start()], sentence[match.end() :]
    preposed = _PREPOSED.search(before) and not _GERUND.search(phrase)
    introduced = _DETERMINES.search(before) or preposed or (not before and _IS.match(after))
    return bool(introduced) and not _ARTICLE.match(after)


def find_phrases(text: str) -> list[str]:
    """All runs of two or three neighbouring content words: "hash-based signatures"."""
    found: list[str] = []
    for part in _BREAK.split(text):
        for run in _content_runs(split_tokens(part)):
            for size in (3, 2):
                found += [" ".join(run[i : i + size]) for i in range(len(run) - size + 1)]
            found += [word for word in run if "-" in word and word[0].isupper()]
    return found


def _content_runs(words: Iterable[str]) -> list[list[str]]:
    runs: dict[int, list[str]] = defaultdict(list)
    gap = 0
    for word in words:
        if word.lower() in STOP_WORDS or word.lower().endswith("ly"):
            gap += 1
        else:
            runs[gap].append(word)
    return list(runs.values())
