"""A plan from the question's wording: complexity, sub-questions and first queries."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.extractive.question import Asked, compared, read_question
from research.engine.records import Complexity, PlannedAspect
from research.engine.text import is_stop_word, is_unspaced, normalise, phrasal_verbs, tokens


@dataclass(frozen=True)
class WordedPlan:
    brief: str
    complexity: Complexity
    aspects: tuple[PlannedAspect, ...]


def plan(wording: str, question: str) -> WordedPlan:
    """The question is its own first sub-question; an "A or B" gets one for each side."""
    asked = read_question(question)
    aspects = [PlannedAspect(asked.text, query_of(wording))]
    sides = compared(asked)
    if sides:
        rest = _without(asked, sides)
        texts = (asked.text, f"{sides[1]}: {rest}")
        aspects = [
            PlannedAspect(text, f"{side} {rest}".strip())
            for text, side in zip(texts, sides, strict=True)
        ]
    return WordedPlan(asked.text, asked.complexity, tuple(aspects))


def query_of(text: str) -> str:
    """A question as a search engine wants it: its content words in their order, verbs with
    their particles; where words can't be told apart, as it is written."""
    if is_unspaced(text):
        return normalise(text).rstrip("?？。 ")
    parts = phrasal_verbs(text)
    words = [word for word in tokens(text) if word.lower() in parts or not is_stop_word(word)]
    return " ".join(dict.fromkeys(words)) or text


def _without(asked: Asked, sides: tuple[str, str]) -> str:
    dropped = {word.lower() for side in sides for word in tokens(side)} | {"or"}
    words = tokens(query_of(asked.text))
    return " ".join(word for word in words if word.lower() not in dropped)
