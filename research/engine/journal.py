"""The journal: every outside call and every decision of a run, keyed by its place.

The engine reaches the outside only through a `Journal`. A call whose place is already
settled is answered from the record; so a resume and a replay are the same thing as a
run, only cheaper. A place is a path such as `round/2/unit/1/read`, never a content or a
database id; a retry is a new attempt at the same place.

Order of writing: a pending entry before a model call is made, the settled entry before
its answer is used. What was settled is never paid for again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol

from pydantic import TypeAdapter

from research.engine.budget import REPORT_TASKS, BudgetSpent, Meter
from research.engine.records import Action, Record, key_of
from research.engine.tools import (
    FetchFailure,
    MeasuredModel,
    Model,
    ModelAnswer,
    ModelFailure,
    ModelRequest,
    Page,
    SearchAnswer,
    SearchFailure,
    SearchRequest,
    StreamingModel,
    Tools,
)

LONGEST_WAIT_SECONDS = 20.0
WORDS_SHOWN = 25

TIME_IS_UP = ModelFailure("the run's time was up before the model answered", permanent=True)
TOO_SLOW = SearchFailure("The search did not answer in time.")

EntryKind = Literal["model", "search", "fetch", "decision"]
EntryStatus = Literal["pending", "done", "failed", "refused"]

PAGE: TypeAdapter[Page] = TypeAdapter(Page)
SEARCH: TypeAdapter[SearchAnswer] = TypeAdapter(SearchAnswer)
MODEL: TypeAdapter[ModelAnswer] = TypeAdapter(ModelAnswer)


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
    """Where a journal lives. `put` returns once the entry is durable."""

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


class JournalEnds(Exception):
    """A replay without live tools asked for something that was never recorded."""

    def __init__(self, place: str) -> None:
        super().__init__(f"The journal ends before {place}.")
        self.place = place


class Parked(Exception):
    """The run waits for a person: nothing is held in memory until a command comes."""

    def __init__(self, waiting_for: str) -> None:
        super().__init__(f"waiting for {waiting_for}")
        self.waiting_for = waiting_for


class Inbox(Protocol):
    """Commands of people that no boundary has taken yet."""

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]: ...


class EmptyInbox:
    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        return []


def digest(value: object) -> str:
    """A stable hash of JSON-like data."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


