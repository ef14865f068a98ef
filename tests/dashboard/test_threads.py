"""The pages of what follows a report, as a browser without script gets them."""

from __future__ import annotations

from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.exports import FORMATS, export_report
from dashboard.forms.thread_forms import ReshapeForm
from dashboard.plans import plan_context
from research.engine.config import ResearchConfig
from research.models import GateResult, Report, Run, Snapshot, Thread, Verdict
from research.services import people, reviews
from tests.dashboard.conftest import QUOTE, URL, add_evidence, add_report, make_later, make_run

PLAN = {
    "brief": "How old oaks get.",
    "complexity": "simple",
    "language": "en",
    "aspects": [{"text": "How old do oaks get?", "query": "oak age"}],
}
ACTIONS = ("revise", "reshape", "dig-further", "research-further", "follow-up", "topic")


@pytest.fixture
def run(admin: User) -> Run:
    """A run that has ended with a report on one claim."""
    run = make_run(admin, "completed", plan=PLAN, termination_text="Stopped.", round=1)
    add_evidence(run, 1)
    GateResult.objects.create(
        run=run, round=1, gate="evidence", decision="pass", criteria=[], at=timezone.now()
    )
    add_report(run, f"# How old do oaks get?\n\nThey are slow. {QUOTE} [1]\n")
    return run


def page(client: Client, run: Run) -> str:
    answer = client.get(f"/runs/{run.public_id}/")
    assert answer.status_code == 200
    return answer.content.decode()


def post(client: Client, run: Run, action: str, **fields: object) -> str:
    """Where it led to, or the page that says what is wrong."""
    answer = client.post(f"/runs/{run.public_id}/{action}/", fields, follow=True)
    return answer.content.decode()


def reject(run: Run, admin: User) -> None:
    reviews.record_verdict(admin, run.evidence.get(), "reject")


@pytest.mark.requirement("F4")
def test_a_rejected_record_marks_its_sentence_and_offers_a_revision(
    client: Client, run: Run, admin: User
) -> None:
    assert "Rests on rejected evidence" not in page(client, run)
    reject(run, admin)
    html = page(client, run)
    assert "Rests on rejected evidence" in html
    assert "evidence records: 0 of 5" in html
    assert f'They are slow. <span class="rejected">{QUOTE}</span>' in html
    reviews.record_verdict(admin, run.evidence.get(), "accept")
    assert "Rests on rejected evidence" not in page(client, run)


@pytest.mark.requirement("F4")
def test_the_admin_s_verdicts_count(client: Client, run: Run, admin: User) -> None:
    chosen = {"action": "reject", "_selected_action": [run.evidence.get().pk]}
    client.post("/admin/research/evidence/", chosen)
    assert Verdict.objects.get().verdict == "reject"
    assert "Rests on rejected evidence" in page(client, run)


def test_a_rejected_record_that_is_not_cited_is_told_apart(
    client: Client, run: Run, admin: User
) -> None:
    other = add_evidence(run, 2)
    reviews.record_verdict(admin, other, "reject")
    assert "Evidence was rejected that this report does not cite" in page(client, run)


def correct(run: Run, text: str, **columns: object) -> Run:
    """Add a follow-up with this report: citation 1 is kept evidence, 2 a source that disagrees."""
    later = make_later(run, origin=None, kind="follow_up", question="And today?", **columns)
    kept, new = add_evidence(later, 1), add_evidence(later, 2)
    type(kept).objects.filter(pk=kept.pk).update(contradicts=["E2"], round=0)
    type(new).objects.filter(pk=new.pk).update(contradicts=["E1"])
    cited = [{"marker": n, "evidence_ids": [f"E{n}"], "url": URL} for n in (1, 2)]
    Report.objects.create(
        run=later, number=1, markdown=text, citations=cited, checks={}, evidence_digest="0"
    )
    return later


def corrections(client: Client, run: Run) -> str:
    found = BeautifulSoup(page(client, run), "html.parser").select(".corrected")
    return " ".join(" ".join(each.text for each in found).split())


DISPUTED = "# And today?\n\nThey grow older. [2]\n"


