"""Answers in every shape that servers give them, whole and as a stream."""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from research.engine.budget.meter import estimate_tokens
from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.llm.client import CUT_IN_SILENCE, ChatModel
from research.llm.prices import Price
from research.llm.settings import ModelSettings
from tests.support.serving import LoopbackServer, Reply, json_reply

REQUEST = ModelRequest("read", "You read.", "# QUESTION\nHow old?\n" * 20, {"type": "object"}, 3000)
ASKED = estimate_tokens(REQUEST)
J = '{"a": "é→😀"}'
SAID = {"role": "assistant", "content": J}
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
EMPTY = "the model gave an empty answer"
BROKE_OFF = "the model's answer was cut off"


class Says(LoopbackServer):
    def __init__(self, said: Reply) -> None:
        super().__init__()
        self.said = said
        self.requests = 0

    def reply(self, path: str, body: bytes) -> Reply:
        self.requests += 1
        return self.said


def completion(message: Any = SAID, finish: Any = "stop", **more: Any) -> Reply:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return json_reply({"id": "x", "choices": [choice], "usage": USAGE, **more})


def chunk(content: Any = None, finish: Any = None, **more: Any) -> dict[str, Any]:
    delta = {} if content is None else {"content": content}
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def stream(
    *events: Any, end: str = "data: [DONE]\n\n", by: str = "\n\n", kind: str = "text/event-stream"
) -> Reply:
    lines = [f"data: {e if isinstance(e, str) else json.dumps(e)}{by}" for e in events]
    return Reply("".join([*lines, end]).encode(), content_type=kind)


def tried(
    address: str, streams: bool = False, request: ModelRequest = REQUEST, **more: Any
) -> ModelAnswer | ModelFailedError:
    async def ask() -> ModelAnswer | ModelFailedError:
        prices = {"m": Price(0.001, 0.002, 0.0001)}
        model = ChatModel(ModelSettings("m", base_url=address, prices=prices, **more))
        try:
            if streams:
                return await model.stream(request, lambda text: None)
            return await model.complete(request)
        except ModelFailedError as failure:
            return failure
        finally:
            await model.aclose()

    return asyncio.run(ask())


def got(reply: Reply, streams: bool = False) -> ModelAnswer | ModelFailedError:
    """What the client makes of it, in one request."""
    with Says(reply) as server:
        found = tried(server.url("/v1"), streams)
        assert server.requests == 1
    return found


def answer(reply: Reply, streams: bool = False) -> ModelAnswer:
    found = got(reply, streams)
    assert isinstance(found, ModelAnswer), found
    return found


def failure(reply: Reply, streams: bool = False) -> ModelFailedError:
    found = got(reply, streams)
    assert isinstance(found, ModelFailedError), found
    return found


# --- where the answer stands ----------------------------------------------------------------

CALL = {"index": 0, "type": "function", "function": {"name": "read", "arguments": J}}


@pytest.mark.parametrize(
    "reply",
    [
        completion({"content": [{"type": "text", "text": J[:5]}, {"type": "text", "text": J[5:]}]}),
        completion({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "{"}]},
                                {"type": "text", "text": J}]}),
        completion({"content": [J]}),
        completion({"content": None, "reasoning_content": J}),
        completion({"content": "", "reasoning": J}),
        completion({"content": None, "tool_calls": [CALL]}, finish="tool_calls"),
        completion({"content": None, "function_call": {"name": "read", "arguments": J}}),
        completion(finish=None),
        json_reply({"choices": [{"text": J}], "usage": USAGE}),
        Reply(completion().body, content_type="text/plain"),
        Reply(b"\xef\xbb\xbf" + completion().body),
        Reply(gzip.compress(completion().body), headers={"Content_Encoding": "gzip"}),
        stream(chunk(J), chunk(finish="stop", usage=USAGE)),
        stream(chunk(J), chunk(finish="stop", usage=USAGE), kind="application/json"),
    ],
)  # fmt: skip
def test_an_answer_is_found_wherever_it_is_put(reply: Reply) -> None:
    found = answer(reply)
    assert json.loads(found.text) == json.loads(J)
    assert (found.prompt_tokens, found.completion_tokens, found.tokens_estimated) == (10, 5, False)


def test_an_object_as_content_is_its_own_json() -> None:
    assert json.loads(answer(completion({"content": {"a": 1}})).text) == {"a": 1}


PIECES = [
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": part}}]}}]}
    for part in (J[:4], J[4:])
]


