"""The running sums of a run: calls, tokens and money, by task, stage and model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from research.engine.ports import ModelAnswer
from research.engine.records import ModelUse, Usage


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