def test_a_report_names_the_follow_up_that_corrects_it(client: Client, run: Run) -> None:
    later = correct(run, "# And today?\n\nPreviously (2020-03-24): Slow. [1] Faster. [2]\n")
    told = corrections(client, run)
    assert "Corrected on" in told and "And today?" in told
    assert "Replaced here: citation 1" in told and "Disputed" not in told
    soup = BeautifulSoup(page(client, run), "html.parser")
    links = [each["href"] for each in soup.select(".corrected a")]
    assert links == [f"/runs/{later.public_id}/", f"/runs/{run.public_id}/#cite-1"]
    assert corrections(client, later) == ""
    Report.objects.filter(run=later).update(markdown=DISPUTED)
    assert "Disputed here: citation 1." in corrections(client, run)


def test_a_follow_up_that_repeats_what_a_report_says_corrects_nothing(
    client: Client, run: Run
) -> None:
    later = correct(run, "# And today?\n\nSlow. [1]\n")
    Report.objects.filter(run=later).update(citations=[run.reports.get().citations[0]])
    assert corrections(client, run) == ""
    Report.objects.filter(run=later).delete()
    assert corrections(client, run) == ""


def test_a_dispute_that_a_report_knew_and_other_records_of_that_id_correct_nothing(
    client: Client, run: Run
) -> None:
    later = correct(run, DISPUTED)
    add_evidence(run, 2)
    assert corrections(client, run) == ""
    run.evidence.filter(label="E2").delete()
    later.evidence.filter(label="E1").update(claim="Yews grow old.")
    assert corrections(client, run) == ""


def test_exports_and_shared_pages_say_that_a_report_was_corrected(run: Run, admin: User) -> None:
    later = correct(run, DISPUTED)
    text = export_report(run, FORMATS["md"]).content.decode()
    assert "found sources that disagree. Citation numbers here: 1." in text
    link = people.share_report(admin, run)
    shared = Client().get(f"/s/{link.token}/").content.decode()
    assert "Disputed since" in shared
    assert later.public_id not in shared and "And today?" not in shared


@pytest.mark.parametrize("extension", ["md", "html"])
def test_an_export_says_that_it_rests_on_rejected_evidence(
    run: Run, admin: User, extension: str
) -> None:
    note = "A reviewer rejected evidence"
    assert note not in export_report(run, FORMATS[extension]).content.decode()
    reject(run, admin)
    assert note in export_report(run, FORMATS[extension]).content.decode()


def test_a_version_says_why_it_was_made(client: Client, run: Run) -> None:
    assert "Version 1" not in page(client, run)
    post(client, run, "reshape", form="table")
    made = Run.objects.get(origin=run)
    Run.objects.filter(pk=made.pk).update(status="completed")
    html = page(client, made)
    assert "Version 2 of 2" in html and "First report" in html and "As a table" in html
    told = BeautifulSoup(html, "html.parser").select_one(".notice-row")
    assert told is not None
    assert told.get_text(" ", strip=True) == "The report in another form: As a table. Whole report"
    assert [link["href"] for link in told.select("a")] == [f"/runs/{run.public_id}/"]
    assert "Newest version" not in page(client, run), "the whole report stays the newest"
    Run.objects.filter(pk=made.pk).update(kind="revise", reason="Revised after a review")
    assert "Newest version: Revised after a review" in page(client, run)


def test_the_list_shows_a_question_once(client: Client, run: Run) -> None:
    post(client, run, "reshape", form="shorter")

    def listed() -> list[str]:
        shown = BeautifulSoup(client.get("/runs/").content, "html.parser")
        return [str(link["href"]) for link in shown.select("a.run-question")]

    made, whole = Run.objects.get(origin=run), f"/runs/{run.public_id}/"
    assert listed() == [whole], "another form stands beside its report"
    Run.objects.filter(pk=made.pk).update(reason="Written by the model")
    assert listed() == [f"/runs/{made.public_id}/"]
    Run.objects.filter(pk=made.pk).update(status="failed")
    assert len(listed()) == 2
    Run.objects.filter(pk=made.pk).update(origin=None, reason="Shorter", status="completed")
    assert len(listed()) == 2, "that of a report that was deleted"


