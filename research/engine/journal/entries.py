"""Journal entries, their store, and the ways in which a journal ends or waits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from research.engine.ports import Page
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


class JournalEnds(PlumblineError):
    """A replay without live tools asked for something that was never recorded."""

    def __init__(self, place: str) -> None:
        super().__init__(f"The journal ends before {place}.")
        self.place = place


class Parked(PlumblineError):
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
