"""How well a passage answers a sub-question: weighted word overlap and the kind of answer."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from research.engine import features
from research.engine.extractive.passages import Passage
from research.engine.extractive.question import Asked, Kind
from research.engine.text import stem, term_set, terms


class Weights:
    """How much each term of a question tells, by its rarity among the pages' sentences."""

    def __init__(self, texts: Iterable[frozenset[str]]) -> None:
        self._count = 0
        self._holders: Counter[str] = Counter()
        for words in texts:
            self._count += 1
            self._holders.update(words)

    def of(self, term: str) -> float:
        """Inverse document frequency, smoothed; a term that nobody holds weighs most."""
        return math.log(1 + (self._count + 1) / (self._holders[term] + 0.5))


@dataclass(frozen=True)
class Need:
    """What a sub-question asks for: its terms and the kind of thing that answers it."""

    text: str
    terms: tuple[str, ...]
    kind: Kind
    known: frozenset[str] = frozenset()

    @classmethod
    def of(cls, asked: Asked) -> Need:
        return cls(asked.text, asked.terms, asked.kind, frozenset(asked.terms))


IN_SUBJECT = 0.6
NEAR = 0.3
ANSWER_TYPE = 0.12
OPENS_SECTION = 0.15
LATE_IN_PAGE = 0.1
LATER_PAGES = 0.8
SHORT_QUESTION = 3


def score(passage: Passage, need: Need, weights: Weights, rank: int) -> float:
    """0-1: the weighted share of the question's terms that the passage holds.

    A term in its heading or the page's title counts `IN_SUBJECT`, one in the neighbouring
    sentences `NEAR`; a passage that holds what the kind of question asks for gains up to
    `ANSWER_TYPE`, one that opens a section `OPENS_SECTION`, and a late one loses up to
    `LATE_IN_PAGE`. Pages count down to `LATER_PAGES` by their place (`rank` from 0) in the
    choice of the round.
    """
    total = sum(weights.of(term) for term in need.terms)
    if not total or not (passage.terms | passage.subject) & need.known:
        return 0.0
    share = sum(weights.of(term) * _place(passage, term) for term in need.terms) / total
    bonus = ANSWER_TYPE if has_answer_type(passage, need) else 0.0
    value = share * (1 - ANSWER_TYPE) + bonus * min(1.0, share * 1.5)
    return min(1.0, value * _standing(passage)) * (LATER_PAGES + (1 - LATER_PAGES) * 0.5**rank)


def _standing(passage: Passage) -> float:
    """Pages say what matters at the head of a section, and early."""
    opens = 1 + OPENS_SECTION if passage.opens_section else 1.0
    return opens * (1 - LATE_IN_PAGE * passage.start / len(passage.page.text))


def _place(passage: Passage, term: str) -> float:
    if term in passage.terms:
        return 1.0
    if term in passage.subject:
        return IN_SUBJECT
    return NEAR if term in passage.near else 0.0


def covers(held: frozenset[str], need: Need, weights: Weights) -> float:
    """The weighted share (0-1) of what is asked for that stands in `held`."""
    total = sum(weights.of(term) for term in need.terms)
    found = sum(weights.of(term) for term in need.terms if term in held)
    return found / total if total else 0.0


def has_answer_type(passage: Passage, need: Need) -> bool:
    text = passage.text
    if need.kind == "when":
        return bool(features.dates(text))
    if need.kind == "how_many":
        return bool(features.numbers(text))
    if need.kind in {"who", "where", "which"}:
        return any(not term_set(name) & need.known for name in features.names(text))
    if need.kind == "why":
        return bool(_CAUSE.search(text))
    if need.kind == "how":
        return bool(_MEANS.search(text))
    if need.kind == "how_to":
        return instructs(text)
    if need.kind == "what" and len(need.terms) <= SHORT_QUESTION:
        return _defines(text, need)
    return False


_CAUSE = re.compile(
    r"\b(?:because|since|so that|in order to|due to|therefore|reason|avoids?|prevents?|allows?"
    r"|otherwise|ensures?|to keep|to make sure|would)\b",
    re.IGNORECASE,
)
_MEANS = re.compile(
    r"\b(?:by|using|uses?|if|when|sets?|setting|calls?|with|via|is done|is defined|based on)\b",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"^(?:\w+ly\s)?(?:add|beat|bring|call|choose|combine|cook|cover|create|crack|cut|do|fold|heat"
    r"|install|keep|let|make|melt|mix|open|place|pour|put|remove|repeat|return|run|season|select"
    r"|serve|set|stir|take|turn|use|wait|warm|whisk|write)\b",
    re.IGNORECASE,
)


def instructs(text: str) -> bool:
    """Whether a sentence opens by telling what to do."""
    return bool(_INSTRUCTS.search(text))


_IS = re.compile(r"\b(?:is|are|was|were|means|refers to)\b")


def _defines(text: str, need: Need) -> bool:
    found = _IS.search(text)
    if not found:
        return False
    subject = {stem(word) for word in terms(text[: found.start()])}
    return bool(subject & set(need.terms))
