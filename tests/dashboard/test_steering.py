"""What a person tells a run while it researches: offered, heard at once, refused in words."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from research.models import Aspect, Command, Run
from tests.dashboard.conftest import add_evidence, make_run
from tests.dashboard.test_run_page import page

WAYS = ["Cancel the research", "Stop and report", "Keep researching"]


@pytest.fixture
def run(admin: User) -> Run:
    """Two sub-questions under research."""
    run = make_run(admin)
    add_evidence(run, 1)
    add_evidence(run, 2)
    return run


def shown(client: Client, run: Run) -> BeautifulSoup:
    return BeautifulSoup(page(client, run), "html.parser")


def texts(soup: BeautifulSoup, selector: str) -> list[str]:
    return [" ".join(each.get_text(" ").split()) for each in soup.select(selector)]


def tell(client: Client, run: Run, action: str, **sent: str) -> BeautifulSoup:
    """The page after one command."""
    answer = client.post(f"/runs/{run.public_id}/{action}/", sent, follow=True)
    return BeautifulSoup(answer.content, "html.parser")


@pytest.mark.parametrize(
    ("status", "mode", "offered"),
    [
        ("queued", "adaptive", ["Stop and report", "Cancel"]),
        ("researching", "adaptive", ["Pause", "Stop and report", "Cancel"]),
        ("researching", "fixed", ["Pause", "Stop and report", "Cancel"]),
        ("paused", "adaptive", ["Go on", "Stop and report", "Cancel"]),
        ("writing", "adaptive", ["Cancel"]),
        ("completed", "adaptive", []),
    ],
)
def test_only_what_can_be_said_now_is_offered(
    client: Client, admin: User, status: str, mode: str, offered: list[str]
) -> None:
    soup = shown(client, make_run(admin, status, mode=mode))
    assert texts(soup, ".controls :is(button, .button)") == offered
    may_steer = status in ("researching", "paused") and mode == "adaptive"
    assert bool(soup.select(".steer form")) == may_steer
    assert bool(soup.select(".aspects > .title-row .add-topic")) == may_steer


@pytest.mark.parametrize("status", ["researching", "paused", "writing"])
def test_cancelling_what_has_begun_is_asked_about_first(
    client: Client, run: Run, status: str
) -> None:
    Run.objects.update(status=status)
    link = shown(client, run).select_one(".controls a.button")
    assert link is not None and not shown(client, run).select(".controls [action$='/cancel/']")
    asked = BeautifulSoup(client.get(str(link["href"])).content, "html.parser")
    assert "The 2 claims found so far stay" in texts(asked, "main")[0]
    ways = ["Cancel the research", "Keep researching"] if status == "writing" else WAYS
    assert texts(asked, "main :is(button, .button)") == ways
    assert not Command.objects.exists()
    client.post(str(link["href"]))
    assert Command.objects.get().kind == "cancel"


@pytest.mark.parametrize("status", ["queued", "awaiting_approval", "completed"])
def test_where_nothing_can_be_lost_cancelling_is_not_asked_about(
    client: Client, admin: User, status: str
) -> None:
    run = make_run(admin, status)
    address = f"/runs/{run.public_id}/"
    assert client.get(f"{address}cancel/").headers["Location"] == address
    buttons = shown(client, run).select(f".controls [formaction='{address}cancel/']")
    assert bool(buttons) == (status != "completed")


@pytest.mark.parametrize(
    ("action", "sent", "heard"),
    [
        ("pause", {}, "Pausing after this round…"),
        ("dig-deeper", {}, "Digs deeper after this round."),
    ],
)
def test_it_is_heard_before_a_worker_takes_it(
    client: Client, run: Run, action: str, sent: dict[str, str], heard: str
) -> None:
    assert texts(tell(client, run, action, **sent), ".heard li") == [heard]
    Command.objects.update(taken_at_place="commands/round/1")
    assert texts(shown(client, run), ".heard li") == []


def test_what_a_paused_run_is_told_waits_until_it_goes_on(client: Client, run: Run) -> None:
    Run.objects.update(status="paused", verdict="Going on: 1 of 2 answered.")
    soup = tell(client, run, "add-topic", topic="Elms?")
    assert texts(soup, ".aspect")[-1] == "Elms? Added when it continues Undo : Elms?"
    assert texts(soup, ".verdict-sentence") == ["Paused. Nothing is searched or spent."]


@pytest.mark.requirement("C15")
def test_a_paused_run_that_asks_says_what(client: Client, run: Run) -> None:
    Run.objects.update(status="paused", asks="Dig deeper, or is this sufficient?")
    assert texts(shown(client, run), ".verdict-sentence") == ["Dig deeper, or is this sufficient?"]


def test_a_row_can_be_left_out_once_and_taken_up_again(client: Client, run: Run) -> None:
    assert texts(shown(client, run), ".aspect-menu button") == [
        "Remove : Part 1",
        "Remove : Part 2",
    ]
    soup = tell(client, run, "drop-topic", topic="Part 1")
    assert texts(soup, ".aspect-menu button") == ["Undo : Part 1", "Remove : Part 2"]
    assert texts(soup, ".aspect-state")[0] == "Left out after this round"
    Command.objects.update(taken_at_place="commands/round/1")
    Aspect.objects.filter(label="A1").update(dropped=True)
    soup = shown(client, run)
    assert texts(soup, ".aspect-menu button") == ["Restore : Part 1"]
    assert texts(soup, ".aspect-state")[0] == "Removed"
    assert "1 of 1 answered" in page(client, run)


def test_the_buttons_of_the_rows_send_the_form_of_the_viewer(client: Client, run: Run) -> None:
    soup = shown(client, run)
    button = soup.select_one(".aspect-menu button")
    assert button is not None
    form = soup.find("form", id=button["form"])
    assert form is not None and form.find("input", attrs={"name": "csrfmiddlewaretoken"})
    assert button["formaction"] == f"/runs/{run.public_id}/drop-topic/"


def test_an_empty_topic_is_told_beside_the_field(client: Client, run: Run) -> None:
    answer = client.post(f"/runs/{run.public_id}/add-topic/", {"topic": " "})
    assert answer.status_code == 422
    soup = BeautifulSoup(answer.content, "html.parser")
    assert texts(soup, "#topic-problem") == ["Write what to find out."]
    assert [field["name"] for field in soup.select("[autofocus]")] == ["topic"]


def test_a_refusal_of_the_service_is_told_in_its_words(client: Client, run: Run) -> None:
    Run.objects.update(mode="fixed")
    assert (
        "tree of a fixed size" in texts(tell(client, run, "add-topic", topic="Elms?"), ".notice")[0]
    )


def test_a_topic_that_the_engine_refused_is_told_aloud(client: Client, run: Run) -> None:
    run.problems.create(key="1", where="your topic “Oaks?”", message="Not added: a twin.")
    run.problems.create(key="2", where="fetch", message="A page was not there.")
    soup = shown(client, run)
    assert texts(soup, ".heard li") == ["Your topic “Oaks?”: Not added: a twin."]
    assert texts(soup, ".survived li") == ["A page was not there."]


@pytest.mark.parametrize(
    ("topic", "language", "word"),
    [
        ("When was it first lit?", "en", "it"),
        ("Its height?", "en", "Its"),
        ("When was the tower lit?", "en", ""),
        ("Wann wurde er gebaut?", "de", "er"),
        ("it", "fr", ""),
    ],
)
def test_a_topic_with_a_pronoun_asks_for_the_name(
    client: Client, run: Run, topic: str, language: str, word: str
) -> None:
    Run.objects.update(language=language)
    told = texts(tell(client, run, "add-topic", topic=topic), ".heard li")
    assert [f"“{word}”" in hint for hint in told] == [True] * bool(word)


def test_what_was_said_of_a_topic_can_be_taken_back_until_the_engine_has_it(
    client: Client, run: Run
) -> None:
    before = texts(shown(client, run), ".aspect")
    soup = tell(client, run, "add-topic", topic="Elms?")
    assert texts(soup, ".aspect")[-1] == "Elms? Added after this round Undo : Elms?"
    soup = tell(client, run, "withdraw-topic", topic="Elms?")
    assert texts(soup, ".aspect") == before and not Command.objects.exists()
    tell(client, run, "add-topic", topic="Elms?")
    Command.objects.update(taken_at_place="commands/round/1")
    soup = tell(client, run, "withdraw-topic", topic="Elms?")
    assert "already made" in texts(soup, ".notice")[0] and Command.objects.exists()


def test_what_is_typed_stays_while_other_buttons_come(client: Client, run: Run) -> None:
    """The form for topics is sent again only where it comes or goes."""
    address = f"/runs/{run.public_id}/desk/"
    had = shown(client, run).select_one("[name=have]")
    assert had is not None
    client.post(f"/runs/{run.public_id}/pause/")
    assert b"add-topic" not in client.get(address, {"have": had["value"]}).content
    Run.objects.update(status="completed")
    gone = client.get(address, {"have": had["value"]}).content
    assert b'class="steer"' in gone and b"add-topic" not in gone
