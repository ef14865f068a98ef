"""The report is begun beside the last assessment, and given up where something else is needed."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from research.engine.budget.meter import estimate_tokens
from research.engine.journal import JournalEndsError
from research.engine.ports import ModelAnswer, ModelRequest
from research.engine.records import Action, StopReason
from tests.engine.rounds.test_verification import KNOBS, QUESTION, tower
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    Answer,
    Commands,
    Oracle,
    Ran,
    Web,
    World,
    harbour,
    harbour_pages,
)

pytestmark = pytest.mark.virtual_time

GAP = {"text": "Who paid for it", "sub_question": "A1", "query": "who paid for Harrow Point",
       "critical": False}  # fmt: skip


class Doubting(Oracle):
    """Content only once its one gap was searched for."""

    def _assess(self, sections: Mapping[str, str]) -> Answer:
        answer = super()._assess(sections)
        if GAP["query"] in sections["ALREADY SEARCHED"]:
            return answer
        dimensions = dict.fromkeys(answer["dimensions"], 3)
        return {**answer, "ready": False, "gaps": [GAP], "dimensions": dimensions}


class Slow(Doubting):
    """Never answers the first draft that it is asked for."""

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task == "draft" and "draft" not in self.tasks:
            self.requests.append(request)
            await asyncio.Event().wait()
        return await super().complete(request)


class Beside(Oracle):
    """Answers an assessment only once a draft was asked for."""

    def __init__(self) -> None:
        super().__init__(SIMPLE)
        self.drafting = asyncio.Event()

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task == "draft":
            self.drafting.set()
        if request.task == "assess":
            await asyncio.wait_for(self.drafting.wait(), 5)
        return await super().complete(request)


def harbour_with(model: Oracle) -> World:
    return World(Web(harbour_pages()), model)


async def asked(world: World, question: str = SIMPLE.question, **more: Any) -> Ran:
    """A run whose replay asks for nothing and says the same."""
    ran = await world.ask(question, **more)
    knobs = {name: value for name, value in more.items() if name != "inbox"}
    replayed = await world.replay(question, **knobs)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])
    assert (replayed.journal.live, replayed.usage) == (0, ran.usage)
    return ran


def drafts(world: World) -> list[str]:
    """Where drafts are journaled, in order."""
    return [place for place, _ in world.store.entries if place.endswith("/draft")]


async def test_the_report_is_asked_for_while_the_last_assessment_is_made() -> None:
    model = Beside()
    world = harbour_with(model)
    ran = await asked(world)
    assert model.tasks.count("draft") == 1 and drafts(world) == ["round/1/draft"]
    assert "1 of 1 answered" in ran.report.markdown
    assert ran.usage.llm_calls == len(model.requests) == 4


async def test_a_draft_that_was_begun_is_given_up_where_research_goes_on() -> None:
    world = harbour_with(Doubting(SIMPLE))
    ran = await asked(world)
    assert world.model is not None
    assert len(ran.rounds) > 1
    assert drafts(world)[0] == "round/1/draft" and len(drafts(world)) == 2
    assert ran.usage.llm_calls_by_task["draft"] == world.model.tasks.count("draft") == 2
    assert ran.usage.llm_calls == len(world.model.requests)


async def test_one_still_under_way_is_broken_off_and_its_prompt_counted() -> None:
    model = Slow(SIMPLE)
    world = harbour_with(model)
    ran = await asyncio.wait_for(asked(world), 10)
    entry = world.store.entries["round/1/draft", 1]
    assert (entry.status, entry.answer["reason"]) == ("failed", "the answer was not needed")
    [given_up, _] = [r for r in model.requests if r.task == "draft"]
    answered = len(model.requests) - 1
    assert ran.usage.prompt_tokens == answered * model.tokens[0] + estimate_tokens(given_up)
    assert ran.usage.tokens_estimated
    assert ran.usage.llm_calls == len(model.requests)


async def test_a_replay_that_needs_what_was_given_up_ends_there() -> None:
    """With a lower threshold the first round would have been the last."""
    world = harbour_with(Slow(SIMPLE))
    ran = await world.ask(SIMPLE.question)
    assert len(ran.rounds) > 1
    replayed = await world.replay(SIMPLE.question, adaptive_quality_threshold=2.0)
    assert isinstance(replayed.ended, JournalEndsError) and replayed.ended.place == "round/1/draft"
    assert not replayed.usage.fallbacks


async def test_broken_off_anywhere_a_run_that_gave_up_a_draft_ends_the_same() -> None:
    """Nothing that was answered is asked again; each call is counted once."""
    whole = harbour_with(Doubting(SIMPLE))
    expected = await whole.ask(SIMPLE.question)
    entries = await whole.store.load()
    for kept in range(len(entries)):
        world = harbour_with(Doubting(SIMPLE))
        world.store.texts = dict(whole.store.texts)
        for entry in entries[:kept]:
            await world.store.put(entry)
        ran = await asked(world)
        assert (ran.report, ran.rounds) == (expected.report, expected.rounds)
        assert world.model is not None
        settled = sum(entry.kind == "model" for entry in entries[:kept])
        assert ran.usage.llm_calls == settled + len(world.model.requests)


async def test_a_draft_that_rests_on_something_else_is_written_anew() -> None:
    """Here the last assessment calls unanswered what the ledger calls answered."""
    both = replace(SIMPLE, parts=(*SIMPLE.parts, CHAIN.parts[0]))
    world = harbour(both)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {**answer, "unanswered": ["A1"], "ready": False}
    ran = await asked(world, adaptive_max_depth=1)
    assert drafts(world) == ["round/1/draft", "report/draft"]
    assert "(not found)" in world.model.requests[-1].prompt
    assert ran.usage.llm_calls_by_task["draft"] == 2


async def test_a_cancelled_run_counts_the_draft_that_was_begun() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    ran = await asked(world, inbox=Commands({"kind": "cancel"}))
    assert ran.state.termination_reason is StopReason.CANCELLED
    assert "draft" in world.model.tasks
    assert ran.usage.llm_calls == len(world.model.requests)


async def test_a_run_that_waits_for_a_person_has_no_call_under_way() -> None:
    world = harbour(SIMPLE)
    await world.ask(SIMPLE.question, inbox=Commands({"kind": "pause"}))
    assert world.store.entries["round/1/draft", 1].status == "done"
    await world.ask(SIMPLE.question, inbox=Commands({"kind": "resume"}))
    assert drafts(world) == ["round/1/draft"]


async def test_a_broken_draft_is_asked_for_again_at_its_place() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None
    first = iter(["{"])
    world.model.raw["draft"] = lambda text: next(first, text)
    ran = await asked(world)
    assert [key for key in world.store.entries if key[0].endswith("/draft")] == [
        ("round/1/draft", 1), ("round/1/draft", 2)
    ]  # fmt: skip
    assert ran.usage.retries == 1 and not ran.usage.fallbacks


async def test_a_lead_that_nobody_looked_up_is_waited_for() -> None:
    script = replace(SIMPLE, leads={"first lit": "Edda Marlow"})
    world = harbour(script)
    await asked(world)
    assert drafts(world) == ["report/draft"]


async def test_a_claim_that_is_left_to_verification_is_waited_for() -> None:
    """So that the round of verification comes first."""
    world = tower()
    ran = await asked(world, QUESTION.question, **KNOBS)
    assert len(ran.rounds) == 2 and ran.state.termination_reason is StopReason.QUALITY_MET
    assert drafts(world) == ["report/draft"]


async def test_a_gate_that_asks_for_more_is_waited_for() -> None:
    world = harbour(SIMPLE)
    await asked(world, min_evidence_records=4)
    assert "round/1/draft" not in drafts(world)


async def test_a_round_before_the_least_depth_is_not_the_last() -> None:
    world = harbour(SIMPLE)
    await asked(world, adaptive_min_depth=2)
    assert "round/1/draft" not in drafts(world)


async def test_no_draft_is_begun_on_a_budget_that_holds_only_one() -> None:
    for knobs in ({"max_llm_calls": 5}, {"max_tokens": 45_000}):
        world = harbour(SIMPLE)
        ran = await asked(world, **knobs)
        assert drafts(world) == ["report/draft"]
        assert "1 of 1 answered" in ran.report.markdown


async def test_the_worst_case_of_a_begun_draft_stays_reserved_until_it_is_used() -> None:
    """So that nothing else spends what it took, although it is not counted yet."""
    world = harbour(CHAIN)
    ran = await world.ask(SIMPLE.question)
    journal = ran.journal
    assert world.model is not None
    request = ModelRequest("draft", "", "# QUESTION\nx\n\n# EVIDENCE\n", {}, 4000)
    journal.tools = world.tools()
    before = journal.meter.tokens
    journal.begin_model("somewhere/draft", request)
    await asyncio.sleep(0.01)
    assert journal.meter.tokens == before and journal.meter._sum_held("tokens") > 4000
    await journal.model("somewhere/draft", 1, request)
    assert journal.meter._sum_held("tokens") == 0 and journal.meter.tokens > before


@pytest.mark.requirement("A12")
async def test_nothing_is_said_of_a_draft_that_may_be_given_up() -> None:
    """The page says that the report is being written only once it is."""
    world = harbour(SIMPLE)
    ran = await world.ask(SIMPLE.question)
    said = [record.text for record in ran.records if isinstance(record, Action)]
    assert said.index("Judging what was found") < said.index("Writing the report")


@pytest.mark.requirement("A16")
async def test_a_draft_in_vain_counts_for_the_stage_that_it_was_begun_in() -> None:
    world = World(Web(harbour_pages()), Doubting(SIMPLE))
    ran = await world.ask(SIMPLE.question)
    drafts = [request for request in world.model.requests if request.task == "draft"]  # type: ignore[union-attr]
    assert len(drafts) == 2, "one was begun in vain"
    stages = ran.usage.spent_by["stage"]
    assert stages["report"].calls == 1
    assert sum(each.calls for each in stages.values()) == ran.usage.llm_calls
    assert ran.usage.failures == {}
