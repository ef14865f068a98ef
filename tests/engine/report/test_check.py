"""What the check refuses of a draft is repaired once, checked again, and quoted only then."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.journal.forms import Form
from research.engine.ports import ModelRequest
from research.engine.report.checking import check
from research.engine.report.draft import Draft, Fault, Section, Statement
from tests.engine.scripted import LIT, LIT_TOO, SIMPLE, Answer, Oracle, Ran, harbour

ORDINARY = replace(SIMPLE, complexity="ordinary")
REWORDED = "In 1887, on 14 March, Harrow Point lighthouse was lit first."
FALSE = "On 14 March 1887 the village opened the lighthouse of Harrow Point with a merry feast."
WORSE = "Fishermen pay for all the oil that Harrow Point burns, and it is in use for them alone."
WORST = "The oil at Harrow Point is burnt in secret by fishermen for their own use of March 1887."
OTHERS = [f"{LIT} [E1]", f"{LIT_TOO} [E2]"] * 5
"""Enough sound sentences that one more that fails is one of few."""


async def drafted(
    *statements: str, mended: str | None = REWORDED, **knobs: Any
) -> tuple[Oracle, Ran]:
    """Return a run whose draft says this, and whose second try at each faulty statement is
    `mended`, if that is not None.
    """
    world = harbour(ORDINARY)
    assert world.model is not None
    draft: Answer = {"statements": [*statements, *OTHERS], "short_answer": [f"{LIT} [E1]"]}
    world.model.twists["draft"] = lambda _: draft

    def repair(answer: Answer) -> Answer:
        tries = answer["statements"] if mended is not None else []
        return {"statements": [{**each, "text": mended} for each in tries]}

    world.model.twists["repair"] = repair
    ran = await world.ask(ORDINARY.question, **knobs)
    replayed = await world.replay(ORDINARY.question, **knobs)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    return world.model, ran


@pytest.fixture(autouse=True)
def three_are_worth_a_repair(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "WORTH_A_REPAIR", 3)


def asked(model: Oracle, task: str) -> list[ModelRequest]:
    return [request for request in model.requests if request.task == task]


async def test_what_the_verifier_refuses_is_written_anew_and_judged_again() -> None:
    model, ran = await drafted(f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]")
    [repair] = asked(model, "repair")
    assert f"[2] (A1) {FALSE} (cites E1): a checker found a word" in repair.prompt
    assert "# SUB-QUESTIONS\n[A1] " in repair.prompt
    assert "Start from the quotes" in repair.system
    last = asked(model, "verify")[-1].prompt
    assert REWORDED in last and FALSE not in last
    assert REWORDED in ran.report.markdown and "merry feast" not in ran.report.markdown
    checks = ran.report.checks
    assert (checks.repaired, checks.quoted_instead, checks.cut) == (1, 2, 0), "of E2 it isn't true"


async def test_a_second_try_that_fails_as_well_is_quoted() -> None:
    model, ran = await drafted(
        f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", mended=FALSE.replace("merry", "cheerful")
    )
    assert len(asked(model, "repair")) == 1
    assert "merry" not in ran.report.markdown and "cheerful" not in ran.report.markdown
    assert (ran.report.checks.repaired, ran.report.checks.quoted_instead) == (0, 3)


async def test_a_second_try_with_another_figure_is_refused_by_code() -> None:
    model, ran = await drafted(
        f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", mended=REWORDED.replace("1887", "1889")
    )
    assert "1889" not in ran.report.markdown and ran.report.checks.repaired == 0
    assert not any("1889" in request.prompt for request in asked(model, "verify"))


async def test_a_sentence_that_its_evidence_says_nothing_of_is_left_out() -> None:
    _, ran = await drafted(f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", mended="")
    assert "merry feast" not in ran.report.markdown
    assert (ran.report.checks.repaired, ran.report.checks.quoted_instead) == (0, 0)


async def test_a_sentence_that_the_model_passes_over_is_quoted() -> None:
    _, ran = await drafted(f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", mended=None)
    assert ran.report.checks.quoted_instead == 3


async def test_a_sentence_is_repaired_for_the_place_where_it_stands() -> None:
    model, _ = await drafted(f"{LIT} [E1]", f"- {FALSE} [E1]", f"- {WORSE} [E2]", f"{WORST} [E2]")
    [repair] = asked(model, "repair")
    lines = repair.prompt.splitlines()
    at = next(n for n, line in enumerate(lines) if FALSE in line)
    assert lines[at].startswith(f"[3] (A1) - {FALSE}")
    assert lines[at + 1] == f"    after “{LIT}”, before [4]"
    assert "It keeps its place" in repair.system


async def test_a_sentence_that_stands_twice_is_repaired_once() -> None:
    model, ran = await drafted(f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", f"{FALSE} [E1]")
    [repair] = asked(model, "repair")
    assert repair.prompt.count(FALSE) == 1
    assert "merry feast" not in ran.report.markdown


async def test_one_or_two_sentences_are_quoted_without_another_call() -> None:
    model, ran = await drafted(f"{FALSE} [E1]", f"{LIT_TOO} [E2]")
    assert not asked(model, "repair") and ran.report.checks.quoted_instead == 1


async def test_a_quick_report_quotes_instead_of_asking_again() -> None:
    model, ran = await drafted(
        f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", research_depth="quick"
    )
    assert not asked(model, "repair") and ran.report.checks.quoted_instead == 3


async def test_a_second_try_may_begin_with_its_sub_question() -> None:
    _, ran = await drafted(
        f"{FALSE} [E1]", f"{WORSE} [E2]", f"{WORST} [E2]", mended=f"A1: {REWORDED}"
    )
    assert REWORDED in ran.report.markdown and "A1" not in ran.report.markdown


def test_a_faulty_verdict_is_left_out_behind_one_that_stands() -> None:
    told = [Statement(text, ("E1",), is_verdict=True) for text in (REWORDED, FALSE)]
    draft = Draft(tuple(told), (Section("A1", (Statement(LIT, ("E1",)),)),))
    run: Any = SimpleNamespace(form=Form.COMPUTED)
    faults = [Fault(2, told[1], "no")]
    assert check.needless_verdicts(run, draft, faults) == {told[1]}
    first = [Fault(1, told[0], "no")]
    assert check.needless_verdicts(run, draft, first) == set()
    assert check.needless_verdicts(run, draft, [*first, *faults]) == set()
    run.form = Form.REPAIRED
    assert check.needless_verdicts(run, draft, faults) == set()
