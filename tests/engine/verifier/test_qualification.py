"""Qualifying a verifier: who is caught, and the figures that are shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from research.engine.records import Qualification
from research.engine.verifier.pairs import Pair, qualification_pairs
from research.engine.verifier.qualification import (
    BATCH,
    BATCHES,
    PlantedResult,
    is_plausible,
    is_qualified,
    least_proportion,
    qualify,
    shuffled_pairs,
    upper_tail,
)

MOST_ERRORS = 16


async def qualified(judge: dict[str, bool]) -> Qualification:
    async def ask_batch(number: int, pairs: Sequence[Pair]) -> Sequence[bool]:
        return [judge[pair.statement] for pair in pairs]

    return await qualify(ask_batch, "v")


def right() -> dict[str, bool]:
    return {each.pair.statement: each.faithful for each in qualification_pairs()}


async def test_one_without_errors_is_qualified() -> None:
    found = await qualified(right())
    assert found == Qualification("v", 80, 0, 80, 0)
    assert is_qualified(found, MOST_ERRORS)


@pytest.mark.parametrize("constant, errors", [(True, (80, 0)), (False, (0, 80))])
async def test_one_that_says_the_same_of_all_is_not(
    constant: bool, errors: tuple[int, int]
) -> None:
    found = await qualified(dict.fromkeys(right(), constant))
    assert (found.missed, found.refused) == errors
    assert not is_qualified(found, MOST_ERRORS)


@pytest.mark.parametrize("label", [True, False])
@pytest.mark.parametrize("errors, believed", [(16, True), (17, False)])
async def test_more_than_sixteen_errors_on_either_side_are_too_many(
    label: bool, errors: int, believed: bool
) -> None:
    judge = right()
    for statement in [s for s, faithful in judge.items() if faithful is label][:errors]:
        judge[statement] = not label
    assert is_qualified(await qualified(judge), MOST_ERRORS) is believed


def test_no_batch_shows_a_quote_twice() -> None:
    ordered = shuffled_pairs()
    assert len(ordered) == BATCH * BATCHES == 160
    for at in range(0, len(ordered), BATCH):
        batch = ordered[at : at + BATCH]
        assert max(Counter(each.pair.quotes for each in batch).values()) == 1
        assert {each.faithful for each in batch} == {True, False}


async def test_a_batch_that_fails_ends_the_qualification() -> None:
    async def ask_batch(number: int, pairs: Sequence[Pair]) -> Sequence[bool]:
        if number == 3:
            raise ValueError("no answer")
        return [True] * len(pairs)

    with pytest.raises(ValueError, match="no answer"):
        await qualify(ask_batch, "v")


def test_nine_of_ten_planted_errors_are_at_least_61_percent() -> None:
    assert round(100 * least_proportion(9, 10)) == 61
    assert least_proportion(0, 10) == least_proportion(0, 0) == 0
    assert least_proportion(10, 10) == pytest.approx(0.05 ** (1 / 10))


def test_a_tail_is_the_sum_of_its_probabilities() -> None:
    assert upper_tail(0, 5, 0.3) == pytest.approx(1)
    assert upper_tail(2, 2, 0.5) == pytest.approx(0.25)
    assert upper_tail(17, 80, 0.1) == pytest.approx(0.0021, abs=1e-4)
    assert 1 - upper_tail(17, 80, 0.3) == pytest.approx(0.03, abs=1e-3)


KNOWN = Qualification("v", 80, 8, 80, 8)


@pytest.mark.parametrize(
    "result, plausible",
    [
        (PlantedResult(10, 0, 10, 0), True),
        (PlantedResult(10, 3, 10, 3), True),
        (PlantedResult(10, 10, 10, 0), False),
        (PlantedResult(10, 0, 10, 10), False),
        (PlantedResult(6, 6, 6, 0), False),
    ],
)
def test_a_call_is_believed_if_its_errors_are_plausible(
    result: PlantedResult, plausible: bool
) -> None:
    assert is_plausible(result, KNOWN, 0.01) is plausible
