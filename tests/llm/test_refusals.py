"""Servers that refuse a field, a role or a length, each in the words that it has for it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.llm.client import NO_EFFORT, NO_TEMPERATURE, ChatModel
from research.llm.settings import ModelSettings
from tests.support.model_server import says
from tests.support.serving import LoopbackServer, Reply, json_reply

Body = dict[str, Any]
Rule = Callable[[Body], Any]
"""The error that a server answers a request with, None where it takes it."""
REQUEST = ModelRequest("read", "You read.", "# QUESTION\nHow old?\n", {"type": "object"}, 3000)


class Picky(LoopbackServer):
    """Refuses what a rule has something against; a rule's error may be bare words."""

    def __init__(self, *rules: Rule, status: int = 400) -> None:
        super().__init__()
        self.rules = rules
        self.status = status
        self.got: list[Body] = []

    def reply(self, path: str, body: bytes) -> Reply:
        request = json.loads(body)
        self.got.append(request)
        for rule in self.rules:
            if isinstance(error := rule(request), Reply):
                return error
            if error is not None:
                told = error if isinstance(error, dict) else {"error": {"message": error}}
                return json_reply(told, self.status)
        return says('{"a": 1}', b"x" * 400)


def without(field: str, error: Any) -> Rule:
    return lambda request: error if field in request else None


def form_is(form: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda request: (request.get("response_format") or {}).get("type") == form


def asked(server: Picky, times: int = 1, **more: Any) -> list[ModelAnswer | ModelFailedError]:
    async def ask() -> list[ModelAnswer | ModelFailedError]:
        model = ChatModel(ModelSettings("m", base_url=server.url("/v1"), **more))
        found: list[ModelAnswer | ModelFailedError] = []
        for _ in range(times):
            try:
                found.append(await model.complete(REQUEST))
            except ModelFailedError as failure:
                found.append(failure)
        await model.aclose()
        return found

    return asyncio.run(ask())


def texts(found: list[ModelAnswer | ModelFailedError]) -> list[str]:
    return [each.text if isinstance(each, ModelAnswer) else each.reason for each in found]


GOOD = '{"a": 1}'


# --- a field that is not taken --------------------------------------------------------------

SCHEMA_WORDS = [
    "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
    "This response_format type is unavailable now",
    "This model does not support response format `json_schema`.",
    "Unknown name \"additionalProperties\" at 'generation_config.response_schema'",
    "failed to parse grammar",
    "Structured outputs are not available for this provider",
    {"detail": [{"type": "literal_error", "loc": ["body", "response_format", "type"],
                 "msg": "Input should be 'text' or 'json_object'"}]},
    {"object": "error", "message": "guided decoding: json_schema is off", "code": 400},
    {"error": "upstream error: provider returned 400"},
]  # fmt: skip


@pytest.mark.parametrize("words", SCHEMA_WORDS, ids=range(len(SCHEMA_WORDS)))
@pytest.mark.parametrize("status", [400, 422])
def test_a_refused_schema_is_sent_once(words: Any, status: int) -> None:
    takes_schema = form_is("json_schema")
    with Picky(lambda r: words if takes_schema(r) else None, status=status) as server:
        assert texts(asked(server, times=2)) == [GOOD, GOOD]
    assert [takes_schema(request) for request in server.got] == [True, False, False]
    assert form_is("json_object")(server.got[-1])


@pytest.mark.parametrize(
    "words",
    ["'response_format.type' must be 'json_schema' or 'text'", "Bad request"],
)
def test_a_server_that_takes_no_form_is_asked_in_words(words: str) -> None:
    with Picky(without("response_format", words)) as server:
        assert texts(asked(server, times=2)) == [GOOD, GOOD]
    assert ["response_format" in request for request in server.got] == [True, True, False, False]
    assert "One JSON object of this schema" in server.got[-1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    "field, words",
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.2 with this model. "
                        "Only the default (1) value is supported."),
        ("temperature", "temperature is not supported for reasoning models with a json_schema"),
        ("temperature", {"error": {"message": "Unsupported value for this reasoning model.",
                                   "param": "temperature"}}),
        ("reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"),
        ("reasoning_effort", '"llama3.2" does not support thinking'),
        ("reasoning_effort", {"detail": [{"type": "extra_forbidden",
                                          "loc": ["body", "reasoning_effort"], "input": "low"}]}),
    ],
)  # fmt: skip
def test_only_the_field_that_is_named_is_given_up(field: str, words: Any) -> None:
    with Picky(without(field, words)) as server:
        found = asked(server, times=2, temperature=0.2, reasoning_effort="low")
    fields = {"temperature", "reasoning_effort", "response_format"}
    assert [fields - set(request) for request in server.got] == [set(), {field}, {field}]
    note = NO_TEMPERATURE if field == "temperature" else NO_EFFORT
    assert [each.notes for each in found if isinstance(each, ModelAnswer)] == [(note,), (note,)]


