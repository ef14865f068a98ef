"""Match each clause of a claim with the closest part of its quote."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from research.engine.text.sentences import split_sentences
from research.engine.text.tokens import normalise_space, term_set

_SENTENCE = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\W_a-z])|\n\s*\n")
_ASIDE = re.compile(
    r",\s(?:which|who|whose|where)\b[^,;]*(?=,)|\([^()]*\)|\s[—–]\s[^—–]*\s(?=[—–]\s)"
)
_HALVES = re.compile(r";\s+|(?<!\d):\s+")
_CLAUSE = re.compile(
    r"(?:(?<!\s)\s+)?[;:]\s+|(?<!\s)\s+[—–]\s+"
    r"|(?:,|(?<!\s))\s+(?=(?:but|whereas|while|although|though|because|unless|yet)\b)"
    r"|,\s+(?=(?:and|or|not|nor|which|who|where|so)\b)"
    r"|(?<!\s)\s+"
    r"(?=and (?:can|may|might|could|is|are|was|were|has|have|had|does|did|will|not|never)\b)",
    re.IGNORECASE,
)
_TRUTH = term_set("true fact case")
"""What is negated in "it is not true that"."""


@dataclass(frozen=True)
class Pair:
    """A clause of a claim, and the part of the quote that shares most of its words."""

    clause: str
    part: str

    @property
    def overlap(self) -> float:
        """Return the share (0-1) of the clause's words that the part has."""
        return self.overlap_without(frozenset())

    def overlap_without(self, words: frozenset[str]) -> float:
        """Return that share without these terms and without figures, which are compared apart."""
        said = {term for term in term_set(self.clause) if not term[0].isdigit()} - words - _TRUTH
        return len(said & term_set(self.part)) / len(said) if said else 0.0


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a quote or claim."""
    return [sentence.text for sentence in split_sentences(normalise_space(text))]


def match_clauses(claim: str, quote: str) -> Iterator[Pair]:
    """Yield each clause of the claim with the closest part of the quote."""
    parts = parts_of(quote)
    for clause in clauses_of(claim):
        yield Pair(clause, closest_part(term_set(clause), parts) or quote)


def closest_part(words: frozenset[str], parts: Sequence[str]) -> str:
    """Return the part with the most of these words, the shortest of several; "" for none."""
    shared = {part: len(words & term_set(part)) for part in parts}
    best = max(parts, key=lambda part: (shared[part], -len(part)), default="")
    return best if shared.get(best) else ""


@lru_cache(maxsize=1024)
def parts_of(quote: str) -> tuple[str, ...]:
    """Return the quote's sentences, those without their asides, and their clauses."""
    found: list[str] = []
    for sentence in _SENTENCE.split(quote):
        plain = _ASIDE.sub("", sentence)
        found += [sentence, plain, *_ASIDE.findall(sentence), *_HALVES.split(sentence)]
        found += _CLAUSE.split(plain)
    return tuple(dict.fromkeys(filter(None, map(normalise_space, found))))


@lru_cache(maxsize=1024)
def clauses_of(claim: str) -> tuple[str, ...]:
    """Return the claim's clauses; a clause of function words only joins the previous one."""
    clauses: list[str] = []
    for sentence in _SENTENCE.split(claim):
        for clause in filter(None, _CLAUSE.split(sentence)):
            if clauses and not term_set(clause):
                clauses[-1] = f"{clauses[-1]}, {clause}"
            else:
                clauses.append(clause)
    return tuple(clauses)