def test_a_follow_up_that_is_too_long_is_kept_and_told_its_length(client: Client, run: Run) -> None:
    long = "why " * 1000
    answer = client.post(f"/runs/{run.public_id}/follow-up/", {"said": long})
    assert answer.status_code == 422
    assert b"at most 2,000 characters; this one has 3,999." in answer.content
    box = BeautifulSoup(answer.content, "html.parser").select_one("#ask-on textarea")
    assert box is not None and not box.has_attr("maxlength")
    assert box.get_text().strip() == long.strip()


def test_a_mistake_is_told_and_what_was_typed_stays(client: Client, run: Run) -> None:
    answer = client.post(f"/runs/{run.public_id}/follow-up/", {"said": " "})
    assert answer.status_code == 422
    assert "Write a question first." in answer.content.decode()
    focused = BeautifulSoup(answer.content, "html.parser").select("[autofocus]")
    assert [field["name"] for field in focused] == ["said"]
    assert "at least one question" in post(client, run, "dig-further")
    assert "has no such question" in post(client, run, "dig-further", aspects=["A9"])
    wrong = client.post(f"/runs/{run.public_id}/reshape/", {"form": "reader"})
    assert wrong.status_code == 422
    assert "Without a model" in post(client, run, "reshape", form="reader", reader="a child")
    assert "No evidence of this report was rejected" in post(client, run, "revise")
    assert Run.objects.count() == 1


def test_where_the_money_ran_out_more_is_offered(client: Client, admin: User) -> None:
    config = ResearchConfig(max_cost_usd=0.5).model_dump(mode="json")
    run = make_run(admin, "completed", plan=PLAN, config=config, termination_reason="budget_cost")
    add_evidence(run, 1)
    html = page(client, run)
    assert "Add to the budget and continue" in html and 'value="0.25"' in html
    post(client, run, "dig-further", aspects=["A1"], cost_usd="0.4")
    assert Run.objects.get(parent=run).config["max_cost_usd"] == 0.4
    said = post(client, run, "dig-further", aspects=["A1"], cost_usd="much")
    assert "a number of dollars" in said


def test_digging_deeper_takes_one_press_and_may_be_narrowed(
    client: Client, run: Run, admin: User
) -> None:
    def offered() -> tuple[str, str, list[str]]:
        form = BeautifulSoup(page(client, run), "html.parser").select_one("form.deeper")
        assert form is not None
        ticked = [box["value"] for box in form.select("[name=aspects][checked]")]
        return form.select_one("[name=on]")["value"], form.text, ticked  # type: ignore[index]

    add_evidence(run, 2)
    run.aspects.filter(label="A2").update(state="open")
    run.gaps.all().delete()
    on, text, ticked = offered()
    assert on == "A2" and ticked == ["A2"]
    assert "Dig deeper on 1 sub-question" in text and "not answered" in text
    run.aspects.update(state="answered", evidence_labels=["E1"])
    run.aspects.filter(label="A2").update(state="one_source")
    on, text, ticked = offered()
    assert on == "A2" and "rest on one source" in text
    run.aspects.update(state="answered")
    post(client, run, "dig-further", on=on, aspects=["A1"])
    assert Run.objects.get(parent=run).reason == "Dug deeper on 1 question"
    assert Snapshot.objects.get(run__parent=run).content["wanted"] == ["A2"]


def test_money_is_shown_and_read_with_the_comma_of_the_reader(client: Client, admin: User) -> None:
    config = ResearchConfig(max_cost_usd=0.5).model_dump(mode="json")
    run = make_run(admin, "completed", plan=PLAN, config=config, termination_reason="budget_cost")
    add_evidence(run, 1)
    german = client.get(f"/runs/{run.public_id}/", headers={"Accept-Language": "de"})
    assert 'value="0,25"' in german.content.decode()
    post(client, run, "dig-further", aspects=["A1"], cost_usd="0,4")
    assert Run.objects.get(parent=run).config["max_cost_usd"] == 0.4


