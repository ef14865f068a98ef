"""Searches of a run as items of a response, and the events that tell of them.

A search of documents is a `file_search_call`, any other one a `web_search_call`. A run that
searches both asks the documents first; what then goes to the web is an item of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from research.models import JournalEntry
from research.runtime.source_choices import DOCUMENTS

FILES, WEB = "file_search", "web_search"

Object = dict[str, Any]


@dataclass(frozen=True)
class Search:
    """A search of the journal, shown as an item of one kind."""

    entry: JournalEntry
    kind: str
    query: str

    @property
    def id(self) -> str:
        return f"{'fs' if self.kind == FILES else 'ws'}_{self.entry.pk}"

    @property
    def is_pending(self) -> bool:
        return self.entry.status == "pending"

    def status(self, is_over: bool) -> str:
        if self.is_pending:
            return "failed" if is_over else "in_progress"
        return "failed" if self.entry.status == "failed" else "completed"

    def item(self, status: str) -> Object:
        shown = {"id": self.id, "type": f"{self.kind}_call", "status": status}
        if self.kind == FILES:
            return {**shown, "queries": [self.query], "results": None}
        return {**shown, "action": {"type": "search", "query": self.query, "queries": [self.query]}}


def searches_of(entry: JournalEntry, names: Sequence[str]) -> Iterator[Search]:
    """Yield a search of the journal by where it went; `names` are the searches of the run."""
    query = str(entry.request.get("query", ""))
    if DOCUMENTS not in names:
        yield Search(entry, WEB, query)
        return
    yield Search(entry, FILES, query)
    private = entry.request.get("private_words", ())
    public = " ".join(word for word in query.split() if word not in private)
    if set(names) > {DOCUMENTS} and public and _went_on(entry):
        yield Search(entry, WEB, public)


def _went_on(entry: JournalEntry) -> bool:
    """Return whether a settled search asked the web after the documents.

    Documents that suffice leave no note; otherwise a note says what they lacked.
    """
    if entry.status == "pending":
        return False
    answer = entry.answer or {}
    elsewhere = any(hit["provider"] != DOCUMENTS for hit in answer.get("hits", ()))
    return entry.status == "failed" or elsewhere or bool(answer.get("notes"))


def begun_events(search: Search, index: int) -> Iterator[Object]:
    """Yield the events of a search that has begun, the item at `index` of the output."""
    where = {"item_id": search.id, "output_index": index}
    item = search.item("in_progress")
    yield {"type": "response.output_item.added", "output_index": index, "item": item}
    yield {"type": f"response.{search.kind}_call.in_progress", **where}
    yield {"type": f"response.{search.kind}_call.searching", **where}


def done_events(search: Search, index: int) -> Iterator[Object]:
    where = {"item_id": search.id, "output_index": index}
    item = search.item(search.status(True))
    yield {"type": f"response.{search.kind}_call.completed", **where}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}
