"""The ledger's claims are verified beside the draft; a run keeps the form in which it began."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.engine.scripted import SIMPLE, Answer, Ran, World, harbour

ORDINARY = replace(SIMPLE, complexity="ordinary")
REWORDED = "In 1887, on 14 March, Harrow Point lighthouse was lit first."
OTHER = "Indeed, in 1887, on 14 March, Harrow Point lighthouse was duly lit first."


async def ran_with(*statements: str, **knobs: Any) -> tuple[Ran, World]:
    """Return a run whose ledger has a reworded claim, and whose draft says `statements`."""
    world = harbour(ORDINARY)
    assert world.model is not None
    world.model.twists["repair"] = lambda _: {"statements": []}

    def reword(answer: Answer) -> Answer:
        findings = answer["findings"]
        return {**answer, "findings": [{**findings[0], "claim": REWORDED}, *findings[1:]]}

    world.model.twists["read"] = lambda answer: reword(answer) if answer["findings"] else answer
    draft: Answer = {"statements": list(statements), "short_answer": ["1"]}
    world.model.twists["draft"] = lambda _: draft
    ran = await world.ask(ORDINARY.question, **knobs)
    replayed = await world.replay(ORDINARY.question, **knobs)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    assert replayed.usage == ran.usage
    return ran, world


def verified_at(world: World) -> list[str]:
    return [
        place for place, _ in world.store.entries if place.endswith(("/verify", "/claims"))
    ]  # fmt: skip


async def test_a_statement_that_repeats_a_claim_needs_no_call_after_the_draft() -> None:
    ran, world = await ran_with("E1")
    assert verified_at(world) == ["report/claims"]
    assert REWORDED in ran.report.markdown and ran.report.checks.verifier == "believed"


async def test_a_sentence_of_the_drafts_own_is_asked_about_after_it() -> None:
    ran, world = await ran_with(f"{OTHER} [E1]")
    assert verified_at(world) == ["report/claims", "report/verify"]
    assert ran.report.checks.planted == 12, "both calls have canaries"
