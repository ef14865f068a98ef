"""A response made from a run's committed rows, and the events that led to it.

Events are a function of the searches in the order of the journal and of the report. While a run
goes on, the list only grows, so an event's number is its place in the list and nothing is stored.

A search of documents is a `file_search_call`, any other one a `web_search_call`. A run that
searches both asks the documents first; what then goes to the web is an item of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dashboard.models import StoredResponse
from dashboard.openai_api.chat import chat_usage
from dashboard.openai_api.errors import DELETED, InvalidRequestError
from dashboard.openai_api.reports import WAIT_REASONS, FinalReport, load_report
from research.engine.records import Status
from research.models import JournalEntry, Run
from research.runtime.source_choices import DOCUMENTS

PREFIX = "resp_"
STATUSES = {
    Status.QUEUED: "queued",
    Status.COMPLETED: "completed",
    Status.FAILED: "failed",
    Status.CANCELLED: "cancelled",
    **dict.fromkeys(WAIT_REASONS, "failed"),
}
"""Of a response by the run's status; others are "in_progress". Nothing here ends a wait."""

CUT_SHORT = frozenset(
    {"budget_time", "budget_calls", "budget_tokens", "budget_cost", "budget_searches"}
    | {"budget_fetches"}
)
FINAL_EVENT = {"cancelled": "failed"}
"""The final event of a status, if it is not named like it: there is none for a cancelled one."""

Object = dict[str, Any]


FILES, WEB = "file_search", "web_search"


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
    answer: dict[str, Any] = entry.answer or {}
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


@dataclass(frozen=True)
class Progressed:
    """What the rows of a response's run say now; `report` is None until there is one.

    `rounds` are the decisions after its rounds, if the request wants a summary of the reasoning.
    """

    run: Run
    request: Object
    searches: Sequence[Search] = ()
    rounds: Sequence[str] = ()
    report: FinalReport | None = None
    failure: str = ""
    created: float = 0.0
    output: list[Object] = field(default_factory=list)

    @property
    def status(self) -> str:
        if self.run.status == Status.COMPLETED and self.run.termination_reason in CUT_SHORT:
            return "incomplete"
        return STATUSES.get(Status(self.run.status), "in_progress")

    @property
    def is_over(self) -> bool:
        return self.status not in ("queued", "in_progress")


def load_progressed(stored: StoredResponse) -> Progressed:
    """Read the rows of a response's run; one that was deleted meanwhile has failed."""
    run = Run.objects.filter(pk=stored.run_id).first()
    if run is None:
        failed = Run(public_id=stored.run.public_id, status=Status.FAILED)
        created = stored.created.timestamp()
        return Progressed(failed, stored.request, [], (), None, DELETED, created)
    entries = run.journal.filter(kind="search", attempt=1).order_by("pk")
    names = run.sources.get("search", ())
    searches = [each for entry in entries for each in searches_of(entry, names)]
    rounds = (
        _summarise_rounds(run) if (stored.request.get("reasoning") or {}).get("summary") else ()
    )
    report, failure = None, ""
    if run.ended or run.waiting:
        try:
            report = load_report(run)
        except InvalidRequestError as error:
            failure = str(error)
    created = stored.created.timestamp()
    return Progressed(run, stored.request, searches, rounds, report, failure, created)


def response_object(now: Progressed, *, status: str = "", output: bool = True) -> Object:
    """Return the response as of now, or with an earlier `status` and no output for an event."""
    status = status or now.status
    error = {"code": "server_error", "message": now.failure} if status == "failed" else None
    why = {"reason": "max_output_tokens"} if status == "incomplete" else None
    items = _output(now) if output else []
    return {
        "id": response_id(now.run),
        "object": "response",
        "created_at": now.created,
        "status": status,
        "error": error,
        "incomplete_details": why,
        "output": items,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "usage": _usage(now.run) if output and now.is_over else None,
        **now.request,
    }


def build_events(now: Progressed) -> list[Object]:
    """Return all events up to now; each has its place as `sequence_number`."""
    return [{**event, "sequence_number": place} for place, event in enumerate(_events(now))]


def response_id(run: Run) -> str:
    return f"{PREFIX}{run.public_id}"


def _events(now: Progressed) -> Iterator[Object]:
    begun = response_object(now, status="in_progress", output=False)
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, search in enumerate(now.searches):
        yield from begun_events(search, index)
        if search.is_pending and not now.is_over:
            return
        yield from done_events(search, index)
    if not now.is_over:
        return
    if now.rounds:
        yield from _reasoning_events(now)
    if now.report is not None:
        yield from _message_events(now, now.report)
    final = FINAL_EVENT.get(now.status, now.status)
    yield {"type": f"response.{final}", "response": response_object(now)}


def _output(now: Progressed) -> list[Object]:
    items = [search.item(search.status(now.is_over)) for search in now.searches]
    if now.rounds and now.is_over:
        items.append(_reasoning(now))
    return [*items, *([_message(now.run, now.report)] if now.report else [])]


# --- the reasoning -----------------------------------------------------------------------


def _summarise_rounds(run: Run) -> list[str]:
    closed = run.rounds.filter(closed=True).exclude(decision="").order_by("number")
    return [f"Round {each.number}: {each.decision}" for each in closed]


def _reasoning_events(now: Progressed) -> Iterator[Object]:
    index, item = len(now.searches), _reasoning(now)
    begun = {**item, "status": "in_progress", "summary": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    for place, part in enumerate(item["summary"]):
        where = {"item_id": item["id"], "output_index": index, "summary_index": place}
        kind, text = "response.reasoning_summary", part["text"]
        empty = {**part, "text": ""}
        yield {"type": f"{kind}_part.added", **where, "part": empty}
        yield {"type": f"{kind}_text.delta", **where, "delta": text}
        yield {"type": f"{kind}_text.done", **where, "text": text}
        yield {"type": f"{kind}_part.done", **where, "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _reasoning(now: Progressed) -> Object:
    return {
        "id": f"rs_{now.run.public_id}",
        "type": "reasoning",
        "status": "completed",
        "summary": [{"type": "summary_text", "text": text} for text in now.rounds],
    }


# --- the message -------------------------------------------------------------------------


def _message_events(now: Progressed, report: FinalReport) -> Iterator[Object]:
    index, item = len(now.searches) + bool(now.rounds), _message(now.run, report)
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    begun = {**item, "status": "in_progress", "content": []}
    empty = {"type": "output_text", "text": "", "annotations": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": begun}
    yield {"type": "response.content_part.added", **where, "part": empty}
    for text in report.chunks():
        yield {"type": "response.output_text.delta", **where, "delta": text, "logprobs": []}
    for place, annotation in enumerate(report.annotations):
        told = {"annotation": annotation, "annotation_index": place}
        yield {"type": "response.output_text.annotation.added", **where, **told}
    yield {"type": "response.output_text.done", **where, "text": report.text, "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": item["content"][0]}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _message(run: Run, report: FinalReport) -> Object:
    text = {"type": "output_text", "text": report.text, "annotations": report.annotations}
    return {
        "id": f"msg_{run.public_id}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [text],
    }


def _usage(run: Run) -> Object:
    used = chat_usage(run)
    return {
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used["total_tokens"],
    }