@pytest.mark.parametrize(
    "reply",
    [
        stream(*map(chunk, J), chunk(finish="stop")),
        stream(chunk(J), chunk(finish="stop"), end=""),
        stream(chunk(J)),
        stream(chunk(J), chunk(finish="stop"), by="\r\n\r\n"),
        stream(chunk(J), chunk(finish="stop"), by="\n"),
        stream(json.dumps(chunk(J), indent=1).replace("\n", "\ndata: "), chunk(finish="stop")),
        Reply(stream(chunk(J), chunk(finish="stop")).body.replace(b"data: ", b"data:")),
        Reply(b": busy\n\n: busy\n\nretry: 5\n\n" + stream(chunk(J), chunk(finish="stop")).body),
        stream("null", "[]", "7", {"x": 1}, {"choices": None}, {"choices": [{"delta": None}]},
               chunk(J), chunk(finish="stop")),
        stream({"choices": [{"message": SAID, "finish_reason": "stop"}]}),
        stream(chunk([{"type": "text", "text": J}]), chunk(finish="stop")),
        stream({"choices": [{"delta": {"reasoning_content": J}}]}, chunk(finish="stop")),
        stream(*PIECES, chunk(finish="tool_calls")),
        stream(json.dumps(chunk(J), ensure_ascii=False), chunk(finish="stop")),
        completion(),
    ],
)  # fmt: skip
def test_a_stream_is_read_however_it_is_written(reply: Reply) -> None:
    assert json.loads(answer(reply, streams=True).text) == json.loads(J)


def test_line_ends_of_other_alphabets_end_no_event() -> None:
    text = '{"a": "one\u2028two\u0085three"}'
    reply = stream(json.dumps(chunk(text), ensure_ascii=False), chunk(finish="stop"))
    assert answer(reply, streams=True).text == text


# --- what is none ---------------------------------------------------------------------------


@pytest.mark.parametrize("body", [[], None, 7, {}, {"choices": None}, {"choices": "no"},
                                  {"choices": [None]}, {"choices": [{"message": None}]},
                                  {"choices": [{"message": "no"}]}])  # fmt: skip
def test_a_body_without_an_answer_is_an_empty_one(body: Any) -> None:
    assert failure(json_reply(body)).reason == EMPTY


