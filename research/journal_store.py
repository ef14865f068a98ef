"""A run's journal in the database, and the commands that people left for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from research.connections import asked
from research.engine.journal import Entry
from research.engine.records import Status
from research.engine.tools import Page
from research.leases import Lease
from research.models import Command, JournalEntry, PageText, Run, RunPage
from research.models.base import key_digest
from research.scopes import scope_of
from research.writer import Work, Writer

COLUMNS = ("place", "attempt", "kind", "status", "request_hash", "request", "answer", "seconds")
PERSON = "person/"
PAUSES = ("person/pause/", "person/enough/")
COMMAND_PLACES = ("commands/", PERSON)


class DjangoStore:
    """The journal of one advance of one run: what `put` returned from is durable.

    `written` counts the entries since it was opened.
    """

    def __init__(
        self,
        lease: Lease,
        writer: Writer,
        *,
        owner_id: int | None = None,
        extractor_version: str = "",
    ) -> None:
        self.lease = lease
        self.writer = writer
        self.owner_id = owner_id
        self.extractor_version = extractor_version
        self.written = 0
        self._texts: dict[str, str] = {}

    async def load(self) -> list[Entry]:
        return await self.writer.call(load_entries, self.lease.run_id)

    async def put(self, entry: Entry) -> None:
        """What a person answered ends the waiting in the same transaction, so that no page
        asks again what was just answered."""
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

    async def put_page(self, page: Page) -> None:
        """Queued: durable with the entry that names it, which is written after it."""
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
    """A run that was paused goes on researching; one that waited for its plan is taken in."""
    paused = entry.place.startswith(PAUSES)
    return {"status": (Status.RESEARCHING if paused else Status.INTAKE).value, "asks": ""}


class RecordedStore:
    """A run's journal to read from: what a replay or a what-if puts stays in memory."""

    def __init__(self, run: Run) -> None:
        self.run_id = run.pk
        self.entries: list[Entry] = []
        self._texts: dict[str, str] = {}

    async def load(self) -> list[Entry]:
        return await asked(load_entries, self.run_id)

    async def put(self, entry: Entry) -> None:
        self.entries.append(entry)

    async def put_page(self, page: Page) -> None:
        self._texts[page.sha256] = page.text

    async def page_text(self, sha256: str) -> str:
        if sha256 not in self._texts:
            self._texts[sha256] = await asked(read_page_text, self.run_id, sha256)
        return self._texts[sha256]


class DjangoInbox:
    """Commands that no boundary has taken, in the order in which they were given."""

    def __init__(self, run_id: int, writer: Writer) -> None:
        self.run_id = run_id
        self.writer = writer

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        return await self.writer.call(untaken, self.run_id, kinds)


def load_entries(run_id: int) -> list[Entry]:
    rows = JournalEntry.objects.filter(run_id=run_id).order_by("pk").values(*COLUMNS)
    return [Entry(**row) for row in rows]


def read_page_text(run_id: int, sha256: str) -> str:
    """A text that this run fetched; another's is not to be had by its hash."""
    pages = PageText.objects.filter(uses__run_id=run_id, sha256=sha256)
    text: str = pages.values_list("text", flat=True)[:1].get()
    return text


def untaken(run_id: int, kinds: frozenset[str]) -> list[dict[str, Any]]:
    waiting = Command.objects.filter(
        run_id=run_id, taken_at_place__isnull=True, kind__in=sorted(kinds)
    )
    return [
        {**payload, "id": pk, "kind": kind}
        for pk, kind, payload in waiting.order_by("pk").values_list("pk", "kind", "payload")
    ]


def _taking(entry: Entry) -> Callable[[], object] | None:
    """Marks the commands that this entry took, in its own transaction."""
    if not entry.place.startswith(COMMAND_PLACES) or not entry.answer:
        return None
    answers = entry.answer if isinstance(entry.answer, list) else [entry.answer]
    taken = [answer["id"] for answer in answers]
    return partial(_mark_taken, taken, entry.place)


def _mark_taken(ids: list[int], place: str) -> None:
    Command.objects.filter(pk__in=ids).update(taken_at_place=place)
