import asyncio
from typing import Any

import pytest

from research.engine.budget.meter import REPORT_CALLS, BudgetSpentError, Meter, estimate_tokens
from research.engine.config import ResearchConfig
from research.engine.journal import Entry, Journal, MemoryStore
from research.engine.ports import ModelAnswer, ModelRequest, SearchRequest
from research.engine.records import StopReason
from tests.engine.scripted import SIMPLE, Oracle, Web, World, harbour, page

pytestmark = pytest.mark.virtual_time

ANSWER = ModelAnswer("{}", "m", 100, 50, cost_usd=0.01)


def asks(task: str = "read", prompt: str = "p" * 300) -> ModelRequest:
    return ModelRequest(task, "", prompt, {}, 1000)


class SlowStore(MemoryStore):
    """A store in which an entry takes a moment to become durable."""

    async def put(self, entry: Entry) -> None:
        await asyncio.sleep(0.001)
        await super().put(entry)


async def all_of(*calls: Any) -> list[Any]:
    return list(await asyncio.gather(*calls, return_exceptions=True))


def spent(results: list[Any]) -> int:
    return sum(isinstance(result, BudgetSpentError) for result in results)


# --- caps with many calls in flight ---------------------------------------------------------


@pytest.mark.parametrize("store", [MemoryStore, SlowStore])
async def test_searches_never_exceed_their_cap(store: type[MemoryStore]) -> None:
    web = Web([])
    meter = Meter(ResearchConfig(max_searches=7))
    journal = Journal(store(), World(web).tools(), meter)
    results = []
    for wave in range(3):
        results += await all_of(
            *(journal.search(f"{wave}/{n}", SearchRequest("x")) for n in range(20))
        )
        results += await all_of(*(late(journal, f"{wave}/late/{n}", n / 1000) for n in range(5)))
    assert len(web.searched) == meter.usage.searches == 7
    assert spent(results) == len(results) - 7


