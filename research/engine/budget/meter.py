"""Hard budgets: the worst case is reserved before a call and settled after it.

A cap on calls, tokens, money, searches or fetches is never exceeded, however many units are in
flight. The report's share is reserved from the start, and only the tasks that write the report may
use it. A refused call ends the run at the next boundary.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field, replace

from research.engine.config import ResearchConfig
from research.engine.ports import ModelAnswer, ModelRequest
from research.engine.records import ModelUse, StopReason, Usage
from research.errors import PlumblineError

REPORT_TASKS = frozenset(
    {"compare", "draft", "section", "summary", "repair", "verify", "last_look"}
)
REPORT_CALLS = 3
REPORT_ANSWER_TOKENS = 6000
SECTION_TOKENS, SECTION_ANSWER_TOKENS = 6000, 2000
"""Of a section's call, for the report's share."""
MOST_SHARE = 0.5
"""Of a budget, what the report of a run in sections may hold back."""
REPORT_SECONDS, REPORT_SHARE_OF_SECONDS = 60.0, 0.15
BYTES_PER_TOKEN = 3

Rates = Mapping[str, tuple[float, float]]
"""Role of a model → US dollars per token of its prompt and of its answer."""


class BudgetSpentError(PlumblineError):
    """A call would go beyond a hard budget; `reason` is the limit's stop reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = StopReason(reason)


