"""Eight processes at one model server: calls at once and a minute, and how much of both is used."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from dataclasses import replace

from bench.scale.parts import Figures, prepare_django
from bench.world.serving import Log, Reply, Request, json_reply, listen, port_of

prepare_django()

from django.db import connections  # noqa: E402 - after the setup

from research.engine.ports import ModelRequest  # noqa: E402
from research.limits.database import DatabaseStore  # noqa: E402
from research.limits.limiter import MemoryStore  # noqa: E402
from research.llm.client import ChatModel  # noqa: E402
from research.llm.settings import ModelSettings  # noqa: E402

PROCESSES, PLACES, PER_MINUTE = 8, 4, 60
CALL_SECONDS = 2.0
START_SECONDS, AT_ONCE_SECONDS, MINUTE_SECONDS = 10.0, 20.0, 65.0
FIRST = "the first call of a process"
ASKING = 4
"""Callers in each process: more than there are places."""


class Server:
    """A chat completions server that takes its time and logs its calls."""

    def __init__(self) -> None:
        self.log = Log()

    async def answer(self, request: Request) -> Reply:
        began = time.time()
        if FIRST.encode() not in request.body:
            await asyncio.sleep(CALL_SECONDS)
            self.log.add("model", began)
        message = {"message": {"content": "{}"}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 2}
        return json_reply({"choices": [message], "usage": usage})


def work(settings: ModelSettings, begin: float, until: float) -> None:
    asyncio.run(_work(settings, begin, until))


async def _work(settings: ModelSettings, begin: float, until: float) -> None:
    """Call the model all the time; the first call of a process, which is slow, comes before."""
    store = DatabaseStore()
    request = ModelRequest("task", "system", "prompt", {}, 100)
    first = ChatModel(replace(settings, api_key="first"), store=MemoryStore())
    await first.complete(replace(request, prompt=FIRST))
    await first.aclose()
    model = ChatModel(settings, store=store)
    await asyncio.sleep(max(0.0, begin - time.time()))

    async def ask() -> None:
        while True:
            await model.complete(request)

    asking = [asyncio.create_task(ask()) for _ in range(ASKING)]
    await asyncio.wait(asking, timeout=until - time.time())
    for task in asking:
        task.cancel()
    await asyncio.wait(asking)
    await model.aclose()
    store.close()


async def calls_of(settings: ModelSettings, seconds: float) -> list[tuple[float, float]]:
    """Return the intervals of the calls that began before the processes were stopped.

    A call that is broken off gives its place back while this server goes on with it.
    """
    server = Server()
    listening = await listen(server.answer, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{port_of(listening)}/v1"
    there = replace(settings, base_url=address)
    begin = time.time() + START_SECONDS
    until = begin + seconds
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=work, args=(there, begin, until)) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for process in processes:
        await asyncio.to_thread(process.join)
    listening.close()
    calls = [(each["start"], min(each["end"], until)) for each in server.log.entries]
    return sorted(each for each in calls if begin <= each[0] < until)


def most_at_once(calls: list[tuple[float, float]]) -> int:
    changes = sorted([(start, 1) for start, _ in calls] + [(end, -1) for _, end in calls])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


def most_in_a_minute(calls: list[tuple[float, float]]) -> int:
    starts = [start for start, _ in calls]
    return max(sum(first <= start < first + 60 for start in starts) for first in starts)


async def main() -> None:
    connections.close_all()
    settings = ModelSettings("bench", concurrency=PLACES)
    calls = await calls_of(settings, AT_ONCE_SECONDS)
    span = max(end for _, end in calls) - calls[0][0]
    limited = await calls_of(replace(settings, requests_per_minute=PER_MINUTE), MINUTE_SECONDS)
    figures: Figures = {
        "at_once": most_at_once(calls),
        "places_used": sum(end - start for start, end in calls) / span / PLACES,
        "a_minute": most_in_a_minute(limited),
        "at_once_limited": most_at_once(limited),
        "minute_used": sum(start < limited[0][0] + 60 for start, _ in limited) / PER_MINUTE,
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    asyncio.run(main())
