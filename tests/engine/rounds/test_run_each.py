"""Steps of units that run concurrently."""

from __future__ import annotations

import asyncio

import pytest

from research.engine.rounds.research_round import run_each


async def fail(text: str, after: asyncio.Event | None = None) -> None:
    try:
        if after is not None:
            await after.wait()
    finally:
        raise LookupError(text)


async def test_the_first_error_names_those_of_other_units() -> None:
    with pytest.raises(LookupError, match="no page") as caught:
        await run_each([fail("no page"), fail("no room", asyncio.Event())])
    assert caught.value.__notes__ == ["Another unit failed, too: LookupError: no room"]


async def test_a_single_error_is_raised_as_it_is() -> None:
    with pytest.raises(LookupError, match="no page") as caught:
        await run_each([fail("no page")])
    assert not hasattr(caught.value, "__notes__")
