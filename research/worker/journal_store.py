"""A run's journal in the database, its inbox of commands, and the gate that its calls pass."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from research.engine.config import ResearchConfig
from research.engine.journal import Entry
from research.engine.ports import Fetch, Page, Search, SearchAnswer, SearchRequest, Tools
from research.engine.records import Status
from research.fetch.page_cache import scope_of
from research.models import Command, JournalEntry, PageText, Run, RunPage
from research.models.base import key_digest
from research.runtime.db_threads import query_async
from research.worker.leases import Lease
from research.worker.writer import Work, Writer

COLUMNS = ("place", "attempt", "kind", "status", "request_hash", "request", "answer", "seconds")
PERSON = "person/"
PAUSES = ("person/pause/", "person/enough/")
COMMAND_PLACES = ("commands/", PERSON)


class DjangoStore:
    """Journal store for one execution of a run; an entry is durable once `put` returns.

    `written` counts the entries since the store was opened.
    """

    def __init__(
        self,
        lease: Lease,
        writer: Writer,
        *,
        owner_id: int | None = None,
        extractor_version: str = "",
        gate: CallGate | None = None,
    ) -> None:
        self.lease = lease
        self.writer = writer
        self.owner_id = owner_id
        self.extractor_version = extractor_version
        self.gate = gate or CallGate()
        self.written = 0
        self._texts: dict[str, str] = {}

    async def load(self) -> list[Entry]:
        return await self.writer.call(load_entries, self.lease.run_id)

    async def put(self, entry: Entry) -> None:
        """Write an entry. A user's answer ends the wait in the same transaction, so that no page
        asks a question that was already answered. While the worker drains, no model call begins.
        """
        if entry.status == "pending":
            await self.gate.enter(self.lease, entry.place)
        answered = entry.place.startswith(PERSON)
        work = Work(
            self.lease,
            (self._row(entry),),
            columns=_goes_on(entry) if answered else {},
            then=_taking(entry),
            visible=answered,
        )
        await self.writer.write(work)
        self.written += 1
        if entry.status != "pending":
            self.gate.leave(self.lease, entry.place)

    async def put_page(self, page: Page) -> None:
        """Queue a page; it becomes durable together with the next entry, which refers to it."""
        self._texts[page.sha256] = page.text
        scope = scope_of(page, self.owner_id)
        text = PageText(
            id=PageText.id_for(scope, page.sha256),
            sha256=page.sha256,
            scope=scope,
            text=page.text,
            extractor_version=self.extractor_version,
        )
        use = RunPage(
            run_id=self.lease.run_id, page=text, url=page.url, url_key=key_digest(page.url)
        )
        self.writer.post(Work(self.lease, (text, use), visible=False))

    async def page_text(self, sha256: str) -> str:
        if sha256 not in self._texts:
            text = await self.writer.call(read_page_text, self.lease.run_id, sha256)
            self._texts[sha256] = text
        return self._texts[sha256]

    def _row(self, entry: Entry) -> JournalEntry:
        columns = {name: getattr(entry, name) for name in COLUMNS}
        return JournalEntry(run_id=self.lease.run_id, place_key=key_digest(entry.place), **columns)


def _goes_on(entry: Entry) -> dict[str, str]:
    """Return the status after a wait: research after a pause, intake after a question or plan."""
    paused = entry.place.startswith(PAUSES)
    return {"status": (Status.RESEARCHING if paused else Status.INTAKE).value, "asks": ""}


class RecordedStore:
    """Read-only store of a run's journal; entries put by a replay or what-if stay in memory."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.entries: list[Entry] = []
        self._texts: dict[str, str] = {}

    async def load(self) -> list[Entry]:
        return await query_async(load_entries, self.run_id)

    async def put(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def put_page(self, page: Page) -> None:
        self._texts[page.sha256] = page.text

    async def page_text(self, sha256: str) -> str:
        if sha256 not in self._texts:
            self._texts[sha256] = await query_async(read_page_text, self.run_id, sha256)
        return self._texts[sha256]


class DjangoInbox:
    """Pending commands, in the order in which they were given."""

    def __init__(self, run_id: int, writer: Writer) -> None:
        self.run_id = run_id
        self.writer = writer

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        return await self.writer.call(pending_commands, self.run_id, kinds)


def config_at_start(run: Run) -> ResearchConfig:
    """Return the configuration that a run began with; its commands say how it was changed."""
    began = run.commands.filter(payload__has_key="depth_before").order_by("pk").first()
    depth = {"research_depth": began.payload["depth_before"]} if began else {}
    return ResearchConfig.model_validate({**run.config, **depth})


def load_entries(run_id: int) -> list[Entry]:
    rows = JournalEntry.objects.filter(run_id=run_id).order_by("pk").values(*COLUMNS)
    return [Entry(**row) for row in rows]


def read_page_text(run_id: int, sha256: str) -> str:
    """Return a page text that this run fetched; texts of other runs can't be read by their hash."""
    pages = PageText.objects.filter(uses__run_id=run_id, sha256=sha256)
    text: str = pages.values_list("text", flat=True)[:1].get()
    return text


def pending_commands(run_id: int, kinds: frozenset[str]) -> list[dict[str, Any]]:
    waiting = Command.objects.filter(
        run_id=run_id, taken_at_place__isnull=True, kind__in=sorted(kinds)
    )
    return [
        {**payload, "id": pk, "kind": kind}
        for pk, kind, payload in waiting.order_by("pk").values_list("pk", "kind", "payload")
    ]


def _taking(entry: Entry) -> Callable[[], object] | None:
    """Return the function that marks the commands taken by this entry, for its transaction."""
    if not entry.place.startswith(COMMAND_PLACES) or not entry.answer:
        return None
    answers = entry.answer if isinstance(entry.answer, list) else [entry.answer]
    taken = [each["id"] for answer in answers for each in (answer, *answer.get("beside", ()))]
    return partial(_mark_taken, taken, entry.place)


def _mark_taken(ids: list[int], place: str) -> None:
    Command.objects.filter(pk__in=ids).update(taken_at_place=place)


class CallGate:
    """Counts calls under way. Once closed, a further call waits until its run is cancelled.

    A model call passes with its pending journal entry and leaves with its settled one; so what
    was not begun leaves no pending entry.
    """

    def __init__(self) -> None:
        self._closed = False
        self._under_way: set[tuple[Lease | None, object]] = set()
        self._changed = asyncio.Event()

    async def enter(self, lease: Lease | None, key: object) -> None:
        if self._closed:
            await asyncio.Event().wait()
        self._under_way.add((lease, key))

    def leave(self, lease: Lease | None, key: object) -> None:
        self._under_way.discard((lease, key))
        self._changed.set()

    def forget(self, lease: Lease) -> None:
        """Drop the calls of a run that this process no longer executes."""
        self._under_way = {each for each in self._under_way if each[0] != lease}
        self._changed.set()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        key = object()
        await self.enter(None, key)
        try:
            yield
        finally:
            self.leave(None, key)

    def shut(self) -> None:
        """Let no further call begin."""
        self._closed = True

    async def drain(self, seconds: float) -> None:
        """Shut the gate and wait at most `seconds` for calls under way."""
        self.shut()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._under_way:
                    self._changed.clear()
                    await self._changed.wait()


@dataclass(frozen=True)
class _GatedSearch:
    search_tool: Search
    gate: CallGate

    async def search(self, request: SearchRequest) -> SearchAnswer:
        async with self.gate.call():
            return await self.search_tool.search(request)


@dataclass(frozen=True)
class _GatedFetch:
    fetch_tool: Fetch
    gate: CallGate

    async def fetch(self, url: str) -> Page:
        async with self.gate.call():
            return await self.fetch_tool.fetch(url)


def gated_tools(tools: Tools, gate: CallGate) -> Tools:
    """Return tools whose searches and fetches pass the gate; model calls do so in the journal."""
    return replace(
        tools, search=_GatedSearch(tools.search, gate), fetch=_GatedFetch(tools.fetch, gate)
    )
