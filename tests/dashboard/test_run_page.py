from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from dashboard.contexts.quality import cap_sentence
from dashboard.queries.run_rows import EVIDENCE_SHOWN
from research.engine.assessment.close_round import UNJUDGED
from research.models import Command, PageText, Report, Round, Run
from research.models.base import key_digest
from research.queue.host_process import HostProcess
from research.queue.presence import Registration
from research.services import reviews
from research.worker.fail_or_cancel import STALLED
from tests.dashboard.conftest import QUOTE, URL, add_evidence, add_report, make_run

STEERING = ("dig-deeper", "add-topic", "drop-topic")
PLAN = {"brief": "Find out.", "aspects": [{"text": "How old?", "query": "old"}], "questions": []}


def page(client: Client, run: Run, query: str = "") -> str:
    answer = client.get(f"/runs/{run.public_id}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.requirement("D2")
def test_a_working_run_shows_verdict_action_and_standing(client: Client, admin: User) -> None:
    run = make_run(admin, round=2, quality_score=5.8, verdict="Going on: 1 of 1 answered.")
    add_evidence(run, 1)
    html = page(client, run)
    assert 'class="verdict-sentence">Going on: 1 of 1 answered.</p>' in html
    assert "round 2 of up to 3" in html and "1 point missing" in html
    assert "rated 5.8 of 10; research can stop at 7.0" in html
    for part in ("verdict", "action", "aspects", "gaps", "evidence", "rounds"):
        assert f'id="run-{run.public_id}-{part}"' in html


def test_a_reached_score_says_which_required_sub_questions_are_open(
    client: Client, admin: User
) -> None:
    run = make_run(admin, round=2, quality_score=7.2)
    for number in (1, 2, 3):
        add_evidence(run, number)
    run.gaps.filter(label="G1").update(critical=True, aspect_label="A1")
    reached = "rated 7.2 of 10: score reached, but %s still open"
    assert reached % "1 required sub-question is" in page(client, run)
    run.gaps.filter(label="G2").update(critical=True, aspect_label="A2")
    assert reached % "2 required sub-questions are" in page(client, run)
    run.gaps.update(closed_round=2)
    assert "rated 7.2 of 10; research can stop at 7.0" in page(client, run)


def test_only_a_working_run_that_is_followed_refreshes(client: Client, admin: User) -> None:
    working, ended = make_run(admin), make_run(admin, "completed")
    assert 'http-equiv="refresh"' in page(client, working)
    assert 'http-equiv="refresh"' not in page(client, working, "?hold=1")
    assert 'http-equiv="refresh"' not in page(client, ended)


def test_somebody_elses_run_is_not_found(admin: User) -> None:
    run = make_run(admin)
    add_evidence(run, 1)
    add_report(run, "Old. [1]")
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    address = f"/runs/{run.public_id}/"
    assert stranger.get(address).status_code == 404
    for part in ("citations/1/", "activity/", "sources/", "evidence/", "cancel/"):
        assert stranger.get(f"{address}{part}").status_code == 404
    for action in (
        "answer",
        "approve",
        "send-back",
        "stop",
        "pause",
        "resume",
        "cancel",
        *STEERING,
    ):
        assert stranger.post(f"{address}{action}/").status_code == 404
    assert not Command.objects.exists()


def test_the_page_takes_the_same_queries_for_much_evidence(client: Client, admin: User) -> None:
    run = make_run(admin)
    add_evidence(run, 1)
    few = count_queries(lambda: page(client, run))
    for number in range(2, 80):
        add_evidence(run, number)
    assert count_queries(lambda: page(client, run)) == few


def test_all_evidence_can_be_reached(client: Client, admin: User) -> None:
    run = make_run(admin)
    address = f"/runs/{run.public_id}/evidence/"
    for number in range(1, EVIDENCE_SHOWN + 1):
        add_evidence(run, number)
    assert address not in page(client, run)
    add_evidence(run, EVIDENCE_SHOWN + 1)
    link = BeautifulSoup(page(client, run), "html.parser").select_one(f"a[href='{address}']")
    assert link is not None and link.get_text() == f"All {EVIDENCE_SHOWN + 1} claims"


def count_queries(ask: Callable[[], object]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as captured:
        ask()
    return len(captured)


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("status", "action", "sent", "kind", "payload"),
    [
        ("awaiting_clarification", "answer", {"answer-0": "red"}, "answer", {"answers": ["red"]}),
        ("awaiting_clarification", "answer", {"skip": "1"}, "skip", {}),
        ("awaiting_approval", "approve", {"line-1": "New"}, "approve", {"aspects": ["New"]}),
        ("awaiting_approval", "send-back", {"comment": "more"}, "revise", {"comment": "more"}),
        ("researching", "stop", {}, "stop", {}),
        ("researching", "pause", {}, "pause", {}),
        ("paused", "resume", {}, "resume", {}),
        ("stalled", "retry", {}, "retry", {}),
        ("paused", "dig-deeper", {}, "dig_deeper", {"rounds": 2}),
        ("researching", "add-topic", {"topic": " Elms? "}, "add_topic", {"topic": "Elms?"}),
        ("researching", "drop-topic", {"topic": "Old?"}, "drop_topic", {"topic": "Old?"}),
        ("paused", "instruct", {"text": " Be  brief "}, "instruct", {"text": "Be brief"}),
    ],
)
def test_a_form_reaches_the_run_as_a_command(
    client: Client,
    admin: User,
    status: str,
    action: str,
    sent: dict[str, str],
    kind: str,
    payload: dict[str, object],
) -> None:
    run = make_run(admin, status, plan={**PLAN, "questions": ["Which?"]})
    if kind == "instruct":
        Run.objects.update(analyst="a-model")
    answer = client.post(f"/runs/{run.public_id}/{action}/", sent)
    assert answer.headers["Location"] == f"/runs/{run.public_id}/"
    command = Command.objects.get()
    assert (command.kind, command.payload, command.actor) == (kind, payload, admin)


def test_cancelling_a_run_that_nobody_holds_ends_it(client: Client, admin: User) -> None:
    run = make_run(admin, "queued")
    client.post(f"/runs/{run.public_id}/cancel/")
    assert "Cancelled" in page(client, run)


def test_an_answer_counts_as_heard_before_a_worker_takes_it(client: Client, admin: User) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN)
    assert "The plan" in page(client, run)
    client.post(f"/runs/{run.public_id}/approve/", {"line-1": "How old?"})
    html = page(client, run)
    assert "Continuing in a moment" in html and "The plan</h2>" not in html
    assert "Plan waits for you" not in html


