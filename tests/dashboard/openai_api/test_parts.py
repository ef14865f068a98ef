"""Parts of the OpenAI-compatible endpoints: what is researched, and how it is answered."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.api.asking import Asked
from dashboard.api.auth import Caller
from dashboard.models import StoredResponse
from dashboard.openai_api.errors import InvalidRequestError, ResearchFailedError
from dashboard.openai_api.reports import load_report
from dashboard.openai_api.request import (
    Conversation,
    check_choice,
    choose_searches,
    find_depth,
    read_conversation,
)
from dashboard.openai_api.response_objects import build_events, load_progressed, response_object
from dashboard.openai_api.responses import ResponseRequest, start_response
from dashboard.openai_api.runs import find_or_start, request_key
from research.engine.records import WAITING, Status
from research.models import JournalEntry, Run
from tests.dashboard.conftest import QUOTE, URL, add_evidence, add_report, make_run

# --- requests ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "depth"),
    [
        ("plumbline-quick", "quick"),
        ("o4-mini-deep-research-2025-06-26", "standard"),
        ("o3-deep-research", "thorough"),
    ],
)
def test_a_model_is_a_depth(model: str, depth: str) -> None:
    assert find_depth(model) == depth


def test_the_last_user_message_is_the_question() -> None:
    parts = [{"type": "input_text", "text": "And yews?"}]
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "How old do oaks get?"},
        {"role": "assistant", "content": "Old."},
        {"role": "user", "content": parts},
    ]
    assert read_conversation(messages, "input") == Conversation("And yews?", "How old do oaks get?")
    with pytest.raises(InvalidRequestError):
        read_conversation([{"role": "system", "content": "Be brief."}], "input")


def test_tools_choose_what_is_searched() -> None:
    files = {"type": "file_search", "vector_store_ids": ["c1", "c2"]}
    web = {"type": "web_search", "filters": {"allowed_domains": ["example.org"]}}
    assert choose_searches([files]).source == "documents"
    both = choose_searches([web, files])
    assert (both.source, both.collections) == ("both", ("c1", "c2"))
    assert both.knobs == {"only_sites": ("example.org",)}
    assert choose_searches([{"type": "web_search_preview_2025_03_11"}]).source == ""


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        ({"type": "code_interpreter"}, "tools[0].type"),
        ("web_search", "tools[0].type"),
        ({"type": "file_search"}, "tools[0].vector_store_ids"),
        ({"type": "web_search", "filters": "x"}, "tools[0].filters"),
        (
            {"type": "web_search", "filters": {"allowed_domains": 1}},
            "tools[0].filters.allowed_domains",
        ),
    ],
)
def test_a_tool_that_cannot_be_used_is_named(tool: Any, param: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        choose_searches([tool])
    assert refused.value.param == param


@pytest.mark.parametrize(
    "choice", [None, "auto", "required", "none", {"type": "web_search_preview"}]
)
def test_a_choice_of_tools_that_are_searches_is_taken(choice: Any) -> None:
    check_choice(choice)


@pytest.mark.parametrize("kind", ["function", "mcp", "code_interpreter"])
def test_a_tool_that_is_never_called_cannot_be_required(kind: str) -> None:
    with pytest.raises(InvalidRequestError) as refused:
        check_choice({"type": kind, "name": "weather"})
    assert refused.value.param == "tool_choice"


@pytest.mark.parametrize(
    ("tool", "param"),
    [
        (
            {"type": "web_search", "filters": {"allowed_domains": ["no domain"]}},
            "tools[0].filters.allowed_domains",
        ),
        ({"type": "file_search", "vector_store_ids": ["nope"]}, "tools[0].vector_store_ids"),
    ],
)
def test_what_the_research_refuses_is_named_as_in_the_request(
    admin: User, tool: dict[str, Any], param: str
) -> None:
    asked = ResponseRequest(model="plumbline-quick", input="How old do oaks get?", tools=[tool])
    with pytest.raises(InvalidRequestError) as refused:
        start_response(Caller(admin), asked, "responses-1")
    assert refused.value.param == param
    assert "ONLY_SITES" not in str(refused.value)


def test_a_response_whose_run_was_deleted_has_failed(admin: User) -> None:
    asked = ResponseRequest(model="plumbline-quick", input="How old do oaks get?")
    stored = start_response(Caller(admin), asked, "responses-1")
    Run.objects.all().delete()
    now = load_progressed(stored)
    told = response_object(now)
    assert (told["id"], told["status"]) == (f"resp_{stored.run.public_id}", "failed")
    assert told["error"]["message"] == "The run was deleted."
    assert build_events(now)[-1]["type"] == "response.failed"


# --- one run for one request -------------------------------------------------------------


def test_a_retry_is_the_same_run_for_a_day(admin: User) -> None:
    caller, asked = Caller(admin), Asked("How old do oaks get?")
    key = request_key("chat", {"model": "x"}, None)
    first = find_or_start(caller, asked, key)
    assert find_or_start(caller, asked, key) == first
    Run.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert find_or_start(caller, asked, key) != first
    assert Run.objects.count() == 2


def test_a_failed_run_is_tried_again_after_some_minutes(admin: User) -> None:
    caller, asked, key = Caller(admin), Asked("How old do oaks get?"), "chat-1"
    first = find_or_start(caller, asked, key)
    Run.objects.update(status="failed", finished_at=timezone.now())
    assert find_or_start(caller, asked, key) == first
    Run.objects.update(finished_at=timezone.now() - timedelta(minutes=11))
    assert find_or_start(caller, asked, key) != first


def test_a_key_replaces_the_body() -> None:
    assert request_key("chat", {"a": 1}, "k") == request_key("chat", {"a": 2}, "k")
    assert request_key("chat", {"a": 1}, None) != request_key("chat", {"a": 2}, None)
    assert request_key("chat", {}, "k") != request_key("responses", {}, "k")


# --- reports and events ------------------------------------------------------------------


@pytest.fixture
def run(admin: User) -> Run:
    run = make_run(admin, "completed", termination_reason="quality_met")
    add_evidence(run, 1)
    add_report(run, f"# Oaks\n\n{QUOTE} [1] See \\[1] and [7].\n\n- [1] Oak: <{URL}>")
    return run


def test_only_markers_of_the_text_are_annotated(run: Run) -> None:
    report = load_report(run)
    [citation] = report.annotations
    assert report.text[: citation["end_index"]].endswith(f"{QUOTE} [1]")
    assert (citation["url"], citation["title"]) == (URL, "Oak")
    assert "".join(report.chunks()) == report.text


@pytest.mark.parametrize(("status", "text"), [("failed", "Broken."), ("cancelled", "cancelled")])
def test_a_run_without_a_report_is_an_error(admin: User, status: str, text: str) -> None:
    with pytest.raises(ResearchFailedError, match=text):
        load_report(make_run(admin, status, termination_text="Broken."))


def add_search(run: Run, number: int, status: str = "done") -> JournalEntry:
    return JournalEntry.objects.create(
        run=run,
        place=f"round/1/unit/{number}/search/1",
        place_key=str(number),
        attempt=1,
        kind="search",
        status=status,
        request={"query": f"oaks {number}"},
    )


def test_events_keep_their_numbers_while_a_run_goes_on(run: Run) -> None:
    stored = StoredResponse.objects.create(run=run, request={"model": "plumbline-quick"})
    Run.objects.filter(pk=run.pk).update(status="researching")
    pending, _ = add_search(run, 1, "pending"), add_search(run, 2)
    earlier = build_events(load_progressed(stored))
    assert earlier[-1]["type"] == "response.web_search_call.searching"
    JournalEntry.objects.filter(pk=pending.pk).update(status="failed")
    later = build_events(load_progressed(stored))
    assert later[: len(earlier)] == earlier
    Run.objects.filter(pk=run.pk).update(status="completed")
    final = build_events(load_progressed(stored))
    assert final[: len(later)] == later
    assert final[-1]["type"] == "response.completed"
    statuses = [each["status"] for each in final[-1]["response"]["output"]]
    assert statuses == ["failed", "completed", "completed"]


@pytest.mark.parametrize(
    ("status", "reason", "shown"),
    [
        ("queued", None, "queued"),
        ("researching", None, "in_progress"),
        ("writing", None, "in_progress"),
        ("completed", "quality_met", "completed"),
        ("completed", "budget_cost", "incomplete"),
        ("failed", None, "failed"),
        ("stalled", None, "failed"),
        ("cancelled", "cancelled", "cancelled"),
    ],
)
def test_every_status_of_a_run_is_one_of_a_response(
    run: Run, status: str, reason: str | None, shown: str
) -> None:
    stored = StoredResponse.objects.create(run=run)
    Run.objects.filter(pk=run.pk).update(status=status, termination_reason=reason)
    told = response_object(load_progressed(stored))
    assert told["status"] == shown
    assert (told["error"] is not None) == (shown == "failed")
    assert (told["incomplete_details"] is not None) == (shown == "incomplete")


@pytest.mark.parametrize("status", sorted(WAITING))
def test_a_run_that_waits_for_a_person_is_shown_as_failed(run: Run, status: Status) -> None:
    stored = StoredResponse.objects.create(run=run)
    Run.objects.filter(pk=run.pk).update(status=status)
    now = load_progressed(stored)
    told = response_object(now)
    assert told["status"] == "failed"
    assert run.public_id in told["error"]["message"] and "page" in told["error"]["message"]
    assert build_events(now)[-1]["type"] == "response.failed"


# --- searches ----------------------------------------------------------------------------

HIT = {"url": "https://example.org/", "title": "", "snippet": "", "provider": "brave", "rank": 1}


def kinds_of(run: Run, names: list[str]) -> list[tuple[str, str, str]]:
    """Return type, query and status of the items of a run with these searches."""
    Run.objects.filter(pk=run.pk).update(sources={"search": names})
    stored, _ = StoredResponse.objects.get_or_create(run=run)
    items = response_object(load_progressed(stored))["output"][:-1]
    queries = [each.get("queries") or each["action"]["queries"] for each in items]
    return [
        (each["type"], *said, each["status"]) for each, said in zip(items, queries, strict=True)
    ]


def test_searches_are_shown_by_what_was_searched(run: Run) -> None:
    add_search(run, 1)
    assert kinds_of(run, ["brave"]) == [("web_search_call", "oaks 1", "completed")]
    assert kinds_of(run, ["documents"]) == [("file_search_call", "oaks 1", "completed")]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"hits": [HIT]}, "completed"),
        ({"hits": [], "notes": ["your documents found little."]}, "completed"),
        ({"reason": "No search provider answered.", "permanent": False}, "failed"),
    ],
)
def test_what_goes_from_documents_to_the_web_is_a_search_of_its_own(
    run: Run, answer: dict[str, Any], status: str
) -> None:
    entry = add_search(run, 1, "failed" if status == "failed" else "done")
    JournalEntry.objects.filter(pk=entry.pk).update(
        answer=answer, request={"query": "oaks of Anna", "private_words": ["Anna"]}
    )
    assert kinds_of(run, ["documents", "brave"]) == [
        ("file_search_call", "oaks of Anna", status),
        ("web_search_call", "oaks of", status),
    ]


def test_documents_that_suffice_are_the_only_search(run: Run) -> None:
    entry = add_search(run, 1)
    found = {"hits": [{**HIT, "provider": "documents"}], "notes": []}
    JournalEntry.objects.filter(pk=entry.pk).update(answer=found)
    assert [kind for kind, *_ in kinds_of(run, ["documents", "brave"])] == ["file_search_call"]


def test_events_of_documents_and_the_web_keep_their_numbers(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(
        status="researching", sources={"search": ["documents", "brave"]}
    )
    stored = StoredResponse.objects.create(run=run)
    entry = add_search(run, 1, "pending")
    earlier = build_events(load_progressed(stored))
    assert earlier[-1]["type"] == "response.file_search_call.searching"
    JournalEntry.objects.filter(pk=entry.pk).update(status="done", answer={"hits": [HIT]})
    later = build_events(load_progressed(stored))
    assert later[: len(earlier)] == earlier
    assert [each["type"] for each in later[len(earlier) :]] == [
        "response.file_search_call.completed",
        "response.output_item.done",
        "response.output_item.added",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
        "response.output_item.done",
    ]
