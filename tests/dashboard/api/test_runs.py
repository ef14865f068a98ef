"""Runs through the API: the same services, other users' runs not found."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import Http404
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator

from dashboard.api import runs as api_runs
from dashboard.queries import queries
from dashboard.queries.queries import Head
from research.models import Command, Run, Thread
from research.readmodel.progress import load_progress
from research.services.api_tokens import Scope
from tests.dashboard.api.conftest import client_with
from tests.dashboard.conftest import make_run

QUESTION = {"question": "How old do oaks get?"}


def post(api: Client, path: str, payload: dict[str, Any], **headers: str) -> Any:
    return api.post(f"/api/v1{path}", payload, content_type="application/json", headers=headers)


def test_a_run_is_created_with_its_settings(api: Client, admin: User) -> None:
    settings = {"max_searches": 7}
    payload = {**QUESTION, "depth": "quick", "sources": "samples", "settings": settings}
    created = post(api, "/runs", payload)
    assert created.status_code == 201
    run = Run.objects.get(public_id=created.json()["id"])
    assert run.owner == admin and run.agreed
    assert run.config["max_searches"] == 7 and run.config["research_depth"] == "quick"
    assert run.sources["search"] == ["samples"]
    assert created.json()["progress"]["run"]["status"] == "queued"


def test_a_run_that_asks_first_waits_for_approval_of_any_plan(api: Client) -> None:
    created = post(api, "/runs", {**QUESTION, "ask_first": True})
    run = Run.objects.get(public_id=created.json()["id"])
    assert not run.agreed and run.config["ask_above_usd"] is None


@pytest.mark.requirement("F18")
def test_a_token_limits_the_budget_of_its_runs(admin: User) -> None:
    api = client_with(admin, max_cost_usd=0.5)
    created = post(api, "/runs", {**QUESTION, "settings": {"max_cost_usd": 3}})
    assert Run.objects.get(public_id=created.json()["id"]).config["max_cost_usd"] == 0.5


def test_a_repeated_request_returns_the_same_run(api: Client) -> None:
    first = post(api, "/runs", QUESTION, Idempotency_Key="k1")
    again = post(api, "/runs", QUESTION, Idempotency_Key="k1")
    assert first.json()["id"] == again.json()["id"]
    assert Run.objects.count() == 1


def test_a_key_that_was_used_for_another_question_is_refused(api: Client) -> None:
    post(api, "/runs", QUESTION, Idempotency_Key="k1")
    other = post(api, "/runs", {"question": "And beeches?"}, Idempotency_Key="k1")
    assert other.status_code == 409 and "idempotency key" in other.json()["detail"]
    assert Run.objects.count() == 1


def test_keys_of_different_tokens_do_not_collide(api: Client, admin: User) -> None:
    post(api, "/runs", QUESTION, Idempotency_Key="k1")
    post(client_with(admin), "/runs", {"question": "And beeches?"}, Idempotency_Key="k1")
    assert Run.objects.count() == 2


@pytest.mark.parametrize(
    ("payload", "location"),
    [
        ({}, "body.question"),
        ({"question": " "}, "body.question"),
        ({**QUESTION, "depth": "endless"}, "body.depth"),
        ({**QUESTION, "colour": "red"}, "body.colour"),
        ({**QUESTION, "settings": {"max_searches": "many"}}, "body.settings.max_searches"),
        ({**QUESTION, "settings": {"no_such": 1}}, "body.settings.no_such"),
    ],
)
def test_an_invalid_value_is_named(api: Client, payload: dict[str, Any], location: str) -> None:
    refused = post(api, "/runs", payload)
    assert refused.status_code == 422
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert [each["location"] for each in refused.json()["errors"]] == [location]
    assert not Run.objects.exists()


@pytest.mark.parametrize("choice", [{"sources": "documents"}, {"collections": ["nothere"]}])
def test_what_cannot_be_searched_is_named(api: Client, choice: dict[str, Any]) -> None:
    refused = post(api, "/runs", {**QUESTION, **choice})
    assert refused.status_code == 409
    assert [each["location"] for each in refused.json()["errors"]] == [f"body.{next(iter(choice))}"]
    assert not Run.objects.exists()


def test_runs_are_listed_by_cursor(api: Client, admin: User) -> None:
    made = [make_run(admin).public_id for _ in range(5)]
    page = api.get("/api/v1/runs?limit=2").json()
    make_run(admin)
    found = [run["id"] for run in page["items"]]
    while page["next_cursor"]:
        page = api.get(f"/api/v1/runs?limit=2&cursor={page['next_cursor']}").json()
        found += [run["id"] for run in page["items"]]
    assert found == made[::-1]


@pytest.mark.requirement("F19")
def test_a_poll_takes_one_query_and_no_body_until_something_changes(
    api: Client, finished: Run, django_assert_num_queries: Any
) -> None:
    path = f"/api/v1/runs/{finished.public_id}"
    tag = api.get(path).headers["ETag"]
    with django_assert_num_queries(1):
        assert api.get(path).json()["progress"]["run"]["id"] == finished.public_id
    with django_assert_num_queries(1):
        same = api.get(path, headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    post(api, f"/runs/{finished.public_id}/evidence/E1/verdicts", {"verdict": "reject"})
    changed = api.get(path, headers={"If-None-Match": tag})
    assert changed.status_code == 200 and changed.headers["ETag"] != tag
    assert changed.json()["progress"]["gate"] == load_gate(finished)


@pytest.mark.parametrize("is_staff", [False, True])
@pytest.mark.parametrize("is_owner", [False, True])
@pytest.mark.parametrize("is_deleted", [False, True])
def test_the_head_of_a_run_is_found_as_the_run_is(
    admin: User, is_staff: bool, is_owner: bool, is_deleted: bool
) -> None:
    other = User.objects.create(username="ada")
    for owner in (admin, other):  # a query that was prepared for one viewer serves no other
        viewer = owner if is_owner else {admin: other, other: admin}[owner]
        viewer.is_staff = is_staff
        run = make_run(owner, "completed")
        if is_deleted:
            Thread.objects.filter(pk=run.thread_id).update(deleted_at=timezone.now())
        try:
            queries.find_run(viewer, run.public_id)
        except Http404:
            with pytest.raises(Http404):
                queries.find_head(viewer, run.public_id)
        else:
            head = queries.find_head(viewer, run.public_id)
            assert head == Head(run.public_id, run.sequence, "completed", None) and head.ended


def test_writing_one_run_keeps_no_other_one_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, *others = (Head(f"run{number}", 1, "researching", None) for number in range(9))
    entered = threading.Event()
    go_on = threading.Event()

    def write(public_id: str) -> bytes:
        if public_id == one.public_id:
            entered.set()
            assert go_on.wait(30)
        return public_id.encode()

    monkeypatch.setattr(api_runs, "_write_body", write)
    with ThreadPoolExecutor() as threads:
        slow = threads.submit(api_runs.run_body, one)
        assert entered.wait(30)
        quick = [threads.submit(api_runs.run_body, other) for other in others]
        first = next(as_completed(quick, timeout=30)).result()
        go_on.set()
        assert first != slow.result()


def load_gate(run: Run) -> Any:
    return load_progress(run).model_dump(mode="json")["gate"]


@pytest.mark.parametrize("cursor", ["x", "-1", "1e3", "٣"])
def test_a_wrong_cursor_is_refused(api: Client, cursor: str) -> None:
    assert api.get(f"/api/v1/runs?cursor={cursor}").status_code == 422


def test_the_record_is_the_same_object_as_the_export(api: Client, finished: Run) -> None:
    record = api.get(f"/api/v1/runs/{finished.public_id}/record").json()
    export = api.get(f"/api/v1/runs/{finished.public_id}/exports/json")
    exported = json.loads(export.content)
    assert {name: exported[name] for name in record if name in exported} == record
    schema = json.loads(Path("tests/run.schema.json").read_text())
    Draft202012Validator(schema).validate(record)


@pytest.mark.parametrize(
    ("status", "payload"),
    [
        ("awaiting_clarification", {"kind": "answer", "answers": ["Yes", ""]}),
        ("awaiting_clarification", {"kind": "skip"}),
        ("awaiting_approval", {"kind": "approve", "sub_questions": ["One", "Two"]}),
        ("awaiting_approval", {"kind": "approve", "terms": {"scope": "Trees"}}),
        ("awaiting_approval", {"kind": "revise", "comment": "Shorter"}),
        ("researching", {"kind": "pause"}),
        ("paused", {"kind": "resume"}),
        ("researching", {"kind": "add_topic", "topic": "Yews"}),
        ("researching", {"kind": "drop_topic", "topic": "Yews"}),
        ("researching", {"kind": "dig_deeper", "rounds": 3.0}),
        ("researching", {"kind": "drop_instruction", "text": "Only since 2023"}),
        ("intake", {"kind": "plan_by_code"}),
        ("writing", {"kind": "finish_by_code"}),
        ("researching", {"kind": "instruct", "text": "Only since 2023"}),
        ("researching", {"kind": "stop"}),
        ("stalled", {"kind": "retry"}),
    ],
)
def test_a_run_is_steered(api: Client, admin: User, status: str, payload: dict[str, Any]) -> None:
    run = make_run(admin, status, analyst="a-model")
    sent = post(api, f"/runs/{run.public_id}/commands", payload)
    assert sent.status_code == 202 and sent.json()["kind"] == payload["kind"]
    stored = Command.objects.get(run=run)
    assert (stored.kind, stored.actor) == (payload["kind"], admin)


def test_a_command_that_is_not_possible_now_is_a_conflict(api: Client, finished: Run) -> None:
    refused = post(api, f"/runs/{finished.public_id}/commands", {"kind": "pause"})
    assert refused.status_code == 409
    assert refused.json()["detail"] == "Only a run that is researching can be paused."


def test_an_instruction_to_a_run_without_a_model_is_a_conflict(api: Client, admin: User) -> None:
    run = make_run(admin, "researching")
    told = {"kind": "instruct", "text": "Only since 2023"}
    refused = post(api, f"/runs/{run.public_id}/commands", told)
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("Without a model no instruction can be followed")


def test_an_ended_run_is_deleted(api: Client, finished: Run) -> None:
    assert api.delete(f"/api/v1/runs/{finished.public_id}").status_code == 204
    assert api.get(f"/api/v1/runs/{finished.public_id}").status_code == 404


PATHS = ["", "/record", "/events", "/evidence", "/sources", "/report", "/exports/md", "/versions"]


@pytest.mark.requirement("F18")
@pytest.mark.parametrize("path", PATHS)
def test_runs_of_other_users_are_not_found(path: str, finished: Run) -> None:
    stranger = client_with(User.objects.create(username="stranger"))
    answer = stranger.get(f"/api/v1/runs/{finished.public_id}{path}")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.requirement("F18")
def test_a_token_for_reading_starts_nothing(admin: User) -> None:
    reader = client_with(admin, Scope.READ)
    assert reader.get("/api/v1/runs").status_code == 200
    refused = post(reader, "/runs", QUESTION)
    assert refused.status_code == 403 and "'write'" in refused.json()["detail"]
    assert not Run.objects.exists()