class Journal:
    """The engine's only way to the outside.

    `tools` None makes it a replay: what was not recorded raises `JournalEnds`.
    `receive` gets every record the engine emits; it must not block. `analyst` is
    "extractive" or the model's name, as frozen in the run. Setting `interrupted` ends a
    round's waiting, so that a command takes effect at the next boundary.
    """

    def __init__(
        self,
        store: Store,
        tools: Tools | None,
        meter: Meter,
        receive: Callable[[Record], None] = lambda record: None,
        inbox: Inbox | None = None,
        analyst: str = "extractive",
        backoff_seconds: float = 0.5,
    ) -> None:
        self.store = store
        self.tools = tools
        self.meter = meter
        self._receive = receive
        self._held_back: dict[tuple[object, ...], Record] = {}
        self._catching_up = False
        self.inbox = inbox or EmptyInbox()
        self.analyst = analyst
        self.backoff_seconds = backoff_seconds
        self.interrupted = asyncio.Event()
        self.replayed = 0
        self.live = 0
        self.divergences: list[str] = []
        self.paid_twice: list[str] = []
        self._entries: dict[tuple[str, int], Entry] = {}
        self._fetching: dict[str, asyncio.Future[Page]] = {}
        self._counted: set[str] = set()
        self._active_before = 0.0
        self._opened_at = 0.0

    async def open(self) -> None:
        """Read what is recorded; a pending model call may have been paid for already."""
        for entry in await self.store.load():
            self._entries[entry.place, entry.attempt] = entry
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
        """Whether everything so far was answered from the record."""
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

    async def decide(self, place: str, compute: Callable[[], Awaitable[Any]]) -> Any:
        """The recorded decision of this place, or the one computed now, recorded."""
        entry = self._entries.get((place, 1))
        if entry is not None:
            self.replayed += 1
            return entry.answer
        self._live(place)
        self.live += 1
        value = await compute()
        await self._put(Entry(place, 1, "decision", "done", "", {}, value))
        return value

    async def elapsed(self, place: str) -> float:
        """Active seconds of the run so far: journaled, so that decisions can rest on it."""

        async def read() -> float:
            return round(self.active_seconds(), 3)

        seconds: float = await self.decide(f"clock/{place}", read)
        self.meter.seconds = seconds
        return seconds

    def active_seconds(self) -> float:
        """Time in which a worker had the run; waiting for a person does not count."""
        if self.tools is None:
            return self._active_before
        return self._active_before + self.tools.clock.monotonic() - self._opened_at

    async def now(self, place: str) -> str:
        """The time of day at this place, ISO 8601: journaled like every reading."""
        clock = self.tools.clock if self.tools else None

        async def read() -> str:
            assert clock is not None
            return clock.now().isoformat()

        moment: str = await self.decide(f"time/{place}", read)
        return moment

    async def commands(self, place: str, kinds: frozenset[str]) -> list[dict[str, Any]]:
        """The commands of people that are taken at this boundary."""
        taken: list[dict[str, Any]] = await self.decide(
            f"commands/{place}", lambda: self.inbox.take(kinds)
        )
        return taken

    async def person(self, place: str, kinds: frozenset[str]) -> dict[str, Any]:
        """What a person answered at this place; raises `Parked` until somebody has."""
        entry = self._entries.get((f"person/{place}", 1))
        if entry is None:
            self._live(place)
            waiting = await self.inbox.take(kinds)
            if not waiting:
                raise Parked(place)
            entry = Entry(f"person/{place}", 1, "decision", "done", "", {}, waiting[0])
            await self._put(entry)
        answer: dict[str, Any] = entry.answer
        return answer

    # --- calls -------------------------------------------------------------------------

    async def context_tokens(self) -> int | None:
        """The model's window, prompt and answer together, as it was when the run first asked."""
        model = self.tools.model if self.tools else None

        async def ask() -> int | None:
            return await model.context_tokens() if isinstance(model, MeasuredModel) else None

        tokens: int | None = await self.decide("model/window", ask)
        return tokens

    async def model(self, place: str, attempt: int, request: ModelRequest) -> ModelAnswer:
        """One attempt of one model call. Raises `ModelFailure` or `BudgetSpent`."""
        entry = self._recorded(place, attempt, asdict(request))
        if entry is None:
            entry = await self._live_model(place, attempt, request)
        if entry.status == "refused":
            raise BudgetSpent(entry.answer["reason"])
        if entry.status == "failed":
            spent = entry.answer.get("spent")
            self.meter.failed_model(request.task, spent and MODEL.validate_python(spent))
            raise ModelFailure(entry.answer["reason"], permanent=entry.answer["permanent"])
        answer = MODEL.validate_python(entry.answer)
        self.meter.paid_model(request.task, answer)
        return answer

    async def _live_model(self, place: str, attempt: int, request: ModelRequest) -> Entry:
        model = self._live(place).model
        assert model is not None, "a model task needs a model"
        asked = asdict(request)
        pending = Entry(place, attempt, "model", "pending", digest(asked), asked)
        try:
            hold = self.meter.reserve_model(request)
        except BudgetSpent as spent:
            return await self._put(
                replace(pending, status="refused", answer={"reason": spent.reason})
            )
        try:
            await self._wait(place, attempt)
            await self._put(pending)
            started = self._live(place).clock.monotonic()
            try:
                async with asyncio.timeout(self._time_left()):
                    answered = await self._asked(model, request)
                answer = MODEL.dump_python(answered, mode="json")
                settled = replace(pending, status="done", answer=answer)
            except TimeoutError:
                settled = replace(pending, status="failed", answer=_failure(TIME_IS_UP))
            except ModelFailure as failure:
                settled = replace(pending, status="failed", answer=_model_failure(failure))
            seconds = self._live(place).clock.monotonic() - started
            return await self._put(replace(settled, seconds=round(seconds, 3)))
        finally:
            self.meter.release(hold)

    async def _asked(self, model: Model, request: ModelRequest) -> ModelAnswer:
        """A report is followed while it is written: its growth is shown, its text once checked."""
        if request.task not in REPORT_TASKS or not isinstance(model, StreamingModel):
            return await model.complete(request)
        shown = 0

        def hear(text: str) -> None:
            nonlocal shown
            words = len(text.split()) // WORDS_SHOWN * WORDS_SHOWN
            if words > shown:
                shown = words
                self.emit(Action(f"Writing the report: about {words:,} words so far"))

        return await model.stream(request, hear)

    def _time_left(self) -> float:
        """Seconds until the run's time budget is spent; no call may outlive it."""
        return max(0.0, self.meter.config.max_seconds - self.active_seconds())

    async def _wait(self, place: str, attempt: int) -> None:
        """Before another attempt: as long as the server asked for, else ever longer."""
        before = self._entries.get((place, attempt - 1))
        if before is None or before.status != "failed":
            return
        asked = before.answer.get("retry_after_seconds")
        wait = self.backoff_seconds * 2.0 ** (attempt - 2) if asked is None else float(asked)
        await asyncio.sleep(min(wait, LONGEST_WAIT_SECONDS))

    async def search(self, place: str, request: SearchRequest) -> SearchAnswer:
        """Raises `SearchFailure` or `BudgetSpent`."""
        entry = self._recorded(place, 1, asdict(request))
        if entry is None:
            entry = await self._live_search(place, request)
        if entry.status == "refused":
            raise BudgetSpent(entry.answer["reason"])
        self.meter.usage.searches += 1
        if entry.status == "failed":
            raise SearchFailure(entry.answer["reason"], permanent=entry.answer["permanent"])
        return SEARCH.validate_python(entry.answer)

    async def _live_search(self, place: str, request: SearchRequest) -> Entry:
        tools, asked = self._live(place), asdict(request)
        entry = Entry(place, 1, "search", "pending", digest(asked), asked)
        try:
            hold = self.meter.reserve_search()
        except BudgetSpent as spent:
            return await self._put(
                replace(entry, status="refused", answer={"reason": spent.reason})
            )
        try:
            started = tools.clock.monotonic()
            try:
                async with asyncio.timeout(self.meter.config.unit_seconds):
                    found = await tools.search.search(request)
                answer = SEARCH.dump_python(found, mode="json")
                entry = replace(entry, status="done", answer=answer)
            except TimeoutError:
                entry = replace(entry, status="failed", answer=_failure(TOO_SLOW))
            except SearchFailure as failure:
                entry = replace(entry, status="failed", answer=_failure(failure))
            seconds = tools.clock.monotonic() - started
            return await self._put(replace(entry, seconds=round(seconds, 3)))
        finally:
            self.meter.release(hold)

    async def fetch(self, url: str) -> Page:
        """One page of the run; asked for twice, it is fetched once.

        Raises `FetchFailure` or `BudgetSpent`.
        """
        if url not in self._fetching:
            task = asyncio.create_task(self._fetch(url), name=f"fetch {url}")
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._fetching[url] = task
        try:
            page = await asyncio.shield(self._fetching[url])
        except FetchFailure:
            self._used(url)
            raise
        self._used(url)
        return page

    def _used(self, url: str) -> None:
        """Count a fetch when its answer is taken: a place in the run, unlike its arrival."""
        if url not in self._counted:
            self._counted.add(url)
            self.meter.usage.fetches += 1

    async def _fetch(self, url: str) -> Page:
        place = f"fetch/{url}"
        entry = self._recorded(place, 1, {"url": url})
        if entry is None:
            entry = await self._live_fetch(place, url)
        if entry.status == "refused":
            raise BudgetSpent(entry.answer["reason"])
        if entry.status == "failed":
            raise FetchFailure(
                entry.answer["reason"],
                status=entry.answer["status"],
                permanent=entry.answer["permanent"],
            )
        text = await self.store.page_text(entry.answer["sha256"])
        return PAGE.validate_python({**entry.answer, "text": text})

    async def _live_fetch(self, place: str, url: str) -> Entry:
        tools = self._live(place)
        entry = Entry(place, 1, "fetch", "pending", digest({"url": url}), {"url": url})
        try:
            hold = self.meter.reserve_fetch()
        except BudgetSpent as spent:
            return await self._put(
                replace(entry, status="refused", answer={"reason": spent.reason})
            )
        try:
            started = tools.clock.monotonic()
            try:
                page = await tools.fetch.fetch(url)
                await self.store.put_page(page)
                answer = PAGE.dump_python(page, mode="json", exclude={"text"})
                entry = replace(entry, status="done", answer=answer)
            except FetchFailure as failure:
                answer = {**_failure(failure), "status": failure.status}
                entry = replace(entry, status="failed", answer=answer)
            seconds = tools.clock.monotonic() - started
            entry = await self._put(replace(entry, seconds=round(seconds, 3)))
            self.meter.fetched += 1
            return entry
        finally:
            self.meter.release(hold)

    def all_failed(self) -> bool:
        """Whether something was asked of the outside and not one answer came."""
        outside = [e for e in self._entries.values() if e.kind in {"search", "fetch"}]
        calls = [e for e in outside if e.status != "refused"]
        return bool(calls) and all(e.status != "done" for e in calls)

    async def close(self) -> None:
        """Hand on what is held back; cancel and await fetches that nobody waits for."""
        self._go_live()
        tasks = [task for task in self._fetching.values() if isinstance(task, asyncio.Task)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- the record --------------------------------------------------------------------

    def _recorded(self, place: str, attempt: int, request: Mapping[str, Any]) -> Entry | None:
        entry = self._entries.get((place, attempt))
        if entry is None or entry.status == "pending":
            return None
        if entry.request_hash != digest(request):
            self.divergences.append(place)
        self.replayed += 1
        return entry

    def _live(self, place: str) -> Tools:
        if self.tools is None:
            raise JournalEnds(place)
        self._go_live()
        return self.tools

    async def _put(self, entry: Entry) -> Entry:
        if entry.status != "pending" and entry.kind != "decision":
            self.live += 1
        self._entries[entry.place, entry.attempt] = entry
        await self.store.put(entry)
        return entry


def _model_failure(failure: ModelFailure) -> dict[str, Any]:
    spent = None if failure.spent is None else MODEL.dump_python(failure.spent, mode="json")
    wait = failure.retry_after_seconds
    return {**_failure(failure), "retry_after_seconds": wait, "spent": spent}


def _failure(failure: ModelFailure | SearchFailure | FetchFailure) -> dict[str, Any]:
    return {"reason": failure.reason, "permanent": failure.permanent}