def test_a_report_suggests_what_stayed_open_and_a_press_asks_it(client: Client, run: Run) -> None:
    run.aspects.create(label="A2", position=2, text="the roots of oaks", round=1, state="open")
    soup = BeautifulSoup(page(client, run), "html.parser")
    button, gap = soup.select(".suggested button")
    assert gap["value"] == "What is known about gap 1?"
    assert button["value"] == "What is known about the roots of oaks?"
    form = soup.find("form", id=button["form"])
    assert form is not None and form["action"] == f"/runs/{run.public_id}/follow-up/"
    fields = soup.select(f"[name={button['name']}]")
    assert fields[0].name == "textarea"  # the pressed button comes after it, and the last counts
    suggested = soup.select_one(".column .suggested")
    assert suggested is not None and suggested.find_previous(id="ask-on") is not None
    assert "This report stays as it is." in form.get_text()


def test_no_gap_is_suggested_beside_the_open_sub_question_it_is_about(
    client: Client, run: Run
) -> None:
    run.aspects.create(label="A2", position=2, text="How deep are roots?", round=1, state="open")
    run.gaps.update(text="More on: How deep are roots?", aspect_label="A2")
    soup = BeautifulSoup(page(client, run), "html.parser")
    assert [button["value"] for button in soup.select(".suggested button")] == [
        "How deep are roots?"
    ]
    run.gaps.update(aspect_label="A1")
    soup = BeautifulSoup(page(client, run), "html.parser")
    assert len(soup.select(".suggested button")) == 2


@pytest.mark.parametrize(
    ("question", "title", "shown"),
    [
        ("How old do oaks get?", "How old do oaks g", "All questions in this thread"),
        ("How old do oaks get?", "Trees", "Trees"),
        (f"How old do {'very ' * 30}old oaks get?", "How old do very v", "All questions"),
    ],
)
def test_the_title_of_a_thread_never_ends_within_a_word(
    client: Client, run: Run, question: str, title: str, shown: str
) -> None:
    Run.objects.update(question=question)
    Thread.objects.update(title=title)
    html = client.get(f"/threads/{run.thread.public_id}/").content
    heading = BeautifulSoup(html, "html.parser").h1
    assert heading is not None and heading.get_text().startswith(shown)
    assert heading.get_text().removesuffix("…").split()[-1] in {"thread", "Trees", "very"}


def test_a_run_without_a_cap_is_asked_for_no_money(client: Client, run: Run) -> None:
    assert "in dollars" not in page(client, run)
    post(client, run, "dig-further", aspects=["A1"], cost_usd="0.4")
    assert Run.objects.get(parent=run).config["max_cost_usd"] == 0.4


def test_the_thread_s_page_shows_each_question_with_its_answer(
    client: Client, run: Run, admin: User
) -> None:
    run.reports.update(short_answer="**Oak:** 600 years. [1]")
    post(client, run, "follow-up", said="And how old do yews get?")
    html = client.get(f"/threads/{run.thread.public_id}/").content.decode()
    assert ">Oak:</strong> 600 years." in html and "[1]" not in html
    assert "And how old do yews get?" in html
    assert "And how old do yews get?" in page(client, run)
    later = page(client, Run.objects.latest("pk"))
    assert "Oak: 600 years." in later and f'href="/threads/{run.thread.public_id}/"' in later
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    assert stranger.get(f"/threads/{run.thread.public_id}/").status_code == 404
    assert Client().get(f"/threads/{run.thread.public_id}/").status_code in (302, 404)


def test_the_head_of_a_thread_and_the_list_show_code_without_backticks(
    client: Client, run: Run
) -> None:
    run.reports.update(short_answer="Set `max_age` there. [1]")
    Run.objects.filter(pk=run.pk).update(question="How old does `oak` get?")
    later = page(client, make_later(run, origin=None, kind="follow_up", question="And `yews`?"))
    listed = client.get("/runs/").content.decode()
    for told in (later, listed):
        soup = BeautifulSoup(told, "html.parser")
        shown = soup.get_text(" ")
        assert "How old does oak get?" in shown and "Set max_age there." in shown
        assert "And yews?" in shown and "`" not in shown


def test_the_newest_question_of_a_thread_is_open_and_answers_have_their_citations(
    client: Client, run: Run
) -> None:
    run.reports.update(short_answer="600 years. [1] [7]")
    later = make_later(run, origin=None, kind="follow_up", question="And yews?")
    soup = BeautifulSoup(client.get(f"/threads/{run.thread.public_id}/").content, "html.parser")
    first, last = soup.select(".thread details")
    assert not first.has_attr("open") and last.has_attr("open")
    assert [link["href"] for link in first.select(".cite a")] == [
        f"/runs/{run.public_id}/citations/1/?place=0"
    ]
    turn = BeautifulSoup(page(client, later), "html.parser").select(".turn-answer")[0]
    assert turn.select(".cite a")


