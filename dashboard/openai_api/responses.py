"""`/v1/responses`: research in the foreground, streamed, or in the background with polling."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Annotated, Any

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from ninja import Query, Router
from pydantic import ConfigDict

from dashboard.api.asking import Asked
from dashboard.api.auth import Caller
from dashboard.api.events import event_bytes, event_stream, progress_states
from dashboard.api.schemas import Storable
from dashboard.models import StoredResponse
from dashboard.openai_api.errors import InvalidRequestError
from dashboard.openai_api.reports import FinalReport
from dashboard.openai_api.request import (
    check_choice,
    check_length,
    choose_searches,
    find_depth,
    find_ready_answer,
    read_conversation,
)
from dashboard.openai_api.response_objects import (
    PREFIX,
    Progressed,
    build_events,
    load_progressed,
    response_id,
    response_object,
)
from dashboard.openai_api.runs import find_or_start, find_parent, request_key
from dashboard.serving.handler import without_slot
from research.engine.knobs import ConfigError
from research.engine.records import WAITING, Status
from research.models import Run
from research.services import deleting, runs
from research.services.errors import ServiceError

router = Router(tags=["responses"])

REPEATED = (
    *("model", "instructions", "metadata", "tools", "background", "previous_response_id"),
    *("reasoning", "max_tool_calls"),
)
"""Fields of a request that its response repeats."""


class ResponseRequest(Storable):
    """The fields that are used; sampling parameters and the like have no effect."""

    model_config = ConfigDict(extra="allow")

    model: str
    input: str | list[dict[str, Any]]
    instructions: str | list[Any] | None = None
    tools: list[Any] | None = None
    tool_choice: Any = None
    max_tool_calls: Annotated[int | None, Query(ge=1)] = None
    background: bool | None = False
    stream: bool | None = False
    metadata: dict[str, str] | None = None
    reasoning: dict[str, Any] | None = None
    previous_response_id: str | None = None


@router.post("", summary="Research the input")
async def create_response(request: HttpRequest, payload: ResponseRequest) -> HttpResponseBase:
    """What a chat client asks by itself is answered at once, and neither stored nor billed."""
    find_depth(payload.model)
    ready = find_ready_answer([*_instructing(payload), *_messages(payload)], "input")
    if ready is not None:
        return _ready_answer(payload, ready)
    check_choice(payload.tool_choice)
    key = request_key("responses", payload.model_dump(), request.headers.get("Idempotency-Key"))
    stored = await sync_to_async(start_response)(request.auth, payload, key)
    if payload.stream:
        return event_stream(stream_events(stored))
    if not payload.background:
        async with without_slot(request):
            await wait_until_over(stored)
    return await sync_to_async(_answer)(stored)


@router.get("/{response_id}", summary="Read a response, or stream its events")
async def read_response(
    request: HttpRequest,
    response_id: str,
    stream: bool = False,
    starting_after: Annotated[int, Query(ge=-1)] = -1,
) -> HttpResponseBase:
    """`starting_after` is the sequence number of the last event that was received."""
    stored = await sync_to_async(find_response)(request.auth, response_id)
    if stream:
        return event_stream(stream_events(stored, starting_after))
    return await sync_to_async(_answer)(stored)


@router.post("/{response_id}/cancel", summary="Cancel a response in the background")
def cancel_response(request: HttpRequest, response_id: str) -> HttpResponse:
    stored = find_response(request.auth, response_id)
    if not stored.request.get("background"):
        raise InvalidRequestError(
            "Only a response in the background can be cancelled.", "response_id"
        )
    if not stored.run.ended:
        runs.request_cancel(request.auth.user, stored.run)
    now = load_progressed(stored)
    return JsonResponse(response_object(now, status=now.status if now.run.ended else "cancelled"))


@router.delete("/{response_id}", summary="Delete an ended response with its run")
def delete_response(request: HttpRequest, response_id: str) -> dict[str, Any]:
    deleting.delete_run(request.auth.user, find_response(request.auth, response_id).run)
    return {"id": response_id, "object": "response", "deleted": True}


def start_response(caller: Caller, payload: ResponseRequest, key: str) -> StoredResponse:
    """Start the research of a request, or find that of its earlier attempt."""
    depth = find_depth(payload.model)
    searches = choose_searches(payload.tools or [])
    asked_for = read_conversation(_messages(payload), "input")
    check_length(asked_for.question, "input")
    knobs = {**searches.knobs, "research_depth": depth}
    if payload.max_tool_calls is not None:
        knobs["max_searches"] = payload.max_tool_calls
    asked = Asked(
        asked_for.question,
        knobs,
        searches.source,
        searches.collections,
        keeps_searches=not payload.tools,
    )
    earlier = _find_earlier(caller, payload, asked_for.earlier)
    try:
        run = find_or_start(caller, asked, key, earlier)
    except (ServiceError, ConfigError) as error:
        raise searches.refusal(error) from None
    rows = StoredResponse.objects.select_related("run")
    return rows.get_or_create(run=run, defaults={"request": _repeated(payload)})[0]


def find_response(caller: Caller, id: str) -> StoredResponse:
    """Return a response of this user. Raise `Http404` also for those of others."""
    found = StoredResponse.objects.select_related("run").filter(
        run__owner=caller.user, run__thread__deleted_at=None
    )
    stored = found.filter(run__public_id=id.removeprefix(PREFIX)).first()
    if stored is None or not id.startswith(PREFIX):
        raise Http404("no such response")
    return stored


async def stream_events(stored: StoredResponse, after: int = -1) -> AsyncGenerator[bytes, None]:
    """Yield the events with a number above `after`, until the response is over."""
    sent = after
    async with aclosing(progress_states(stored.run.public_id)) as states:
        async for _ in states:
            now = await database_sync_to_async(load_progressed)(stored)
            for event in build_events(now)[sent + 1 :]:
                sent = event["sequence_number"]
                yield _event_line(event)
            if now.is_over:
                return
    # deleted meanwhile, with the journal from which the numbers of the events follow
    last = build_events(await database_sync_to_async(load_progressed)(stored))[-1]
    last["sequence_number"] = sent + 1
    yield _event_line(last)


async def wait_until_over(stored: StoredResponse) -> None:
    async with aclosing(progress_states(stored.run.public_id)) as states:
        async for state in states:
            if state.ended or state.progress.run.status in WAITING:
                return


def _find_earlier(caller: Caller, payload: ResponseRequest, question: str) -> Run | None:
    """Return the run that the request continues: of the response that it names, else of the
    question before in its input.
    """
    if payload.previous_response_id is None:
        return find_parent(caller, question)
    try:
        earlier = find_response(caller, payload.previous_response_id).run
    except Http404:
        text = f"There is no response {payload.previous_response_id!r}."
        raise InvalidRequestError(text, "previous_response_id") from None
    if not earlier.ended:
        text = f"The response {payload.previous_response_id!r} is not completed."
        raise InvalidRequestError(text, "previous_response_id")
    return earlier if earlier.status == Status.COMPLETED and earlier.plan is not None else None


def _messages(payload: ResponseRequest) -> list[dict[str, Any]]:
    given = payload.input
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _instructing(payload: ResponseRequest) -> list[dict[str, Any]]:
    given = payload.instructions
    return [{"role": "developer", "content": given}] if isinstance(given, str) else []


def _repeated(payload: ResponseRequest) -> dict[str, Any]:
    repeated = {name: getattr(payload, name) for name in REPEATED}
    return repeated | {"tools": payload.tools or [], "background": bool(payload.background)}


def _ready_answer(payload: ResponseRequest, text: str) -> HttpResponseBase:
    """Return a completed response without a run, which can't be read again."""
    run = Run(status=Status.COMPLETED)
    now = Progressed(run, _repeated(payload), report=FinalReport(text), created=time.time())
    if payload.stream:
        return event_stream(_in_turn(_event_line(event) for event in build_events(now)))
    return JsonResponse(response_object(now))


async def _in_turn(lines: Iterable[bytes]) -> AsyncGenerator[bytes, None]:
    for line in lines:
        yield line


def _event_line(event: dict[str, Any]) -> bytes:
    return event_bytes(json.dumps(event, ensure_ascii=False), event["type"])


def _answer(stored: StoredResponse) -> HttpResponse:
    response = JsonResponse(response_object(load_progressed(stored)))
    response.headers["X-Request-Id"] = response_id(stored.run)
    return response
