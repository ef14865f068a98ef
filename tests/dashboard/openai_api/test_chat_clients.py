"""Whole requests as Open WebUI and LibreChat document them, over HTTP, streamed and not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest

from tests.browser.serving import Server
from tests.dashboard.openai_api import client_prompts as prompts
from tests.dashboard.openai_api.conftest import QUESTION

pytestmark = [pytest.mark.subprocess, pytest.mark.slow]

MODEL = "plumbline-quick"
SAID = "How old do oaks get"
FUNCTION = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}
TITLE_SCHEMA = {
    "type": "object",
    "properties": {"language": {"type": "string"}, "title": {"type": "string"}},
    "required": ["language", "title"],
    "additionalProperties": False,
}

OPEN_WEBUI = {
    "stream": True,
    "model": MODEL,
    "params": {},
    "tool_servers": [],
    "tool_ids": ["server:weather"],
    "features": {"image_generation": False, "code_interpreter": False, "web_search": False},
    "variables": {"{{USER_NAME}}": "Ada", "{{CURRENT_DATE}}": "2026-11-24"},
    "model_item": {"id": MODEL, "object": "model", "owned_by": "openai", "urlIdx": 0},
    "session_id": "k3X9",
    "chat_id": "5a0e4b1c-7f2d-4a35-9d53-0c6f8a1b2c3d",
    "id": "0b9d8c7e-6f5a-4b3c-8d2e-1f0a9b8c7d6e",
    "background_tasks": {
        "title_generation": True,
        "tags_generation": True,
        "follow_up_generation": True,
    },
    "stream_options": {"include_usage": True},
    "tools": [FUNCTION],
}
LIBRECHAT = {
    "model": MODEL,
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "user": "6710f0d2a4b1c9e8f7d6a5b4",
    "stream": True,
    "stream_options": {"include_usage": True},
}


@pytest.fixture
def api(server: Server, token: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=60) as client:
        yield client


def message(content: Any, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": content}


def complete(api: httpx.Client, body: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, int]]:
    """Post the request; return the message, put together if it was streamed, and its usage."""
    answer = api.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    if not body.get("stream"):
        made = answer.json()
        assert made["choices"][0]["finish_reason"] == "stop"
        return made["choices"][0]["message"], made["usage"]
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert lines.pop() == "[DONE]"
    chunks = [json.loads(line) for line in lines if not line.startswith(":")]
    usage = chunks.pop()["usage"] if body.get("stream_options") else {}
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
    content = "".join(delta.get("content") or "" for delta in deltas)
    return {**deltas[0], "content": content}, usage


def count_runs(api: httpx.Client) -> int:
    return len(api.get("/api/v1/runs?limit=100").json()["items"])


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("client", [OPEN_WEBUI, LIBRECHAT])
@pytest.mark.parametrize("in_parts", [True, False])
def test_a_question_with_everything_that_the_client_sends_is_researched(
    api: httpx.Client, client: dict[str, Any], stream: bool, in_parts: bool
) -> None:
    asked = [{"type": "text", "text": QUESTION}] if in_parts else QUESTION
    messages = [message("You are Ada's assistant.", "system"), message(asked)]
    body = {**client, "messages": messages, "stream": stream}
    if not stream:
        del body["stream_options"]
    answer, usage = complete(api, body)
    assert "lives for about 600 years" in answer["content"].replace("**", "")
    assert usage["total_tokens"] == 0


OPEN_WEBUI_TASKS = {
    "title_generation": (prompts.TITLE, {"title": SAID}),
    "tags_generation": (prompts.TAGS, {"tags": []}),
    "follow_up_generation": (prompts.FOLLOW_UPS, {"follow_ups": []}),
    "query_generation": (prompts.QUERIES, {"queries": []}),
    "autocomplete_generation": (prompts.AUTOCOMPLETE, {"text": ""}),
    "image_prompt_generation": (prompts.IMAGE, {"prompt": prompts.NEXT}),
    "function_calling": (prompts.TOOLS, {"tool_calls": []}),
    "emoji_generation": (prompts.EMOJI, "💬"),
    "context_compaction": (prompts.OLDER_COMPACTION, f"Questions so far:\n- {prompts.QUESTION}"),
}
LIMITS = {
    "title_generation": {"max_tokens": 1000},
    "emoji_generation": {"max_tokens": 4},
    "autocomplete_generation": {"max_completion_tokens": 50},
}
"""Of the answer, in both names that a limit has."""


def task_body(task: str, prompt: str, *, stream: bool) -> dict[str, Any]:
    """Return a task with all that the client's server may forward with it."""
    told = {
        "user_id": "1d8f",
        "chat_id": "5a0e4b1c",
        "message_id": "0b9d",
        "session_id": "k3X9",
        "files": [{"type": "file", "id": "f1", "name": "oak.md", "status": "uploaded"}],
        "features": {"web_search": False},
        "task": task,
        "task_body": {"model": MODEL, "messages": [message(QUESTION)], "chat_id": "5a0e4b1c"},
    }
    body = {"model": MODEL, "messages": [message(prompt)], "stream": stream, "metadata": told}
    return body | LIMITS.get(task, {})


