"""Engines that die as by kill -9 once their k-th entry is durable."""

from __future__ import annotations

from typing import Any

from research.engine.config import ResearchConfig
from research.engine.journal import Entry, Journal
from research.engine.loop import Question
from research.queue.processes import Engine


class Killed(BaseException):
    """Ends an engine as kill -9 would: nothing after it runs."""


def killed_at(k: int | None, engine: Engine) -> Engine:
    """The engine, ended at its k-th entry; None lets it live."""

    async def doomed(question: Question, config: ResearchConfig, journal: Journal) -> None:
        store: Any = journal.store
        put, written = store.put, 0

        async def dies_at_last(entry: Entry) -> None:
            nonlocal written
            await put(entry)
            written += 1
            if written == k:
                raise Killed

        store.put = dies_at_last
        await engine(question, config, journal)

    return doomed
