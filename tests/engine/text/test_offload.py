"""Long pages are gone through in a thread: the loop serves everything else meanwhile."""

import asyncio
import contextvars
import threading
import time

import pytest

from research.engine.text import offload as module
from research.engine.text.offload import run_in_thread, run_in_thread_if_long
from tests.engine.scripted import Web, World, page

LONG = "The rotor of pump {0} turns {0} times a minute and is cooled by water of the river. "
QUESTION = "How often does the rotor of pump 77 turn?"


def long_page(sentences: int) -> str:
    return "\n\n".join(LONG.format(n) for n in range(sentences))


@pytest.mark.slow
async def test_the_loop_goes_on_while_long_pages_are_read() -> None:
    texts = [f"{long_page(1_500)}\n\nThis is manual {n}." for n in range(3)]
    pages = [page(f"https://s{n}.example/", text, "Rotors") for n, text in enumerate(texts)]
    turns = 0

    async def turn() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    turning = asyncio.create_task(turn())
    ran = await World(Web(pages)).ask(QUESTION, adaptive_max_depth=1)
    turning.cancel()
    assert "pump 77" in ran.report.markdown
    assert turns > 500, "a loop that waits for each page turns a dozen times"


async def test_short_pages_are_gone_through_at_once_and_long_ones_in_a_thread() -> None:
    short, long = page("https://a.example/", "Short."), page("https://b.example/", long_page(900))
    assert len(long.text) > module.LONG_CHARACTERS
    assert (
        await run_in_thread_if_long([short], threading.current_thread) is threading.current_thread()
    )
    assert (
        await run_in_thread_if_long([short, long], threading.current_thread)
        is not threading.current_thread()
    )


async def test_work_in_the_thread_is_done_in_the_order_of_the_calls() -> None:
    done: list[int] = []

    def work(number: int) -> None:
        time.sleep(0.02 * (number == 0))
        done.append(number)

    await asyncio.gather(*(run_in_thread(work, number) for number in range(5)))
    assert done == [0, 1, 2, 3, 4]


async def test_work_in_the_thread_knows_what_its_caller_knows() -> None:
    known = contextvars.ContextVar("known", default="")
    known.set("the run")
    assert await run_in_thread(known.get) == "the run"
