"""The report in another shape (rule F12): what a model is told, and what code does by itself."""

from __future__ import annotations

from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.records import Complexity
from research.engine.report.draft import Draft
from research.engine.threads.seed import ReportFormat

SHORT_ANSWER_WORDS, WORDS_OF_A_PART, MOST_SUMMARY_WORDS = 80, 40, 500
LENGTHS = {"shorter": "at most 200", "longer": "1,500 to 2,500", "table": "at most 300"}
FORMS = {
    "shorter": "As short as it can be: the answer, and one statement for each sub-question.",
    "longer": "In depth: use all of the evidence, with its conditions, figures and examples.",
    "table": "A table, made later: one or two plain statements for each sub-question.",
    "reader": "For this reader, in words and with an emphasis that fit: {reader}",
}
ROOM = {"shorter": 1, "table": 2}
BY_CODE = frozenset({"full", *ROOM})
"""The shapes that code can give without a model."""


def summary_words(ledger: Ledger) -> int:
    """Return the most words of what opens the report: enough to answer each part of the
    question.
    """
    parts = len(ledger.aspects)
    if ledger.complexity is Complexity.SIMPLE or parts < 2:
        return SHORT_ANSWER_WORDS
    return min(MOST_SUMMARY_WORDS, max(SHORT_ANSWER_WORDS, WORDS_OF_A_PART * parts))


def wanted_length(shape: ReportFormat, usual: str) -> str:
    return LENGTHS.get(shape.form, usual)


def wanted_form(shape: ReportFormat, planned: str) -> str:
    """Return the plan's own form, and what the shape asks for beside it."""
    asked = FORMS.get(shape.form, "").format(reader=shape.reader)
    return "\n".join(filter(None, (planned, asked)))


def apply_format(draft: Draft, shape: ReportFormat) -> Draft:
    """Sections cut to the statements that the shape has room for, best first as drafted."""
    room = ROOM.get(shape.form)
    if room is None:
        return draft
    cut = (replace(each, statements=each.statements[:room]) for each in draft.sections)
    return replace(draft, sections=tuple(cut))