def as_task_answer(text: str, expected: Any) -> Any:
    return text if isinstance(expected, str) else json.loads(text)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("task", OPEN_WEBUI_TASKS)
def test_a_task_of_open_webui_starts_no_research(
    api: httpx.Client, task: str, stream: bool
) -> None:
    before = count_runs(api)
    prompt, expected = OPEN_WEBUI_TASKS[task]
    answer, _ = complete(api, task_body(task, prompt, stream=stream))
    assert as_task_answer(answer["content"], expected) == expected
    assert count_runs(api) == before


@pytest.mark.parametrize("task", OPEN_WEBUI_TASKS)
def test_a_task_that_open_webui_converts_to_a_response_starts_no_research(
    api: httpx.Client, task: str
) -> None:
    before = count_runs(api)
    prompt, expected = OPEN_WEBUI_TASKS[task]
    body = {"model": MODEL, "stream": False, "max_output_tokens": 1000}
    part = {"type": "input_text", "text": prompt}
    given = [{"type": "message", "role": "user", "content": [part]}]
    answer = api.post("/v1/responses", json={**body, "input": given})
    assert answer.status_code == 200, answer.text
    [item] = answer.json()["output"]
    assert as_task_answer(item["content"][0]["text"], expected) == expected
    assert count_runs(api) == before


@pytest.mark.parametrize("prompt", [prompts.CHECKPOINT, prompts.COMPACTION])
def test_a_summary_of_the_conversation_starts_no_research(api: httpx.Client, prompt: str) -> None:
    before = count_runs(api)
    said = [message(QUESTION), message("About 600 years.", "assistant"), message(prompt)]
    answer, _ = complete(api, {**LIBRECHAT, "messages": said})
    assert answer["content"].endswith(f"Questions so far:\n- {QUESTION}")
    assert count_runs(api) == before


def test_a_question_after_one_with_an_image_is_researched(api: httpx.Client) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": ""}}
    shown = message([{"type": "text", "text": "Which tree is it?"}, image])
    said = [shown, message("An oak.", "assistant"), message(QUESTION)]
    answer, _ = complete(api, {**LIBRECHAT, "messages": said})
    assert "lives for about 600 years" in answer["content"].replace("**", "")
    refused = api.post("/v1/chat/completions", json={**LIBRECHAT, "messages": [shown]})
    assert refused.status_code == 400
    assert refused.json()["error"]["param"] == "messages"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("role", ["user", "system"])
def test_a_title_for_librechat_starts_no_research(
    api: httpx.Client, role: str, stream: bool
) -> None:
    before = count_runs(api)
    body = {**LIBRECHAT, "stream": stream, "temperature": 0.2, "max_tokens": 16}
    if not stream:
        del body["stream_options"]
    answer, _ = complete(api, {**body, "messages": [message(prompts.COMPLETION_TITLE, role)]})
    assert answer["content"] == SAID
    assert count_runs(api) == before


@pytest.mark.parametrize("stream", [True, False])
def test_a_structured_title_comes_in_the_form_that_is_required(
    api: httpx.Client, stream: bool
) -> None:
    """As a JSON object where a schema is given, as the call of a function where one is required."""
    expected = {"language": "en", "title": SAID}
    body = {"model": MODEL, "stream": stream, "messages": [message(prompts.STRUCTURED_TITLE)]}
    schema = {"name": "extract", "strict": True, "schema": TITLE_SCHEMA}
    told, _ = complete(
        api, {**body, "response_format": {"type": "json_schema", "json_schema": schema}}
    )
    assert json.loads(told["content"]) == expected
    function = {"type": "function", "function": {"name": "extract", "parameters": TITLE_SCHEMA}}
    choice = {"type": "function", "function": {"name": "extract"}}
    called, _ = complete(api, {**body, "tools": [function], "tool_choice": choice})
    [call] = called["tool_calls"]
    assert call["function"]["name"] == "extract"
    assert json.loads(call["function"]["arguments"]) == expected


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("place", ["input", "instructions"])
def test_a_task_sent_as_a_response_starts_no_research(
    api: httpx.Client, place: str, stream: bool
) -> None:
    before = count_runs(api)
    given = {"input": "Conversation above.", place: prompts.INSTRUCTED_TITLE}
    answer = api.post("/v1/responses", json={"model": MODEL, "stream": stream, **given})
    assert answer.status_code == 200, answer.text
    if stream:
        lines = [line for line in answer.text.splitlines() if line.startswith("data: ")]
        events = [json.loads(line.removeprefix("data: ")) for line in lines]
        assert [event["sequence_number"] for event in events] == list(range(len(events)))
        assert events[0]["type"] == "response.created"
        assert events[-1]["type"] == "response.completed"
        made = events[-1]["response"]
    else:
        made = answer.json()
    assert made["status"] == "completed"
    assert made["output"][0]["content"][0]["text"] == SAID
    assert made["usage"]["total_tokens"] == 0
    assert count_runs(api) == before
