"""One question through the product's engine and tools, against a world's servers.

    with running_world(101) as world:
        async with Bench.open(world) as bench:
            ran = await bench.run(world.world.of_kind("simple")[0])
            print(ran.figures)

There is no database: the journal is in memory. Everything else is what a run of the product
has: the model's client, the search provider, the safe fetch and the text workers.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.comparison.figures import Figures, Prices, figures_of
from bench.comparison.resource import run_resource
from bench.comparison.variant import AS_IT_IS, Variant
from bench.world.facts import Question
from bench.world.hostile import HONEST
from bench.world.running import RunningWorld
from research.engine import MemoryStore, Record, ResearchConfig, Search, Tools, run_in_memory
from research.engine import Question as Asked
from research.engine.llm_tasks.verify import prompt_version
from research.engine.records import Qualification
from research.extract.extracted import Extracted
from research.extract.pool import TextPool
from research.fetch.fetch import FetchSettings, SafeFetch
from research.llm.client import ChatModel, ModelSettings
from research.llm.prices import Price
from research.runtime.program import SystemClock
from research.search.providers import open_search
from research.search.providers.base import ProviderSettings

TODAY = "2026-01-01"
PRICE = Price(1e-6, 4e-6, 1e-6)
QUALIFIED = Qualification(prompt_version(), 80, 0, 80, 0)
"""How the oracle did as verifier: an installation finds that out before its first run."""
EXTRACTIVE = ""
"""The name of no model: code is the analyst."""


class Told:
    """What people said before the run looked for it; all of it is taken at once."""

    def __init__(self, waiting: list[dict[str, Any]]) -> None:
        self._waiting = waiting

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        taken = [command for command in self._waiting if command["kind"] in kinds]
        self._waiting = [command for command in self._waiting if command not in taken]
        return taken


class RememberingPool(TextPool):
    """Extracts each page once for all runs; for counts only, never where time is measured."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        self._known: dict[tuple[bytes, str | None, str], Extracted] = {}

    async def extract(
        self, body: bytes, content_type: str | None, url: str, timeout_seconds: float = 10.0
    ) -> Extracted:
        page = (hashlib.sha256(body).digest(), content_type, url)
        if page not in self._known:
            self._known[page] = await super().extract(body, content_type, url, timeout_seconds)
        return self._known[page]


@dataclass(frozen=True)
class Ran:
    """A finished run: its records, the journal it can be replayed from, and its figures."""

    records: tuple[Record, ...]
    resource: Mapping[str, Any]
    store: MemoryStore
    divergences: tuple[str, ...]
    figures: Figures


@dataclass
class Bench:
    """The product's tools over one world. One run at a time: the servers' log is that run's."""

    running: RunningWorld
    search: Search
    fetch: SafeFetch
    models: dict[str, ChatModel] = field(default_factory=dict)

    @classmethod
    @asynccontextmanager
    async def open(
        cls, running: RunningWorld, *, pool: TextPool | None = None
    ) -> AsyncIterator[Bench]:
        """`pool` is used and left open; without one, each page is extracted once for all runs."""
        settings = FetchSettings(allow_private_hosts=frozenset(running.hosts))
        providers = ProviderSettings({"SEARXNG_URL": running.search})
        with nullcontext(pool) if pool else RememberingPool(1) as texts:
            async with httpx.AsyncClient() as client, SafeFetch(settings, texts) as fetch:
                bench = cls(running, open_search(["searxng"], providers, client), fetch)
                try:
                    yield bench
                finally:
                    for model in bench.models.values():
                        await model.aclose()

    def model(self, name: str) -> ChatModel | None:
        if name == EXTRACTIVE:
            return None
        if name not in self.models:
            settings = ModelSettings(name, base_url=self.running.model, prices={name: PRICE})
            self.models[name] = ChatModel(settings)
        return self.models[name]

    async def run(
        self,
        question: Question,
        knobs: Mapping[str, Any] | None = None,
        *,
        variant: Variant = AS_IT_IS,
        model: str = HONEST,
        store: MemoryStore | None = None,
        prices: Prices | None = None,
        commands: Sequence[str] = (),
    ) -> Ran:
        """Research one question to the end. `knobs` by their fields' names; `commands` are kinds
        that people gave while the first round was under way.

        With a `store` that holds entries the run is a replay as far as they go; costs then
        come from the engine's own meter, which counts what is replayed, instead of the log.
        """
        config = ResearchConfig.model_validate(dict(knobs or {}))
        store = store or MemoryStore()
        replay = bool(store.entries)
        tools = variant.tools(Tools(self.search, self.fetch, SystemClock(), self.model(model)))
        inbox = Told([{"kind": kind} for kind in commands])
        asked = Asked(question.text, TODAY, agreed=True, verifier=QUALIFIED)
        self.running.reset()
        wall, cpu = time.perf_counter(), time.process_time()
        found = await run_in_memory(
            asked, tools, config, rules=variant.rules, store=store, inbox=inbox
        )
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        resource, log = run_resource(found.records), self.running.log()
        figures = figures_of(
            self.running, question, resource, log, store, wall, cpu, replay, prices
        )  # fmt: skip
        return Ran(found.records, resource, store, found.divergences, figures)
