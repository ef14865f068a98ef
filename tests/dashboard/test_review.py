"""The review of evidence in the product's own pages."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.views import review
from research.models import Evidence, PageText, Run, Thread, Verdict
from research.services import sample_reports
from tests.dashboard.conftest import QUOTE, add_evidence, add_report, make_run

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
    assert "“Oaks grow old (2).”: reviewed: does not support it." in page
    assert "<h3>Oaks grow old (2)." not in page and "<h3>Oaks grow old (1)." in page
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


def test_a_quote_stands_among_the_words_around_it(client: Client, run: Run) -> None:
    add_report(run, "It is old. [1]")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    quote = page.select(".card blockquote")[1]
    assert " ".join(quote.get_text().split()) == (f"# Oak Home {QUOTE} It is slow. <b>The end</b>")
    assert quote.select_one("mark").get_text() == QUOTE  # type: ignore[union-attr]
    PageText.objects.update(text="Gone.")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    assert [each.get_text() for each in page.select("blockquote")] == [f"“{QUOTE}”"] * 2
    assert "The copy is no longer stored." in page.get_text()


def test_a_claim_says_whether_its_report_cites_it(client: Client, run: Run) -> None:
    add_report(run, "It is old. [1]")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    second, first = page.select(".card")
    assert "Not cited in a report" in second.get_text()
    link = first.select_one(".faint a")
    assert link is not None and link["href"] == f"/runs/{run.public_id}/citations/1/"


def test_claims_stand_under_the_title_of_their_run(client: Client, run: Run, admin: User) -> None:
    sample = sample_reports.open_sample(admin, SLUG)
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    heads = [str(each["href"]) for each in page.select(".reviewing h2 a")]
    assert heads[0] == f"/runs/{sample.public_id}/"
    assert len(heads) == len(set(heads))
    page = BeautifulSoup(client.get(f"/review/?run={run.public_id}").content, "html.parser")
    assert "2 claims of one run." in page.get_text()


def test_older_evidence_is_a_page_away(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "ON_A_PAGE", 1)
    first = client.get("/review/")
    assert len(first.context["groups"][0]["claims"]) == 1 and first.context["older"]
    last = client.get("/review/?" + first.context["older"])
    assert last.context["groups"][0]["claims"][0]["label"] == "E1" and not last.context["older"]


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
    with django_assert_num_queries(6):
        client.get("/review/")
    add_evidence(run, 3)
    with django_assert_num_queries(6):
        client.get("/review/")


def test_a_verdict_leads_to_no_other_host(client: Client, run: Run) -> None:
    row = Evidence.objects.filter(run=run).first()
    assert row is not None
    answer = client.post(f"/review/{row.pk}/", {"verdict": "flag", "next": "//elsewhere.test/"})
    assert answer.headers["Location"] == "/review/"
