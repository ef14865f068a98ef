"""Circuit breaker for a model server: after repeated failures it is not called for a while."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from research.engine.ports import ModelFailure


class CircuitBreaker:
    """Opens after `failures` in a row, or after `absences` if nothing listens at the address; after
    `rest_seconds` it lets one trial call through (half-open).

    While it is open, `admit` raises `ModelFailure` with the seconds to wait. The failure is
    permanent if waiting is useless: nothing listens, or the last trial failed too. An admitted
    caller reports `succeeded` or `failed`, or `released` if the outcome is inconclusive.
    """

    def __init__(
        self,
        failures: int = 5,
        absences: int = 2,
        rest_seconds: float = 5.0,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._most = failures
        self._most_absences = absences
        self._rest_seconds = rest_seconds
        self._clock = clock
        self._in_a_row = 0
        self._opened_at: float | None = None
        self._probing = False
        self.is_down = False

    def admit(self) -> None:
        if self._opened_at is None:
            return
        left = self._opened_at + self._rest_seconds - self._clock()
        if left > 0 or self._probing:
            raise ModelFailure(
                f"the model's server failed {self._in_a_row} times in a row and is not "
                "called for a while",
                permanent=self.is_down,
                retry_after_seconds=round(max(left, 1.0), 1),
            )
        self._probing = True

    def succeeded(self) -> None:
        self._in_a_row, self._opened_at = 0, None
        self._probing = self.is_down = False

    def failed(self, *, absent: bool = False) -> None:
        """Count a failure; `absent` means that nothing listens at the (local) address."""
        self._in_a_row += 1
        self.is_down = self._probing or (absent and self._in_a_row >= self._most_absences)
        self._probing = False
        if self.is_down or self._in_a_row >= self._most:
            self._opened_at = self._clock()

    def released(self) -> None:
        self._probing = False
