"""What only one viewer is offered: the forms and buttons that htmx loads when they change."""

from __future__ import annotations

from html import unescape

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client

from dashboard.live import fragments
from research.engine.config import ResearchConfig
from research.engine.offline.planning import from_wording
from research.models import Command, Problem, Run
from tests.dashboard.conftest import QUOTE, add_evidence, add_report, make_run

PLAN = {"brief": "Find out.", "aspects": [{"text": "How old?", "query": "old"}], "questions": []}


def test_the_desk_has_the_forms_of_the_viewer(client: Client, admin: User) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN)
    html = client.get(f"/runs/{run.public_id}/desk/").content.decode()
    assert "The plan</h2>" in html and "csrfmiddlewaretoken" in html
    assert "<html" not in html


@pytest.mark.requirement("D12")
def test_the_plan_is_shown_with_its_brief_sub_questions_and_terms(
    client: Client, admin: User
) -> None:
    terms = {
        "scope": "Oaks of Europe.",
        "evidence_strategy": "Foresters' records.",
        "output_format": "A table.",
    }
    for analyst in ("extractive", "some-model"):
        run = make_run(admin, "awaiting_approval", plan={**PLAN, **terms}, analyst=analyst)
        html = unescape(client.get(f"/runs/{run.public_id}/desk/").content.decode())
        for said in ("Find out.", "How old?", *terms.values()):
            assert said in html, (analyst, said)


def test_a_brief_that_only_repeats_the_question_is_left_out(client: Client, admin: User) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN)
    plan = {**PLAN, "brief": f"What is asked: {run.question}"}
    again = make_run(admin, "awaiting_approval", plan=plan)
    assert "Find out." in client.get(f"/runs/{run.public_id}/desk/").content.decode()
    assert "What is asked" not in client.get(f"/runs/{again.public_id}/desk/").content.decode()


def test_it_is_asked_for_anew_only_where_something_else_is_offered(admin: User) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN)
    element = f"run-{run.public_id}-desk-key"
    keys = [fragments.build_state(run).fragments[element].shows]
    for status, plan in (("awaiting_approval", {**PLAN, "brief": "Anew."}), ("researching", PLAN)):
        run.status, run.plan = status, plan
        keys.append(fragments.build_state(run).fragments[element].shows)
    run.verdict = "Going on."
    assert fragments.build_state(run).fragments[element].shows == keys[-1]
    assert len({key["key"] for key in keys}) == 3


def test_somebody_elses_is_not_found(admin: User) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN)
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    assert stranger.get(f"/runs/{run.public_id}/desk/").status_code == 404


def test_a_citation_beside_the_report_is_only_the_panel(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    headers = {"HX-Request": "true", "HX-Target": "citation-panel"}
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=headers).content.decode()
    assert "<mark" in html and "<html" not in html
    assert "Oaks grow old (1)." in html, "the claim is in other words than its quote"


def test_only_the_words_that_bear_the_claim_are_highlighted(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1, f"{QUOTE} It is slow.")
    evidence.quotes.update(end=F("end") + len(" It is slow."))
    evidence.claim = QUOTE
    evidence.save()
    add_report(run, "About 600 years. [1]")
    soup = BeautifulSoup(client.get(f"/runs/{run.public_id}/citations/1/").content, "html.parser")
    assert [mark.get_text() for mark in soup.select(".stored mark")] == [QUOTE]
    assert [rest.get_text() for rest in soup.select(".stored .quoted")] == [" It is slow."]
    assert "match" not in soup.select_one(".checks").get_text()  # type: ignore[union-attr]


def test_a_claim_that_the_highlighted_quote_says_is_not_said_twice(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    evidence.claim = evidence.quotes.get().quote
    evidence.uncertainty = ["name_differs"]
    evidence.save()
    add_report(run, "About 600 years. [1]")
    address = f"/runs/{run.public_id}/citations/1/"
    panel = {"HX-Request": "true", "HX-Target": "citation-panel"}
    assert client.get(address, headers=panel).content.decode().count(evidence.claim) == 1
    html = client.get(address).content.decode()
    assert html.count(evidence.claim) == 1
    assert "numbers and negations match" in html and "names differ" in html


def test_a_verdict_on_a_citation_is_kept(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    address = f"/runs/{run.public_id}/citations/1/"
    answer = client.post(f"{address}judge/", {"verdict": "reject"})
    assert answer.headers["Location"] == address
    assert evidence.verdicts.get().verdict == "reject"
    assert "does not support it" in client.get(address).content.decode()


def test_what_is_no_verdict_is_refused(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    client.post(f"/runs/{run.public_id}/citations/1/judge/", {"verdict": "shrug"})
    assert not evidence.verdicts.exists()


def test_a_plan_that_the_model_failed_at_says_so_above_its_lines(
    client: Client, admin: User
) -> None:
    worded = from_wording("How old do oaks get?", (), "")
    plan = {**PLAN, "scope": worded.scope}
    run = make_run(admin, "awaiting_approval", plan=plan, analyst="some-model")
    desk = f"/runs/{run.public_id}/desk/"
    assert "The model couldn’t plan this" not in client.get(desk).content.decode()
    Problem.objects.create(run=run, key="1", where="model, intake", message="Done by code.")
    card = BeautifulSoup(client.get(desk).content, "html.parser").select_one(".asks")
    assert card is not None
    note = card.select_one(".unplanned")
    assert note is not None and "The model couldn’t plan this" in note.get_text()
    assert "Done by code." in note.get_text(), "the reason"
    assert str(card).index("unplanned") < str(card).index("plan-lines")
    client.post(f"/runs/{run.public_id}/send-back/", {"again": "1"})
    sent = Command.objects.get(run=run)
    assert (sent.kind, sent.payload) == ("revise", {"comment": run.question})
    Run.objects.filter(pk=run.pk).update(plan={**PLAN, "scope": "Oaks of Europe."})
    assert "The model couldn’t plan this" not in client.get(desk).content.decode()


@pytest.mark.parametrize(("depth", "lines"), [("quick", 6), ("standard", 14)])
def test_the_plan_has_a_line_for_each_sub_question_that_it_may_have(
    client: Client, admin: User, depth: str, lines: int
) -> None:
    config = ResearchConfig().model_dump(mode="json") | {"research_depth": depth}
    run = make_run(admin, "awaiting_approval", plan=PLAN, config=config)
    desk = BeautifulSoup(client.get(f"/runs/{run.public_id}/desk/").content, "html.parser")
    assert len(desk.select(".plan-lines textarea")) == lines
