"""Later turns of a conversation: what they keep, what they change, and that they ask nothing."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import AsyncClient, Client

from dashboard.api.auth import Caller
from dashboard.models import StoredResponse
from dashboard.openai_api import responses
from dashboard.openai_api.errors import InvalidRequestError
from dashboard.openai_api.response_objects import response_id
from dashboard.openai_api.responses import ResponseRequest, start_response
from research.engine.config import ResearchConfig
from research.engine.records import WAITING
from research.models import Run
from research.services import api_tokens, documents, people
from research.services.api_tokens import Scope
from tests.dashboard.api.conftest import PLAN
from tests.dashboard.conftest import make_run

FIRST = "How old do oaks get?"
NEXT = "And how old do yews get?"


@pytest.fixture
def caller(admin: User) -> Caller:
    token, _ = api_tokens.create_token(admin, "Chat", tuple(Scope))
    return Caller(admin, token)


@pytest.fixture
def asked(admin: User) -> Run:
    """An ended run of the page, whose plan was approved."""
    config = ResearchConfig(research_depth="thorough", max_searches=9, max_cost_usd=0.5)
    return make_run(
        admin,
        "completed",
        question=FIRST,
        plan=PLAN,
        config=config.model_dump(mode="json"),
        sources={"search": ["samples"], "documents": []},
    )


@pytest.fixture
def trees(admin: User, settings: Any, tmp_path: Any) -> str:
    """The id of a collection with a document."""
    settings.STATE_DIR = tmp_path
    row = documents.create_collection(admin, "Trees")
    documents.add_files(admin, row, [SimpleUploadedFile("oak.md", b"# Oak")])
    return row.public_id


def turn(caller: Caller, key: str = "k", **fields: Any) -> Run:
    """Start the second turn of a conversation as a response."""
    said = [{"role": "user", "content": text} for text in (FIRST, NEXT)]
    payload = ResponseRequest(**{"model": "plumbline-quick", "input": said, **fields})
    return start_response(caller, payload, f"responses-{key}").run


def test_a_later_turn_asks_nothing_even_after_a_run_that_did(caller: Caller, asked: Run) -> None:
    made = turn(caller)
    assert (made.parent, made.kind, made.agreed) == (asked, "follow_up", True)
    assert made.snapshot.content["asks_about_topic"] is False


def test_what_a_turn_names_replaces_what_the_turn_before_had(
    caller: Caller, asked: Run, trees: str
) -> None:
    files = {"type": "file_search", "vector_store_ids": [trees]}
    made = turn(caller, tools=[files], max_tool_calls=4)
    assert (made.config["research_depth"], made.config["max_searches"]) == ("quick", 4)
    assert made.sources["search"] == ["documents"]
    assert [each["id"] for each in made.sources["collections"]] == [trees]
    sites = {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}}
    bound = turn(caller, "k2", tools=[sites])
    assert bound.parent == asked and bound.config["only_sites"] == ["example.org"]
    assert bound.sources == {}, "as set up when it begins"


def test_what_a_turn_does_not_name_stays(caller: Caller, asked: Run) -> None:
    made = turn(caller)
    assert made.sources == asked.sources
    assert (made.config["max_searches"], made.config["max_cost_usd"]) == (9, 0.5)


def test_web_search_without_filters_lifts_the_sites_of_the_turn_before(
    caller: Caller, asked: Run
) -> None:
    Run.objects.update(config={**asked.config, "only_sites": ["example.org"]})
    assert turn(caller).config["only_sites"] == ["example.org"]
    assert turn(caller, "k2", tools=[{"type": "web_search"}]).config["only_sites"] == []


def test_a_turn_after_a_named_response_is_bound_likewise(
    caller: Caller, asked: Run, trees: str
) -> None:
    StoredResponse.objects.create(run=asked)
    newer = make_run(caller.user, "completed", question=FIRST, plan=PLAN)
    files = {"type": "file_search", "vector_store_ids": [trees]}
    named = {"input": NEXT, "previous_response_id": response_id(asked)}
    made = turn(caller, tools=[files], max_tool_calls=4, **named)
    assert made.parent == asked != newer
    assert (made.config["research_depth"], made.config["max_searches"]) == ("quick", 4)
    assert [each["id"] for each in made.sources["collections"]] == [trees]


def test_a_response_that_has_not_ended_cannot_be_followed(caller: Caller, asked: Run) -> None:
    StoredResponse.objects.create(run=asked)
    Run.objects.update(status="researching")
    with pytest.raises(InvalidRequestError) as refused:
        turn(caller, input=NEXT, previous_response_id=response_id(asked))
    assert refused.value.param == "previous_response_id"


def test_values_of_a_later_turn_are_checked_like_those_of_the_first(
    caller: Caller, asked: Run
) -> None:
    with pytest.raises(Exception, match="nothere"):
        turn(caller, tools=[{"type": "file_search", "vector_store_ids": ["nothere"]}])
    assert Run.objects.count() == 1


# --- budgets -----------------------------------------------------------------------------


def client_of(owner: User, limit: float) -> Client:
    _, secret = api_tokens.create_token(owner, "Chat", tuple(Scope), max_cost_usd=limit)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.mark.parametrize("limit", [0.2, 3.0])
def test_a_token_limits_the_cost_of_every_turn(admin: User, limit: float) -> None:
    api, asked = client_of(admin, limit), {"model": "plumbline-quick", "background": True}
    first = api.post("/v1/responses", {**asked, "input": FIRST}, content_type="application/json")
    run = Run.objects.get()
    assert (first.status_code, run.config["max_cost_usd"]) == (200, limit)
    Run.objects.update(status="completed", plan=PLAN, sequence=F("sequence") + 1)
    run.refresh_from_db()
    Run.objects.update(config={**run.config, "max_cost_usd": 1.0})
    named = {"input": NEXT, "previous_response_id": first.json()["id"]}
    answer = api.post("/v1/responses", {**asked, **named}, content_type="application/json")
    made = Run.objects.get(public_id=answer.json()["id"].removeprefix("resp_"))
    assert (made.parent, made.config["max_cost_usd"]) == (run, min(limit, 1.0))


# --- one run for one request -------------------------------------------------------------


def test_a_later_turn_is_started_once_for_its_key(caller: Caller, asked: Run) -> None:
    made = turn(caller)
    make_run(caller.user, "completed", question=FIRST, plan=PLAN)
    Run.objects.filter(pk=made.pk).update(status="completed")
    assert turn(caller) == made
    assert turn(caller, "another") != made


def test_a_run_in_a_deleted_thread_is_not_followed(caller: Caller, asked: Run) -> None:
    asked.thread.deleted_at = asked.created_at
    asked.thread.save()
    assert turn(caller).parent is None


# --- waiting -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", sorted(WAITING))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.django_db(transaction=True)
async def test_a_client_is_told_at_once_of_a_run_that_waits_for_a_person(
    monkeypatch: pytest.MonkeyPatch, status: str, stream: bool
) -> None:
    """Chat completions and responses end with an error instead of waiting for ever."""
    started = responses.find_or_start

    def start(*arguments: Any) -> Run:
        run = started(*arguments)
        Run.objects.filter(pk=run.pk).update(status=status, sequence=F("sequence") + 1)
        return run

    monkeypatch.setattr("dashboard.openai_api.chat.find_or_start", start)
    monkeypatch.setattr("dashboard.openai_api.responses.find_or_start", start)
    admin = await sync_to_async(people.local_admin)()
    _, secret = await sync_to_async(api_tokens.create_token)(admin, "Chat", tuple(Scope))
    asked = {"model": "plumbline-quick", "stream": stream}
    said = {"messages": [{"role": "user", "content": FIRST}]}
    chat = await read(secret, "/v1/chat/completions", {**asked, **said})
    assert "research_failed" in chat and "on its page" in chat
    response = await read(secret, "/v1/responses", {**asked, "input": FIRST})
    last = json.loads(response.rpartition("data: ")[2])
    told = last["response"] if stream else last
    assert told["status"] == "failed" and "on its page" in told["error"]["message"]


async def read(secret: str, path: str, payload: dict[str, Any]) -> str:
    """Return the whole body of an answer, streamed or not."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with asyncio.timeout(30):
        answer = await AsyncClient().post(
            path, payload, content_type="application/json", headers=headers
        )
        if not answer.streaming:
            return answer.content.decode()
        return b"".join([part async for part in answer.streaming_content]).decode()


def test_a_waiting_response_is_cancelled(admin: User) -> None:
    api = client_of(admin, 1)
    asked = {"model": "plumbline-quick", "background": True, "input": FIRST}
    id = api.post("/v1/responses", asked, content_type="application/json").json()["id"]
    Run.objects.update(status="awaiting_approval")
    assert api.get(f"/v1/responses/{id}").json()["status"] == "failed"
    assert api.post(f"/v1/responses/{id}/cancel").json()["status"] == "cancelled"