def test_where_nothing_is_named_all_goes_that_can_be_done_without() -> None:
    with Picky(without("temperature", "Bad request")) as server:
        assert texts(asked(server, times=2, temperature=0.2)) == [GOOD, GOOD]
    assert len(server.got) == 5


def test_a_refusal_that_nothing_helps_is_not_walked_through_twice() -> None:
    with Picky(lambda request: "Bad request") as server:
        assert set(texts(asked(server, times=3))) == {"the model's server refused the request"}
    assert len(server.got) == 3 + 1 + 1


def test_what_a_refusal_repeats_of_the_request_says_nothing() -> None:
    pages = "The model was not found. Its context window is 4096. No API key; system role refused."
    refusal = {"detail": [{"type": "extra_forbidden", "loc": ["body", "temperature"],
                           "input": {"messages": [pages]}}]}  # fmt: skip
    with Picky(without("temperature", refusal), status=422) as server:
        assert texts(asked(server, temperature=0.2)) == [GOOD]
    assert server.got[-1]["messages"][0]["role"] == "system" and len(server.got) == 2


# --- the system message ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Developer instruction is not enabled for models/gemma-3-27b-it",
        "System role not supported",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Only user and assistant roles are supported!",
        'messages: Unexpected role "system".',
    ],
)
@pytest.mark.parametrize("status", [400, 500])
def test_where_the_system_message_is_refused_its_words_open_the_prompt(
    words: str, status: int
) -> None:
    def rule(request: Body) -> Any:
        return words if request["messages"][0]["role"] == "system" else None

    with Picky(rule, status=status) as server:
        assert texts(asked(server, times=2)) == [GOOD, GOOD]
    assert len(server.got) == 3
    [message] = server.got[-1]["messages"]
    assert message["role"] == "user"
    assert message["content"].startswith("You read.\n\n# QUESTION\nHow old?")


# --- the length of the answer ---------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        "max_tokens is too large: 3000. This model supports at most 2,048 completion tokens, "
        "whereas you provided 3000.",
        "max_tokens: 3000 > 2048, which is the maximum allowed number of output tokens for m-4",
        "`max_tokens` must be less than or equal to `2048`, the maximum value for `max_tokens` is "
        "less than the `context_window` for this model",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 2048]",
        "Invalid max_tokens value, the valid range of max_tokens is [1,2048]",
    ],
)
def test_where_answers_are_limited_no_longer_one_is_asked_for(words: str) -> None:
    def rule(request: Body) -> Any:
        return words if request["max_tokens"] > 2048 else None

    with Picky(rule) as server:
        assert texts(asked(server, times=2)) == [GOOD, GOOD]
    assert [request["max_tokens"] for request in server.got] == [3000, 2048, 2048]


@pytest.mark.parametrize(
    "words",
    [
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead.",
        {"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"], "input": 3000}]},
    ],
)
def test_the_other_name_is_used_and_the_effort_stays(words: Any) -> None:
    with Picky(without("max_tokens", words)) as server:
        assert texts(asked(server, times=2, reasoning_effort="low")) == [GOOD, GOOD]
    assert len(server.got) == 3
    assert server.got[-1]["max_completion_tokens"] == 3000 and "reasoning_effort" in server.got[-1]


# --- what is remembered ---------------------------------------------------------------------


def test_what_was_named_is_remembered_where_the_next_try_fails_for_another_reason() -> None:
    busy = [json_reply({"error": "busy"}, 503)]

    def once(request: Body) -> Reply | None:
        return busy.pop() if "temperature" not in request and busy else None

    with Picky(without("temperature", "temperature is not supported"), once) as server:
        assert texts(asked(server, times=2, temperature=0.2))[1] == GOOD
    assert ["temperature" in request for request in server.got] == [True, False, False]


def test_what_one_call_found_out_is_kept_by_another_that_began_before() -> None:
    """One asks for a whole answer and waits long; one streams meanwhile, and is refused that."""
    streamed = threading.Event()

    def slowly(request: Body) -> None:
        if "stream" not in request:
            streamed.wait(10)

    with Picky(without("stream_options", "stream_options is not known"), slowly) as server:

        async def scenario() -> None:
            model = ChatModel(ModelSettings("m", base_url=server.url("/v1")))
            whole = asyncio.create_task(model.complete(REQUEST))
            while not server.got:
                await asyncio.sleep(0.01)
            await model.stream(REQUEST, lambda text: None)
            streamed.set()
            await whole
            await model.stream(REQUEST, lambda text: None)
            await model.aclose()

        asyncio.run(scenario())
    assert ["stream_options" in request for request in server.got] == [False, True, False, False]