def test_a_stranger_is_told_nothing(run: Run) -> None:
    stranger = Client()
    stranger.force_login(User.objects.create_user("eve"))
    for action in ACTIONS:
        assert stranger.post(f"/runs/{run.public_id}/{action}/").status_code == 404
    assert Run.objects.count() == 1


def test_a_run_under_way_offers_nothing_of_it(client: Client, admin: User) -> None:
    html = page(client, make_run(admin, plan=PLAN))
    assert "Rewrite as" not in html and "Dig deeper on" not in html


def test_the_page_takes_the_same_queries_for_many_versions_and_verdicts(
    client: Client, run: Run, admin: User
) -> None:
    def taken() -> int:
        with CaptureQueriesContext(connection) as captured:
            page(client, run)
        return len(captured)

    reject(run, admin)
    post(client, run, "follow-up", said="And how old do yews get?")
    first = taken()
    for number in range(2, 12):
        reviews.record_verdict(admin, add_evidence(run, number), "reject")
        post(client, run, "follow-up", said=f"And how old do yews get, number {number}?")
    Run.objects.update(status="completed")
    post(client, run, "reshape", form="table")
    post(client, run, "reshape", form="shorter")
    assert taken() == first


def test_a_citation_rejected_without_script_offers_the_revision(client: Client, run: Run) -> None:
    answer = client.post(
        f"/runs/{run.public_id}/citations/1/judge/", {"verdict": "reject"}, follow=True
    )
    assert "Rests on rejected evidence" in answer.content.decode()


@pytest.fixture
def joined(run: Run) -> Run:
    """Return a run whose citation 1 has three findings: E1 and E2 with the same quote, and E3."""
    for number in (2, 3):
        add_evidence(run, number)
    run.evidence.get(label="E3").quotes.update(start=0, end=1, quote="Yews.")
    text = "# Oaks\n\nThey are slow. [1] They are old. [1] They are both. [1]\n"
    places = [["E1"], ["E3"], ["E1", "E3"]]
    citation = {"marker": 1, "evidence_ids": ["E1", "E2", "E3"], "url": URL, "places": places}
    run.reports.update(markdown=text, citations=[citation])
    return run


def findings(client: Client, run: Run) -> dict[str, str]:
    """Return the text below the buttons of each finding of citation 1, by its label."""
    answer = client.get(f"/runs/{run.public_id}/citations/1/")
    cards = BeautifulSoup(answer.content, "html.parser").select(".card:has([name=finding])")
    told = {}
    for card in cards:
        label, text = card.select_one("[name=finding]"), card.select_one("form + p")
        assert label is not None and text is not None
        told[str(label["value"])] = " ".join(text.text.split())
    return told


def test_each_finding_behind_a_number_tells_what_its_rejection_takes(
    client: Client, joined: Run, admin: User
) -> None:
    lost = "If you reject it, the next revision loses 1 statement. "
    lost += "1 other statement that cites it stays, as it has other sources."
    along = "1 other finding on the same words is rejected with it, unless marked as supported."
    told = findings(client, joined)
    assert told == {
        "E1": f"{lost} {along}",
        "E2": f"{lost} {along}",
        "E3": lost,
    }
    reviews.record_verdict(admin, joined.evidence.get(label="E1"), "accept")
    told = findings(client, joined)
    assert told["E2"] == "If you reject it, no statement is lost."
    other = joined.evidence.get(label="E3").quotes.get()
    other.pk, other.position, other.url, other.quote = None, 1, "https://b.test/", "Beech"
    other.save()
    assert findings(client, joined)["E3"] == f"{lost} Its quotes on 1 more page go with it."


