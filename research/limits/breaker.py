"""Circuit breaker of a server: after repeated failures it is not called for a while."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

from research.errors import PlumblineError


class BreakerOpenError(PlumblineError):
    """The server is not called for now; `is_down` if waiting is useless."""

    def __init__(self, failures: int, seconds: float, is_down: bool) -> None:
        super().__init__(f"{failures} failures in a row")
        self.failures = failures
        self.seconds = seconds
        self.is_down = is_down


@dataclass(frozen=True)
class BreakerRule:
    """When a breaker opens, and for how long.

    It opens after `failures` in a row, or after `absences` if nothing listens at the address, and
    lets one trial call through after `rest_seconds` (half-open).
    """

    failures: int = 5
    absences: int = 2
    rest_seconds: float = 5.0


USUAL = BreakerRule()


@dataclass
class BreakerState:
    """State of a breaker; times are seconds of the store's clock.

    `trial` is the turn that may call while the breaker is open. The server counts as down if
    nothing listens there, or if the last trial failed too.
    """

    failures: int = 0
    opened_at: float | None = None
    trial: str = ""
    is_down: bool = False

    def check(self, rule: BreakerRule, now: float, under_way: Container[str]) -> None:
        """Raise `BreakerOpenError` unless a turn may begin; a trial lasts as long as its turn."""
        if self.opened_at is None:
            return
        left = self.opened_at + rule.rest_seconds - now
        if left > 0 or self.trial in under_way:
            raise BreakerOpenError(self.failures, round(max(left, 1.0), 1), self.is_down)

    def begin(self, turn: str) -> None:
        """Note a turn that begins: if the breaker is open, it is the trial."""
        if self.opened_at is not None:
            self.trial = turn

    def succeeded(self) -> None:
        self.failures, self.opened_at = 0, None
        self.trial, self.is_down = "", False

    def failed(self, rule: BreakerRule, now: float, turn: str, *, absent: bool = False) -> None:
        """Count a failure; `absent` means that nothing listens at the (local) address."""
        self.failures += 1
        is_trial = self.trial == turn
        self.is_down |= is_trial or (absent and self.failures >= rule.absences)
        if is_trial:
            self.trial = ""
        if self.is_down or self.failures >= rule.failures:
            self.opened_at = now
