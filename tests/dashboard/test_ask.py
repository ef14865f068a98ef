from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.samples import samples
from research.models import Run
from tests.dashboard.conftest import make_run


def test_asking_makes_a_run_and_leads_to_its_page(client: Client, admin: User) -> None:
    answer = client.post("/", {"question": "How old do oaks get?", "key": "k1"})
    run = Run.objects.get()
    assert answer.headers["Location"] == f"/runs/{run.public_id}/"
    assert (run.owner, run.question, run.agreed) == (admin, "How old do oaks get?", True)


def test_whoever_wants_to_see_the_plan_first_is_asked(client: Client) -> None:
    client.post("/", {"question": "How old do oaks get?", "key": "k1", "ask_first": "on"})
    assert not Run.objects.get().agreed


def test_a_form_sent_twice_makes_one_run(client: Client) -> None:
    for _ in range(2):
        client.post("/", {"question": "How old do oaks get?", "key": "k1"})
    assert Run.objects.count() == 1


def test_an_empty_question_is_told_so_beside_the_box(client: Client) -> None:
    answer = client.post("/", {"question": "  ", "key": "k1"})
    assert answer.status_code == 422
    assert b"Write a question first." in answer.content
    assert not Run.objects.exists()


def test_a_question_that_is_too_long_is_kept_in_the_box(client: Client) -> None:
    answer = client.post("/", {"question": "why " * 1000, "key": "k1"})
    assert answer.status_code == 422
    assert b"at most" in answer.content and b"why why" in answer.content


def test_a_sample_runs_over_the_sample_library(client: Client) -> None:
    sample = samples()[0]
    client.post(f"/samples/{sample.slug}/", {"key": "k1"})
    run = Run.objects.get()
    assert run.question == sample.question
    assert run.sources == {"search": ["samples"]}


def test_an_unknown_sample_is_not_found(client: Client) -> None:
    assert client.post("/samples/nothing/", {"key": "k1"}).status_code == 404


def test_the_page_says_which_analyst_and_search_are_at_work(client: Client) -> None:
    page = client.get("/").content
    assert b"Analyst: " in page and b"Search: " in page


def test_the_pages_hold_no_script_and_no_other_host(client: Client) -> None:
    answer = client.get("/")
    assert b"<script" not in answer.content and b"//" not in answer.content.replace(b"://", b"")
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]


def test_the_list_shows_state_and_score_page_by_page(client: Client, admin: User) -> None:
    for number in range(30):
        make_run(admin, "completed", question=f"Question {number}", quality_score=7.25)
    first, second = client.get("/runs/").content, client.get("/runs/?page=2").content
    assert b"Question 29" in first and b"Question 0" not in first
    assert b"Question 0" in second
    assert b"Done" in first and b"7.2" in first


def test_an_empty_list_leads_to_asking(client: Client) -> None:
    assert b"Nothing asked yet" in client.get("/runs/").content


def test_an_honest_end_without_findings_is_not_shown_as_done(client: Client, admin: User) -> None:
    make_run(admin, "completed", termination_reason="nothing_found")
    assert b"Nothing found" in client.get("/runs/").content


def test_the_list_takes_the_same_queries_for_many_runs(
    client: Client, admin: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_run(admin)
    with django_assert_num_queries(4):
        client.get("/runs/")
    for _ in range(20):
        make_run(admin)
    with django_assert_num_queries(4):
        client.get("/runs/")
