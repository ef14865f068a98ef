from collections import Counter
from collections.abc import Mapping

from research.engine.records import GateResult, Problem, Status, StopReason, Unit
from tests.engine.scripted import (
    SIMPLE,
    Answer,
    Commands,
    Oracle,
    Web,
    World,
    harbour_pages,
    lines_of,
    page,
)
from tests.engine.test_report import check_markers

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


async def test_the_breadth_halves_but_never_below_two() -> None:
    """B2: 4, then 2 for each of 4, then 2 for each of 8."""
    ran = await tree_world(TreeOracle()).ask(
        SIMPLE.question, **FIXED, deep_research_depth=3, max_llm_calls=200, max_searches=100
    )
    assert [len(r.topics) for r in ran.rounds] == [4, 8, 16]


async def test_no_page_is_fetched_twice_in_the_whole_tree() -> None:
    """B4."""
    world = tree_world(TreeOracle())
    await world.ask(SIMPLE.question, **FIXED)
    assert max(world.web.fetched.values()) == 1


async def test_goals_and_follow_ups_come_down_to_the_children() -> None:
    """B3 and B4."""
    model = TreeOracle()
    await tree_world(model).ask(SIMPLE.question, **FIXED)
    children = [r.prompt for r in model.requests if r.task == "tree_queries"][1:]
    assert all("Previous goal: Find out about number" in prompt for prompt in children)
    assert all("Who designed it? Who kept it?" in prompt for prompt in children)
    assert all("first lit" in prompt for prompt in children)


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
