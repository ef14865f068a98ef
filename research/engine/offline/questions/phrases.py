"""Leads of an open-ended question: recurring phrases ("hash-based signatures").

What passages of several sources name and the question doesn't becomes a sub-question.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from research.engine.evidence.ledger import SUPPORTS, Lead, Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.records import QuoteSource
from research.engine.text import entities
from research.engine.text.sentences import split_sentences
from research.engine.text.tokens import STOP_WORDS, split_terms, split_tokens, term_set

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