def test_a_run_that_was_put_aside_says_why_and_can_be_tried_again(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "stalled", verdict=STALLED)
    html = page(client, run)
    assert "4 times at the same point" in html and "Try again" in html
    assert "Put aside" in html
    assert "skeleton" not in html and "will appear here" not in html
    assert "Nothing was found before that." in html
    add_evidence(run, 1)
    assert "Found so far: 1 claim from 1 site." in page(client, run)
    assert "Put aside" in client.get("/runs/?state=waiting").content.decode()
    client.post(f"/runs/{run.public_id}/retry/")
    html = page(client, run)
    assert "Queued" in html and "Try again" not in html


def test_what_cannot_be_done_now_is_said_on_the_page(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    client.post(f"/runs/{run.public_id}/stop/")
    assert "There is no research to stop." in page(client, run)


@pytest.mark.parametrize("action", ["approve", "send-back"])
def test_a_form_with_a_mistake_is_shown_again(client: Client, admin: User, action: str) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN, analyst="small at 127.0.0.1")
    answer = client.post(f"/runs/{run.public_id}/{action}/", {"line-1": "", "comment": ""})
    assert answer.status_code == 422
    assert b'class="problem"' in answer.content
    assert (b'class="send-back" open' in answer.content) == (action == "send-back")
    focused = BeautifulSoup(answer.content, "html.parser").select("[autofocus]")
    assert [field["name"] for field in focused] == ["line-1" if action == "approve" else "comment"]
    assert not Command.objects.exists()


@pytest.mark.parametrize(
    ("analyst", "mode", "offered"),
    [
        ("extractive", "adaptive", False),
        ("small at 127.0.0.1", "fixed", False),
        ("small at 127.0.0.1", "adaptive", True),
    ],
)
def test_a_plan_is_sent_back_only_to_a_model_that_makes_it_anew(
    client: Client, admin: User, analyst: str, mode: str, offered: bool
) -> None:
    run = make_run(admin, "awaiting_approval", plan=PLAN, analyst=analyst, mode=mode)
    assert ("Send back with a comment" in page(client, run)) == offered


def test_what_was_changed_in_a_plan_goes_along_with_a_comment(client: Client, admin: User) -> None:
    plan = {**PLAN, "scope": "Oaks."}
    run = make_run(admin, "awaiting_approval", plan=plan, analyst="small at 127.0.0.1")
    address = f"/runs/{run.public_id}/send-back/"
    typed = {"line-1": "How old in Europe?", "scope": "Oaks in Europe.", "comment": "x" * 1_960}
    answer = client.post(address, typed)
    assert answer.status_code == 422 and b"the maximum is 2,000." in answer.content
    assert b"How old in Europe?" in answer.content and b"Oaks in Europe." in answer.content
    client.post(address, {**typed, "comment": "Fewer words."})
    said = "The sub-questions as I changed them:\n- How old in Europe?\nScope: Oaks in Europe."
    assert Command.objects.get().payload == {"comment": f"Fewer words.\n\n{said}"}


