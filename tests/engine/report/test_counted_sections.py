"""Sub-questions that the last assessment left open, and the report answers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from research.engine.journal.forms import Form
from research.engine.records import AspectState, OpenPoint
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.ending import recount_answers
from research.engine.run import Run
from tests.engine.report.test_comparing import ledger_of
from tests.engine.report.test_origin import of_sites

ONE, TWO = Statement("It is 4.", ("E1",)), Statement("It was 3.", ("E2",))
DETAIL = OpenPoint("A1", "which bank keeps the deposits")
ASKED = OpenPoint("A1", "how much the fund holds")


@pytest.mark.parametrize(
    ("said", "left", "form", "state"),
    [
        ((ONE, TWO), (), Form.EDITED, AspectState.ANSWERED),
        ((ONE, ONE), (), Form.EDITED, AspectState.ONE_SOURCE),
        ((ONE, TWO), (DETAIL,), Form.EDITED, AspectState.ANSWERED),
        ((ONE, TWO), (ASKED,), Form.EDITED, AspectState.NOT_FOUND),
        ((ONE, TWO), None, Form.EDITED, AspectState.NOT_FOUND),
        ((ONE,), (), Form.EDITED, AspectState.NOT_FOUND),
        ((ONE, TWO), (), Form.COMPUTED, AspectState.NOT_FOUND),
    ],
)
def test_a_section_that_leaves_only_details_open_answers(
    said: tuple[Statement, ...], left: Any, form: Form, state: AspectState
) -> None:
    known = ledger_of(*of_sites(*["a.example"], *["b.example"] * 9))
    known.set_aspect("A1", state=AspectState.NOT_FOUND)
    ended = SimpleNamespace(termination_reason=None, termination_text=None)
    question = SimpleNamespace(seed=None)
    run = SimpleNamespace(ledger=known, state=ended, form=form, question=question)
    recount_answers(cast(Run, run), Draft((), (Section("A1", said),), open=left))
    assert known.aspects["A1"].state is state


@pytest.mark.parametrize(
    ("is_authored", "state"), [(True, AspectState.ANSWERED), (False, AspectState.NOT_FOUND)]
)
def test_an_author_who_concludes_on_what_is_asked_answers_it(
    is_authored: bool, state: AspectState
) -> None:
    known = ledger_of(*of_sites(*["a.example"], *["b.example"] * 9))
    known.set_aspect("A1", state=AspectState.NOT_FOUND)
    ended = SimpleNamespace(termination_reason=None, termination_text=None)
    question = SimpleNamespace(seed=None)
    run = SimpleNamespace(ledger=known, state=ended, form=Form.EDITED, question=question)
    said = (ONE, replace(TWO, concludes=True))
    draft = Draft((), (Section("A1", said),), open=(ASKED,), is_authored=is_authored)
    recount_answers(cast(Run, run), draft)
    assert known.aspects["A1"].state is state
