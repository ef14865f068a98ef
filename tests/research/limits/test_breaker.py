"""When a circuit breaker opens, and which call may try the server again."""

from __future__ import annotations

import pytest

from research.limits.breaker import BreakerOpenError, BreakerRule, BreakerState
from research.limits.state import LEASE_SECONDS, LimitState, Rule

RULE = BreakerRule(failures=2, absences=2, rest_seconds=5.0)


def opened(at: float = 0.0) -> BreakerState:
    state = BreakerState()
    for turn in "ab":
        state.failed(RULE, at, turn)
    return state


def test_half_open_lets_one_through_and_closes_on_success() -> None:
    state = opened()
    with pytest.raises(BreakerOpenError) as refused:
        state.check(RULE, 0.0, ())
    assert (refused.value.seconds, refused.value.is_down) == (5, False)
    state.check(RULE, 6.0, ())
    state.begin("trial")
    with pytest.raises(BreakerOpenError):
        state.check(RULE, 6.0, {"trial"})
    state.succeeded()
    state.check(RULE, 6.0, ())
    assert state == BreakerState()


def test_a_success_in_between_starts_the_count_again() -> None:
    state = BreakerState()
    state.failed(RULE, 0.0, "a")
    state.succeeded()
    state.failed(RULE, 0.0, "b")
    state.check(RULE, 0.0, ())


def test_a_call_from_before_that_fails_late_does_not_end_the_trial() -> None:
    state = opened()
    state.begin("trial")
    state.failed(RULE, 6.0, "late")
    assert (state.trial, state.is_down) == ("trial", False)
    state.failed(RULE, 7.0, "trial")
    assert (state.trial, state.is_down) == ("", True)


def test_the_trial_of_a_process_that_died_is_over_with_its_place() -> None:
    state, rule = LimitState(breaker=opened()), Rule(breaker=RULE)
    assert state.take(rule, 6.0, "host:1:1") == 0
    with pytest.raises(BreakerOpenError):
        state.take(rule, 7.0, "host:2:1")
    assert state.take(rule, 6.0 + LEASE_SECONDS, "host:2:1") == 0
    state.release_all("host:2:")
    assert state.take(rule, 7.0 + LEASE_SECONDS, "host:3:1") == 0


def test_a_turn_that_was_refused_has_taken_no_place() -> None:
    state = LimitState(breaker=opened())
    with pytest.raises(BreakerOpenError):
        state.take(Rule(breaker=RULE), 1.0, "a")
    assert not state.places
    assert LimitState.load(state.dump()) == state
