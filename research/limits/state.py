"""State of one limit: places taken, next start, use of the last minute, and circuit breaker."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from research.limits.breaker import USUAL, BreakerRule, BreakerState

WINDOW_SECONDS = 63
"""A minute and some: a turn that begins now may reach the server a little later."""

LEASE_SECONDS = 20.0
"""A place that is not renewed for this long is free: its process has died."""


@dataclass(frozen=True)
class Rule:
    """The rule of a limit; 0 means unlimited.

    At most `at_once` concurrent turns, started `interval_seconds` apart; in any 60 seconds at most
    `per_minute` turns and `tokens_per_minute` tokens, and none while the breaker is open.
    """

    at_once: int = 0
    interval_seconds: float = 0.0
    per_minute: int = 0
    tokens_per_minute: int = 0
    breaker: BreakerRule = USUAL


@dataclass
class Used:
    """Turns begun within one second, and their tokens."""

    second: int
    turns: int = 0
    tokens: int = 0


@dataclass
class LimitState:
    """Times are seconds of the store's clock. `places` maps a holder to the end of its lease."""

    places: dict[str, float] = field(default_factory=dict)
    next_at: float = 0.0
    used: list[Used] = field(default_factory=list)
    breaker: BreakerState = field(default_factory=BreakerState)

    @classmethod
    def load(cls, stored: dict[str, Any]) -> LimitState:
        used = [Used(**each) for each in stored.get("used", ())]
        breaker = BreakerState(**stored.get("breaker", {}))
        return cls(dict(stored.get("places", {})), stored.get("next_at", 0.0), used, breaker)

    def dump(self) -> dict[str, Any]:
        return asdict(self)

    def take(self, rule: Rule, now: float, holder: str, tokens: int = 0) -> float | None:
        """Begin a turn and return 0; else return the seconds to wait, None if no place is free.

        Raise `BreakerOpenError`.
        """
        self.places = {each: until for each, until in self.places.items() if until > now}
        self.breaker.check(rule.breaker, now, self.places)
        self.used = [each for each in self.used if each.second + 1 > now - WINDOW_SECONDS]
        if rule.at_once and len(self.places) >= rule.at_once:
            return None
        wait = max(self.next_at - now, self._window_wait(rule, now, tokens))
        if wait > 0:
            return wait
        self.places[holder] = now + LEASE_SECONDS
        self.next_at = now + rule.interval_seconds
        self.breaker.begin(holder)
        self._use(rule, int(now), tokens)
        return 0.0

    def renew(self, now: float, holder: str) -> None:
        self.places[holder] = now + LEASE_SECONDS

    def release(self, holder: str) -> None:
        self.places.pop(holder, None)

    def release_all(self, prefix: str) -> bool:
        """Free the places whose holder begins so; return whether there were any."""
        kept = {each: until for each, until in self.places.items() if not each.startswith(prefix)}
        changed = len(kept) < len(self.places)
        self.places = kept
        return changed

    def correct(self, second: int, tokens: int) -> None:
        """Count `tokens` more, or fewer, for a turn begun in this second."""
        for each in self.used:
            if each.second == second:
                each.tokens += tokens

    def hold(self, until: float) -> None:
        """Begin no turn before this time."""
        self.next_at = max(self.next_at, until)

    def _use(self, rule: Rule, second: int, tokens: int) -> None:
        if not rule.per_minute and not rule.tokens_per_minute:
            return
        if not self.used or self.used[-1].second != second:
            self.used.append(Used(second))
        self.used[-1].turns += 1
        self.used[-1].tokens += tokens

    def _window_wait(self, rule: Rule, now: float, tokens: int) -> float:
        """Return how long until enough of the last minute's use has passed out of the window.

        A turn larger than the limit begins when the window is empty.
        """
        turns_left = sum(each.turns for each in self.used)
        tokens_left = sum(each.tokens for each in self.used)
        wait = 0.0
        for oldest in self.used:
            too_many = rule.per_minute and turns_left + 1 > rule.per_minute
            too_large = rule.tokens_per_minute and tokens_left + tokens > rule.tokens_per_minute
            if not too_many and not too_large:
                break
            turns_left -= oldest.turns
            tokens_left -= oldest.tokens
            wait = oldest.second + 1 + WINDOW_SECONDS - now
        return wait
