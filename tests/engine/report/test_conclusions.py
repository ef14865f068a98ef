"""Sentences that rank, order or judge, which no quote says: marked, and shown if they follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from research.engine.journal.forms import Form
from research.engine.report.checking.next_steps import conclusion_faults, with_few_conclusions
from research.engine.report.draft import Draft, Section, Statement, cite_ids
from research.engine.verifier.pairs import CONCLUSION
from tests.engine import scripted
from tests.engine.report.test_comparing import ledger_of, record_of
from tests.engine.report.test_next_steps import asked, refusing
from tests.engine.scripted import CHAIN, Answer, is_carried

JUDGED = "=> Edda Marlow fits best, as she designed it and learned nearby. [E1, E2]"
SHOWN = "Edda Marlow fits best, as she designed it and learned nearby (conclusion)."


def concluding(answer: Answer) -> Answer:
    return {**answer, "verdict": [JUDGED]}


async def test_a_verdict_that_follows_is_shown_as_a_conclusion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def follows(statement: str, quotes: Sequence[str]) -> bool:
        return statement.startswith(CONCLUSION) or is_carried(statement, quotes)

    monkeypatch.setattr(scripted, "is_carried", follows)
    model, ran = await asked(draft=concluding)
    told = ran.report.markdown
    assert SHOWN in told.partition("## ")[0]
    follows_from = "What is marked “conclusion” follows from what it cites; no page says it.*"
    assert f" {follows_from}" in told.partition("## ")[0]
    assert '"=> "' in next(r.system for r in model.requests if r.task == "draft")
    prompts = [r for r in model.requests if r.task == "verify"]
    [shown] = [r for r in prompts if f"{CONCLUSION} Edda Marlow fits best" in r.prompt]
    assert f'"{CHAIN.question}" (question)' in shown.prompt
    assert "What begins with (conclusion)" in shown.system
    assert all("(conclusion)" not in r.system for r in prompts if r is not shown)


async def test_one_that_does_not_follow_is_left_out() -> None:
    _, ran = await asked(draft=concluding, verify=refusing)
    assert "fits best" not in ran.report.markdown
    assert "“conclusion”" not in ran.report.markdown


async def test_without_a_believed_verifier_there_is_none() -> None:
    _, ran = await asked(draft=concluding, verifier=None)
    assert "fits best" not in ran.report.markdown


LAMP = record_of("E1", "The lamp of Alto burns for 30 hours.", "a.example")
HORN = record_of("E2", "The horn of Corsair is loud.", "b.example")


@pytest.mark.parametrize(
    ("text", "concludes", "faults"),
    [
        ("=> Alto fits best, as its lamp burns for 30 hours. [E1, E2]", True, 0),
        ("- => Alto fits best, as its lamp burns long. [E1][E2]", True, 0),
        ("=> Alto fits best, as its lamp burns for 40 hours. [E1, E2]", True, 1),
        ("=> Alto fits best, unlike Bregenz. [E1, E2]", True, 1),
        ("=> Alto fits best of the two, for three reasons. [E1, E2]", True, 0),
        ("=> Alto fits best. [E1]", True, 0),
        ("Alto fits best. [E1, E2]", False, 0),
    ],
)
def test_a_conclusion_rests_on_findings_and_has_no_figure_or_name_of_its_own(
    text: str, concludes: bool, faults: int
) -> None:
    known = ledger_of(LAMP, HORN)
    said = cite_ids(text, known)
    assert (said.concludes, said.text.startswith("Alto")) == (concludes, True)
    draft = Draft((said,), (Section("A1", (said,)),))
    assert len(conclusion_faults(draft, known)) == 2 * faults
    known.began = Form.COMPUTED
    assert not cite_ids(text, known).concludes


def test_only_the_short_answer_and_one_sentence_of_a_section_conclude() -> None:
    def said(text: str, **named: Any) -> Statement:
        return Statement(text, ("E1", "E2"), concludes=True, **named)

    verdict, line, first, second = (said("V.", is_verdict=True), *map(said, ("L.", "F.", "S.")))
    plain = Statement("P.", ("E1",))
    draft = Draft((verdict, line), (Section("A1", (plain, first, second)),))
    assert with_few_conclusions(draft) == Draft(
        (verdict, line),
        (Section("A1", (plain, first, replace(second, concludes=False))),),
    )