@dataclass(frozen=True)
class Reservation:
    """Worst-case cost of a call in flight; money in US dollars."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0
    searches: int = 0
    fetches: int = 0


@dataclass(frozen=True)
class Spent:
    """Spending up to a boundary, or between two."""

    seconds: float = 0.0
    calls: float = 0
    tokens: float = 0
    dollars: float = 0.0
    searches: float = 0
    fetches: float = 0

    def since(self, earlier: Spent) -> Spent:
        pairs = zip(astuple(self), astuple(earlier), strict=True)
        return Spent(*(now - then for now, then in pairs))

    def times(self, share: float) -> Spent:
        return Spent(*(share * part for part in astuple(self)))

    @staticmethod
    def most(of: Iterable[Spent]) -> Spent:
        """Return the maximum of each component."""
        return Spent(*map(max, zip(*map(astuple, of), strict=True)))


def report_calls(sections: int = 1) -> int:
    """Return the model calls of a report: draft (or sections and summary), repair, check."""
    return REPORT_CALLS + (sections if sections > 1 else 0)


def report_share(config: ResearchConfig, sections: int, rates: Rates) -> Reservation:
    """Return the worst-case usage of a report with this number of sections."""
    more = sections if sections > 1 else 0
    tokens = config.report_tokens + more * SECTION_TOKENS
    answers = min(tokens, REPORT_ANSWER_TOKENS + more * SECTION_ANSWER_TOKENS)
    for_prompt, for_answer = rates.get("research", (0.0, 0.0))
    dollars = (tokens - answers) * for_prompt + answers * for_answer
    return Reservation(report_calls(sections), tokens, dollars)


def sections_within(config: ResearchConfig, sections: int, rates: Rates) -> int:
    """Return the most sections of a report; 1 if more would take over half of a budget."""
    share = report_share(config, sections, rates)
    dollars = math.inf if config.max_cost_usd is None else config.max_cost_usd
    fits = (
        share.calls <= MOST_SHARE * config.max_llm_calls
        and share.tokens <= MOST_SHARE * config.max_tokens
        and share.dollars <= MOST_SHARE * dollars
    )
    return sections if fits else 1


class Meter:
    """Spending of a run, its calls in flight, and the limits of its config.

    `fetched` are the pages that were fetched, `usage.fetches` those that a round has used: a late
    page counts for the cap at once, but for decisions only when it is used. Spending is counted for
    the current `stage`. `rates` are empty if a price is unknown; `refused` are the budgets that
    refused a call. With `reserves_report`, the report's share is reserved; it is larger if the
    report is drafted in `sections`.
    """

    def __init__(self, config: ResearchConfig) -> None:
        self.config = config
        self.usage = UsageTotals()
        self.seconds = 0.0
        self.fetched = 0
        self.stage = "intake"
        self._entered = 0.0
        self.rates: Rates = {}
        self.refused: set[StopReason] = set()
        self.reserves_report = True
        self.sections = 1
        self._held: list[Reservation] = []

    @property
    def llm_calls(self) -> int:
        return self.usage.llm_calls

    @property
    def tokens(self) -> int:
        return self.usage.tokens

    # --- reserving ---------------------------------------------------------------------

    def reserve_model(self, request: ModelRequest) -> Reservation:
        """Reserve a call's worst case. Raises `BudgetSpentError` if it doesn't fit."""
        config, prompt = self.config, estimate_tokens(request)
        answer = request.max_output_tokens
        hold = Reservation(1, prompt + answer, self._price_usd(request.role, prompt, answer))
        kept = Reservation() if request.task in REPORT_TASKS else self._report_share()
        if self.llm_calls + self._sum_held("calls") + 1 + kept.calls > config.max_llm_calls:
            raise BudgetSpentError("budget_calls")
        if self.tokens + self._sum_held("tokens") + hold.tokens + kept.tokens > config.max_tokens:
            raise BudgetSpentError("budget_tokens")
        dollars = self.dollars + self._sum_held("dollars") + hold.dollars + kept.dollars
        if config.max_cost_usd is not None and dollars > config.max_cost_usd:
            raise BudgetSpentError("budget_cost")
        return self._add_hold(hold)

    def reserve_search(self) -> Reservation:
        if self.usage.searches + self._sum_held("searches") >= self.config.max_searches:
            raise BudgetSpentError("budget_searches")
        return self._add_hold(Reservation(searches=1))

    def reserve_fetch(self) -> Reservation:
        if self.fetched + self._sum_held("fetches") >= self.config.max_fetches:
            raise BudgetSpentError("budget_fetches")
        return self._add_hold(Reservation(fetches=1))

    def release(self, hold: Reservation) -> None:
        self._held.remove(hold)

    @property
    def dollars(self) -> float:
        """Return the money spent; infinite once a price was unknown, as no cap can be kept then."""
        return math.inf if self.usage.cost_usd is None else self.usage.cost_usd

    def seconds_for(self, task: str = "", has_model: bool = True) -> float:
        """Return the active seconds by which a task has to end: all for the report's tasks."""
        most = self.config.max_seconds
        if task in REPORT_TASKS or not has_model:
            return most
        return most - min(REPORT_SECONDS, REPORT_SHARE_OF_SECONDS * most)

    def _report_share(self) -> Reservation:
        """Return the share that is reserved for the report's tasks."""
        if not self.reserves_report:
            return Reservation()
        return report_share(self.config, self.sections, self.rates)

    def _price_usd(self, role: str, prompt: int, answer: int) -> float:
        for_prompt, for_answer = self.rates.get(role, (0.0, 0.0))
        return prompt * for_prompt + answer * for_answer

    # --- settling ----------------------------------------------------------------------

    def enter_stage(self, stage: str) -> None:
        """Count subsequent spending for this stage, and the time until now for the previous one."""
        if stage != self.stage:
            self._count_time()
            self.stage = stage

    def _count_time(self) -> None:
        if self.seconds != self._entered:
            self.usage.add_seconds(self.stage, self.seconds - self._entered)
            self._entered = self.seconds

    def paid_model(
        self, task: str, answer: ModelAnswer, seconds: float = 0.0, stage: str = ""
    ) -> None:
        """Count a model call; `stage` defaults to the current one."""
        self.usage.called(task, stage or self.stage, answer, seconds)

    def failed_model(
        self, task: str, spent: ModelAnswer | None = None, seconds: float = 0.0, stage: str = ""
    ) -> None:
        """Count a failed attempt as a call, which may have cost as much as a successful one."""
        self.usage.called(task, stage or self.stage, spent, seconds)

    def prompt_only(self, request: ModelRequest, model: str) -> ModelAnswer:
        """Return the estimated cost of a call dropped before its answer: its prompt."""
        return self._assume_answer(request, model, 0)

    def at_most(self, request: ModelRequest, model: str) -> ModelAnswer:
        """Return the highest possible cost of a call whose answer was lost."""
        return self._assume_answer(request, model, request.max_output_tokens)

    def _assume_answer(self, request: ModelRequest, model: str, written: int) -> ModelAnswer:
        tokens = estimate_tokens(request)
        dollars = self._price_usd(request.role, tokens, written) if self.rates else None
        return ModelAnswer("", model, tokens, written, tokens_estimated=True, cost_usd=dollars)

    # --- what is left ------------------------------------------------------------------

    def so_far(self, seconds: float) -> Spent:
        """Return all settled spending; `seconds` are a journaled clock reading."""
        usage = self.usage
        return Spent(
            seconds, self.llm_calls, self.tokens, self.dollars, usage.searches, usage.fetches
        )

    def spent(self, seconds: float, has_model: bool) -> StopReason | None:
        """Return the first budget in the stop rule's order that is exhausted or refused a call."""
        least = Spent(0, 1, 1, 1e-9, 1, 1)
        over = self.short_of(least, seconds, has_model)
        return next((r for r in StopReason if r in self.refused or r is over), None)

    def short_of(self, more: Spent, seconds: float, has_model: bool) -> StopReason | None:
        """Return the first budget without room for `more` beyond the report's share, or None."""
        config, kept, used = self.config, self._report_share(), self.so_far(seconds)
        limits = (
            (StopReason.BUDGET_TIME, used.seconds, more.seconds, self.seconds_for("", has_model)),
            (StopReason.BUDGET_CALLS, used.calls + kept.calls, more.calls, config.max_llm_calls),
            (StopReason.BUDGET_TOKENS, used.tokens + kept.tokens, more.tokens, config.max_tokens),
            (
                StopReason.BUDGET_COST,
                used.dollars + kept.dollars,
                more.dollars,
                config.max_cost_usd,
            ),
            (StopReason.BUDGET_SEARCHES, used.searches, more.searches, config.max_searches),
            (StopReason.BUDGET_FETCHES, used.fetches, more.fetches, config.max_fetches),
        )
        of_model = {StopReason.BUDGET_CALLS, StopReason.BUDGET_TOKENS, StopReason.BUDGET_COST}
        for reason, taken, wanted, limit in limits:
            counts = has_model or reason not in of_model
            if counts and limit is not None and (taken + wanted > limit or taken >= limit):
                return reason
        return None

    def holds_two_reports(self, seconds: float) -> bool:
        """Return whether the budget has room for a report that may be discarded."""
        kept = self._report_share()
        two = Spent(0, 2 * kept.calls, 2 * kept.tokens, 2 * kept.dollars)
        return self.short_of(two, seconds, has_model=True) is None

    def snapshot(self) -> Usage:
        self._count_time()
        return self.usage.snapshot(self.seconds)

    def _add_hold(self, hold: Reservation) -> Reservation:
        own = replace(hold)
        self._held.append(own)
        return own

    def _sum_held(self, what: str) -> int:
        return sum(getattr(hold, what) for hold in self._held)


