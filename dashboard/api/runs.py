"""Runs: starting, listing, reading, steering, following and deleting them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Annotated, Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from ninja import Header, Router, Status

from dashboard.api import events
from dashboard.api.asking import Asked, start_run
from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.api.schemas import (
    Answers,
    Approval,
    CommandOut,
    DigDeeper,
    Instruction,
    NewCommand,
    NewRun,
    Plain,
    Revision,
    RunOut,
    RunPage,
    RunSummary,
    Topic,
)
from dashboard.queries import queries
from dashboard.queries.queries import Head
from research.models import Command, Run
from research.readmodel.run_json import run_resource
from research.services import deleting, runs

router = Router(tags=["runs"])

LastEventId = Annotated[str | None, Header(alias="Last-Event-ID", pattern=r"^[0-9]{0,18}$")]
JSON = "application/json; charset=utf-8"
EVENTS = {
    200: {
        "description": "Events",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    204: {"description": "The run has ended, and nothing follows."},
}

PLAIN: dict[str, Callable[..., Command]] = {
    "skip": runs.skip_questions,
    "same_topic": runs.keep_topic,
    "new_topic": runs.start_anew,
    "stop": runs.stop_and_report,
    "plan_by_code": runs.plan_by_code,
    "finish_by_code": runs.finish_by_code,
    "cancel": runs.request_cancel,
    "pause": runs.pause_run,
    "resume": runs.resume_run,
    "retry": runs.retry_run,
}
INSTRUCTIONS = {"instruct": runs.instruct, "drop_instruction": runs.drop_instruction}
TOPICS = {"add_topic": runs.add_topic, "drop_topic": runs.drop_topic}


@router.post("", response={201: RunOut}, summary="Start a run")
def create_run(
    request: HttpRequest, payload: NewRun, idempotency_key: IdempotencyKey = None
) -> HttpResponse:
    """With an `Idempotency-Key`, repeating the request returns the same run."""
    knobs = payload.settings | ({"research_depth": payload.depth} if payload.depth else {})
    asked = Asked(
        payload.question, knobs, payload.sources or "", payload.collections, payload.ask_first
    )
    return created_run(start_run(request.auth, asked, idempotency_key))


@router.get("", response=RunPage, summary="List runs, newest first")
def list_runs(request: HttpRequest, paging: Paging) -> dict[str, Any]:
    found = runs.visible_to(request.auth.user).select_related("thread")
    shown, following = page_of(found, paging)
    return {"items": [run_summary(run) for run in shown], "next_cursor": following}


@router.get("/{run_id}", response={200: RunOut, 304: None}, summary="Read a run")
def read_run(request: HttpRequest, run_id: str) -> HttpResponse:
    """Send the `ETag` of the last answer as `If-None-Match`: 304 means that nothing has changed."""
    head = queries.find_head(request.auth.user, run_id)
    body, etag = run_body(head)
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    answer = HttpResponse(body, content_type=JSON, headers=headers)
    return get_conditional_response(request, etag=etag, response=answer)


@router.delete("/{run_id}", response={204: None}, summary="Delete an ended run")
def delete_run(request: HttpRequest, run_id: str) -> Status[None]:
    deleting.delete_run(request.auth.user, queries.find_run(request.auth.user, run_id))
    return Status(204, None)


@router.get("/{run_id}/record", response=dict[str, Any], summary="Read everything of a run")
def read_record(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Return the same object as the JSON export and `research --json`."""
    return run_resource(queries.find_run(request.auth.user, run_id))


@router.post("/{run_id}/commands", response={202: CommandOut}, summary="Steer a run")
def send_command(
    request: HttpRequest,
    run_id: str,
    payload: NewCommand,
    idempotency_key: IdempotencyKey = None,
) -> Status[CommandOut]:
    """`control.possible` of the run's progress lists the commands that are allowed now."""
    actor = request.auth.user
    run = queries.find_run(actor, run_id)
    store, rows = partial(store_command, actor, run, payload), Command.objects.filter(run=run)
    row = make_once(request, idempotency_key, payload, rows, store, field="pk")
    out = CommandOut(kind=row.kind, at=row.created_at, taken=row.taken_at_place is not None)
    return Status(202, out)


@router.get(
    "/{run_id}/events",
    summary="Follow a run as server-sent events",
    openapi_extra={"responses": EVENTS},
)
def follow_run(
    request: HttpRequest, run_id: str, last_event_id: LastEventId = None
) -> HttpResponseBase:
    """Each `progress` event is the whole progress payload, its id the run's sequence number.

    The stream ends with the run. With `Last-Event-ID` it begins at the next change; status 204
    means that the run has ended and nothing follows. `retry` holds the milliseconds to wait before
    reconnecting.
    """
    sent = int(last_event_id or -1)
    run = queries.find_head(request.auth.user, run_id)
    if run.ended and run.sequence <= sent:
        return HttpResponse(status=204)
    return events.event_stream(events.progress_events(run.public_id, sent, run.sequence))


def store_command(actor: Any, run: Run, command: NewCommand) -> Command:
    """Send a command to a run. Raise `ServiceError` if the run's state doesn't allow it."""
    match command:
        case Answers():
            return runs.answer_questions(actor, run, command.answers)
        case Approval():
            terms = command.terms.model_dump(exclude_none=True) if command.terms else None
            consent = command.searches_private_words
            return runs.approve_plan(
                actor, run, command.sub_questions, terms, consent, command.depth
            )
        case Revision():
            return runs.send_back(actor, run, command.comment, command.depth)
        case Topic():
            return TOPICS[command.kind](actor, run, command.topic)
        case Instruction():
            return INSTRUCTIONS[command.kind](actor, run, command.text)
        case DigDeeper():
            return runs.dig_deeper(actor, run, command.rounds)
        case Plain():
            return PLAIN[command.kind](actor, run)


def run_summary(run: Run) -> RunSummary:
    return RunSummary(
        id=run.public_id,
        thread=run.thread.public_id,
        question=run.question,
        kind=run.kind,
        reason=run.reason,
        status=run.status,
        termination_reason=run.termination_reason,
        quality_score=run.quality_score,
        created_at=run.created_at,
        finished_at=run.finished_at,
    )


def created_run(run: Run) -> HttpResponse:
    """Return the response to a request that has created the run, which may have begun by now."""
    return HttpResponse(_write_body(run.public_id), status=201, content_type=JSON)


_writing = tuple(threading.Lock() for _ in range(events.RUNS_KEPT))
"""Ensures that a state which many clients poll is written once; runs rarely share a lock."""


def run_body(run: Head) -> tuple[bytes, str]:
    """Return a run as JSON, written once for each of its states, with its entity tag."""
    with _writing[hash(run.public_id) % len(_writing)]:
        return _written_body(run.public_id, run.sequence, run.parent)


@lru_cache(maxsize=events.RUNS_KEPT)
def _written_body(public_id: str, sequence: int, parent: int | None) -> tuple[bytes, str]:
    """Write the run as committed at `sequence` or later; deleting its parent doesn't change it."""
    body = _write_body(public_id)
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def _write_body(public_id: str) -> bytes:
    run = Run.objects.select_related("thread", "parent").filter(public_id=public_id).first()
    if run is None:
        raise Http404("no such run")
    out = RunOut(
        **run_summary(run).model_dump(),
        parent=run.parent.public_id if run.parent else None,
        questions=(run.plan or {}).get("questions", []) if run.waiting else [],
        plan=run.plan,
        progress=events.shared_progress(run),
    )
    return out.model_dump_json().encode()
