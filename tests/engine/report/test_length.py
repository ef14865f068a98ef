"""Statements that are cut for length are counted, and the draft prompt states the limit."""

from __future__ import annotations

import pytest

from research.engine.report import report_format
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.parts.inline_quotes import unplaced_quotes
from research.engine.report.rendering.markdown import count_words
from research.engine.report.report import UNPLACED_COST
from research.engine.report.report_format import cost_by_words, shorten
from tests.engine.scripted import CHAIN, DESIGNED, OWNED, TRAINED, Answer, Oracle, Ran, harbour

SOLD = "Ruth Ansel owned the Calder foundry and sold its tools in 1912."


async def asked() -> tuple[Oracle, Ran]:
    """Return a run whose draft has a sentence that it can spare."""
    world = harbour(CHAIN)
    assert world.model is not None
    told = [f"A1: {DESIGNED} [E1]", f"A2: {TRAINED} [E2]", f"A3: {OWNED} [E3]", f"{SOLD} [E4]"]
    draft: Answer = {"statements": told, "short_answer": [], "spare": [4]}
    world.model.twists["draft"] = lambda _: draft
    ran = await world.ask(CHAIN.question, research_depth="standard")
    replayed = await world.replay(CHAIN.question, research_depth="standard")
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    return world.model, ran


async def too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let reports have 25 words less than this one has."""
    _, ran = await asked()
    assert SOLD in ran.report.markdown and ran.report.checks.shortened == 0
    assert "left out for length" not in ran.report.markdown
    most = count_words(ran.report.markdown) - 25
    monkeypatch.setitem(report_format.MOST_WORDS, "standard", most)


async def test_what_is_left_out_for_length_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    await too_long(monkeypatch)
    _, ran = await asked()
    assert SOLD not in ran.report.markdown and ran.report.checks.shortened == 1
    assert "1 sentence left out for length" in ran.report.markdown


def test_a_quotation_that_nobody_placed_is_cut_before_any_statement() -> None:
    spare = Statement("Ruth Ansel sold its tools.", ("E1",), spare=1)
    long = Statement("Ruth Ansel " + "long " * 30 + "owned it.", ("E1",))
    lead = Statement("Ruth Ansel owned it.", ("E1",))
    found = Statement("“It was owned.”", ("E1",), quoted=True, is_unplaced=True)
    draft = Draft((), (Section("A1", (lead, found, long, spare)),))
    gives_way = unplaced_quotes(draft)

    def cost(said: Statement) -> float:
        return cost_by_words(said) + UNPLACED_COST * (said in gives_way)

    def shortened(most: int) -> list[Statement]:
        return shorten(
            draft, lambda d: len(d.statements) <= most, lambda _: False, lambda _: {"A1"}, cost
        ).statements

    assert shortened(3) == [lead, long, spare]
    assert shortened(2) == [lead, long]


async def test_the_author_is_told_what_each_part_may_take_and_what_is_key() -> None:
    model, _ = await asked()
    draft = next(r for r in model.requests if r.task == "draft")
    assert "`spare`: numbers of a quarter of the statements" in draft.system
    assert "of statements alone; what exceeds it is cut" in draft.prompt
