"""A parsed question, and parsing by its wording alone."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.offline import planning
from research.engine.records import Complexity, PlannedAspect
from research.engine.text.language import ENGLISH, language_limits, language_of

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


def from_wording(
    question: str, clarifications: tuple[str, ...], comment: str, usual: str = ENGLISH
) -> Understood:
    """Return the plan by wording alone; `usual` is the language if the words identify none."""
    language = language_of(question, usual)
    plan = planning.plan_offline(" ".join((question, *clarifications, comment)).strip(), question)
    return Understood(
        brief=plan.brief,
        complexity=plan.complexity,
        language=language,
        aspects=plan.aspects,
        scope="The question as it is worded.",
        evidence_strategy=f"{VERBATIM} {language_limits(language)}".strip(),
        output_format="Quoted passages under each sub-question, with their sources.",
    )