def test_one_finding_behind_a_number_is_rejected_alone_and_taken_back(
    client: Client, joined: Run
) -> None:
    address = f"/runs/{joined.public_id}/citations/1/judge/"
    client.post(address, {"verdict": "reject", "finding": "E3"})
    assert [(v.evidence.label, v.verdict) for v in Verdict.objects.all()] == [("E3", "reject")]
    html = page(client, joined)
    assert '<span class="rejected">They are old.</span>' in html
    assert '<span class="rejected">They are slow.</span>' not in html
    link = BeautifulSoup(html, "html.parser").select_one(".review .notice-row a")
    assert link is not None and str(link["href"]).endswith("#cite-1-1"), "where it is cited"
    assert findings(client, joined)["E3"] == "Rejected. Press again to take it back."
    client.post(address, {"verdict": "withdraw", "finding": "E3"})
    assert "Rests on rejected evidence" not in page(client, joined)
    assert client.post(address, {"verdict": "reject", "finding": "E9"}).status_code == 404


def test_a_revision_keeps_the_findings_that_were_not_rejected(
    client: Client, joined: Run, admin: User
) -> None:
    reviews.record_verdict(admin, joined.evidence.get(label="E1"), "reject")
    reviews.record_verdict(admin, joined.evidence.get(label="E2"), "accept")
    post(client, joined, "revise")
    seed = Snapshot.objects.get(run__parent=joined).content
    assert [each["id"] for each in seed["evidence"]] == ["E2", "E3"]


def test_a_number_with_one_finding_is_judged_as_a_whole_and_tells_what_is_lost(
    client: Client, run: Run
) -> None:
    assert findings(client, run) == {}
    answer = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "the next revision loses 1 statement." in answer


def test_a_verdict_pressed_again_is_taken_back(client: Client, run: Run) -> None:
    judged, address = f"/runs/{run.public_id}/citations/1/judge/", "/citations/1/"

    def buttons() -> dict[str, str]:
        soup = BeautifulSoup(client.get(f"/runs/{run.public_id}{address}").content, "html.parser")
        return {b.text: b["value"] for b in soup.select(".judge button[aria-pressed=true]")}

    assert buttons() == {}
    client.post(judged, {"verdict": "reject"})
    assert buttons() == {"Doesn’t": "withdraw"}
    assert not run.evidence.unreviewed().exists()
    client.post(judged, {"verdict": "withdraw"})
    assert buttons() == {} and run.evidence.unreviewed().exists()
    assert "Rests on rejected evidence" not in page(client, run)


def test_a_rejection_says_what_it_counts_for_and_where_the_report_cites_it(
    client: Client, run: Run
) -> None:
    add_evidence(run, 2)
    citation = {**run.reports.get().citations[0], "evidence_ids": ["E1", "E2"]}
    run.reports.update(citations=[citation])
    asked = client.get(f"/runs/{run.public_id}/citations/1/").content.decode()
    assert "counts for all 2 findings behind this number" in asked
    client.post(f"/runs/{run.public_id}/citations/1/judge/", {"verdict": "reject"})
    banner = BeautifulSoup(page(client, run), "html.parser").select_one("form.notice-row.bad")
    assert banner and "(2 records)" in banner.text
    [link] = banner.select("a")
    assert link["href"].endswith("#cite-1") and link.text == "citation 1"
    assert f'id="{link["href"].partition("#")[2]}"' in page(client, run)


def test_a_plan_shows_the_form_and_the_reader_of_the_question(run: Run) -> None:
    run.plan = {"brief": "", "form": "faq", "reader": "a manager"}
    assert plan_context(run)["taken"] == [
        {"name": "Form", "text": "questions and answers"},
        {"name": "Reader", "text": "a manager"},
    ]
    run.plan = {"brief": "", "form": "full", "reader": ""}
    assert plan_context(run)["taken"] == []


def test_a_report_may_become_a_memo_questions_and_answers_or_a_review() -> None:
    forms = {"form": "memo"}, {"form": "faq"}, {"form": "review"}
    assert all(ReshapeForm(each).is_valid() for each in forms)


def answered_at_once(run: Run) -> Run:
    """Return a follow-up to a run that its finding answers."""
    told = "Answered from 1 earlier finding, without a new search."
    later = make_later(
        run, origin=None, kind="follow_up", question="And how old are they?", plan=PLAN,
        termination_reason="known_before", termination_text=told, quality_score=10.0,
    )  # fmt: skip
    add_evidence(later, 1)
    later.rounds.update(number=0, stage="report", decision=told)
    later.units.all().delete()
    text, cited = f"# And how old are they?\n\n{QUOTE} [1]\n", run.reports.get().citations
    Report.objects.create(
        run=later, number=1, markdown=text, citations=cited, checks={}, evidence_digest="0"
    )
    return later