@pytest.mark.parametrize(
    "reply, reason",
    [
        (completion({"content": None}, finish="SAFETY"), "the model refused to answer"),
        (completion({"content": ""}, finish="error"), BROKE_OFF),
        (completion({"content": "<think>Well, {maybe}"}, finish="length"),
         "the model used up its answer on reasoning"),
        (completion({"content": None, "reasoning_content": '{"a": 1'}, finish="length"),
         "the model used up its answer on reasoning"),
        (Reply(b"<html>Welcome", content_type="text/html; charset=utf-8"),
         "the model's server offers no chat completions at this address"),
        (json_reply({"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
         "the model's server offers no chat completions at this address"),
        (json_reply({"error": {"code": 429, "message": "Rate limit exceeded"}}),
         "the model's server asks to slow down"),
        (json_reply({"error": {"message": "Provider returned error"}}),
         "the model's server reported an error"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("streams", [False, True])
def test_what_is_no_answer_is_said(reply: Reply, reason: str, streams: bool) -> None:
    assert failure(reply, streams).reason == reason


def test_an_error_within_a_stream_is_told_and_what_came_is_counted() -> None:
    error = {"error": {"code": 529, "message": "Overloaded"}}
    failed = failure(stream(chunk("x" * 300), error), streams=True)
    assert failed.reason == "the model's server answered 529"
    assert failed.spent and failed.spent.completion_tokens == 100
    assert failure(stream(error), streams=True).spent is None


@pytest.mark.parametrize("broken", [stream(chunk("x" * 300), "{oops"), stream("{oops")])
def test_a_stream_that_cannot_be_read_may_have_cost_something(broken: Reply) -> None:
    failed = failure(broken, streams=True)
    assert failed.reason == "the model's server gave an answer that can't be read"
    assert failed.spent and failed.spent.completion_tokens >= 100


# --- what it cost ---------------------------------------------------------------------------


@pytest.mark.parametrize("usage", [None, {}, [1], "n/a", {"total_tokens": 50},
                                   {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
                                   {"prompt_tokens": -1, "completion_tokens": -1},
                                   {"prompt_tokens": True, "completion_tokens": None}])  # fmt: skip
def test_tokens_that_nobody_counted_are_estimated(usage: Any) -> None:
    found = answer(completion(usage=usage))
    assert found.tokens_estimated and found.prompt_tokens == ASKED
    assert found.completion_tokens == len(json.loads(completion().body)["choices"][0]["message"]
                                          ["content"].encode()) // 3  # fmt: skip


@pytest.mark.parametrize(
    "usage, prompt, written, estimated",
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, 10, 5, False),
        ({"prompt_tokens": "10", "completion_tokens": 5.0}, 10, 5, False),
        ({"prompt_tokens": 0, "completion_tokens": 5, "total_tokens": 5}, ASKED, 5, True),
        ({"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 10}, 10, 6, True),
        ({**USAGE, "total_tokens": 515}, 10, 505, False),
        ({"prompt_tokens": 10, "completion_tokens": 5,
          "completion_tokens_details": {"reasoning_tokens": 500}}, 10, 505, False),
        ({"prompt_tokens": 10, "completion_tokens": 505, "total_tokens": 515,
          "completion_tokens_details": {"reasoning_tokens": 500}}, 10, 505, False),
    ],
)  # fmt: skip
def test_what_was_counted_in_part_is_counted_in_full(
    usage: dict[str, Any], prompt: int, written: int, estimated: bool
) -> None:
    found = answer(completion(usage=usage))
    counted = (found.prompt_tokens, found.completion_tokens, found.tokens_estimated)
    assert counted == (prompt, written, estimated)
    assert found.cost_usd == pytest.approx(prompt * 0.001 + written * 0.002)


@pytest.mark.parametrize(
    "details",
    [{"prompt_tokens_details": {"cached_tokens": 4}}, {"prompt_cache_hit_tokens": "4"}],
)
def test_cached_tokens_cost_what_they_do(details: dict[str, Any]) -> None:
    found = answer(completion(usage={**USAGE, **details}))
    assert found.cost_usd == pytest.approx(6 * 0.001 + 4 * 0.0001 + 5 * 0.002)
    nonsense = answer(completion(usage={**USAGE, "prompt_tokens_details": {"cached_tokens": 99}}))
    assert nonsense.cost_usd == pytest.approx(10 * 0.0001 + 5 * 0.002)


def test_a_prompt_that_seems_cut_in_silence_is_told() -> None:
    long = replace(REQUEST, prompt="How old are the oaks of this forest? " * 300)

    def notes(prompt_tokens: int, request: ModelRequest) -> tuple[str, ...]:
        usage = {"prompt_tokens": prompt_tokens, "completion_tokens": 5}
        with Says(completion(usage=usage)) as server:
            found = tried(server.url("/v1"), request=request)
        assert isinstance(found, ModelAnswer)
        return found.notes

    assert notes(1000, long) == (CUT_IN_SILENCE,)
    assert notes(1200, long) == notes(10, REQUEST) == ()
    assert notes(0, long) == (), "nobody counted"


def test_a_guess_goes_by_bytes_for_a_chinese_character_is_about_a_token() -> None:
    found = answer(completion({"content": '{"a": "' + "鯨" * 300 + '"}'}, usage=None))
    assert found.completion_tokens >= 300


# --- connections ----------------------------------------------------------------------------

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 9000\r\n\r\n"
LINGER = b"\x01\x00\x00\x00\x00\x00\x00\x00"


@contextmanager
def lines(*sent: bytes, wait: float = 0.0, reset: bool = False) -> Iterator[str]:
    """A server that sends these bytes, and then waits or breaks the connection off."""
    done = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listener.accept()
        connection.recv(65536)
        for part in sent:
            connection.sendall(part)
            done.wait(0.02)
        done.wait(wait)
        if reset:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)
        else:
            connection.shutdown(socket.SHUT_WR)
            while not done.is_set() and connection.recv(65536):
                pass
        connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    done.set()
    thread.join()
    listener.close()


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_that_breaks_off_may_have_cost_the_answer(streams: bool, reset: bool) -> None:
    with lines(HEAD % b"application/json", b'{"choices": [', reset=reset) as address:
        failed = tried(address, streams)
    assert isinstance(failed, ModelFailedError) and not failed.permanent
    assert failed.reason == "the connection to the model's server was lost"
    assert failed.spent and failed.spent.completion_tokens == REQUEST.max_output_tokens
    assert failed.spent.prompt_tokens == ASKED and failed.spent.cost_usd


def test_of_a_stream_that_breaks_off_what_came_is_counted() -> None:
    event = stream(chunk("x" * 600), end="").body
    with lines(HEAD % b"text/event-stream", event, reset=True) as address:
        failed = tried(address, streams=True)
    assert isinstance(failed, ModelFailedError) and failed.spent
    assert failed.spent.completion_tokens == 200


def test_of_a_stream_that_comes_to_a_halt_what_came_is_counted() -> None:
    event = stream(chunk("x" * 600), end="").body
    with lines(HEAD % b"text/event-stream", event, wait=5) as address:
        failed = tried(address, streams=True, timeout_seconds=0.5)
    assert isinstance(failed, ModelFailedError) and failed.spent
    assert failed.reason == "the model did not answer in time"
    assert failed.spent.completion_tokens == 200


def test_a_server_that_was_not_reached_cost_nothing() -> None:
    failed = tried("http://127.0.0.1:9/v1")
    assert isinstance(failed, ModelFailedError) and failed.spent is None


def test_an_answer_in_drops_over_an_old_protocol_is_read() -> None:
    body = json.dumps(json.loads(completion().body), ensure_ascii=False).encode()
    drops = [body[i : i + 7] for i in range(0, len(body), 7)]
    with lines(b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n", *drops) as address:
        found = tried(address)
    assert isinstance(found, ModelAnswer) and json.loads(found.text) == json.loads(J)
