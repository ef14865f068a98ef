"""A plan from the question's wording: complexity, sub-questions and first queries."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.offline.questions.question import Asked, compared_sides, read_question
from research.engine.records import Complexity, PlannedAspect
from research.engine.text.language import ENGLISH, language_limits, language_of
from research.engine.text.tokens import (
    is_stop_word,
    is_unspaced,
    normalise_space,
    phrasal_verbs,
    split_tokens,
)


@dataclass(frozen=True)
class WordedPlan:
    brief: str
    complexity: Complexity
    aspects: tuple[PlannedAspect, ...]


def plan_offline(wording: str, question: str) -> WordedPlan:
    """Return the question is its own first sub-question; an "A or B" gets one for each side."""
    asked = read_question(question)
    aspects = [PlannedAspect(asked.text, query_of(wording))]
    sides = compared_sides(asked)
    if sides:
        rest = _drop_sides(asked, sides)
        texts = (asked.text, f"{sides[1]}: {rest}")
        aspects = [
            PlannedAspect(text, f"{side} {rest}".strip())
            for text, side in zip(texts, sides, strict=True)
        ]
    return WordedPlan(asked.text, asked.complexity, tuple(aspects))


def query_of(text: str) -> str:
    """Return a question as search words: its content words in order, verbs with their particles;
    the question as written if words can't be separated.
    """
    if is_unspaced(text):
        return normalise_space(text).rstrip("?？。 ")
    parts = phrasal_verbs(text)
    words = [word for word in split_tokens(text) if word.lower() in parts or not is_stop_word(word)]
    return " ".join(dict.fromkeys(words)) or text


def _drop_sides(asked: Asked, sides: tuple[str, str]) -> str:
    dropped = {word.lower() for side in sides for word in split_tokens(side)} | {"or"}
    words = split_tokens(query_of(asked.text))
    return " ".join(word for word in words if word.lower() not in dropped)


VERBATIM = "Passages are quoted word for word; nothing is rephrased."


@dataclass(frozen=True)
class Understood:
    """A question understood; `questions` are what the person should be asked first."""

    brief: str
    complexity: Complexity
    language: str
    aspects: tuple[PlannedAspect, ...]
    questions: tuple[str, ...] = ()
    scope: str = ""
    evidence_strategy: str = ""
    output_format: str = ""
    form: str = "full"
    reader: str = ""
    title: str = ""


def from_wording(
    question: str, clarifications: tuple[str, ...], comment: str, usual: str = ENGLISH
) -> Understood:
    """Return the plan by wording alone; `usual` is the language if the words identify none."""
    language = language_of(question, usual)
    plan = plan_offline(" ".join((question, *clarifications, comment)).strip(), question)
    return Understood(
        brief=plan.brief,
        complexity=plan.complexity,
        language=language,
        aspects=plan.aspects,
        scope="The question as it is worded.",
        evidence_strategy=f"{VERBATIM} {language_limits(language)}".strip(),
        output_format="Quoted passages under each sub-question, with their sources.",
    )
