"""C22: every search, fetch and model call of a run can be read, with what came back."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from research.models import JournalEntry, Run
from research.models.base import key_digest
from tests.dashboard.conftest import add_evidence, make_later, make_run


def record(run: Run, place: str, kind: str, request: Any, answer: Any, **columns: Any) -> None:
    JournalEntry.objects.create(
        run=run,
        place=place,
        place_key=key_digest(place),
        kind=kind,
        request=request,
        answer=answer,
        **{"attempt": 1, "status": "done", "seconds": 1.5, **columns},
    )


@pytest.mark.requirement("C7", "C22")
def test_each_call_is_told_with_what_came_back(client: Client, admin: User) -> None:
    run = make_run(admin)
    record(run, "s", "search", {"query": "old oaks"}, {"hits": [{}, {}]})
    record(run, "f", "fetch", {"url": "https://trees.test/oak"}, {"title": "Oak"})
    gone = {"reason": "The page is gone (404)."}
    record(run, "g", "fetch", {"url": "https://trees.test/elm"}, gone, status="failed")
    used = {"prompt_tokens": 900, "completion_tokens": 100}
    record(run, "r", "model", {"task": "read", "prompt": "secret"}, used, attempt=2)
    record(run, "clock", "decision", {}, 0.7)
    page = client.get(f"/runs/{run.public_id}/activity/?show=all").content.decode()
    assert "Searched “old oaks”" in page and "2 results" in page
    assert "Fetched trees.test/oak" in page and "Oak" in page
    assert "The page is gone (404)." in page and "failed" in page
    assert "Asked the model to read pages (attempt 2)" in page and "1,000 tokens" in page
    assert "secret" not in page and "clock" not in page


@pytest.mark.requirement("C16")
def test_a_stored_copy_is_told_as_one(client: Client, admin: User) -> None:
    run = make_run(admin)
    copy = {"title": "Oak", "note": "The server answered 503; the stored copy of 3 May was read."}
    record(run, "f", "fetch", {"url": "https://trees.test/oak"}, copy)
    page = client.get(f"/runs/{run.public_id}/activity/").content.decode()
    assert "the stored copy of 3 May was read" in page


@pytest.mark.requirement("C22")
def test_where_the_time_went_is_told_longest_first(client: Client, admin: User) -> None:
    run = make_run(admin)
    record(run, "s", "search", {"query": "oaks"}, {"hits": []})
    gone = {"reason": "The page is gone (404)."}
    record(run, "f", "fetch", {"url": "https://trees.test/oak"}, {"title": "Oak"})
    record(run, "g", "fetch", {"url": "https://trees.test/elm"}, gone, status="failed")
    record(run, "r", "model", {"task": "read"}, {}, seconds=60)
    page = client.get(f"/runs/{run.public_id}/activity/").content
    rows = BeautifulSoup(page, "html.parser").select("tbody tr")
    assert [[cell.get_text() for cell in row.select("td")] for row in rows] == [
        ["Asked the model to read pages", "1", "0", "1:00 min"],
        ["Fetching pages", "2", "1", "3 s"],
        ["Searching", "1", "0", "1.5 s"],
    ]


@pytest.mark.requirement("A16")
def test_what_each_stage_and_model_took_adds_up(client: Client, admin: User) -> None:
    def part(calls: int, tokens: int, cost: float | None, seconds: float) -> dict[str, Any]:
        told = {"calls": calls, "prompt_tokens": tokens, "completion_tokens": 0}
        return {**told, "cost_usd": cost, "seconds": seconds}

    usage = {
        **part(0, 5_000, 0.03, 90.0),
        "llm_calls": 6,
        "spent_by": {
            "stage": {
                "report": part(2, 1_500, 0.01, 20.0),
                "intake": part(1, 500, 0.005, 10.0),
                "overview": part(3, 3_000, 0.015, 60.0),
            },
            "model": {"large": part(3, 3_000, 0.025, 35), "small": part(2, 2_000, 0.005, 50)},
        },
    }
    run = make_run(admin, usage=usage)
    record(run, "s", "search", {"query": "oaks"}, {"hits": []})
    page = client.get(f"/runs/{run.public_id}/activity/").content
    tables = BeautifulSoup(page, "html.parser").select("table.took")
    stages, models = (
        [[cell.get_text() for cell in row.select("th, td")] for row in table.select("tbody tr")]
        for table in tables
    )
    assert stages == [
        ["Before research", "1", "500", "$0.0050", "10 s"],
        ["Overview", "3", "3,000", "$0.0150", "1:00 min"],
        ["Report", "2", "1,500", "$0.0100", "20 s"],
        ["Total", "6", "5,000", "$0.0300", "1:30 min"],
    ]
    assert models == [
        ["large", "3", "3,000", "$0.0250", "35 s"],
        ["small", "2", "2,000", "$0.0050", "50 s"],
        ["No model answered", "1", "0", "$0.00", ""],
        ["Total", "6", "5,000", "$0.0300", ""],
    ]


def test_a_run_of_before_stages_were_timed_shows_no_time(client: Client, admin: User) -> None:
    old = {"calls": 1, "prompt_tokens": 5, "completion_tokens": 5, "cost_usd": None}
    usage = {"llm_calls": 1, "seconds": 9, "spent_by": {"stage": {"overview": old}}}
    run = make_run(admin, usage=usage)
    record(run, "s", "search", {"query": "oaks"}, {"hits": []})
    page = client.get(f"/runs/{run.public_id}/activity/").content
    row = BeautifulSoup(page, "html.parser").select_one("table.took tbody tr")
    assert row is not None
    assert [cell.get_text() for cell in row.select("th, td")] == [
        "Overview",
        "1",
        "10",
        "unknown",
        "",
    ]


def test_the_run_leads_to_it_and_nobody_else_sees_it(
    client: Client, admin: User, django_user_model: type[User]
) -> None:
    run = make_run(admin)
    address = f"/runs/{run.public_id}/activity/"
    assert address in client.get(f"/runs/{run.public_id}/").content.decode()
    assert b"Nothing has been searched" in client.get(address).content
    client.force_login(django_user_model.objects.create_user("stranger"))
    assert client.get(address).status_code == 404


@pytest.mark.parametrize("kind", ["revise", "reshape"])
def test_a_version_that_is_only_written_anew_leads_to_what_was_searched(
    client: Client, admin: User, kind: str
) -> None:
    first = make_run(admin, "completed")
    later = make_later(make_later(first, kind="reshape"), kind=kind)
    page = BeautifulSoup(client.get(f"/runs/{later.public_id}/activity/").content, "html.parser")
    assert "written from the findings of an earlier one" in page.get_text()
    assert page.select_one(f"a[href='/runs/{first.public_id}/activity/']") is not None
    assert "Nothing has been searched" not in page.get_text()
    Run.objects.filter(pk=first.pk).delete()
    gone = client.get(f"/runs/{later.public_id}/activity/").content
    assert b"from the findings of an earlier one" in gone


def test_a_long_log_comes_in_pages_and_a_constant_number_of_queries(
    client: Client, admin: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    run = make_run(admin)
    for number in range(130):
        record(run, f"s{number}", "search", {"query": f"query {number}."}, {"hits": []})
    address = f"/runs/{run.public_id}/activity/?show=search"
    with django_assert_max_num_queries(6):
        first = client.get(address).content.decode()
    assert "query 0." in first and "query 120." not in first and "130" in first
    assert b"query 120." in client.get(f"{address}&page=2").content


def parts_of(client: Client, run: Run) -> list[tuple[str, dict[str, str]]]:
    """Return the parts of a run's story: their titles, and what each line says, by its name."""
    page = BeautifulSoup(client.get(f"/runs/{run.public_id}/activity/").content, "html.parser")
    return [
        (
            part.select_one("h2").get_text(),
            {
                line.select_one("dt").get_text(): (
                    line.select_one("summary") or line.select_one("dd")
                ).get_text(" ", strip=True)
                for line in part.select("dl > div")
            },
        )
        for part in page.select(".story-parts > li")
    ]