def test_what_is_missing_at_the_end_stands_before_what_was_closed(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_evidence(run, 2)
    run.gaps.filter(label="G1").update(closed_round=2)
    run.gaps.filter(label="G2").update(text="felling of oaks")
    html = page(client, run)
    assert "closed in round 2" in html
    assert html.index("Felling of oaks") < html.index("Gap 1")


def test_no_gaps_are_counted_before_anything_was_judged(client: Client, admin: User) -> None:
    run = make_run(admin, round=1)
    run.aspects.create(label="A1", position=1, text="How old?", round=1, state="open")
    assert " gaps" not in page(client, run)


@pytest.mark.requirement("C5")
def test_each_gate_is_shown_as_it_was_last_with_what_it_counted(
    client: Client, admin: User
) -> None:
    run = make_run(admin)
    for number, found, decision in ((1, 1, "retry"), (2, 2, "not_to_be_had")):
        looked_at: list[dict[str, object]] = [
            {"name": "sources found", "value": found, "minimum": 3},
            {"name": "pages", "value": found, "minimum": 5, "unavailable": "all were read"},
        ]
        run.gates.create(
            round=number, gate="overview", decision=decision, criteria=looked_at, at=timezone.now()
        )
    shown = BeautifulSoup(page(client, run), "html.parser").select(".gates > li")
    assert [" ".join(gate.get_text(" ").split()) for gate in shown] == [
        "Overview no further sources found round 2 sources found: 2 (at least 3) "
        "pages: 2 (at least 5); no further sources found: all were read"
    ]


def test_a_meter_names_its_unit_once(client: Client, admin: User) -> None:
    run = make_run(admin, "completed", usage={"searches": 8}, config={"max_searches": 60})
    assert "8 of 60 searches" in page(client, run)


@pytest.mark.requirement("A2", "A10", "A11", "E9")
def test_an_ended_run_says_why_it_ended_and_how_good_each_round_was(
    client: Client, admin: User
) -> None:
    why = "Stopped at the limit of 2 searches: the question is answered."
    run = make_run(admin, "completed", termination_reason="budget_searches", termination_text=why)
    for number, score in ((1, 4.0), (2, 5.5)):
        run.rounds.create(number=number, stage="overview", score=score, model_overall=9.0,
                          cap=score, cap_reason="1 without an answer")  # fmt: skip
    html = page(client, run)
    assert f">{why}</p>" in html
    assert "Score by round, from 0 to 10, target 7.0: round 1: 4.0; round 2: 5.5" in html
    chart = BeautifulSoup(html, "html.parser").select_one(".chart svg")
    assert chart is not None
    line, target = chart.select_one("polyline.chart-line"), chart.select_one(".chart-threshold")
    assert line is not None and target is not None and len(str(line["points"]).split()) == 2
    marks = [(text.get_text(), float(str(text["y"]))) for text in chart.select("[text-anchor=end]")]
    assert [name for name, _ in marks] == ["0", "10", "target 7.0"]
    (_, low), (_, high), (_, goal) = marks
    assert goal == float(str(target["y1"])) and round((low - goal) / (low - high), 3) == 0.7
    rounds = [text.get_text() for text in chart.select("text[dy='-6']")]
    assert rounds == ["round 1", "2"]
    assert "The model gave 9.0; capped at 5.5: 1 without an answer." in html


def test_each_reason_that_capped_a_score_is_worded_in_the_reader_s_language() -> None:
    reasons = f"1 resting on too few sources; {UNJUDGED}"
    row = Round(score=6.5, model_score=7.6, cap=6.5, cap_reason=reasons)
    with translation.override("de"):
        told = cap_sentence(row)
    assert told.endswith("1 mit zu wenigen Quellen, das Urteil des Modells war nicht brauchbar.")


@pytest.mark.requirement("C13", "E9")
def test_the_last_five_rounds_tell_their_share_of_new_words_and_the_bar(
    client: Client, admin: User
) -> None:
    run = make_run(admin)
    assert words_by_round(client, run) == ""
    run.rounds.create(number=1, stage="overview", novelty=1.0)
    assert words_by_round(client, run) == (
        "The share of new words is counted from round 2 on. Below 15 %, research can end."
    )
    for number in (2, 3):
        run.rounds.create(number=number, stage="overview", novelty=1 - number * 0.2)
    run.rounds.create(number=4, stage="overview", novelty=0.1499)
    assert words_by_round(client, run) == (
        "New words: 60 % in round 2, 40 % in round 3, 14 % in round 4. "
        "Below 15 %, research can end."
    )
    for number in (5, 6, 7, 8):
        run.rounds.create(number=number, stage="overview", novelty=0.3)
    run.rounds.create(number=9, stage="overview")
    shown = words_by_round(client, run)
    assert "in round 3" not in shown and "14 % in round 4" in shown and "in round 8" in shown


@pytest.mark.requirement("C13")
@pytest.mark.parametrize(
    "columns", [{"mode": "fixed"}, {"config": {"enable_early_termination": False}}]
)
def test_no_bar_is_named_where_none_ends_research(
    client: Client, admin: User, columns: dict[str, object]
) -> None:
    run = make_run(admin, **columns)
    run.rounds.create(number=2, stage="overview", novelty=0.1)
    assert words_by_round(client, run) == "New words: 10 % in round 2."


def words_by_round(client: Client, run: Run) -> str:
    shown = BeautifulSoup(page(client, run), "html.parser").find(id=f"run-{run.public_id}-news")
    assert shown is not None
    return " ".join(shown.get_text().split())


@pytest.mark.requirement("B7")
def test_the_fixed_mode_shows_its_level_and_the_queries_done_there(
    client: Client, admin: User
) -> None:
    run = make_run(admin, mode="fixed", round=1)
    assert "<span>level 1 of 2</span>" in page(client, run)
    for number, status in enumerate(("done", "done", "failed", None), 1):
        run.units.create(round=1, number=number, topic=f"topic {number}", status=status)
    assert "<span>level 1 of 2, 3 of 4 queries done</span>" in page(client, run)
    Run.objects.update(status="completed", round=2)
    assert "<dd>0 searches in 2 levels, 0 pages read.</dd>" in page(client, run)


@pytest.mark.requirement("A16")
def test_what_the_model_cost_is_told_by_task(client: Client, admin: User) -> None:
    spent = {"calls": 3, "prompt_tokens": 1200, "completion_tokens": 300, "cost_usd": 0.0123}
    usage = {"llm_calls": 3, "cost_usd": 0.0123, "spent_by": {"task": {"read": spent}},
             "answers": {"read": 2}, "fallbacks": {"read": {"invalid answer": 1}}}  # fmt: skip
    shown = BeautifulSoup(page(client, make_run(admin, "completed", usage=usage)), "html.parser")
    foot = shown.select_one(".run-foot")
    assert foot is not None
    assert {"3 model calls", "$0.01"} <= {part.get_text() for part in foot.select("p > span")}
    assert [cell.get_text() for cell in foot.select("tbody tr > *")] == [
        "Reading pages by code: invalid answer (1)", "2 of 3", "3", "1,500", "$0.0123"
    ]  # fmt: skip


@pytest.mark.requirement("E8")
def test_a_topic_that_was_skipped_is_shown_with_its_twin(client: Client, admin: User) -> None:
    run = make_run(admin)
    add_evidence(run, 1)
    twin = {"topic": "Age of oaks", "twin": "How old do oaks get?", "similarity": 0.8}
    run.rounds.update(skipped=[twin])
    assert "Age of oaks skipped: too similar to “How old do oaks get?”" in words_of(client, run)


@pytest.mark.requirement("F5")
def test_a_run_without_a_model_says_so(client: Client, admin: User) -> None:
    assert "no model, passages quoted" in words_of(client, make_run(admin, analyst="extractive"))
    assert "no model" not in words_of(client, make_run(admin, analyst="large"))


@pytest.mark.requirement("F13")
def test_a_citation_bears_its_page_s_date(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1).quotes.update(published="2024-05-06")
    add_report(run, "About 600 years. [1]")
    marker = BeautifulSoup(page(client, run), "html.parser").select_one(".cite a")
    assert marker is not None and "trees.test · published 6 May 2024" in str(marker["title"])
    shown = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "published 6 May 2024" in shown


def test_an_ended_run_says_only_once_that_it_ended(client: Client, admin: User) -> None:
    told = "Stopped: all 8 sub-questions answered."
    run = make_run(admin, "completed", round=1, termination_text=told)
    for language, name, text in (
        ("en", "Ended", "All 8 sub-questions answered."),
        ("de", "Beendet", "Alle 8 Teilfragen beantwortet."),
    ):
        answer = client.get(
            f"/runs/{run.public_id}/?tab=research", headers={"Accept-Language": language}
        )
        assert f"<dt>{name}</dt><dd>{text}</dd>" in answer.content.decode()


def test_a_report_is_shown_with_links_to_its_citations(client: Client, admin: User) -> None:
    run = make_run(admin, "completed", termination_text="Stopped: all answered.")
    add_evidence(run, 1)
    add_report(run, "## How old\n\nAbout 600 years. [1] <script>alert(1)</script>")
    html = page(client, run)
    assert f'href="/runs/{run.public_id}/citations/1/"' in html
    assert "<script>alert" not in html and "&lt;script&gt;" in html
    assert '<a href="#section-1">How old</a>' in html
    assert "2 of 2 statements carry a citation" in html


def test_a_citation_shows_its_quote_marked_in_the_stored_page(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert '<mark id="quote">An oak lives for about 600 years.</mark> It is slow.' in html
    assert "Quote: word for word in the stored copy" in html
    assert "Statement: not checked whether it follows" in html
    assert "&lt;b&gt;The end&lt;/b&gt;" in html
    assert "oak.html#:~:text=An%20oak%20lives" in html
    run.reports.all().delete()
    run.pages.all().delete()
    PageText.objects.all().delete()
    add_report(run, f"**Age:** {QUOTE} [1]")
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "Statement: checked word for word by code" in html and "not checked" not in html


PANEL = {"HX-Request": "true", "HX-Target": "citation-panel"}


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ({}, "not checked whether it follows from the quote"),
        ({"by_code": 2}, "checked word for word by code"),
        ({"by_model": 2}, "judged by the model to follow from the quote"),
        ({"by_code": 1, "by_model": 1}, "judged by the model to follow from the quote"),
        (
            {"by_code": 1, "by_model": 1, "by_neither": 1},
            "not checked whether it follows from the quote",
        ),
        (
            {"by_model": 1, "by_neither": 1, "connections": 1},
            "judged by the model to follow from the quote",
        ),
    ],
)
def test_what_was_checked_stands_in_a_line_below_the_statement(
    client: Client, admin: User, checks: dict[str, int], told: str
) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    Report.objects.update(checks=checks)
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    line = BeautifulSoup(html, "html.parser").select_one(".statement + .checks")
    assert line is not None
    states = [each.get_text() for each in line.select(".state")]
    assert states == ["Quote: word for word in the stored copy", f"Statement: {told}"]


