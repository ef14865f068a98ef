"""The loop of the tests that wait: its clock jumps, and never over work that is under way."""

import asyncio
import time

import pytest

from tests.support.virtual_time import LoopClock

pytestmark = pytest.mark.virtual_time
HOUR = 3600.0


def now() -> float:
    return asyncio.get_running_loop().time()


async def test_a_wait_takes_no_time_and_keeps_its_order() -> None:
    told = []

    async def wait(seconds: float) -> None:
        await asyncio.sleep(seconds)
        told.append((seconds, now()))

    begun = time.monotonic()
    await asyncio.gather(*map(wait, (2 * HOUR, 0.001, HOUR)))
    assert told == [(0.001, 0.001), (HOUR, HOUR), (2 * HOUR, 2 * HOUR)]
    assert time.monotonic() - begun < HOUR


async def test_work_takes_no_time() -> None:
    async with asyncio.timeout(0.001):
        for _ in range(1000):
            await asyncio.sleep(0)
        await asyncio.to_thread(time.sleep, 0.05)
    assert now() == 0


async def test_what_hangs_times_out() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(HOUR):
            await asyncio.Event().wait()
    assert now() == HOUR == LoopClock().monotonic()


async def test_what_is_sent_over_loopback_arrives_before_a_time_out() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(await reader.readline())
        writer.close()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        async with asyncio.timeout(0.001):
            for _ in range(20):
                reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
                writer.write(b"Hello\n")
                assert await reader.read() == b"Hello\n"
                writer.close()
        assert now() == 0
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(HOUR):
                await reader.read()
        assert now() == HOUR
        writer.close()
        await asyncio.sleep(1)  # the server hears of it
