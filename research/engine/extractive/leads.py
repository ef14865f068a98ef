"""Leads without a model: what good passages name, the question didn't, and nobody looked up.

A question in several hops is answered through such a bridge. For an open-ended question a
lead is a recurring phrase ("hash-based signatures") and becomes a sub-question; for any
other it is a name, and what of the question its passage leaves open is searched with it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from research.engine import features
from research.engine.extractive.planning import query_of
from research.engine.ledger import SUPPORTS, Lead, Ledger
from research.engine.quotes import plain
from research.engine.records import Complexity, Quoted
from research.engine.text import STOP_WORDS, sentences, term_set, terms, tokens

MOST_LEADS = 12
LONGEST_NAME = 60
_BREAK = re.compile(r"[^\w\s'’-]+|\b\d+(?:[.,]\d+)*\b")


@dataclass
class _Candidate:
    """A lead in the making: its first wording and place, and how each source supports it."""

    text: str
    source: Quoted
    sentence: frozenset[str]
    by_key: dict[str, float] = field(default_factory=dict)

    @property
    def strength(self) -> float:
        """0-1; several independent sources strengthen a lead with falling weight."""
        ordered = sorted(self.by_key.values(), reverse=True)
        return round(min(1.0, sum(v * 0.6**rank for rank, v in enumerate(ordered)) / 1.5), 4)


def find_leads(ledger: Ledger) -> list[Lead]:
    """The leads of all evidence so far, strongest first."""
    open_ended = ledger.complexity is Complexity.COMPLEX
    found = _candidates(ledger, open_ended)
    if open_ended:
        found = _maximal([c for c in found if len(c.by_key) > 1])
    asked = query_of(ledger.question).split()
    leads = []
    for each in found:
        rest = [] if open_ended else [w for w in asked if not term_set(w) & each.sentence]
        query = " ".join([each.text, *rest])
        leads.append(Lead(each.text, query, each.source.url, each.strength))
    return sorted(leads, key=lambda lead: (-lead.strength, lead.text))[:MOST_LEADS]


def _candidates(ledger: Ledger, open_ended: bool) -> list[_Candidate]:
    known = term_set(ledger.question)
    found: dict[str, _Candidate] = {}
    for record in ledger.evidence:
        if record.relevance < SUPPORTS or record.aspect_id not in ledger.aspects:
            continue
        wanted = known | term_set(ledger.aspects[record.aspect_id].text)
        for source in record.sources:
            for text, sentence in _named(source, wanted, open_ended):
                label = " ".join(sorted(term_set(text)))
                each = found.setdefault(label, _Candidate(text, source, sentence))
                value = record.relevance / _told(ledger, source, text)
                key = source.independence_key
                each.by_key[key] = max(each.by_key.get(key, 0.0), value)
    return [c for label, c in found.items() if not set(label.split()) <= known]


def _named(
    source: Quoted, wanted: frozenset[str], open_ended: bool
) -> Iterator[tuple[str, frozenset[str]]]:
    """What the sentences of a quote name that speak of what is wanted."""
    for sentence in sentences(source.quote):
        held = term_set(sentence.text)
        if not held & wanted:
            continue
        named = phrases(sentence.text) if open_ended else features.names(sentence.text)
        for text in named:
            words = term_set(text)
            new = len(words - wanted)
            fresh = new * 2 >= len(words) and new > 0
            if fresh and len(text) < LONGEST_NAME and not features.dates(text):
                yield text, held


def _told(ledger: Ledger, source: Quoted, text: str) -> float:
    """What a page dwells on it explains itself; what it names in passing is a lead."""
    page = ledger.pages[source.url].text.casefold()
    return 1 + math.log(max(1, page.count(plain(text).casefold())))


def _maximal(found: list[_Candidate]) -> list[_Candidate]:
    """Without phrases that are part of another one nearly as strong."""
    bags = [frozenset(terms(c.text)) for c in found]
    return [
        candidate
        for i, candidate in enumerate(found)
        if not any(
            bags[i] < bags[j] and other.strength >= 0.7 * candidate.strength
            for j, other in enumerate(found)
        )
    ]


def phrases(text: str) -> list[str]:
    """All runs of two or three neighbouring content words: "hash-based signatures"."""
    found: list[str] = []
    for part in _BREAK.split(text):
        for run in _content_runs(tokens(part)):
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