@pytest.mark.parametrize(
    ("value", "is_found"),
    [
        ("600 years", True),
        ("about 600 years (2019)", True),
        ("600 years (April 2025)", True),
        ("700 years", False),
        ("600 metres", False),
    ],
)
def test_a_value_of_a_table_is_found_in_its_quote_without_the_date_beside_it(
    client: Client, admin: User, value: str, is_found: bool
) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, f"## Table\n\n|  | Now |\n| --- | --- |\n| Age | {value} [1] |\n")
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    assert ("Value: found in the quote by code" in html) is is_found
    assert ("not checked whether it follows" in html) is not is_found


@pytest.mark.parametrize(
    ("value", "checks", "told"),
    [
        ("grow old", {}, "Value: found in the quote by code"),  # and its claim
        ("venerable, optional", {"by_model": 2}, "Value: judged by the model"),
        ("venerable, optional", {"by_code": 2}, "not checked whether it follows"),
        ("700 years", {"by_model": 2}, "not checked whether it follows"),
    ],
)
def test_a_value_in_other_words_than_its_quote_says_what_vouches_for_it(
    client: Client, admin: User, value: str, checks: dict[str, int], told: str
) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, f"## Table\n\n|  | Now |\n| --- | --- |\n| Age | {value} [1] |\n")
    Report.objects.update(checks=checks)
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    assert told in html


