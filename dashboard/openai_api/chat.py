"""`POST /v1/chat/completions`: progress as reasoning, the checked report as content.

What chat clients ask by themselves is answered at once (`housekeeping`).
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from typing import Any

from asgiref.sync import sync_to_async
from channels.db import database_sync_to_async
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from ninja import Router
from pydantic import BaseModel, ConfigDict, Field

from dashboard.api.asking import Asked
from dashboard.api.events import event_bytes, event_stream
from dashboard.api.schemas import Storable
from dashboard.openai_api.errors import InvalidRequestError
from dashboard.openai_api.reports import FinalReport, load_report
from dashboard.openai_api.request import (
    check_length,
    find_depth,
    find_ready_answer,
    read_conversation,
)
from dashboard.openai_api.runs import (
    find_or_start,
    find_parent,
    load_run,
    progress_lines,
    request_key,
    wait_for_end,
)
from research.models import Run

router = Router(tags=["chat"])
DONE = b"data: [DONE]\n\n"
READY = "chatcmpl-0"
"""Id of completions without a run."""
NOTHING_USED = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatRequest(Storable):
    """The fields that are used; sampling parameters and the like have no effect."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[dict[str, Any]] = Field(min_length=1)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: int | None = 1
    tool_choice: Any = None


@router.post("/chat/completions", summary="Research the last user message")
async def create_completion(request: HttpRequest, payload: ChatRequest) -> HttpResponseBase:
    depth = find_depth(payload.model)
    if (payload.n or 1) != 1:
        raise InvalidRequestError("Only one completion can be made.", "n")
    ready = find_ready_answer(payload.messages, "messages")
    if ready is not None:
        return _ready_answer(payload, ready)
    if payload.tool_choice not in (None, "auto", "none"):
        raise InvalidRequestError("No tool is called here, so none can be required.", "tool_choice")
    conversation = read_conversation(payload.messages, "messages")
    check_length(conversation.question, "messages")
    key = request_key("chat", payload.model_dump(), request.headers.get("Idempotency-Key"))
    asked = Asked(conversation.question, {"research_depth": depth}, keeps_searches=True)
    parent = await sync_to_async(find_parent)(request.auth, conversation.earlier)
    run = await sync_to_async(find_or_start)(request.auth, asked, key, parent)
    if payload.stream:
        return event_stream(_stream_run(payload, run))
    ended = await wait_for_end(request, run)
    report = await sync_to_async(load_report)(ended)
    return JsonResponse(completion_object(payload.model, ended, report))


def completion_object(model: str, run: Run, report: FinalReport) -> dict[str, Any]:
    message = {
        "role": "assistant",
        "content": report.text,
        "annotations": _chat_annotations(report),
    }
    return _completion(model, _run_id(run), message) | {"usage": chat_usage(run)}


def chat_usage(run: Run) -> dict[str, int]:
    prompt, completion = (run.usage.get(f"{name}_tokens", 0) for name in ("prompt", "completion"))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _ready_answer(payload: ChatRequest, text: str) -> HttpResponseBase:
    message = _ready_message(payload, text)
    if payload.stream:
        return event_stream(_stream_message(payload, message))
    return JsonResponse(_completion(payload.model, READY, message) | {"usage": NOTHING_USED})


def _ready_message(payload: ChatRequest, text: str) -> dict[str, Any]:
    """Return the text as a message, or as the call of the function that the client requires."""
    required = payload.tool_choice if isinstance(payload.tool_choice, dict) else {}
    name = (required.get("function") or {}).get("name")
    if name is None:
        return {"role": "assistant", "content": text}
    called = {"name": name, "arguments": text}
    call = {"id": "call_0", "type": "function", "function": called}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


async def _stream_message(
    payload: ChatRequest, message: dict[str, Any]
) -> AsyncGenerator[bytes, None]:
    calls = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls", ()))]
    yield _chunk(payload.model, READY, message | ({"tool_calls": calls} if calls else {}))
    yield _chunk(payload.model, READY, {}, "stop")
    if _includes_usage(payload):
        yield _usage_chunk(payload.model, READY, NOTHING_USED)
    yield DONE


async def _stream_run(payload: ChatRequest, run: Run) -> AsyncGenerator[bytes, None]:
    model, id = payload.model, _run_id(run)
    yield _chunk(model, id, {"role": "assistant", "content": ""})
    try:
        async for line in progress_lines(run.public_id):
            yield _chunk(model, id, {"reasoning_content": f"{line}\n"})
        ended = await database_sync_to_async(load_run)(run.public_id)
        report = await database_sync_to_async(load_report)(ended)
    except InvalidRequestError as failure:
        yield event_bytes(json.dumps(failure.body()))
        return
    for text in report.chunks():
        yield _chunk(model, id, {"content": text})
    if report.annotations:
        yield _chunk(model, id, {"annotations": _chat_annotations(report)})
    yield _chunk(model, id, {}, "stop")
    if _includes_usage(payload):
        yield _usage_chunk(model, id, chat_usage(ended))
    yield DONE


def _includes_usage(payload: ChatRequest) -> bool:
    return payload.stream_options is not None and payload.stream_options.include_usage


def _usage_chunk(model: str, id: str, usage: dict[str, int]) -> bytes:
    return _event(_base(model, id, "chat.completion.chunk", []) | {"usage": usage})


def _completion(model: str, id: str, message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return _base(model, id, "chat.completion", [choice])


def _chunk(model: str, id: str, delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
    return _event(_base(model, id, "chat.completion.chunk", [choice]))


def _base(model: str, id: str, kind: str, choices: list[Any]) -> dict[str, Any]:
    return {
        "id": id,
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": choices,
    }


def _event(body: dict[str, Any]) -> bytes:
    return event_bytes(json.dumps(body, ensure_ascii=False))


def _run_id(run: Run) -> str:
    return f"chatcmpl-{run.public_id}"


def _chat_annotations(report: FinalReport) -> list[dict[str, Any]]:
    """Return the annotations as chat completions nest them."""
    return [
        {
            "type": "url_citation",
            "url_citation": {name: value for name, value in each.items() if name != "type"},
        }
        for each in report.annotations
    ]
