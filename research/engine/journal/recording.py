"""Journal entries and their store; what a journal repeats because it is settled, and records."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol
from weakref import WeakValueDictionary

from research.engine.budget.meter import Meter
from research.engine.journal.forms import NEWEST, OLDEST, Form
from research.engine.ports import Page, Tools
from research.engine.records import Record, key_of
from research.errors import PlumblineError

EntryKind = Literal["model", "search", "fetch", "decision"]
EntryStatus = Literal["pending", "done", "failed", "refused"]


@dataclass(frozen=True)
class Entry:
    """One journaled call or decision. Key: (place, attempt); seconds are wall time."""

    place: str
    attempt: int
    kind: EntryKind
    status: EntryStatus
    request_hash: str
    request: Mapping[str, Any]
    answer: Any = None
    seconds: float = 0.0


class Store(Protocol):
    """Storage of a journal. `put` returns once the entry is durable."""

    async def load(self) -> list[Entry]: ...

    async def put(self, entry: Entry) -> None: ...

    async def put_page(self, page: Page) -> None: ...

    async def page_text(self, sha256: str) -> str: ...


class MemoryStore:
    """A journal that lives as long as the process: for scripts and tests."""

    def __init__(self) -> None:
        self.entries: dict[tuple[str, int], Entry] = {}
        self.texts: dict[str, str] = {}

    async def load(self) -> list[Entry]:
        return list(self.entries.values())

    async def put(self, entry: Entry) -> None:
        self.entries[entry.place, entry.attempt] = entry

    async def put_page(self, page: Page) -> None:
        self.texts[page.sha256] = page.text

    async def page_text(self, sha256: str) -> str:
        return self.texts[sha256]


class JournalEndsError(PlumblineError):
    """A replay without live tools asked for something that was never recorded."""

    def __init__(self, place: str) -> None:
        super().__init__(f"The journal ends before {place}.")
        self.place = place


EARLIER_FORM = (
    "This run was begun by an earlier version of Plumbline, which this one can't continue. "
    "Its report stays readable; ask the question again to research it anew."
)


class EarlierFormError(PlumblineError):
    """The journal is of a form that is neither continued nor replayed."""

    def __init__(self) -> None:
        super().__init__(EARLIER_FORM)


class ParkedError(PlumblineError):
    """The run waits for a person; nothing stays in memory until a command arrives."""

    def __init__(self, waiting_for: str) -> None:
        super().__init__(f"waiting for {waiting_for}")
        self.waiting_for = waiting_for


class Inbox(Protocol):
    """Commands of people that no boundary has taken yet."""

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]: ...


class EmptyInbox:
    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        return []


def make_storable(found: Any) -> Any:
    """Without NUL and lone surrogates, which JSON can spell and no store can keep."""
    if isinstance(found, str):
        return found.replace("\0", "").encode(errors="replace").decode()
    if isinstance(found, list | tuple):
        return [make_storable(part) for part in found]
    if isinstance(found, dict):
        return {key: make_storable(part) for key, part in found.items()}
    return found


def digest_of(value: object) -> str:
    """Return a stable hash of JSON-like data."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class InFlight:
    """A lock per key, kept as long as it is held or awaited.

    A caller that gets the lock checks the record first, because the previous computation may have
    settled the key. If that one was cancelled or failed, the caller computes.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()

    def alone(self, place: str, attempt: int = 1) -> asyncio.Lock:
        """Return the lock of this place and attempt, for an `async with`."""
        return self._locks.setdefault((place, attempt), asyncio.Lock())


class Recording:
    """Settled parts of a run: entries by place, decisions, and records held back.

    Setting `interrupted` ends a round's waiting, so that a command takes effect at the next
    boundary.
    """

    def __init__(
        self,
        store: Store,
        tools: Tools | None,
        meter: Meter,
        receive: Callable[[Record], None],
        inbox: Inbox,
    ) -> None:
        self.store = store
        self.tools = tools
        self.meter = meter
        self._receive = receive
        self._held_back: dict[tuple[object, ...], Record] = {}
        self._catching_up = False
        self.inbox = inbox
        self.interrupted = asyncio.Event()
        self.replayed = 0
        self.live = 0
        self.divergences: list[str] = []
        self.paid_twice: list[str] = []
        self._entries: dict[tuple[str, int], Entry] = {}
        self._in_flight = InFlight()
        self._active_before = 0.0
        self._opened_at = 0.0

    async def open(self) -> None:
        """Read what is recorded; a pending model call may have been paid for already."""
        for entry in await self.store.load():
            self._remember(entry)
        self.paid_twice = [
            entry.place
            for entry in self._entries.values()
            if entry.kind == "model" and entry.status == "pending"
        ]
        self.meter.fetched = sum(
            entry.kind == "fetch" and entry.status != "refused" for entry in self._entries.values()
        )
        self._catching_up = bool(self._entries)
        self._active_before = max(
            (e.answer for e in self._entries.values() if e.place.startswith("clock/")), default=0.0
        )
        self._opened_at = self.tools.clock.monotonic() if self.tools else 0.0

    # --- records -----------------------------------------------------------------------

    @property
    def catching_up(self) -> bool:
        """Return whether everything so far was answered from the record."""
        return self._catching_up

    def emit(self, record: Record) -> None:
        """Hand a record on; while catching up, only the last of each key, at the end of it."""
        if self._catching_up:
            self._held_back[key_of(record)] = record
        else:
            self._receive(record)

    def _go_live(self) -> None:
        if self._catching_up:
            self._catching_up = False
            for record in self._held_back.values():
                self._receive(record)
            self._held_back.clear()

    # --- decisions ---------------------------------------------------------------------

    async def decide_once(self, place: str, compute: Callable[[], Awaitable[Any]]) -> Any:
        """Return the recorded decision of this place, or the one computed now, recorded.

        Asked for several times at once, it is computed once, and used when it is durable.
        """
        async with self._in_flight.alone(place):
            entry = self._entries.get((place, 1))
            if entry is not None:
                self.replayed += 1
                return entry.answer
            self._live_tools(place)
            self.live += 1
            value = await compute()
            entry = await self._put(Entry(place, 1, "decision", "done", "", {}, value))
            return entry.answer

    async def form(self) -> Form:
        """Return the form of research that this run began with, journaled when it begins.

        Raises `EarlierFormError` for one that is no longer supported; a journal without any was
        begun before there were forms.
        """
        is_begun = any(entry.kind in {"model", "search"} for entry in self._entries.values())
        if is_begun and ("form", 1) not in self._entries:
            raise EarlierFormError

        async def read() -> int:
            return int(NEWEST)

        number = await self.decide_once("form", read)
        if number < OLDEST:
            raise EarlierFormError
        return Form(number)

    async def elapsed(self, place: str) -> float:
        """Active seconds of the run so far: journaled, so that decisions can rest on it."""

        async def read() -> float:
            return round(self.active_seconds(), 3)

        seconds: float = await self.decide_once(f"clock/{place}", read)
        self.meter.seconds = seconds
        return seconds

    def active_seconds(self) -> float:
        """Time in which a worker had the run; waiting for a person does not count."""
        if self.tools is None:
            return self._active_before
        return self._active_before + self.tools.clock.monotonic() - self._opened_at

    async def now(self, place: str) -> str:
        """Return the time of day at this place, ISO 8601: journaled like every reading."""
        clock = self.tools.clock if self.tools else None

        async def read() -> str:
            assert clock is not None
            return clock.now().isoformat()

        moment: str = await self.decide_once(f"time/{place}", read)
        return moment

    async def commands(self, place: str, kinds: frozenset[str]) -> list[dict[str, Any]]:
        """Return the commands of people that are taken at this boundary."""
        taken: list[dict[str, Any]] = await self.decide_once(
            f"commands/{place}", lambda: self.inbox.take(kinds)
        )
        return taken

    async def wait_for_person(
        self, place: str, kinds: frozenset[str], beside: frozenset[str] = frozenset()
    ) -> dict[str, Any]:
        """Return a person's answer at this place; raises `ParkedError` until there is one.

        Its `beside` has the commands of those kinds that were given before it, if there are any.
        """
        async with self._in_flight.alone(f"person/{place}"):
            entry = self._entries.get((f"person/{place}", 1))
            if entry is None:
                self._live_tools(place)
                waiting = await self.inbox.take(kinds)
                if not waiting:
                    await self.elapsed(f"waiting/{place}")
                    raise ParkedError(place)
                said = await self.inbox.take(beside) if beside else []
                given = {**waiting[0], "beside": said} if said else waiting[0]
                entry = Entry(f"person/{place}", 1, "decision", "done", "", {}, given)
                await self._put(entry)
        answer: dict[str, Any] = entry.answer
        return answer

    # --- the record --------------------------------------------------------------------

    def _find_recorded(self, place: str, attempt: int, request: Mapping[str, Any]) -> Entry | None:
        entry = self._entries.get((place, attempt))
        if entry is None or entry.status == "pending":
            return None
        if entry.request_hash != digest_of(request):
            self.divergences.append(place)
        self.replayed += 1
        return entry

    def _live_tools(self, place: str) -> Tools:
        if self.tools is None:
            raise JournalEndsError(place)
        self._go_live()
        return self.tools

    async def _put(self, entry: Entry) -> Entry:
        if entry.status != "pending" and entry.kind != "decision":
            self.live += 1
        entry = replace(entry, answer=make_storable(entry.answer))
        self._remember(entry)
        await self.store.put(entry)
        return entry

    def _remember(self, entry: Entry) -> None:
        """Store an entry; drop the request of a settled one, since its hash identifies it."""
        if entry.status != "pending":
            entry = replace(entry, request={})
        self._entries[entry.place, entry.attempt] = entry