async def late(journal: Journal, place: str, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await journal.search(place, SearchRequest("x"))


async def test_a_call_counts_between_its_answer_and_its_record() -> None:
    """An answer that is being made durable is neither in flight nor counted yet."""
    web = Web([page(f"https://h{n}.example/", "A.") for n in range(6)])
    journal = Journal(SlowStore(), World(web).tools(), Meter(ResearchConfig(max_fetches=2)))

    async def after(number: int) -> None:
        await asyncio.sleep(number * 0.0004)
        await journal.fetch(f"https://h{number}.example/")

    results = await all_of(*map(after, range(6)))
    assert sum(web.fetched.values()) == 2
    assert spent(results) == 4


async def test_model_calls_never_exceed_their_cap() -> None:
    model = Oracle(SIMPLE)
    model.twists["assess"] = dict
    meter = Meter(ResearchConfig(max_llm_calls=8))
    journal = Journal(SlowStore(), World(Web([]), model).tools(), meter, backoff_seconds=0)
    request = ModelRequest(
        "assess", "", "# FINDINGS\n\n# ALREADY SEARCHED\n\n# SUB-QUESTIONS\n", {}, 10
    )
    results = await all_of(*(journal.model(f"m/{n}", 1, request) for n in range(20)))
    assert len(model.requests) == meter.llm_calls == 8 - REPORT_CALLS
    assert spent(results) == 20 - len(model.requests)


# --- what a reservation weighs --------------------------------------------------------------


def test_the_worst_case_is_reserved_and_settled_to_the_real_one() -> None:
    meter = Meter(ResearchConfig(max_tokens=4000, report_tokens=0))
    holds = [meter.reserve_model(asks()) for _ in range(3)]
    with pytest.raises(BudgetSpentError) as refused:
        meter.reserve_model(asks())
    assert refused.value.reason is StopReason.BUDGET_TOKENS
    for hold in holds:
        meter.release(hold)
        meter.paid_model("read", ANSWER)
    assert meter.tokens == 450
    meter.reserve_model(asks())


def test_the_report_s_share_is_held_back_from_all_other_tasks() -> None:
    meter = Meter(ResearchConfig(max_llm_calls=2, max_tokens=10**6))
    with pytest.raises(BudgetSpentError):
        meter.reserve_model(asks("assess"))
    meter.reserve_model(asks("draft"))
    meter.reserve_model(asks("repair"))
    with pytest.raises(BudgetSpentError):
        meter.reserve_model(asks("draft"))


def test_tokens_for_the_report_are_held_back() -> None:
    meter = Meter(ResearchConfig(max_tokens=2500, report_tokens=2000))
    with pytest.raises(BudgetSpentError) as refused:
        meter.reserve_model(asks("read"))
    assert refused.value.reason is StopReason.BUDGET_TOKENS
    meter.reserve_model(asks("draft"))


def test_the_prompt_s_share_of_the_worst_case_grows_with_it() -> None:
    assert estimate_tokens(asks(prompt="x" * 30_000)) >= 10_000


def test_a_failed_call_counts() -> None:
    meter = Meter(ResearchConfig())
    meter.failed_model("read")
    assert meter.llm_calls == 1
    assert meter.snapshot().llm_calls_by_task == {"read": 1}


@pytest.mark.requirement("A16")
def test_money_is_unknown_once_one_price_is() -> None:
    meter = Meter(ResearchConfig())
    meter.paid_model("read", ANSWER)
    assert meter.snapshot().cost_usd == pytest.approx(0.01)
    meter.paid_model("read", ModelAnswer("{}", "m", 1, 1))
    meter.paid_model("read", ANSWER)
    assert meter.snapshot().cost_usd is None


@pytest.mark.requirement("C12", "F7")
def test_the_money_of_the_report_is_held_back_from_all_other_tasks() -> None:
    """24,000 tokens, of which the answer's 6,000 are the dear ones."""
    prompt, answer = 1e-6, 4e-6
    call = estimate_tokens(asks()) * prompt + 1000 * answer
    share = 18_000 * prompt + 6_000 * answer
    for cap, fits in ((share + call + 1e-9, True), (share + call - 1e-9, False)):
        meter = Meter(ResearchConfig(max_cost_usd=cap))
        meter.rates = {"research": (prompt, answer)}
        if fits:
            meter.reserve_model(asks())
        else:
            with pytest.raises(BudgetSpentError):
                meter.reserve_model(asks())
            meter.reserve_model(asks("draft"))


# --- what ends a run ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "knobs, reason",
    [
        ({}, None),
        ({"max_seconds": 5}, StopReason.BUDGET_TIME),
        ({"max_llm_calls": 5}, StopReason.BUDGET_CALLS),
        ({"max_llm_calls": 6}, None),
        ({"max_tokens": 24_300}, StopReason.BUDGET_TOKENS),
        ({"max_tokens": 24_301}, None),
        ({"max_cost_usd": 0.02}, StopReason.BUDGET_COST),
        ({"max_cost_usd": 0.03}, None),
        ({"max_searches": 1}, StopReason.BUDGET_SEARCHES),
        ({"max_fetches": 1}, StopReason.BUDGET_FETCHES),
        ({"max_seconds": 5, "max_llm_calls": 1, "max_searches": 1}, StopReason.BUDGET_TIME),
        ({"max_llm_calls": 1, "max_tokens": 1, "max_fetches": 1}, StopReason.BUDGET_CALLS),
    ],
)
def test_the_first_spent_budget_is_named(knobs: dict[str, Any], reason: StopReason | None) -> None:
    meter = Meter(ResearchConfig(**knobs))
    meter.paid_model("intake", ANSWER)
    meter.paid_model("read", ANSWER)
    meter.usage.searches = meter.usage.fetches = 1
    assert meter.spent(5.0, has_model=True) is reason


async def test_a_run_without_a_model_is_not_ended_by_the_model_s_budgets() -> None:
    ran = await harbour().ask(SIMPLE.question, max_llm_calls=0, max_tokens=0)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert ran.usage.llm_calls == 0
