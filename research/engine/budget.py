"""Hard budgets: the worst case is reserved before a call and settled after it.

A cap on calls, tokens, money, searches or fetches is never exceeded, however many units
are in flight; the report's share is held back from the start, and only the tasks that
write the report may draw on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from research.engine.config import ResearchConfig
from research.engine.records import Spent, StopReason, Usage
from research.engine.tools import ModelAnswer, ModelRequest

REPORT_TASKS = frozenset({"draft", "repair"})
REPORT_CALLS = 2
CHARACTERS_PER_TOKEN = 3


class BudgetSpent(Exception):
    """A call would go beyond a hard budget; `reason` is the limit's stop reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = StopReason(reason)


@dataclass(frozen=True)
class Hold:
    """What one call in flight may cost at worst."""

    calls: int = 0
    tokens: int = 0
    searches: int = 0
    fetches: int = 0


@dataclass
class MutableUsage:
    """The running sums behind `Usage`."""

    llm_calls_by_task: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    fallbacks: dict[str, dict[str, int]] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    cost_usd: float | None = 0.0
    spent_by: dict[str, dict[str, Spent]] = field(default_factory=dict)
    prompts_cut: int = 0
    searches: int = 0
    fetches: int = 0
    repeated_fetches: int = 0
    refused_quotes: int = 0


class Meter:
    """What a run has spent, what is in flight, and what its config allows.

    `fetched` are the pages that were fetched, `usage.fetches` those of them that a round has
    taken: a page that comes late counts for the cap at once, for decisions in its place.
    `stage` is where the run stands, for the sums.
    """

    def __init__(self, config: ResearchConfig) -> None:
        self.config = config
        self.usage = MutableUsage()
        self.seconds = 0.0
        self.fetched = 0
        self.stage = "intake"
        self._held: list[Hold] = []

    @property
    def llm_calls(self) -> int:
        return sum(self.usage.llm_calls_by_task.values())

    @property
    def tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens

    def reserve_model(self, request: ModelRequest) -> Hold:
        """Raises `BudgetSpent` where the worst case does not fit."""
        hold = Hold(calls=1, tokens=estimate_tokens(request) + request.max_output_tokens)
        kept = 0 if request.task in REPORT_TASKS else REPORT_CALLS
        if self.llm_calls + self._sum("calls") + hold.calls + kept > self.config.max_llm_calls:
            raise BudgetSpent("budget_calls")
        kept_tokens = 0 if request.task in REPORT_TASKS else self.config.report_tokens
        tokens = self.tokens + self._sum("tokens") + hold.tokens + kept_tokens
        if tokens > self.config.max_tokens:
            raise BudgetSpent("budget_tokens")
        return self._hold(hold)

    def reserve_search(self) -> Hold:
        if self.usage.searches + self._sum("searches") >= self.config.max_searches:
            raise BudgetSpent("budget_searches")
        return self._hold(Hold(searches=1))

    def reserve_fetch(self) -> Hold:
        if self.fetched + self._sum("fetches") >= self.config.max_fetches:
            raise BudgetSpent("budget_fetches")
        return self._hold(Hold(fetches=1))

    def release(self, hold: Hold) -> None:
        self._held.remove(hold)

    def paid_model(self, task: str, answer: ModelAnswer) -> None:
        self._count(task, answer)
        self.usage.prompt_tokens += answer.prompt_tokens
        self.usage.completion_tokens += answer.completion_tokens
        self.usage.tokens_estimated |= answer.tokens_estimated
        self.usage.cost_usd = _sum_usd(self.usage.cost_usd, answer.cost_usd)

    def failed_model(self, task: str, spent: ModelAnswer | None = None) -> None:
        """A failed attempt is a call all the same, and may have cost as much as a good one."""
        if spent is None:
            self._count(task, None)
        else:
            self.paid_model(task, spent)

    def answered(self, task: str) -> None:
        """The model gave a usable answer to a task."""
        self.usage.answers[task] = self.usage.answers.get(task, 0) + 1

    def fell_back(self, task: str, cause: str) -> None:
        causes = self.usage.fallbacks.setdefault(task, {})
        causes[cause] = causes.get(cause, 0) + 1

    @property
    def fallen_back(self) -> int:
        """How many model tasks were done by code, for whatever cause."""
        return sum(sum(causes.values()) for causes in self.usage.fallbacks.values())

    def spent(self, seconds: float, has_model: bool) -> StopReason | None:
        """The first budget with nothing left for another round, in the stop rule's order."""
        config, usage = self.config, self.usage
        limits = (
            (StopReason.BUDGET_TIME, seconds >= config.max_seconds),
            (
                StopReason.BUDGET_CALLS,
                has_model and self.llm_calls + REPORT_CALLS >= config.max_llm_calls,
            ),
            (
                StopReason.BUDGET_TOKENS,
                has_model and self.tokens + config.report_tokens >= config.max_tokens,
            ),
            (
                StopReason.BUDGET_COST,
                config.max_cost_usd is not None
                and usage.cost_usd is not None
                and usage.cost_usd >= config.max_cost_usd,
            ),
            (StopReason.BUDGET_SEARCHES, usage.searches >= config.max_searches),
            (StopReason.BUDGET_FETCHES, usage.fetches >= config.max_fetches),
        )
        return next((reason for reason, reached in limits if reached), None)

    def snapshot(self) -> Usage:
        usage = self.usage
        return Usage(
            llm_calls=self.llm_calls,
            llm_calls_by_task=dict(usage.llm_calls_by_task),
            retries=usage.retries,
            answers=dict(usage.answers),
            fallbacks={task: dict(causes) for task, causes in usage.fallbacks.items()},
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            tokens_estimated=usage.tokens_estimated,
            cost_usd=usage.cost_usd,
            spent_by={kind: dict(names) for kind, names in usage.spent_by.items()},
            prompts_cut=usage.prompts_cut,
            searches=usage.searches,
            fetches=usage.fetches,
            repeated_fetches=usage.repeated_fetches,
            refused_quotes=usage.refused_quotes,
            seconds=round(self.seconds, 3),
        )

    def _count(self, task: str, paid: ModelAnswer | None) -> None:
        counts = self.usage.llm_calls_by_task
        counts[task] = counts.get(task, 0) + 1
        self._add("task", task, paid)
        self._add("stage", self.stage, paid)
        if paid is not None:
            self._add("model", paid.model, paid)

    def _add(self, kind: str, name: str, paid: ModelAnswer | None) -> None:
        names = self.usage.spent_by.setdefault(kind, {})
        before = names.get(name, Spent())
        names[name] = Spent(
            before.calls + 1,
            before.prompt_tokens + (paid.prompt_tokens if paid else 0),
            before.completion_tokens + (paid.completion_tokens if paid else 0),
            _sum_usd(before.cost_usd, paid.cost_usd if paid else 0.0),
        )

    def _hold(self, hold: Hold) -> Hold:
        own = replace(hold)
        self._held.append(own)
        return own

    def _sum(self, what: str) -> int:
        return sum(getattr(hold, what) for hold in self._held)


def _sum_usd(one: float | None, other: float | None) -> float | None:
    """A sum with an unknown part is unknown."""
    return None if one is None or other is None else one + other


def estimate_tokens(request: ModelRequest) -> int:
    """An upper guess: three characters a token is low for every common tokenizer's text."""
    return (len(request.system) + len(request.prompt)) // CHARACTERS_PER_TOKEN + 64
