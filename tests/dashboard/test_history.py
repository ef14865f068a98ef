"""The history: search in questions, reports and sources; names, folders, pins, archive, undo."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.utils import timezone

from research.models import Collection, Report, Run, Source, Thread
from research.services import history
from research.services.errors import ServiceError
from tests.dashboard.conftest import make_later, make_run
from tests.dashboard.test_run_page import count_queries


@pytest.fixture
def run(admin: User) -> Run:
    run = make_run(admin, "completed", question="How old do oaks get?")
    Report.objects.create(run=run, number=1, markdown="An oak lives for **600 years**.")
    Source.objects.create(
        run=run, url="https://trees.test/", url_key="k", title="Quercus robur",
        domain="trees.test", round=1, status="read",
    )  # fmt: skip
    make_run(admin, "completed", question="Who keeps the lighthouse?")
    return run


def change(client: Client, run: Run, what: str, **sent: str) -> str:
    address = f"/threads/{run.thread.public_id}/{what}/"
    return client.post(address, {"next": "/runs/", **sent}, follow=True).content.decode()


@pytest.mark.parametrize("text", ["oaks", "600 years", "quercus", "trees.test", "oaks 600 Robur"])
def test_words_are_found_in_question_report_and_sources(
    client: Client, run: Run, text: str
) -> None:
    page = client.get("/runs/", {"text": text}).content.decode()
    assert "How old do oaks get?" in page and "lighthouse" not in page


@pytest.mark.parametrize("text", ["birches", "oaks birches", "600 lighthouse"])
def test_every_word_must_be_found(client: Client, run: Run, text: str) -> None:
    assert "No results." in client.get("/runs/", {"text": text}).content.decode()


def test_a_line_shows_the_answer_and_its_sources(client: Client, run: Run) -> None:
    cited = [{"marker": n, "url": url} for n, url in enumerate("aab", 1)]
    Report.objects.create(run=run, number=2, short_answer="**600 years** [1] [2].", citations=cited)
    page = client.get("/runs/").content.decode()
    assert '<p class="run-answer">600 years.</p>' in page and "2 sources" in page


def test_a_line_says_how_deep_a_run_was_what_it_answered_and_from_how_many_sources(
    client: Client, run: Run
) -> None:
    cited = [{"marker": n, "url": url} for n, url in enumerate("aab", 1)]
    Report.objects.create(run=run, number=2, citations=cited)
    for number in range(3):
        keys = ["E1"] if number else []
        told = {"label": f"A{number}", "position": number, "round": 1, "evidence_labels": keys}
        run.aspects.create(**told, text="?", state="answered" if number else "open")
    later = make_later(run, origin=None, kind="follow_up", question="And elms?")
    Run.objects.filter(pk=later.pk).update(config={"research_depth": "thorough"})
    Run.objects.filter(pk=run.pk).update(analyst="model")
    soup = BeautifulSoup(client.get("/runs/").content, "html.parser")
    first, follow_up = (each.get_text(" ", strip=True) for each in soup.select("li .run-facts")[:2])
    assert "Standard · 2 of 3 sub-questions answered · 2 sources" in first
    assert "Thorough" in follow_up


def test_more_runs_take_no_more_queries(client: Client, run: Run, admin: User) -> None:
    few = count_queries(lambda: client.get("/runs/"))
    for _ in range(10):
        Report.objects.create(run=make_run(admin, "completed"), number=1, citations=[])
    assert count_queries(lambda: client.get("/runs/")) == few


def test_questions_are_grouped_by_day_and_pinned_ones_stand_apart(
    client: Client, admin: User
) -> None:
    now = timezone.now()
    for days in (0, 1, 3, 70):
        made = make_run(admin, "completed", question=f"Asked {days} days ago?")
        Run.objects.filter(pk=made.pk).update(created_at=now - timedelta(days=days))
    Thread.objects.filter(runs=made).update(pinned=True)
    old = make_run(admin, "completed", question="Asked in winter?")
    Run.objects.filter(pk=old.pk).update(created_at=datetime(2025, 1, 15, tzinfo=UTC))
    soup = BeautifulSoup(client.get("/runs/").content, "html.parser")
    headings = [each.get_text() for each in soup.select(".run-group > h2")]
    assert headings == ["Pinned", "Today", "Yesterday", "Last seven days", "January 2025"]


def test_follow_ups_stand_below_the_first_question_of_their_thread(
    client: Client, run: Run, admin: User
) -> None:
    later = make_run(admin, "completed", question="And elms?", kind="follow_up")
    Run.objects.filter(pk=later.pk).update(thread=run.thread)
    soup = BeautifulSoup(client.get("/runs/").content, "html.parser")
    rows = soup.select(".run-list > li")
    questions = [[link.text for link in row.select(".run-question")] for row in rows]
    assert questions == [["How old do oaks get?", "And elms?"], ["Who keeps the lighthouse?"]]
    assert len(rows[0].select(".run-actions")) == 1
    make_later(run, kind="deeper")
    soup = BeautifulSoup(client.get("/runs/").content, "html.parser")
    told = [link.text for link in soup.select(".run-list > li:first-child .run-question")]
    assert told == ["How old do oaks get?", "And elms?"], "a later version of the first"


def test_a_thread_shows_the_time_of_the_question_by_which_it_is_grouped(
    client: Client, run: Run, admin: User
) -> None:
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=2))
    make_later(run, origin=None, kind="follow_up", question="And elms?")
    soup = BeautifulSoup(client.get("/runs/").content, "html.parser")
    [group] = soup.select(".run-group")
    assert group.select("h2")[0].get_text() == "Today" and "days ago" not in group.get_text()
    assert "newest question just now" in group.get_text()


def test_words_sought_are_marked_where_they_are_found(client: Client, run: Run) -> None:
    page = client.get("/runs/", {"text": "oaks"}).content.decode()
    assert "How old do <mark>oaks</mark> get?</a>" in page
    page = client.get("/runs/", {"text": "600"}).content.decode()
    assert "An oak lives for <mark>600</mark> years." in page


def test_a_passage_that_was_found_takes_the_place_of_the_answer(client: Client, run: Run) -> None:
    Report.objects.filter(run=run).update(short_answer="For centuries.")
    Run.objects.filter(pk=run.pk).update(config={"research_depth": "thorough"})
    soup = BeautifulSoup(client.get("/runs/", {"text": "600 oak"}).content, "html.parser")
    assert [str(each) for each in soup.select(".run-answer")] == [
        '<p class="run-answer">An <mark>oak</mark> lives for <mark>600</mark> years.</p>'
    ]
    assert "Thorough" in soup.select_one(".run-facts").get_text()  # type: ignore[union-attr]
    listed = client.get("/runs/").content.decode()
    assert '<p class="run-answer">For centuries.</p>' in listed


def test_a_passage_that_was_found_has_no_addresses(client: Client, run: Run) -> None:
    sources = "### Cited\n\n- [1] Lamp oil, trees: <file:///trees/lamp.html>"
    Report.objects.filter(run=run).update(markdown=f"# T\n\nOld. [1]\n\n{sources}")
    soup = BeautifulSoup(client.get("/runs/", {"text": "lamp"}).content, "html.parser")
    [told] = [each.get_text() for each in soup.select(".run-answer")]
    assert "Lamp oil" in told and "file:" not in told


def test_what_is_marked_is_escaped(client: Client, admin: User) -> None:
    make_run(admin, "completed", question="Is 1 < 2 & <b>bold</b>?")
    page = client.get("/runs/", {"text": "<b>"}).content.decode()
    assert "&amp; <mark>&lt;b&gt;</mark>bold&lt;/b&gt;?</a>" in page


def test_syntax_of_the_text_search_is_harmless(client: Client, run: Run) -> None:
    assert client.get("/runs/", {"text": "& | ' \\ :* oaks"}).status_code == 200


def test_a_name_replaces_the_question_and_is_found(client: Client, run: Run) -> None:
    page = change(client, run, "rename", name="  The   forest ", folder="Trees")
    assert ">The forest</a>" in page and '<option value="Trees">' in page
    assert "The forest" in client.get("/runs/?text=forest").content.decode()
    in_folder = client.get("/runs/?folder=Trees").content.decode()
    assert "The forest" in in_folder and "lighthouse" not in in_folder
    assert "The forest" not in change(client, run, "rename", name="", folder="")


def test_a_name_that_is_too_long_is_refused(client: Client, run: Run) -> None:
    assert "at most 60 characters" in change(client, run, "rename", folder="x" * 61)


def test_pinned_questions_come_first(client: Client, run: Run) -> None:
    before = client.get("/runs/").content.decode()
    assert before.index("lighthouse") < before.index("oaks")
    page = change(client, run, "pin")
    assert page.index("oaks") < page.index("lighthouse") and "Pinned" in page
    assert "Pinned" not in change(client, run, "unpin")


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("state=archived", "Nothing is archived. Archived questions will appear here."),
        ("state=archived&folder=Trees", "Nothing is archived in this folder."),
        ("state=failed", "No question is in this state."),
        ("state=archived&text=oaks", "Every word has to occur"),
    ],
)
def test_an_empty_list_says_what_it_would_hold(
    client: Client, run: Run, query: str, told: str
) -> None:
    change(client, run, "rename", name="", folder="Trees")
    page = client.get(f"/runs/?{query}").content.decode()
    assert told in page
    assert ("Every word" in page) == ("text=" in query)


def test_a_folder_whose_questions_are_archived_says_so(client: Client, run: Run) -> None:
    change(client, run, "rename", name="", folder="Trees")
    change(client, run, "archive")
    page = client.get("/runs/?folder=Trees").content.decode()
    assert "This folder has no questions outside the archive." in page
    assert "Every word" not in page


def test_a_name_heads_the_newest_question_of_its_thread(
    client: Client, admin: User, run: Run
) -> None:
    def heads(shown: Run) -> tuple[str, str | None]:
        page = BeautifulSoup(client.get(f"/runs/{shown.public_id}/").content, "html.parser")
        question = page.select_one(".as-asked")
        return (
            page.select_one("h1").get_text(),  # type: ignore[union-attr]
            question.get_text() if question else None,
        )

    before = count_queries(lambda: client.get(f"/runs/{run.public_id}/"))
    assert heads(run) == ("How old do oaks get?", None)
    change(client, run, "rename", name="The forest")
    assert heads(run) == ("The forest", "How old do oaks get?")
    assert count_queries(lambda: client.get(f"/runs/{run.public_id}/")) == before
    later = make_later(run, origin=None, question="How tall do they get?")
    assert heads(later) == ("The forest", "How tall do they get?")
    assert heads(run) == ("How old do oaks get?", None)


def test_where_all_questions_are_archived_the_list_says_so(client: Client, run: Run) -> None:
    for thread in {each.thread for each in Run.objects.all()}:
        change(client, thread.runs.first(), "archive")
    page = client.get("/runs/").content.decode()
    assert "All questions are archived." in page and "No questions yet" not in page


def test_archived_questions_are_listed_on_request_and_found(client: Client, run: Run) -> None:
    archived = change(client, run, "archive")
    assert "was archived" in archived and "oaks get?</a>" not in archived
    assert f"/threads/{run.thread.public_id}/unarchive/" in archived, "the change is undone there"
    assert "oaks" not in client.get("/").content.decode()
    assert "oaks" in client.get("/runs/?state=archived").content.decode()
    assert "oaks" in client.get("/runs/?text=quercus").content.decode()
    assert "oaks" in change(client, run, "unarchive")


def test_a_deleted_question_is_gone_and_can_be_restored(client: Client, run: Run) -> None:
    page = change(client, run, "delete")
    assert "was deleted" in page and "Undo" in page and ">How old do oaks get?</a>" not in page
    for address in (f"/runs/{run.public_id}/", f"/threads/{run.thread.public_id}/"):
        assert client.get(address).status_code == 404
    assert "Undo" not in client.get("/runs/").content.decode()
    assert ">How old do oaks get?</a>" in change(client, run, "restore")
    assert client.get(f"/runs/{run.public_id}/").status_code == 200


def test_a_question_in_progress_is_not_deleted(client: Client, admin: User) -> None:
    run = make_run(admin)
    assert "cancel it first" in change(client, run, "delete")
    assert client.get(f"/runs/{run.public_id}/").status_code == 200


def test_what_was_deleted_a_day_ago_is_removed_with_its_files(admin: User, run: Run) -> None:
    made = Collection.objects.create(owner=admin, name="Lease", thread=run.thread)
    history.delete_thread(admin, run.thread)
    now = timezone.now()
    assert history.purge_deleted(now) == 0
    later = now + timedelta(seconds=history.KEPT_SECONDS + 1)
    assert history.purge_deleted(later) == 1
    made.refresh_from_db()
    assert made.deleted_at is not None
    assert not Thread.objects.filter(pk=run.thread_id).exists()
    assert Run.objects.get().question == "Who keeps the lighthouse?"


def test_other_users_cannot_change_a_question(run: Run) -> None:
    ada = User.objects.create_user("ada")
    client = Client()
    client.force_login(ada)
    assert client.post(f"/threads/{run.thread.public_id}/delete/").status_code == 404
    for act in (history.delete_thread, history.restore_thread):
        with pytest.raises(PermissionDenied):
            act(ada, run.thread)


def test_a_change_leads_to_no_other_host(client: Client, run: Run) -> None:
    sent = {"next": "https://elsewhere.test/"}
    answer = client.post(f"/threads/{run.thread.public_id}/pin/", sent)
    assert answer.headers["Location"] == "/runs/"


def test_a_name_is_refused_by_the_service_too(admin: User, run: Run) -> None:
    with pytest.raises(ServiceError, match="A name has at most 200"):
        history.rename_thread(admin, run.thread, "x" * 201, "")


def test_what_was_found_is_shown_in_a_line_without_markdown(client: Client, run: Run) -> None:
    story = "My neighbour has an old garden, and I think of it often. " * 8
    Run.objects.update(question=f"{story}How old do oaks get in a churchyard? {story}")
    markdown = "# What is it?\n\n## How old\n\n- It *rests* on the [rings](https://a.test/) [1]\n"
    Report.objects.update(markdown=markdown)
    found = BeautifulSoup(client.get("/runs/?text=churchyard+rings").content, "html.parser")
    line = found.select_one(".run-list li")
    assert line is not None
    [asked], [passage] = line.select("p.faint"), line.select("p.run-answer")
    assert "in a churchyard?" in asked.get_text() and len(asked.get_text()) <= 202
    assert passage.get_text() == "How old It rests on the rings"
