"""A question understood, and the understanding that its wording alone gives."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.extractive import planning
from research.engine.languages import ENGLISH, compared, language_of
from research.engine.records import Complexity, PlannedAspect

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


def from_wording(
    question: str, clarifications: tuple[str, ...], comment: str, usual: str = ENGLISH
) -> Understood:
    """The extractive plan: nothing is understood that the words don't say, but for the language
    of a question that tells none, which is the `usual` one.
    """
    language = language_of(question, usual)
    plan = planning.plan(" ".join((question, *clarifications, comment)).strip(), question)
    return Understood(
        brief=plan.brief,
        complexity=plan.complexity,
        language=language,
        aspects=plan.aspects,
        scope="The question as it is worded.",
        evidence_strategy=f"{VERBATIM} {compared(language)}".strip(),
        output_format="Quoted passages under each sub-question, with their sources.",
    )