@pytest.mark.requirement("C22")
def test_what_a_run_did_is_told_round_by_round(client: Client, admin: User) -> None:
    run = make_run(admin)
    used = {"prompt_tokens": 900, "completion_tokens": 100}
    record(run, "intake/1", "model", {"task": "intake"}, used)
    for number, page in ((1, "oak"), (2, "elm")):
        unit = f"round/{number}/unit/1"
        run.rounds.create(number=number, stage="overview", new_evidence=3, score=5, decision="On.")
        run.units.create(round=number, number=1, topic=f"the {page}", status="done")
        record(run, f"{unit}/search/1", "search", {"query": page}, {"hits": [{}, {}]})
        url = f"https://trees.test/{page}"
        record(run, f"fetch/{url}", "fetch", {"url": url}, {"title": page})
        record(run, f"{unit}/read", "model", {"task": "read"}, used)
        record(run, f"{unit}/read/again", "model", {"task": "read"}, used)
    gone = {"reason": "The page is gone (404)."}
    record(run, "fetch/x", "fetch", {"url": "https://trees.test/ash"}, gone, status="failed")
    run.refused_quotes.create(
        round=2, unit=1, ordinal=1, claim="Elms fly.", url="https://trees.test/elm", reason="No."
    )
    record(run, "report/draft", "model", {"task": "draft"}, used)
    told = parts_of(client, run)
    assert [title for title, _ in told] == ["The question", "Round 1", "Round 2", "The report"]
    assert told[1][1] == {
        "Looked into": "1 topic The oak",
        "Searched": "1 search, 2 results",
        "Read": "1 page from 1 site",
        "Found": "3 new claims",
        "Judged": "5.0 of 10; research can stop at 7.0",
        "Model": "2 model calls, 2,000 tokens",
    }
    assert told[2][1]["Read"] == "1 page from 1 site; 1 could not be read"
    assert told[2][1]["Refused"] == "1 quote refused"
    assert told[3][1] == {"Model": "1 model call, 1,000 tokens"}