def test_a_step_that_the_model_infers_is_called_so(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "Oaks are old. [1]\n\n## Next steps\n\n1. Plant an oak today. [1]")
    Report.objects.update(checks={"by_model": 1})
    url = f"/runs/{run.public_id}/citations/1/?place=1"
    html = client.get(url, headers=PANEL).content.decode()
    assert "Next step: inferred by the model" in html and "judged by the model" not in html


def test_a_check_names_the_other_citations_of_its_statement(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    for number in (1, 2, 3):
        add_evidence(run, number)
    report = add_report(run, "They live long and grow slowly. [1][2][3]")
    others = [{"marker": n, "evidence_ids": [f"E{n}"], "url": URL} for n in (2, 3)]
    report.citations = [*report.citations, *others]
    report.checks = {"by_model": 1}
    report.save()
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    assert "to follow from the quote, together with [2] and [3]" in html


def test_a_citation_says_for_which_words_of_its_statement_it_stands(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "completed")
    quotes = ("An oak lives for about 600 years.", "It is slow.")
    for number, quote in enumerate(quotes, 1):
        add_evidence(run, number, quote)
    said = "An oak lives for about 600 years [1], as `it_is` slow [2][1]."
    report = add_report(run, f"{said} So it is. [1]")
    report.citations = [
        {"marker": 1, "evidence_ids": ["E1"], "url": URL, "places": [["E1"]] * 3},
        {"marker": 2, "evidence_ids": ["E2"], "url": URL, "places": [["E2"]]},
    ]
    report.checks = {"by_model": 1}
    report.save()
    marked, others, checks = {}, {}, {}
    for number in (1, 2):
        address = f"/runs/{run.public_id}/citations/{number}/"
        panel = BeautifulSoup(client.get(address, headers=PANEL).content, "html.parser")
        statement = panel.select_one(".statement")
        assert statement is not None
        told = statement.select_one(".said")
        assert told is not None and " ".join(told.get_text().split()) == (
            "An oak lives for about 600 years, as it_is slow."
        )
        marked[number] = [each.get_text() for each in told.select("mark")]
        others[number] = [each["href"] for each in statement.select("a")]
        checks[number] = [each.get_text() for each in panel.select(".check-line .state")]
        assert "This citation stands for the marked words." in statement.get_text()
    assert marked == {1: ["An oak lives for about 600 years"], 2: ["as it_is slow"]}
    assert others[2] == [f"/runs/{run.public_id}/citations/1/?place=0"]
    found = "Marked words: checked word for word by code"
    assert found in checks[1] and found not in checks[2]
    assert checks[1][-1] == (
        "Statement: judged by the model to follow from the quote, together with [2]"
    )


def test_a_check_by_code_names_no_citation_that_it_did_not_need(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "completed")
    for number in (1, 2):
        add_evidence(run, number)
    report = add_report(run, f"{QUOTE} [1][2]")
    report.citations = [*report.citations, {"marker": 2, "evidence_ids": ["E2"], "url": URL}]
    report.save()
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    panel = BeautifulSoup(html, "html.parser")
    assert "checked word for word by code" in html and "together with" not in html
    assert not panel.select(".said mark") and "marked words" not in html
    assert [each.get_text() for each in panel.select(".statement a")] == ["2"]


def test_what_differs_and_what_code_vouches_for_is_in_that_line(
    client: Client, admin: User
) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    add_report(run, "The oak lives for about 600 years. [1]")
    Report.objects.update(checks={"by_code": 1, "by_model": 1})
    evidence.uncertainty = ["number_differs"]
    evidence.save()
    html = client.get(f"/runs/{run.public_id}/citations/1/", headers=PANEL).content.decode()
    line = BeautifulSoup(html, "html.parser").select_one(".statement + .checks")
    assert line is not None
    states = [each.get_text() for each in line.select(".state")]
    assert states == [
        "Quote: word for word in the stored copy",
        "Statement: checked word for word by code",
        "numbers differ",
    ]


def test_the_panel_begins_with_the_statement_that_was_followed(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    quoted = f"“{QUOTE}”"
    report = add_report(run, f"**Age.** Old (Oak, 2026). [1]\n\n## More\n\nSlow [1]. {quoted} [1]")
    report.citations[0]["places"] = [["E1"]] * 3
    report.save()
    address = f"/runs/{run.public_id}/citations/1/"
    told = {}
    for place in ("", "?place=1", "?place=2"):
        html = client.get(f"{address}{place}", headers=PANEL).content.decode()
        panel = BeautifulSoup(html, "html.parser")
        told[place] = [each.get_text().strip() for each in panel.select(".statement .said")]
        assert "Cited for 2 more statements" in html
    assert told == {"": ["Old (Oak, 2026)."], "?place=1": ["Slow."], "?place=2": [quoted]}
    assert "a quotation, word for word" in html


def test_the_page_lists_below_each_quote_what_cites_it(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    table = "| | Now |\n| --- | --- |\n| Age | 600 years [1] |"
    report = add_report(run, f"It is old. [1]\n\n## More\n\nIt is slow. [1]\n\n{table}")
    report.citations[0]["places"] = [["E1"]] * 3
    report.save()
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    soup = BeautifulSoup(html, "html.parser")
    quote = soup.select_one("p:has(> #quote) + .supports")
    assert quote is not None
    assert [" ".join(each.get_text().split()) for each in quote.select("p")] == [
        "It is old. Short answer",
        "It is slow. More",
        "600 years More · Age · Now",
    ]
    report_page = BeautifulSoup(page(client, run), "html.parser")
    for link, place in zip(quote.select("a"), ("cite-1", "cite-1-1", "cite-1-2"), strict=True):
        assert link["href"] == f"/runs/{run.public_id}/#{place}"
        assert len(report_page.select(f"#{place}")) == 1
    assert "found in the quote" in quote.get_text()


def test_a_site_has_the_same_name_wherever_it_is_shown(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    told = f"Oak, The Tree Society, trees.test: <{URL}>"
    add_report(run, f"About 600 years. [1]\n\n## Sources\n\n### Cited\n\n- [1] {told}")
    listed = {"url": URL, "title": "Oak", "domain": "trees.test", "round": 1, "status": "cited"}
    named = 'The Tree Society <span class="domain">trees.test</span>'
    source = run.source_pages.create(url_key=key_digest(URL), site="The Tree Society", **listed)
    address = f"/runs/{run.public_id}/"
    for path in (address, f"{address}sources/", f"{address}evidence/", "/review/"):
        html = client.get(path).content.decode()
        assert named in html, path
    assert "The Tree Society · read" in page(client, run), "in the tooltip"
    assert "Oak</a>" in page(client, run), "no site name follows the title"
    assert named in client.get(f"{address}citations/1/", headers=PANEL).content.decode()
    assert "The Tree Society · trees.test/oak.html" in (
        client.get(f"{address}citations/1/").content.decode()
    )
    source.site = "Oak"
    source.save()
    html = client.get(f"{address}evidence/").content.decode()
    assert 'class="domain"' not in html and "trees.test</span>" in html, "a title is no site"


def test_what_is_not_next_to_the_quote_is_folded(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    lead = "Oaks were told of before. " * 20
    text = f"# Trees\n\nHome\n\n# Age\n\n{lead}{QUOTE} So it is.\n\nNext.\n\n# Roots\n\nDeep."
    start = text.index(QUOTE)
    evidence.quotes.update(start=start, end=start + len(QUOTE))
    PageText.objects.update(text=text)
    address = f"/runs/{run.public_id}/citations/1/"
    soup = BeautifulSoup(client.get(address).content, "html.parser")
    folded = [each.get_text() for each in soup.select(".stored details")]
    assert len(folded) == 2 and "Home" in folded[0] and "Deep." in folded[1]
    assert "told of before" in folded[0]
    shown = [each.get_text().strip() for each in soup.select(".stored > p")]
    told = "Oaks were told of before."
    assert shown == [f"{' '.join([told] * 11)} {QUOTE} So it is.", "Next."]
    soup = BeautifulSoup(client.get(address, headers=PANEL).content, "html.parser")
    assert len(soup.select(".stored details")) == 2
    shown = [each.get_text().strip() for each in soup.select(".stored > p")]
    assert shown == [f"{' '.join([told] * 6)} {QUOTE} So it is.", "Next."], "room is short beside"


def test_a_quote_is_shown_without_the_stored_copy(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "About 600 years. [1]")
    run.pages.all().delete()
    PageText.objects.all().delete()
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert f"“{QUOTE}”" in html and "The stored copy was deleted" in html


def test_a_citation_shows_what_was_computed_from_it(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    report = add_report(run, "It is 60 years older. [1]")
    address = f"/runs/{run.public_id}/citations/1/"
    assert "Computed by code" not in client.get(address).content.decode()
    others = "600 (E1) × 2 = 1,200 years"
    report.citations[0]["calculations"] = ["It is 60 years older. 600 (E1) − 540 (E2) = 60", others]
    Report.objects.filter(pk=report.pk).update(citations=report.citations)
    html = client.get(address).content.decode()
    assert "600 (E1) − 540 (E2) = 60" in html and "Computed by code" in html
    assert others not in html, "that makes a figure of another statement"


def test_the_sample_librarys_pages_have_no_live_page(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    evidence = add_evidence(run, 1)
    report = add_report(run, "About 600 years. [1]")
    address = "https://trees.example/oak.html"
    evidence.quotes.update(url=address)
    report.citations[0]["url"] = address
    report.save()
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "Open the live page" not in html


def test_a_quote_that_is_not_in_the_stored_copy_is_told_so(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1, quote="An oak lives for about 900 years.")
    add_report(run, "About 900 years. [1]")
    html = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "Quote: not in the stored copy" in html


def test_a_citation_that_the_report_does_not_have_is_not_found(client: Client, admin: User) -> None:
    run = make_run(admin, "completed")
    assert client.get(f"/runs/{run.public_id}/citations/1/").status_code == 404


def test_a_failed_run_says_why_and_shows_no_report(client: Client, admin: User) -> None:
    run = make_run(admin, "failed")
    run.problems.create(key="1", where="model", message="The model's server does not answer.")
    html = page(client, run)
    assert "The model&#x27;s server does not answer." in html
    assert 'class="report"' not in html


def test_no_row_of_a_run_is_asked_for_twice(client: Client, admin: User) -> None:
    run = make_run(admin, "completed", plan=PLAN, termination_text="Stopped.", round=1)
    for number in (1, 2):
        reviews.record_verdict(admin, add_evidence(run, number), "reject")
    add_report(run, f"They are slow. {QUOTE} [1]\n")
    with CaptureQueriesContext(connection) as asked:
        page(client, run)
    outer = re.compile(r'FROM "(\w+)"(?! U\d)')
    read = [outer.search(query["sql"]) for query in asked.captured_queries]
    tables = Counter(found[1] for found in read if found and found[1] != "research_run")
    assert {name: count for name, count in tables.items() if count > 1} == {
        "research_evidencesource": 2  # what is counted of all, and the quotes that are shown
    }


def test_what_a_reviewer_doubts_is_told_with_its_citations(client: Client, admin: User) -> None:
    run = make_run(admin, "completed", plan=PLAN, termination_text="Stopped.", round=1)
    cited, other = add_evidence(run, 1), add_evidence(run, 2)
    add_report(run, f"They are slow. {QUOTE} [1]\n")
    assert "doubtful" not in page(client, run)
    reviews.record_verdict(admin, other, "flag")
    assert "marked 1 record as doubtful. Not cited in this report." in words_of(client, run)
    reviews.record_verdict(admin, cited, "flag")
    told = BeautifulSoup(page(client, run), "html.parser").select_one(".doubted")
    assert told is not None
    assert "marked 2 records as doubtful. Cited in this report: citation 1." in " ".join(
        told.get_text().split()
    )
    assert [link["href"] for link in told.select("a")] == [f"/runs/{run.public_id}/citations/1/"]
    assert "reviewed: doubtful" in words_of(client, run)
    for row in (cited, other):
        reviews.record_verdict(admin, row, "accept")
    assert "doubtful" not in page(client, run)


TOO_LATE = "the model did not answer within its share of the run's time"


@pytest.mark.parametrize(
    ("answers", "fallbacks", "told"),
    [
        ({}, {"draft": {TOO_LATE: 1}}, "The model did not write this report, so it quotes"),
        ({"section": 2}, {"section": {"budget_cost": 1}}, "did not write all of this report"),
        ({"draft": 1}, {"compare": {TOO_LATE: 1}}, ""),
        ({"draft": 1}, {}, ""),
    ],
)
def test_a_report_says_that_the_model_did_not_write_it(
    client: Client, admin: User, settings: Any, answers: Any, fallbacks: Any, told: str
) -> None:
    settings.RESEARCH_MODEL = "some-model"
    used = {"answers": answers, "fallbacks": fallbacks}
    run = make_run(admin, "completed", plan=PLAN, termination_text="Stopped.", round=1, usage=used)
    add_evidence(run, 1)
    add_report(run, f"They are slow. {QUOTE} [1]\n")
    soup = BeautifulSoup(page(client, run), "html.parser")
    notices = [each for each in soup.select(".notice-row") if "did not write" in each.get_text()]
    assert len(notices) == bool(told)
    for notice in notices:
        assert told in notice.get_text() and "Reason: the m" in notice.get_text()
        [form] = notice.select("form")
        assert form["action"] == f"/runs/{run.public_id}/reshape/"
        assert [each["value"] for each in form.select("[name=form]")] == ["full"]
        assert "Write it with the model" in form.get_text()
    settings.RESEARCH_MODEL = ""
    assert "Write it with the model" not in page(client, run)


def words_of(client: Client, run: Run) -> str:
    return " ".join(BeautifulSoup(page(client, run), "html.parser").get_text().split())


def test_a_waiting_run_shows_its_place_in_the_queue(client: Client, admin: User) -> None:
    first, second = (make_run(admin, "queued", turn=turn) for turn in (0, 1))
    assert "No worker is running at the moment" in page(client, first)
    Registration("worker", ["research"], 2, HostProcess.current()).write()
    assert "Next in line" in page(client, first)
    assert "1 run ahead of yours" in page(client, second)
    first.delete()
    assert "Next in line" in page(client, second)


@pytest.mark.parametrize(
    ("changes", "step", "counts"),
    [
        ({"status": "intake"}, "Planning", ["1 sub-question", "", "", "1 claim", ""]),
        ({"action": "Searching: oaks", "usage": {"searches": 3}}, "Searching",
         ["1 sub-question", "3 searches", "", "1 claim", ""]),
        ({"action": "Reading trees.test"}, "Reading", ["1 sub-question", "", "", "1 claim", ""]),
        ({"status": "writing", "quality_score": 7.8}, "Writing",
         ["1 sub-question", "", "", "7.8 of 10", ""]),
        ({"status": "queued"}, "", []),
    ],
)  # fmt: skip
def test_a_run_under_way_says_its_state_once_as_one_of_five_steps(
    client: Client, admin: User, changes: dict[str, Any], step: str, counts: list[str]
) -> None:
    run = make_run(admin)
    add_evidence(run, 1)
    Run.objects.update(action_at=timezone.now(), **changes)
    soup = BeautifulSoup(page(client, run), "html.parser")
    assert [" ".join(each.get_text(" ").split()) for each in soup.select(".step-count")] == counts
    assert [each.get_text() for each in soup.select("[aria-current=step] .step-name")] == [
        step
    ] * bool(step)
    assert bool(soup.select(".verdict-top .state")) is not bool(step)


def test_a_run_that_writes_says_what_from(client: Client, admin: User) -> None:
    run = make_run(admin, "writing", action="Writing the report", action_at=timezone.now())
    add_evidence(run, 1)
    html = page(client, run)
    assert "From 1 claim and 0 pages" in html and "Writing the report" not in html
