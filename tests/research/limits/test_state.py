"""What a limit allows, by its state and the time alone."""

from __future__ import annotations

import random

import pytest

from research.limits.state import LEASE_SECONDS, WINDOW_SECONDS, LimitState, Rule


def test_a_place_is_free_again_once_it_is_given_back_or_its_lease_is_over() -> None:
    state, rule = LimitState(), Rule(at_once=2)
    assert [state.take(rule, 0.0, holder) for holder in "abc"] == [0, 0, None]
    state.release("a")
    assert state.take(rule, 1.0, "c") == 0
    state.renew(LEASE_SECONDS - 1, "c")
    assert state.take(rule, LEASE_SECONDS, "d") == 0, "nobody renewed b"
    assert state.take(rule, LEASE_SECONDS + 2, "e") is None, "c was renewed"


def test_turns_begin_an_interval_apart() -> None:
    state, rule = LimitState(), Rule(interval_seconds=2.0)
    assert state.take(rule, 10.0, "a") == 0
    assert state.take(rule, 10.5, "b") == 1.5
    assert state.take(rule, 12.0, "b") == 0


def test_a_hold_keeps_everybody_waiting() -> None:
    state = LimitState()
    state.hold(30.0)
    assert state.take(Rule(), 10.0, "a") == 20.0
    state.hold(5.0)
    assert state.take(Rule(), 10.0, "a") == 20.0


@pytest.mark.parametrize("seed", range(5))
def test_no_minute_ever_has_more_turns_or_tokens_than_allowed(seed: int) -> None:
    chance, rule = random.Random(seed), Rule(per_minute=60, tokens_per_minute=90_000)
    state, now, begun = LimitState(), 0.0, []
    while now < 600:
        tokens = chance.randint(1, 6_000)
        while (wait := state.take(rule, now, "x", tokens)) != 0:
            assert wait and wait > 0
            now += wait
        begun.append((now, tokens))
        now += chance.random()
    for start, _ in begun:
        window = [each for each in begun if start <= each[0] < start + 60]
        assert len(window) <= rule.per_minute
        assert sum(tokens for _, tokens in window) <= rule.tokens_per_minute


def test_a_minute_is_used_up_to_its_limit() -> None:
    state, rule, now, turns = LimitState(), Rule(per_minute=60), 0.0, 0
    while now < 600:
        wait = state.take(rule, now, "x")
        turns += wait == 0
        now += wait or 0.01
    assert turns >= 0.9 * 600


def test_a_turn_larger_than_the_limit_waits_for_an_empty_minute() -> None:
    state, rule = LimitState(), Rule(tokens_per_minute=100)
    assert state.take(rule, 0.0, "a", 40) == 0
    assert state.take(rule, 10.0, "b", 500) == WINDOW_SECONDS + 1 - 10
    assert state.take(rule, WINDOW_SECONDS + 1.0, "b", 500) == 0


def test_tokens_that_were_not_needed_are_given_back() -> None:
    state, rule = LimitState(), Rule(tokens_per_minute=100)
    assert state.take(rule, 0.0, "a", 90) == 0
    assert state.take(rule, 1.0, "b", 50) != 0
    state.correct(0, -60)
    assert state.take(rule, 2.0, "b", 50) == 0
    state.correct(1, -1_000)
    assert state.take(rule, 3.0, "c", 50) != 0, "no turn began in that second"


def test_a_state_survives_being_stored() -> None:
    state = LimitState()
    state.take(Rule(at_once=1, interval_seconds=3, per_minute=5), 7.5, "a", 9)
    assert LimitState.load(state.dump()) == state
    assert LimitState.load({}) == LimitState()