def test_sub_questions_have_the_headings_of_the_plan(client: Client, admin: User) -> None:
    plan = {"aspects": [{"text": "Part 1", "heading": "Age of oaks"}]}
    run = make_run(admin, "completed", plan=plan)
    for number in (1, 2):
        add_evidence(run, number)
    run.aspects.filter(label="A1").update(state="open", evidence_labels=[])
    run.units.filter(round=1).update(topic="Part 1")
    record(run, "intake/1", "model", {"task": "intake"}, {})
    research = client.get(f"/runs/{run.public_id}/research/").content.decode()
    assert 'class="aspect-text" title="Part 1">Age of oaks</p>' in research
    assert '<span title="Part 1">Age of oaks <span' in research, "the topic of a round"
    page = client.get(f"/runs/{run.public_id}/activity/").content.decode()
    assert '<span>Age of oaks</span> <span class="faint">Part 1</span>' in page
    assert '<span title="Part 1">Age of oaks</span>' in page


@pytest.mark.requirement("C22")
def test_the_calls_of_one_kind_can_be_listed(client: Client, admin: User) -> None:
    run = make_run(admin)
    record(run, "s", "search", {"query": "old oaks"}, {"hits": []})
    gone = {"reason": "The page is gone (404)."}
    record(run, "f", "fetch", {"url": "https://trees.test/elm"}, gone, status="failed")
    page = BeautifulSoup(client.get(f"/runs/{run.public_id}/activity/").content, "html.parser")
    links = {link.get_text(" ", strip=True): str(link["href"]) for link in page.select(".chips a")}
    assert list(links) == ["By round", "All calls 2", "Searches 1", "Pages 1", "Failed 1"]
    failed = client.get(f"/runs/{run.public_id}/activity/{links['Failed 1']}").content.decode()
    assert "trees.test/elm" in failed and "old oaks" not in failed
