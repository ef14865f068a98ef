from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench.evaluation import pool
from bench.evaluation.cases import Case
from bench.evaluation.measuring import measure
from bench.evaluation.results import Job, Outcome
from bench.evaluation.scoring import Cost, GoldFound
from bench.evaluation.stopping_check import (
    Decided,
    Point,
    Stopped,
    decide_anew,
    forced,
    interpolate,
    verdict,
    versus_fixed,
)
from bench.evaluation.trace import Trace, run_once
from research.engine import MemoryStore, ResearchConfig, Tools
from research.fulltext.index import DocumentIndex
from research.runtime.program import SystemClock
from research.search.documents import DocumentFetch, DocumentSearch
from tests.bench.evaluation.planted import CHAIN
from tests.engine.rounds.test_verification import KNOBS, QUESTION, tower

pytestmark = pytest.mark.subprocess

CASE = Case.model_validate(CHAIN)
ONE_PAGE = {"max_pages_per_round": 1}


def gold(*fetched: int | None) -> list[GoldFound]:
    return [GoldFound("", None, None, number, None) for number in fetched]


def stop(at: int, found: list[GoldFound]) -> Stopped:
    there = tuple(each.fetched if each.fetched and each.fetched <= at else None for each in found)
    return Stopped(at, "no_gaps", True, there, Cost(), Cost(), None)


@pytest.mark.parametrize(
    ("fetched", "at", "said"),
    [
        ((1, 3), 1, "premature"),
        ((1, 3), 2, "premature"),
        ((1, 3), 3, "exact"),
        ((1, 3), 4, "late"),
        ((1, None), 1, "exact"),
        ((1, None), 2, "late"),
        ((None, None), 1, "exact"),
        ((None, 2), 1, "premature"),
    ],
)
def test_a_stop_is_judged_by_what_later_rounds_fetched(
    fetched: tuple[int | None, ...], at: int, said: str
) -> None:
    assert verdict(gold(*fetched), stop(at, gold(*fetched))) == said


def test_the_fixed_curve_is_read_between_its_depths() -> None:
    curve = [(1.0, 0.4), (2.0, 0.6), (2.0, 0.6), (4.0, 0.8)]
    assert [interpolate(curve, cost) for cost in (0.5, 1.5, 3.0, 9.0)] == pytest.approx(
        [0.4, 0.5, 0.7, 0.8]
    )


def test_a_rule_that_knows_when_to_stop_beats_every_fixed_depth() -> None:
    curves = [
        [Point(1, 1), Point(2, 1)] if easy else [Point(1, 0), Point(2, 1)]
        for easy in [True, False] * 20
    ]
    knowing = [curve[0] if curve[0].recall else curve[1] for curve in curves]
    result = versus_fixed(knowing, curves)
    assert (result.cost, result.recall, result.fixed_recall) == (1.5, 1.0, 0.75)
    assert 0 < result.low <= result.gain == 0.25 <= result.high
    assert versus_fixed(knowing, curves) == result


def test_a_rule_that_is_a_fixed_depth_gains_nothing() -> None:
    curves = [[Point(1, 0.5), Point(2, 1)]] * 10
    assert versus_fixed([Point(1, 0.5)] * 10, curves).gain == 0


# --- with the engine --------------------------------------------------------------------------


@pytest.fixture
async def library(tmp_path: Path) -> pool.Library:
    built = pool.build(CASE.pages, tmp_path)
    await pool.index(built)
    return built


@pytest.fixture
async def tools(library: pool.Library) -> AsyncIterator[Tools]:
    index = DocumentIndex(library.index_path)
    names = [pool.COLLECTION]
    yield Tools(DocumentSearch(index, names), DocumentFetch(index, names), SystemClock())
    index.close()


async def measured(library: pool.Library, tools: Tools, **knobs: object) -> Outcome:
    config = ResearchConfig.model_validate({**ONE_PAGE, **knobs})
    return await measure(CASE, Job(library, config), tools)


async def test_a_planted_premature_stop_is_caught(library: pool.Library, tools: Tools) -> None:
    outcome = await measured(library, tools, adaptive_max_depth=1)
    assert sorted(found.fetched or 0 for found in outcome.gold) == [1, 2]
    assert outcome.stopped.replayed
    assert (outcome.stopped.round, outcome.stopped.recall) == (1, 0.5)
    assert verdict(outcome.gold, outcome.stopped) == "premature"


async def test_a_planted_late_stop_is_caught(library: pool.Library, tools: Tools) -> None:
    easy = CASE.model_copy(update={"gold": CASE.gold[:1]})
    config = ResearchConfig.model_validate({**ONE_PAGE, "adaptive_min_depth": 2})
    outcome = await measure(easy, Job(library, config), tools)
    assert [found.fetched for found in outcome.gold] == [1]
    assert outcome.stopped.round == 2
    assert verdict(outcome.gold, outcome.stopped) == "late"


async def test_the_rounds_and_quotes_of_the_chain_are_told(
    library: pool.Library, tools: Tools
) -> None:
    outcome = await measured(library, tools)
    assert [len(done.pages) for done in outcome.rounds[:2]] == [1, 1]
    assert [done.cost.fetches for done in outcome.rounds[:2]] == [1, 2]
    assert outcome.quotes.checked == outcome.quotes.right > 0
    assert all(found.named == 1 and found.rank for found in outcome.gold)


async def test_what_the_journal_lacks_is_asked_live(tools: Tools) -> None:
    store, config = MemoryStore(), ResearchConfig.model_validate(ONE_PAGE)
    deep = await run_once(CASE.question, forced(config), tools, store, "extractive")
    args = (CASE.question, forced(config), tools, deep)
    whole = await decide_anew(*args, store, "extractive")
    assert whole.replayed and whole.shared == deep.last_round
    cut = MemoryStore()
    cut.texts = store.texts
    cut.entries = {
        key: entry for key, entry in store.entries.items() if not key[0].startswith("round/2/")
    }
    decided = await decide_anew(*args, cut, "extractive")
    assert (decided.shared, decided.replayed) == (1, False)
    assert decided.trace.ended_at is None and not decided.trace.divergences
    assert decided.trace.rounds.keys() == deep.rounds.keys()


async def test_a_stop_that_leads_to_verification_is_replayed() -> None:
    """The forced run has a round of research at the places of the verification round."""
    world, store = tower(), MemoryStore()
    config = ResearchConfig.model_validate(KNOBS)
    deep = await run_once(QUESTION.question, forced(config), world.tools(), store, world.analyst)
    decided = await decide_anew(
        QUESTION.question, config, world.tools(), deep, store, world.analyst
    )
    assert [made.stage for made in decided.trace.rounds.values()] == ["overview", "verification"]
    assert deep.rounds[2].stage == "deep_research"
    assert (decided.shared, decided.replayed) == (1, True)
    assert decided.trace.reason == "quality_met" and not decided.trace.divergences


def test_a_page_of_the_rule_s_own_rounds_counts_from_there() -> None:
    decided = Decided(Trace(), MemoryStore(), shared=2)
    found = [
        decided.fetched(*pair)
        for pair in zip(gold(1, 3, None, 4), gold(1, 2, 1, None), strict=True)
    ]
    assert found == [1, 3, 3, None]


async def test_where_knobs_change_the_search_the_rule_is_run_live(
    library: pool.Library, tools: Tools
) -> None:
    outcome = await measured(library, tools, deep_research_mode="fixed", deep_research_depth=1)
    assert not outcome.stopped.replayed
    assert outcome.stopped.round == 1
    assert outcome.stopped.reason == "tree_complete"
