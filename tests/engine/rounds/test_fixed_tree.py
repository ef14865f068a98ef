import asyncio
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from research.engine.ports import ModelAnswer, ModelRequest, SearchAnswer, SearchRequest
from research.engine.records import Estimate, GateResult, Plan, Problem, Status, StopReason, Unit
from tests.engine.report.test_report import check_markers
from tests.engine.scripted import (
    SIMPLE,
    Answer,
    Commands,
    Oracle,
    Ran,
    Rate,
    Web,
    World,
    harbour_pages,
    lines_of,
    page,
)

pytestmark = pytest.mark.virtual_time

SUBJECTS = ("harbour", "tower", "lamp", "keeper", "coal", "cliff", "cape", "sea", "coast", "light")
FIXED = {"deep_research_mode": "fixed"}


class TreeOracle(Oracle):
    """Names as many queries as are wanted, all different, and learns every lighthouse fact."""

    def __init__(self, *, short: int = 0) -> None:
        super().__init__(SIMPLE)
        self.asked = 0
        self.short = short

    def _tree_queries(self, sections: Mapping[str, str]) -> Answer:
        wanted = int(sections["NUMBER OF QUERIES"]) - self.short
        first, self.asked = self.asked, self.asked + wanted
        names = [f"Harrow Point {subject}" for subject in SUBJECTS * 3]
        return {
            "queries": [
                {"query": f"{names[i]} lighthouse {i}", "goal": f"Find out about number {i}."}
                for i in range(first, first + wanted)
            ]
        }

    def _tree_extract(self, sections: Mapping[str, str]) -> Answer:
        facts = [(n, text) for n, _, text in lines_of(sections["PAGES"]) if "lighthouse" in text]
        return {
            "learnings": [{"text": text, "sentences": [int(n)]} for n, text in facts],
            "follow_ups": ["Who designed it?", "Who kept it?"],
        }


class Slow(TreeOracle):
    """Takes a second of virtual time for an answer; knows the most calls in flight."""

    answering = answering_at_once = 0

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.answering += 1
        self.answering_at_once = max(self.answering, self.answering_at_once)
        try:
            await asyncio.sleep(1)
            return await super().complete(request)
        finally:
            self.answering -= 1


class Narrow(Web):
    """Takes a second of virtual time for a search; knows the most in flight."""

    searching = searching_at_once = 0

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.searching += 1
        self.searching_at_once = max(self.searching, self.searching_at_once)
        try:
            await asyncio.sleep(1)
            return await super().search(request)
        finally:
            self.searching -= 1


def many_pages() -> list[object]:
    extra = [
        page(
            f"https://site{i}.example/{subject}",
            f"The {subject} of Harrow Point lighthouse number {i} is kept by the harbour office.",
            f"Harrow Point {subject} lighthouse {i}",
        )
        for i, subject in enumerate(SUBJECTS)
    ]
    return [*harbour_pages(), *extra]


def tree_world(model: Oracle | None) -> World:
    return World(Web(many_pages()), model)  # type: ignore[arg-type]


@pytest.mark.requirement("A13", "B1", "B2")
async def test_breadth_4_and_depth_2_make_5_generations_12_searches_12_extractions() -> None:
    """B1 and B2."""
    model = TreeOracle()
    world = tree_world(model)
    ran = await world.ask(SIMPLE.question, **FIXED)
    assert Counter(model.tasks) == {"tree_queries": 5, "tree_extract": 12, "draft": 1}
    assert ran.usage.searches == len(world.web.searched) == 12
    assert [len(r.topics) for r in ran.rounds] == [4, 8]
    assert ran.state.termination_reason is StopReason.TREE_COMPLETE
    assert ran.state.status is Status.COMPLETED
    check_markers(ran)


@pytest.mark.requirement("B2")
async def test_the_breadth_halves_but_never_below_two() -> None:
    """B2: 4, then 2 for each of 4, then 2 for each of 8."""
    ran = await tree_world(TreeOracle()).ask(
        SIMPLE.question, **FIXED, deep_research_depth=3, max_llm_calls=200, max_searches=100
    )
    assert [len(r.topics) for r in ran.rounds] == [4, 8, 16]


@pytest.mark.requirement("B4")
async def test_no_page_is_fetched_twice_in_the_whole_tree() -> None:
    """B4."""
    world = tree_world(TreeOracle())
    await world.ask(SIMPLE.question, **FIXED)
    assert max(world.web.fetched.values()) == 1


@pytest.mark.requirement("B1", "B3", "B4")
async def test_goals_and_follow_ups_come_down_to_the_children() -> None:
    """B3 and B4."""
    model = TreeOracle()
    await tree_world(model).ask(SIMPLE.question, **FIXED)
    children = [r.prompt for r in model.requests if r.task == "tree_queries"][1:]
    assert all("Previous goal: Find out about number" in prompt for prompt in children)
    assert all("Who designed it? Who kept it?" in prompt for prompt in children)
    assert all("first lit" in prompt for prompt in children)


@pytest.mark.requirement("B3", "B8")
async def test_what_is_learned_names_its_pages_and_is_kept_once_in_the_same_order() -> None:
    """B3 and B8: each query brings every fact again, and pages arrive in another order."""
    calm = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED)
    claims = [record.claim for record in calm.evidence]
    assert len(claims) == len(set(claims)) > 1
    assert all(source.url and source.quote for each in calm.evidence for source in each.sources)
    for seed in (1, 2, 3):
        web = Web(many_pages(), chance=Random(seed))  # type: ignore[arg-type]
        wild = await World(web, TreeOracle()).ask(SIMPLE.question, **FIXED)
        assert wild.final() == calm.final()