def estimate_tokens(request: ModelRequest) -> int:
    """Return an upper estimate for a whole prompt, including its schema and framing."""
    return tokens_of(request.system, request.prompt, json.dumps(request.schema)) + 64


def tokens_of(*texts: str) -> int:
    """Return an upper estimate: every common tokenizer takes more than three bytes a token."""
    return sum(len(text.encode(errors="replace")) for text in texts) // BYTES_PER_TOKEN


@dataclass
class UsageTotals:
    """Totals that become a run's `Usage`. Once a price was unknown, so is the sum of money."""

    llm_calls_by_task: dict[str, int] = field(default_factory=dict)
    retries: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    fallbacks: dict[str, dict[str, int]] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    tokens_estimated: bool = False
    cost_usd: float | None = 0.0
    spent_by: dict[str, dict[str, ModelUse]] = field(default_factory=dict)
    prompts_cut: int = 0
    searches: int = 0
    fetches: int = 0
    repeated_fetches: int = 0
    refused_quotes: int = 0
    unexpected_errors: int = 0
    failures: dict[str, int] = field(default_factory=dict)

    @property
    def llm_calls(self) -> int:
        return sum(self.llm_calls_by_task.values())

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def fallen_back(self) -> int:
        """Return the number of model tasks done by code, for whatever cause."""
        return sum(sum(causes.values()) for causes in self.fallbacks.values())

    def called(self, task: str, stage: str, paid: ModelAnswer | None, seconds: float = 0.0) -> None:
        """Count an attempt; a failed one of which nothing is known is a call all the same."""
        self.llm_calls_by_task[task] = self.llm_calls_by_task.get(task, 0) + 1
        self._add("task", task, paid, seconds)
        self._add("stage", stage, paid, 0.0)
        if paid is not None:
            self._add("model", paid.model, paid, seconds)
            self.prompt_tokens += paid.prompt_tokens
            self.completion_tokens += paid.completion_tokens
            self.tokens_estimated |= paid.tokens_estimated
            self.cost_usd = _sum_usd(self.cost_usd, paid.cost_usd)

    def answered(self, task: str) -> None:
        """The model gave a usable answer to a task."""
        self.answers[task] = self.answers.get(task, 0) + 1

    def fell_back(self, task: str, cause: str) -> None:
        causes = self.fallbacks.setdefault(task, {})
        causes[cause] = causes.get(cause, 0) + 1

    def failed(self, tool: str) -> None:
        self.failures[tool] = self.failures.get(tool, 0) + 1

    def add_seconds(self, stage: str, seconds: float) -> None:
        """Add active time to a stage."""
        stages = self.spent_by.setdefault("stage", {})
        before = stages.get(stage, ModelUse())
        stages[stage] = replace(before, seconds=round(before.seconds + seconds, 3))

    def snapshot(self, seconds: float) -> Usage:
        return Usage(
            llm_calls=self.llm_calls,
            llm_calls_by_task=dict(self.llm_calls_by_task),
            retries=self.retries,
            answers=dict(self.answers),
            fallbacks={task: dict(causes) for task, causes in self.fallbacks.items()},
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            tokens_estimated=self.tokens_estimated,
            cost_usd=self.cost_usd,
            spent_by={kind: dict(names) for kind, names in self.spent_by.items()},
            prompts_cut=self.prompts_cut,
            searches=self.searches,
            fetches=self.fetches,
            repeated_fetches=self.repeated_fetches,
            refused_quotes=self.refused_quotes,
            unexpected_errors=self.unexpected_errors,
            failures=dict(self.failures),
            seconds=round(seconds, 3),
        )

    def _add(self, kind: str, name: str, paid: ModelAnswer | None, seconds: float) -> None:
        names = self.spent_by.setdefault(kind, {})
        before = names.get(name, ModelUse())
        names[name] = ModelUse(
            before.calls + 1,
            before.prompt_tokens + (paid.prompt_tokens if paid else 0),
            before.completion_tokens + (paid.completion_tokens if paid else 0),
            _sum_usd(before.cost_usd, paid.cost_usd if paid else 0.0),
            round(before.seconds + seconds, 3),
        )


def _sum_usd(one: float | None, other: float | None) -> float | None:
    """Return a sum with an unknown part is unknown."""
    return None if one is None or other is None else one + other