def test_what_was_answered_at_once_can_be_researched_further(client: Client, run: Run) -> None:
    later = answered_at_once(run)
    soup = BeautifulSoup(page(client, later), "html.parser")
    assert not soup.select("form[action*=dig-further]") and soup.select(".reshape")
    [form] = soup.select("form[action*=research-further]")
    assert form.button and form.button.get_text(strip=True) == "Research this further"
    post(client, later, "research-further")
    further = Run.objects.latest("pk")
    assert (further.question, further.origin, further.thread) == (
        later.question,
        later,
        run.thread,
    )
    assert Snapshot.objects.get(run=further).content["at_once"] is False
    Run.objects.filter(pk=further.pk).update(status="completed")
    assert "Version 2 of 2" in page(client, further)
    assert "Newest version: Researched further" in page(client, later)
    assert "was researched" in post(client, run, "research-further")
    assert not BeautifulSoup(page(client, run), "html.parser").select(
        "form[action*=research-further]"
    )


def test_a_run_that_was_answered_at_once_tells_of_no_rounds(client: Client, run: Run) -> None:
    later, told = answered_at_once(run), "Answered from 1 earlier finding, without a new search."
    soup = BeautifulSoup(page(client, later), "html.parser")
    account = {line.dt.get_text(): line.dd.get_text() for line in soup.select(".account > div")}
    assert account["Ended"] == told and not {"Judged", "Work done"} & {*account}
    assert not soup.select(".rounds, .chart, .made-of")
    assert "from earlier findings" in soup.select_one(".verdict-line").get_text()
    assert not {"round", "of 10"} & {*soup.select_one(".story").get_text().split()}
    activity = client.get(f"/runs/{later.public_id}/activity/").content.decode()
    assert told in activity and "other thresholds" not in activity
    german = client.get(f"/runs/{later.public_id}/", headers={"Accept-Language": "de"})
    sentence = BeautifulSoup(german.content, "html.parser").select_one(".verdict-sentence")
    assert sentence is not None and sentence.get_text(strip=True) == (
        "Beantwortet aus 1 früheren Fund, ohne neue Suche."
    )


@pytest.mark.parametrize(
    ("model", "mode", "first"),
    [
        ("m", "adaptive", "From what was found, if it suffices"),
        ("m", "fixed", "Same depth"),
        ("", "adaptive", "Same depth"),
    ],
)
def test_a_follow_up_is_answered_at_once_where_a_model_can_tell(
    client: Client, run: Run, settings: Any, model: str, mode: str, first: str
) -> None:
    settings.RESEARCH_MODEL = model
    Run.objects.filter(pk=run.pk).update(mode=mode)
    form = BeautifulSoup(page(client, run), "html.parser").select_one("#ask-on")
    assert form is not None
    names = [option.get_text() for option in form.select("option")]
    assert names[0] == first
    assert ("New research: quick" in names) == (first != "Same depth")
    assert ("Answers at once" in form.get_text()) == (first != "Same depth")


@pytest.mark.parametrize("depth", ["", "quick"])
def test_a_follow_up_with_a_depth_is_always_researched(
    client: Client, run: Run, depth: str
) -> None:
    post(client, run, "follow-up", said="And elms?", depth=depth)
    kept = Snapshot.objects.get(run__parent=run).content
    assert kept["at_once"] is not bool(depth)


def test_a_follow_up_may_have_another_depth(client: Client, run: Run) -> None:
    parsed = BeautifulSoup(page(client, run), "html.parser")
    fields = {choice.get("value") for choice in parsed.select("#ask-on option")}
    assert fields == {"", "quick", "standard", "thorough"}
    for depth in ("quick", ""):
        client.post(f"/runs/{run.public_id}/follow-up/", {"said": "And elms?", "depth": depth})
        asked = Run.objects.latest("pk")
        assert asked.config["research_depth"] == (depth or run.config["research_depth"])
    refused = client.post(f"/runs/{run.public_id}/follow-up/", {"said": "And?", "depth": "deep"})
    assert refused.status_code == 422
