"""How far a whole question is answered, from the status of its sub-questions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from research.engine.assessment.answer_status import (
    AspectStatus,
    Tally,
    Trust,
    overall_status,
    status_from_state,
    tally,
)
from research.engine.records import AnswerStatus, AnswerSupport, AspectState

ANSWERED, ONE_SOURCE, CLOSE = AnswerStatus.ANSWERED, AnswerStatus.ONE_SOURCE, AnswerStatus.CLOSE


@pytest.mark.parametrize(
    ("marks", "found", "trust"),
    [
        ([ANSWERED, ONE_SOURCE, AnswerStatus.PASSAGES], True, Trust.ANSWERED),
        ([ANSWERED, CLOSE], True, Trust.PARTLY),
        ([ANSWERED, AnswerStatus.DISPUTED], True, Trust.DISPUTED),
        ([CLOSE, AnswerStatus.DISPUTED], True, Trust.PARTLY),
        ([CLOSE, AnswerStatus.NOT_FOUND], True, Trust.RELATED),
        ([AnswerStatus.OPEN, AnswerStatus.NOT_FOUND], True, Trust.NOT_ANSWERED),
        ([AnswerStatus.NOT_FOUND], False, Trust.NOTHING_FOUND),
        ([], False, Trust.NOTHING_FOUND),
    ],
)
def test_a_question_is_answered_as_far_as_its_sub_questions(
    marks: Sequence[AnswerStatus], found: bool, trust: Trust
) -> None:
    assert overall_status([AspectStatus(mark, 1) for mark in marks], found=found) is trust


def test_a_sub_question_with_open_points_counts_as_answered() -> None:
    found = [AspectStatus(ANSWERED, 2), AspectStatus(ONE_SOURCE, 1, 2), AspectStatus(CLOSE, 1, 1)]
    assert tally(found) == Tally(answered=2, total=3)
    assert overall_status(found[:2], found=True) is Trust.ANSWERED
    assert overall_status(found, found=True) is Trust.PARTLY


def test_passages_that_lack_what_is_asked_for_come_close_and_others_do_not() -> None:
    lacking = AnswerSupport(("s",), False, probability=0.2, passages=("E1",), lacks_kind=True)
    assert status_from_state(AspectState.OPEN, lacking, 1).mark is CLOSE
    other = AnswerSupport(("s",), False, probability=0.2, passages=("E1",))
    assert status_from_state(AspectState.OPEN, other, 1).mark is AnswerStatus.OPEN
