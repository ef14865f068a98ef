"""The review of evidence in the product's own pages."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.views import review
from research.models import Evidence, Run, Thread, Verdict
from research.services import sample_reports
from tests.dashboard.conftest import add_evidence, make_run

SLUG = "how-to-make-scrambled-eggs"


@pytest.fixture
def run(admin: User) -> Run:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_evidence(run, 2)
    return run


def judge(client: Client, run: Run, label: str, **sent: str) -> str:
    row = Evidence.objects.get(run=run, label=label)
    sent = {"next": "/review/", **sent}
    return client.post(f"/review/{row.pk}/", sent, follow=True).content.decode()


def test_a_verdict_takes_the_evidence_off_the_list(client: Client, run: Run, admin: User) -> None:
    page = client.get("/review/").content.decode()
    assert page.index("Oaks grow old (2).") < page.index("Oaks grow old (1).")
    page = judge(client, run, "E2", verdict="reject", note="About beeches")
    assert "E2: reviewed: does not support it." in page
    assert "Oaks grow old (2)." not in page and "Oaks grow old (1)." in page
    said = Verdict.objects.get()
    assert (said.verdict, said.note, said.actor) == ("reject", "About beeches", admin)


def test_evidence_is_found_by_verdict_words_and_run(client: Client, run: Run) -> None:
    judge(client, run, "E1", verdict="accept")
    assert "(1)." in client.get("/review/?review=accept").content.decode()
    every = client.get("/review/?review=").content.decode()
    assert "(1)." in every and "(2)." in every
    assert "(2)." in client.get("/review/?text=oaks").content.decode()
    assert "No evidence" in client.get("/review/?text=beeches").content.decode()
    assert "(2)." in client.get(f"/review/?run={run.public_id}").content.decode()
    assert "No evidence" in client.get("/review/?run=nothing").content.decode()
    assert client.get("/review/?review=nonsense&before=x").status_code == 200


def test_a_quote_that_is_the_claim_is_not_said_twice(client: Client, run: Run) -> None:
    row = Evidence.objects.get(run=run, label="E1")
    row.quotes.update(quote=row.claim)
    page = client.get("/review/").content.decode()
    assert page.count(row.claim) == 1 and page.count("Quoted word for word.") == 1


def test_a_quote_is_shown_in_the_stored_copy(client: Client, admin: User) -> None:
    run = sample_reports.open_sample(admin, SLUG)
    page = client.get("/review/").content.decode()
    assert "In the stored copy" in page and "<mark>" in page
    assert f'href="/runs/{run.public_id}/"' in page


def test_older_evidence_is_a_page_away(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "ON_A_PAGE", 1)
    first = client.get("/review/")
    assert len(first.context["claims"]) == 1 and first.context["older"]
    last = client.get("/review/?" + first.context["older"])
    assert last.context["claims"][0]["label"] == "E1" and not last.context["older"]


def test_a_verdict_that_is_none_is_refused(client: Client, run: Run) -> None:
    assert "A verdict is one of" in judge(client, run, "E1", verdict="maybe")
    assert not Verdict.objects.exists()


def test_others_see_and_judge_only_their_own(run: Run) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    page = client.get("/review/").content.decode()
    assert "No evidence" in page and "Administration" not in page
    row = Evidence.objects.filter(run=run).first()
    assert row is not None
    assert client.post(f"/review/{row.pk}/", {"verdict": "accept"}).status_code == 404


def test_evidence_of_deleted_questions_is_not_reviewed(client: Client, run: Run) -> None:
    Thread.objects.update(deleted_at=run.created_at)
    assert "No evidence" in client.get("/review/").content.decode()


def test_the_list_takes_the_same_queries_for_much_evidence(
    client: Client, run: Run, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(5):
        client.get("/review/")
    add_evidence(run, 3)
    with django_assert_num_queries(5):
        client.get("/review/")


def test_a_verdict_leads_to_no_other_host(client: Client, run: Run) -> None:
    row = Evidence.objects.filter(run=run).first()
    assert row is not None
    answer = client.post(f"/review/{row.pk}/", {"verdict": "flag", "next": "//elsewhere.test/"})
    assert answer.headers["Location"] == "/review/"