@pytest.mark.requirement("B5")
@pytest.mark.parametrize("most", [1, 2, 3])
async def test_no_more_queries_are_at_work_at_once_than_allowed(most: int) -> None:
    """B5, over every level."""
    web, model = Narrow(many_pages()), Slow()  # type: ignore[arg-type]
    await World(web, model).ask(SIMPLE.question, **FIXED, max_concurrent_research_units=most)
    assert web.searching_at_once == most
    assert model.answering_at_once == most


async def test_a_query_reads_its_four_best_pages() -> None:
    pages = [
        page(f"https://s{n}.example/", f"Harrow Point harbour lighthouse 0 {n}.") for n in range(7)
    ]
    ran = await World(Web(pages), TreeOracle()).ask(
        SIMPLE.question, **FIXED, deep_research_breadth=1, deep_research_depth=1
    )
    assert (ran.usage.searches, ran.usage.fetches) == (1, 4)


async def test_queries_that_the_model_leaves_short_are_filled_up() -> None:
    ran = await tree_world(TreeOracle(short=1)).ask(SIMPLE.question, **FIXED)
    assert ran.usage.searches == 12
    queries = [query for unit in ran.of(Unit) for query in unit.queries]
    assert len(set(queries)) == 12


async def test_gates_are_recorded_and_do_not_act() -> None:
    ran = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED)
    assert {(g.round, g.gate) for g in ran.of(GateResult)} >= {(1, "evidence"), (2, "evidence")}
    assert any(g.decision == "pass" for g in ran.of(GateResult) if g.round == 1)


async def test_a_budget_ends_the_tree_early_and_a_report_is_written() -> None:
    ran = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED, max_searches=4)
    assert ran.state.termination_reason is StopReason.BUDGET_SEARCHES
    assert ran.report.markdown


async def test_a_person_can_stop_the_tree() -> None:
    ran = await tree_world(TreeOracle()).ask(
        SIMPLE.question, inbox=Commands({"kind": "stop"}), **FIXED
    )
    assert ran.state.termination_reason is StopReason.USER_STOPPED
    assert len(ran.rounds) == 1


async def test_without_a_model_the_tree_has_the_same_size() -> None:
    ran = await tree_world(None).ask(SIMPLE.question, **FIXED)
    assert ran.usage.searches == 12
    assert ran.of(Problem) == []
    assert ran.state.termination_reason is StopReason.TREE_COMPLETE


# --- what it is foreseen to take --------------------------------------------------------------


def foreseen(ran: Ran) -> Estimate:
    estimate = ran.only(Plan).estimate
    assert estimate is not None
    return estimate


@pytest.mark.requirement("B1")
async def test_the_estimate_is_of_the_whole_tree_and_of_no_rounds() -> None:
    """5 generations, 12 extractions and a report, which may be repaired and verified; no intake."""
    ran = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED)
    assert ran.usage.llm_calls == 18
    assert foreseen(ran).llm_calls == (18, 20)


@pytest.mark.parametrize(
    "knobs",
    [
        {},
        {"deep_research_depth": 1},
        {"deep_research_depth": 3},
        {"deep_research_breadth": 1},
        {"deep_research_breadth": 7},
        {"max_searches": 4},
        {"max_searches": 7},
        {"max_searches": 12},
        {"max_llm_calls": 10},
        {"max_llm_calls": 2},
        {"adaptive_max_depth": 1, "topics_per_round": (1, 1, 1)},
    ],
    ids=str,
)
async def test_the_estimate_holds_what_the_tree_cost(knobs: dict[str, Any]) -> None:
    model = TreeOracle()
    model.rate, model.tokens = Rate(1e-6, 4e-6), (1500, 200)
    model.cost_usd = 1500e-6 + 200 * 4e-6
    ran = await tree_world(model).ask(SIMPLE.question, **FIXED, **knobs)
    estimate, usage = foreseen(ran), ran.usage
    assert estimate.llm_calls[0] <= usage.llm_calls <= estimate.llm_calls[1]
    assert estimate.llm_calls[1] - estimate.llm_calls[0] <= 2
    assert estimate.cost_usd is not None and usage.cost_usd is not None
    assert estimate.cost_usd[0] <= usage.cost_usd <= estimate.cost_usd[1]


async def test_queries_are_generated_one_after_the_other_and_take_their_time() -> None:
    wide = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED)
    flat = await tree_world(TreeOracle()).ask(SIMPLE.question, **FIXED, deep_research_depth=1)
    narrow = await tree_world(TreeOracle()).ask(
        SIMPLE.question, **FIXED, max_concurrent_research_units=1
    )
    seconds = [foreseen(ran).seconds for ran in (flat, wide, narrow)]
    assert seconds == sorted(seconds)
    calls_in_a_row = 5 + 1 + 2 + 1
    assert seconds[1][0] >= calls_in_a_row


async def test_without_a_model_the_tree_is_foreseen_to_cost_nothing() -> None:
    estimate = foreseen(await tree_world(None).ask(SIMPLE.question, **FIXED))
    assert (estimate.llm_calls, estimate.cost_usd) == ((0, 0), (0.0, 0.0))


async def test_a_cap_on_money_needs_the_prices_of_the_models_that_a_tree_asks() -> None:
    model = TreeOracle()
    model.unpriced = {"judge"}
    ran = await World(Web(many_pages()), model).ask(SIMPLE.question, max_cost_usd=1, **FIXED)
    assert ran.state.status is Status.COMPLETED
    assert {request.role for request in model.requests} == {"research", "reader"}
