"""The review of evidence in the product's own pages."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from dashboard.views import review
from research.models import Evidence, EvidenceSource, PageText, Run, Thread, Verdict
from research.services import sample_reports
from tests.dashboard.conftest import QUOTE, URL, add_evidence, add_report, make_run

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
    quote = page.select(".card blockquote")[0]
    assert " ".join(quote.get_text().split()) == (f"Home {QUOTE} It is slow. <b>The end</b>")
    assert quote.select_one("mark").get_text() == QUOTE  # type: ignore[union-attr]
    PageText.objects.update(text="Gone.")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    assert [each.get_text() for each in page.select("blockquote")] == [f"“{QUOTE}”"] * 2
    assert "The copy is no longer stored." in page.get_text()


@pytest.mark.parametrize("marks", ["## ", ""])
def test_headings_are_apart_from_the_sentences_of_a_quote(
    client: Client, run: Run, marks: str
) -> None:
    add_report(run, "It is slow. [1]")
    quote = f"{marks}How they grow\n\nAn oak is slow."
    before = f"# Oak\n\nHome\n\n{'## '.removeprefix(marks)}"
    PageText.objects.update(text=f"{before}{quote} It is.\n\n# Elms\n\nAn elm.")
    EvidenceSource.objects.update(quote=quote, start=len(before), end=len(before + quote))
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    told = page.select(".card blockquote")[0]
    assert [each.get_text() for each in told.select("mark > b")] == ["How they grow"]
    said = " ".join(told.get_text(" ").split())
    assert said == "How they grow An oak is slow. It is."
    PageText.objects.update(text="Gone.")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    assert "## " not in page.get_text()


def test_a_claim_says_whether_its_report_cites_it(client: Client, run: Run) -> None:
    add_report(run, "It is old. [1]")
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    first, second = page.select(".card")
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
    client: Client, run: Run, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "RUNS_ON_A_PAGE", 1)
    add_evidence(make_run(admin, "completed"), 1)
    first = client.get("/review/")
    assert len(first.context["groups"]) == 1 and first.context["older"]
    last = client.get("/review/?" + first.context["older"])
    assert last.context["groups"][0]["url"] == f"/runs/{run.public_id}/"
    assert not last.context["older"]


def test_the_claims_of_a_run_go_on_after_those_that_were_judged(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(review, "OF_EACH_RUN", 1)
    monkeypatch.setattr(review, "OF_ONE_RUN", 1)
    add_evidence(run, 3)
    page = BeautifulSoup(client.get("/review/").content, "html.parser")
    link = page.find("a", string="All 3 claims of this run")
    assert link is not None and len(page.select(".card")) == 1
    shown = [client.get(f"/review/{link['href']}")]
    judge(client, run, "E3", verdict="accept")
    for _ in range(2):
        shown.append(client.get("/review/?" + shown[-1].context["older"]))
    labels = [each.context["groups"][0]["uncited"][0]["label"] for each in shown]
    assert labels == ["E3", "E2", "E1"] and not shown[-1].context["older"]


def test_what_the_report_cites_comes_first_and_what_deserves_doubt_before_it(
    client: Client, run: Run
) -> None:
    for number in range(3, 7):
        add_evidence(run, number)
    for label in ("E2", "E3"):  # by two sites
        quote = Evidence.objects.get(run=run, label=label).quotes.get()
        quote.pk, quote.position, quote.independence_key = None, 1, "other.test"
        quote.save()
    Evidence.objects.filter(label="E4").update(contradicts=["E5"])
    Evidence.objects.filter(label="E3").update(claim=QUOTE)
    report = add_report(run, "So. [3] Then. [2] Old. [1] Or not. [4]")
    report.citations = [{"marker": n, "evidence_ids": [f"E{n}"], "url": URL} for n in (1, 2, 3, 4)]
    report.save()
    page = BeautifulSoup(client.get(f"/review/?run={run.public_id}").content, "html.parser")
    order = ["Oaks grow old (4).", "Oaks grow old (1).", QUOTE, "Oaks grow old (2)."]
    rest = ["Oaks grow old (6).", "Oaks grow old (5)."]
    assert [each.get_text() for each in page.select(".card h3")] == [*order, *rest]
    assert [each.get_text() for each in page.select("details:not([open]) h3")] == rest
    titles = [each.get_text() for each in page.select(".reviewing .small-title")]
    assert titles == ["Look at these first", "In the order of the report"]
    doubts = [
        [each.get_text() for each in card.select(".doubted")] for card in page.select(".card")
    ]
    alone = "Its statement rests on one site"
    assert doubts[:4] == [["Sources disagree", alone], [alone], [], []]
    assert "judged by the model only" not in page.get_text(), "there was none"
    Run.objects.filter(pk=run.pk).update(analyst="some-model")
    page = BeautifulSoup(client.get(f"/review/?run={run.public_id}").content, "html.parser")
    by_model = ["judged by the model only" in card.get_text() for card in page.select(".card")]
    assert by_model[:4] == [True, True, False, True], "code finds a quote in itself"
    assert "4 cited in its report, 2 not cited" in page.get_text()


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
    client: Client, run: Run, admin: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    add_report(run, "It is old. [1]")
    with django_assert_num_queries(8):
        client.get("/review/")
    add_evidence(run, 3)
    add_evidence(make_run(admin, "completed"), 1)
    with django_assert_num_queries(8):
        client.get("/review/")


def test_a_verdict_leads_to_no_other_host(client: Client, run: Run) -> None:
    row = Evidence.objects.filter(run=run).first()
    assert row is not None
    answer = client.post(f"/review/{row.pk}/", {"verdict": "flag", "next": "//elsewhere.test/"})
    assert answer.headers["Location"] == "/review/"


def test_the_last_verdict_can_be_taken_back(client: Client, run: Run) -> None:
    page = BeautifulSoup(judge(client, run, "E2", verdict="reject"), "html.parser")
    [notice] = page.select("form.notice-row")
    told = notice.get_text(" ", strip=True)
    assert told.endswith("reviewed: does not support it. Undo")
    evidence = run.evidence.get(label="E2")
    sent = {"verdict": "withdraw", "next": "/review/"}
    answer = client.post(str(notice["action"]), sent, follow=True).content.decode()
    assert "The verdict was taken back." in answer and "Undo" not in answer
    assert evidence.claim in answer, "it is to be reviewed again"
    assert "Undo" not in client.get("/review/").content.decode()


def test_a_filter_without_hits_says_so(client: Client, run: Run) -> None:
    page = client.get("/review/?review=accept").content.decode()
    assert "No evidence matches this." in page and "as soon as a run has found" not in page
    run.evidence.all().delete()
    assert "as soon as a run has found" in client.get("/review/").content.decode()
