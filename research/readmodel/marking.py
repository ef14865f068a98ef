"""Read a sub-question's answer status (`engine/assessment/answer_status.py`) from its row."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from research.engine.assessment.answer_status import (
    AspectStatus,
    Trust,
    overall_status,
    status_from_state,
)
from research.engine.records import AnswerStatus, AnswerSupport, AspectState
from research.models import Aspect


def marked_row(row: Aspect, keys: Collection[str]) -> AspectStatus:
    """Return the answer status; `keys` are the independence keys behind the row's evidence."""
    told = row.standing
    standing = None
    if told:
        stored, probability = tuple(told["sources"]), told.get("probability")
        lacks_kind = told.get("lacks_kind", False)
        standing = AnswerSupport(
            stored, told["agree"], probability=probability, lacks_kind=lacks_kind
        )
    return status_from_state(AspectState(row.state), standing, len(keys))


def marks_of(rows: Iterable[Aspect]) -> list[AnswerStatus]:
    """Return the answer status of each sub-question that was not dropped."""
    return [marked_row(row, row.evidence_labels).mark for row in rows if not row.dropped]


def trust_of(rows: Iterable[Aspect]) -> Trust:
    """Return how far a question is answered, from the rows of its sub-questions."""
    asked = [row for row in rows if not row.dropped]
    return overall_status(marks_of(asked), found=any(row.evidence_labels for row in asked))
