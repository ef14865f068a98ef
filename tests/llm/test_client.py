"""The client against servers on loopback that differ in every way that real ones do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest
from research.limits.limiter import MemoryStore
from research.llm.capabilities import CapabilityBook
from research.llm.client import NO_EFFORT, ChatModel
from research.llm.prices import Price
from research.llm.settings import ModelSettings
from tests.support.model_server import (
    MODERN,
    PLAIN,
    STREAMS_ONLY,
    STRICT,
    UNCOUNTED,
    Manner,
    ModelServer,
    cut_short,
    declines,
    no_choices,
    refuses,
    says,
    streams,
)
from tests.support.serving import Reply, closed_place, json_reply

PROMPT = "# QUESTION\nHow old are oaks?\n\n# TODAY\n2026-11-21\n"
REQUEST = ModelRequest("intake", "You plan.", PROMPT, {"type": "object"}, 500)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer({}) as server:
        yield server


def settings_of(server: ModelServer, **more: Any) -> ModelSettings:
    return ModelSettings("scripted", base_url=server.url("/v1"), **more)


def asked(
    server: ModelServer, times: int = 1, request: ModelRequest = REQUEST, **more: Any
) -> list[ModelAnswer]:
    """The answers of one client to the same request, asked so often."""

    async def ask() -> list[ModelAnswer]:
        model = ChatModel(settings_of(server, **more))
        try:
            return [await model.complete(request) for _ in range(times)]
        finally:
            await model.aclose()

    return asyncio.run(ask())


def failure(server: ModelServer, *faults: Reply, **more: Any) -> ModelFailedError:
    server.faults["intake"] = list(faults)
    with pytest.raises(ModelFailedError) as failed:
        asked(server, **more)
    return failed.value


# --- what a server takes --------------------------------------------------------------------


def test_a_schema_is_sent_first(server: ModelServer) -> None:
    [answer] = asked(server)
    assert json.loads(answer.text)["language"] == "en"
    assert server.requests[0].constrained
    assert not answer.tokens_estimated


def test_a_strict_server_is_asked_in_its_own_way_from_then_on(server: ModelServer) -> None:
    server.manner = STRICT
    assert len(asked(server, times=3, temperature=0.2, reasoning_effort="low")) == 3
    assert server.requests[-1].fields == {"model", "messages", "max_tokens"}
    assert "One JSON object of this schema" in server.requests[-1].prompt
    taken = [request.fields == STRICT.knows for request in server.requests]
    assert taken[-3:] == [True, True, True] and not any(taken[:-3])


def test_the_other_name_of_the_length_limit_is_found(server: ModelServer) -> None:
    server.manner = MODERN
    asked(server, times=2)
    assert ["max_completion_tokens" in asked.fields for asked in server.requests] == [
        False, True, True,
    ]  # fmt: skip


@pytest.mark.requirement("A15")
def test_a_dropped_reasoning_effort_is_said_each_time(server: ModelServer) -> None:
    server.manner = STRICT
    answers = asked(server, times=2, reasoning_effort="high")
    assert [answer.notes for answer in answers] == [(NO_EFFORT,), (NO_EFFORT,)]
    server.manner = MODERN
    assert asked(server, reasoning_effort="high")[0].notes == ()
    assert "reasoning_effort" in server.requests[-1].fields


@pytest.mark.requirement("A15", "C19")
def test_a_request_goes_to_the_model_of_its_role(server: ModelServer) -> None:
    judging, reading = replace(REQUEST, role="evaluator"), replace(REQUEST, role="reader")
    assert asked(server, request=reading, reader_model="cheap")[0].model == "cheap"
    assert asked(server, request=reading, evaluator_model="cheap")[0].model == "scripted"
    assert asked(server, evaluator_model="cheap")[0].model == "scripted"
    assert asked(server, request=judging, evaluator_model="cheap")[0].model == "cheap"


def test_what_was_found_out_is_remembered_by_the_next_process(
    server: ModelServer, tmp_path: Path
) -> None:
    server.manner, known_in = STRICT, tmp_path / "known.json"
    asked(server, known_in=known_in)
    before = len(server.requests)
    asked(server, known_in=known_in)
    assert len(server.requests) == before + 1
    book = CapabilityBook(known_in)
    book.forget(server.url("/v1"), "scripted")
    asked(server, known_in=known_in)
    assert len(server.requests) > before + 2


def test_what_was_found_out_is_old_after_a_week(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    entry = {"http://x/v1 m": {"at": 1, "form": "prompt", "of_another_version": 1}}
    path.write_text(json.dumps(entry))
    assert CapabilityBook(path).get("http://x/v1", "m").form == "json_schema"


def test_a_file_that_cannot_be_read_is_found_out_anew(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text("{")
    assert CapabilityBook(path).get("http://x/v1", "m").form == "json_schema"


def test_nothing_is_given_up_where_giving_up_does_not_help(server: ModelServer) -> None:
    failed = failure(server, *[refuses(400, "no")] * 3)
    assert failed.reason == "the model's server refused the request"
    asked(server)
    assert server.requests[-1].constrained


def test_a_schema_that_is_ignored_twice_goes_into_the_prompt(server: ModelServer) -> None:
    server.faults["intake"] = [says("I think oaks are old."), says("Oaks? Old.")]
    asked(server, times=3)
    constrained = [request.constrained for request in server.requests]
    assert constrained == [True, True, False]


def test_a_server_that_streams_only_works(server: ModelServer) -> None:
    server.manner = STREAMS_ONLY
    answer, _ = asked(server, times=2)
    assert json.loads(answer.text)["language"] == "en"
    assert answer.completion_tokens == len(answer.text) // 4
    assert len(server.requests) == 3


def test_a_stream_that_nobody_asked_for_is_read(server: ModelServer) -> None:
    server.faults["intake"] = [streams('{"a": 1}'), streams('{"a": 1}')]
    assert asked(server)[0].text == '{"a": 1}'


# --- streams --------------------------------------------------------------------------------


def heard(server: ModelServer, **more: Any) -> tuple[ModelAnswer, list[str]]:
    texts: list[str] = []

    async def ask() -> ModelAnswer:
        model = ChatModel(settings_of(server, **more))
        try:
            return await model.stream(REQUEST, texts.append)
        finally:
            await model.aclose()

    return asyncio.run(ask()), texts


def test_a_stream_is_heard_as_it_grows_and_counted(server: ModelServer) -> None:
    answer, texts = heard(server)
    assert len(texts) > 3 and texts[-1] == answer.text
    assert (answer.prompt_tokens, answer.tokens_estimated) == (50, False)


def test_a_stream_without_usage_is_counted_and_marked(server: ModelServer) -> None:
    server.manner = UNCOUNTED
    answer, _ = heard(server)
    assert answer.tokens_estimated and answer.completion_tokens == len(answer.text) // 3


def test_a_server_that_does_not_stream_answers_whole(server: ModelServer) -> None:
    server.manner = Manner(streams=False)
    answer, texts = heard(server)
    assert json.loads(answer.text)["language"] == "en" and texts == []


def test_a_cut_stream_is_a_failure_that_cost_something(server: ModelServer) -> None:
    server.faults["intake"] = [streams('{"brief": "' + "x" * 400, cut_at=200)]
    with pytest.raises(ModelFailedError) as failed:
        heard(server)
    assert failed.value.reason == "the model's answer was cut off"
    assert failed.value.spent and failed.value.spent.completion_tokens > 50


# --- answers that are none ------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault, reason",
    [
        (refuses(500), "the model's server answered 500"),
        (refuses(401), "the model's server refused the key"),
        (refuses(404), "the model's server does not know this model"),
        (Reply(b"<html>Bad gateway", 502, "text/html"), "the model's server answered 502"),
        (Reply(b"{", 200), "the model's server gave an answer that can't be read"),
        (no_choices(), "the model gave an empty answer"),
        (says("  "), "the model gave an empty answer"),
        (declines(), "the model refused to answer"),
        (refuses(400, "This model's maximum context length is 4096 tokens"),
         "the prompt is longer than the model's context window"),
        (refuses(400, "the request exceeds the available context size (n_ctx)"),
         "the prompt is longer than the model's context window"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_said(server: ModelServer, fault: Reply, reason: str) -> None:
    assert failure(server, fault).reason == reason


def test_an_answer_that_was_all_reasoning_is_none(server: ModelServer) -> None:
    body = json.loads(cut_short("").body)
    body["choices"][0]["message"]["reasoning_content"] = "Let me think."
    failed = failure(server, Reply(json.dumps(body).encode()))
    assert failed.reason == "the model used up its answer on reasoning"
    assert failed.spent and failed.spent.completion_tokens == 9


def test_reasoning_beside_the_answer_is_left_out_and_remembered(
    server: ModelServer, tmp_path: Path
) -> None:
    server.manner = Manner(reasoning="Oaks, hm.")
    [answer] = asked(server, known_in=tmp_path / "known.json")
    assert "hm" not in answer.text
    known = CapabilityBook(tmp_path / "known.json").get(server.url("/v1"), "scripted")
    assert known.reasons


def test_an_answer_that_ended_at_its_limit_says_so(server: ModelServer) -> None:
    server.faults["intake"] = [cut_short('{"brief": "')]
    assert asked(server)[0].cut_off


def test_the_seconds_to_wait_are_handed_on(server: ModelServer) -> None:
    assert failure(server, refuses(429, Retry_After="7")).retry_after_seconds == 7
    assert failure(server, refuses(429)).retry_after_seconds is None
    assert failure(server, refuses(503, Retry_After="soon")).retry_after_seconds is None
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 20 < (failure(server, refuses(503, Retry_After=later)).retry_after_seconds or 0) <= 30


def test_a_server_that_asks_to_wait_long_is_not_asked_again(server: ModelServer) -> None:
    failed = failure(server, refuses(429, Retry_After="7200"))
    assert failed.permanent and failed.reason == "the model's server asks to wait 120 minutes"
    assert not failure(server, refuses(429, Retry_After="60")).permanent


def test_a_quota_that_is_used_up_is_no_matter_of_waiting(server: ModelServer) -> None:
    error = {"error": {"message": "no", "type": "insufficient_quota", "code": None}}
    failed = failure(server, json_reply(error, 429))
    assert failed.permanent and "quota" in failed.reason


def test_a_slow_server_is_given_up_and_its_prompt_counted(server: ModelServer) -> None:
    server.hold("intake")
    failed = failure(server, timeout_seconds=0.3)
    assert failed.reason == "the model did not answer in time"
    assert failed.spent and failed.spent.prompt_tokens > 0 and failed.spent.tokens_estimated


def test_a_stream_that_does_not_begin_is_given_up(server: ModelServer) -> None:
    server.hold("intake")
    with pytest.raises(ModelFailedError, match="did not answer in time"):
        heard(server, first_token_seconds=0.3)


def test_nothing_of_a_server_s_words_reaches_people(server: ModelServer) -> None:
    failed = failure(server, refuses(500, "stack trace at /srv/secret.py"))
    assert "secret" not in failed.reason and failed.__cause__ is None


# --- one server, many calls -----------------------------------------------------------------


async def failures_of(model: ChatModel, calls: int) -> list[ModelFailedError]:
    found = []
    for _ in range(calls):
        with pytest.raises(ModelFailedError) as failed:
            await model.complete(REQUEST)
        found.append(failed.value)
    return found


def test_a_failing_server_is_left_alone_and_tried_again_by_one_call(server: ModelServer) -> None:
    now = [0.0]
    server.faults["intake"] = [refuses(500)] * 6

    async def scenario() -> None:
        model = ChatModel(settings_of(server), MemoryStore(lambda: now[0]))
        first = await failures_of(model, 7)
        assert [each.reason for each in first[:5]] == ["the model's server answered 500"] * 5
        assert all("not called for" in each.reason and not each.permanent for each in first[5:])
        now[0] = 6
        [trial, after] = await failures_of(model, 2)
        assert "500" in trial.reason and "not called for" in after.reason
        assert after.permanent, "after a trial that failed too nobody waits"
        now[0] = 12
        await model.complete(REQUEST)
        await model.complete(REQUEST)
        await model.aclose()

    asyncio.run(scenario())
    assert len(server.requests) == 8


def test_where_nobody_listens_on_this_machine_the_second_refusal_is_final() -> None:
    now = [0.0]
    settings = ModelSettings("scripted", base_url=f"http://{closed_place()}/v1")

    async def scenario() -> None:
        model = ChatModel(settings, MemoryStore(lambda: now[0]))
        found = await failures_of(model, 3)
        assert [each.permanent for each in found] == [False, True, True]
        assert found[1].reason == "the model's server could not be reached"
        assert "not called for" in found[2].reason
        now[0] = 6
        [trial] = await failures_of(model, 1)
        assert (trial.reason, trial.permanent) == (found[1].reason, True)
        await model.aclose()

    asyncio.run(scenario())


def test_the_failures_that_one_process_saw_keep_another_from_calling(server: ModelServer) -> None:
    """Two clients with one store stand for two processes with one database."""
    store = MemoryStore(lambda: 0.0)
    server.faults["intake"] = [refuses(500)] * 5

    async def scenario() -> None:
        first, second = (ChatModel(settings_of(server), store) for _ in range(2))
        await failures_of(first, 3)
        await failures_of(second, 2)
        [refused] = await failures_of(first, 1)
        assert "failed 5 times in a row" in refused.reason
        other_key = ChatModel(settings_of(server, api_key="another"), store)
        await other_key.complete(REQUEST)
        for model in (first, second, other_key):
            await model.aclose()

    asyncio.run(scenario())
    assert len(server.requests) == 6


def test_no_more_calls_than_allowed_are_in_flight(server: ModelServer) -> None:
    server.hold("intake")

    async def ask() -> None:
        model = ChatModel(settings_of(server, concurrency=1))
        calls = [asyncio.create_task(model.complete(REQUEST)) for _ in range(3)]
        await asyncio.to_thread(server.held.wait, 10)
        await asyncio.sleep(0.1)
        assert len(server.requests) == 1
        server.let_go()
        await asyncio.gather(*calls)
        await model.aclose()

    asyncio.run(ask())
    assert len(server.requests) == 3


# --- money ----------------------------------------------------------------------------------


@pytest.mark.requirement("A16")
def test_a_call_costs_what_its_price_says_and_unknown_is_unknown(server: ModelServer) -> None:
    assert asked(server)[0].cost_usd is None
    price = Price(input=0.001, output=0.002, cached=0.0)
    [answer] = asked(server, prices={"scripted": price})
    assert answer.cost_usd == pytest.approx(
        answer.prompt_tokens * 0.001 + answer.completion_tokens * 0.002
    )


def test_an_ignored_format_is_no_fault_of_a_good_answer(server: ModelServer) -> None:
    server.manner = PLAIN
    asked(server, times=3)
    assert all(request.constrained for request in server.requests)
