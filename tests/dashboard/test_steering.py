"""What a person tells a run while it researches: offered, heard at once, refused in words."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from research.engine.threads.user_commands import INSTRUCTION_LENGTH
from research.models import Aspect, Command, Round, Run
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


@pytest.mark.requirement("F6")
def test_a_pause_is_told_until_its_round_ends_and_can_be_taken_back(
    client: Client, run: Run
) -> None:
    Run.objects.update(action="Judging what was found", action_at=timezone.now())
    soup = tell(client, run, "pause")
    [said] = texts(soup, ".verdict-sentence")
    assert said.startswith("Pausing: this round is finished first.")
    [now] = texts(soup, ".now > span:first-of-type")
    assert now == "Finishing this round, then pausing Judging what was found"
    offered = texts(soup, ".controls :is(button, .button)")
    assert offered == ["Don’t pause", "Stop and report", "Cancel"]
    soup = tell(client, run, "resume")
    assert texts(soup, ".now > span:first-of-type") == ["Judging what was found"]
    assert texts(soup, ".controls :is(button, .button)")[0] == "Pause"
    assert "Pausing" not in soup.get_text()


def test_a_run_that_is_to_stop_does_not_pause(client: Client, run: Run) -> None:
    tell(client, run, "pause")
    soup = tell(client, run, "stop")
    assert "Don’t pause" not in texts(soup, ".controls :is(button, .button)")
    assert texts(soup, ".verdict-sentence")[0].startswith("Stopping:")


def test_it_is_heard_before_a_worker_takes_it(client: Client, run: Run) -> None:
    heard = ["Digs deeper after this round."]
    assert texts(tell(client, run, "dig-deeper"), ".heard li") == heard
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


# --- instructions in words ------------------------------------------------------------------

RECENT = "Only sources since 2023"
KEPT = f"Kept: “{RECENT}”."


@pytest.fixture
def modelled(run: Run) -> Run:
    Run.objects.update(analyst="a-model")
    return run


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("status", "heard"),
    [
        ("researching", f"Follows “{RECENT}” after this round."),
        ("paused", f"Follows “{RECENT}” when it continues."),
        ("intake", f"{KEPT} The research follows it; the plan is made without it."),
    ],
)
def test_an_instruction_is_heard_before_a_worker_takes_it(
    client: Client, modelled: Run, status: str, heard: str
) -> None:
    Run.objects.update(status=status)
    assert texts(tell(client, modelled, "instruct", text=RECENT), ".heard li") == [heard]
    Command.objects.update(taken_at_place="commands/round/1")
    assert texts(shown(client, modelled), ".heard li") == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" ", "Write what this run should keep in mind."),
        ("x" * (INSTRUCTION_LENGTH + 1), "It has 301 characters; the maximum is 300."),
    ],
)
def test_what_is_no_instruction_is_told_beside_the_field(
    client: Client, modelled: Run, text: str, problem: str
) -> None:
    answer = client.post(f"/runs/{modelled.public_id}/instruct/", {"text": text})
    assert answer.status_code == 422 and not Command.objects.exists()
    soup = BeautifulSoup(answer.content, "html.parser")
    assert texts(soup, "#instruction-problem") == [problem]
    [field] = soup.select("[autofocus]")
    assert (field["name"], field.get("value", "").strip()) == ("text", text.strip())


def test_the_field_has_a_label_and_help_and_does_not_cut_off_what_is_pasted(
    client: Client, modelled: Run
) -> None:
    soup = shown(client, modelled)
    [field] = soup.select(".instruct input[name=text]")
    assert texts(soup, f"label[for={field['id']}]") == ["What should this run keep in mind?"]
    first, *_ = str(field["aria-describedby"]).split()
    assert "not a question to research" in texts(soup, f"#{first}")[0]
    assert "maxlength" not in field.attrs


def test_a_sub_question_and_an_instruction_are_not_taken_for_each_other(
    client: Client, modelled: Run
) -> None:
    """Each has a label that is seen, a place of its own, and an example of what belongs in it."""
    soup = shown(client, modelled)
    [topic], [told] = soup.select(".add-topic [name=topic]"), soup.select(".instruct [name=text]")
    for field in (topic, told):
        [label] = soup.select(f"label[for={field['id']}]")
        assert "hidden" not in label.get("class", [])
        assert field["placeholder"] != label.get_text()
    assert str(topic["placeholder"]).endswith("?") and "?" not in str(told["placeholder"])
    assert topic.find_parent(class_="aspects") and not told.find_parent(class_="aspects")
    assert texts(soup, "#topic-help") == [
        "A question of its own, which the next round searches for."
    ]


def test_where_instructions_were_given_the_page_says_that_they_come_too_late(
    client: Client, modelled: Run
) -> None:
    """What follows stays where it is."""
    Run.objects.update(status="writing")
    [said] = texts(shown(client, modelled), ".telling")
    assert said == "The report is being written. Instructions are no longer followed."
    for columns in ({"status": "completed"}, {"status": "writing", "mode": "fixed"}):
        Run.objects.update(**columns)
        assert texts(shown(client, modelled), ".telling") == [""]


@pytest.mark.parametrize(
    ("columns", "told", "adds_topics"),
    [
        ({"analyst": "extractive"}, "Without a model no instruction can be followed", True),
        ({"analyst": "a-model", "mode": "fixed"}, "The fixed mode searches a tree", False),
    ],
)
def test_where_none_can_be_followed_the_page_says_why(
    client: Client, run: Run, columns: dict[str, str], told: str, adds_topics: bool
) -> None:
    Run.objects.update(**columns)
    soup = shown(client, run)
    assert not soup.select(".instruct") and told in texts(soup, ".steer > p")[0]
    assert bool(soup.select(".add-topic")) == adds_topics
    assert told in texts(tell(client, run, "instruct", text=RECENT), ".notice")[0]
    assert not Command.objects.exists()


@pytest.mark.parametrize("status", ["queued", "writing", "completed"])
def test_a_run_that_takes_no_commands_says_nothing_of_instructions(
    client: Client, run: Run, status: str
) -> None:
    Run.objects.update(status=status)
    assert texts(shown(client, run), ".steer > *") == []


def test_the_field_comes_when_the_run_takes_instructions(client: Client, admin: User) -> None:
    run = make_run(admin, "queued", mode="fixed")
    address = f"/runs/{run.public_id}/desk/"
    had = shown(client, run).select_one("[name=have]")
    assert had is not None
    Run.objects.update(status="researching", analyst="a-model")
    assert b"The fixed mode" in client.get(address, {"have": had["value"]}).content
    Run.objects.update(mode="adaptive")
    assert b'name="text"' in client.get(address, {"have": had["value"]}).content


@pytest.mark.parametrize(
    ("status", "name"), [("awaiting_approval", "instruction"), ("researching", "text")]
)
def test_what_is_typed_during_planning_is_kept_when_the_plan_is_there(
    client: Client, modelled: Run, status: str, name: str
) -> None:
    Run.objects.update(status="intake")
    had = shown(client, modelled).select_one("[name=have]")
    assert had is not None and shown(client, modelled).select(".instruct [name=text]")
    Run.objects.update(status=status, plan={"brief": "Oaks", "aspects": [{"text": "Part 1"}]})
    asked = {"have": had["value"], "text": RECENT}
    answer = client.get(f"/runs/{modelled.public_id}/desk/", asked)
    soup = BeautifulSoup(answer.content, "html.parser")
    kept = [field.get("value") for field in soup.select(f"[name={name}]")]
    assert kept == ([RECENT] if name == "instruction" else [])


def test_an_instruction_that_the_engine_refused_is_told_while_it_runs_and_afterwards(
    client: Client, modelled: Run
) -> None:
    where, reason = f"your instruction “{RECENT}”", "Not followed: the research had ended."
    modelled.problems.create(key="1", where=where, message=reason)
    told = [f"Your instruction “{RECENT}”: {reason}"]
    soup = shown(client, modelled)
    assert (texts(soup, ".heard li"), texts(soup, ".survived li")) == (told, [])
    Run.objects.update(status="completed")
    soup = shown(client, modelled)
    assert (texts(soup, ".heard li"), texts(soup, ".survived li")) == ([], told)


@pytest.mark.requirement("F6")
def test_the_research_tells_what_was_asked_and_from_which_round_on(
    client: Client, modelled: Run
) -> None:
    """Of the last round, that the report alone could follow it."""
    modelled.rounds.all().delete()
    for number, told in ((1, [RECENT]), (2, []), (3, ["Be brief", "Name prices"])):
        Round.objects.create(
            run=modelled, number=number, stage="overview", closed=True, instructions=told
        )
    early = f"“{RECENT}” (from round 2 on)"
    rows = [f"You added: {early}", "You added: “Be brief”; “Name prices”"]
    assert [t for t in texts(shown(client, modelled), ".round-told > p") if "You" in t] == rows
    Run.objects.update(status="completed")
    late = "“Be brief” (for the report); “Name prices” (for the report)"
    account = texts(shown(client, modelled), ".account div")
    assert f"You added {early}; {late}" in account
    modelled.journal.create(
        place="s", place_key="s", kind="search", request={"query": "q"}, answer={}, attempt=1,
        status="done", seconds=1,
    )  # fmt: skip
    story = BeautifulSoup(
        client.get(f"/runs/{modelled.public_id}/activity/").content, "html.parser"
    )
    lines = texts(story, ".story-parts dl > div")
    assert f"You added {early}" in lines and f"You added {late}" in lines


def test_an_added_sub_question_has_a_short_name_beside_those_of_the_plan(
    client: Client, run: Run
) -> None:
    asked = "Who paid for the planting of the oaks, and in which of the years did they pay for it?"
    run.aspects.filter(label="A2").update(raised_by="user", text=asked)
    assert texts(shown(client, run), ".aspect-text") == ["Part 1", asked]
    Run.objects.update(plan={"aspects": [{"text": "Part 1", "heading": "Age"}]})
    soup = shown(client, run)
    short = "Who paid for the planting of the oaks?"
    assert texts(soup, ".aspect-text") == ["Age", short]
    assert soup.select(".aspect-text")[1]["title"] == asked


@pytest.mark.requirement("F6")
def test_the_research_tells_which_sub_questions_a_person_added_and_removed(
    client: Client, run: Run
) -> None:
    add_evidence(run, 3)
    add_evidence(run, 4)
    run.aspects.filter(label="A2").update(raised_by="user")
    run.aspects.filter(label="A3").update(raised_by="https://elms.test/")
    run.aspects.filter(label="A4").update(dropped=True)
    run.gaps.filter(label="G3").update(closed_round=1, closed_by=["E3"], aspect_label="A3")
    run.gaps.filter(label="G4").update(closed_round=1, closed_by=["user"], aspect_label="A4")
    live = shown(client, run)
    assert "Gap 3 closed in round 1" in " ".join(texts(live, ".gaps li"))
    assert "Gap 4 left out by you in round 1" in " ".join(texts(live, ".gaps li"))
    assert "Closed: Gap 3" in texts(live, ".round-told > p")
    Run.objects.update(status="completed")
    ended = shown(client, run)
    assert texts(ended, ".closed-gaps li") == ["Closed: Gap 3 closed in round 1"]
    account = texts(ended, ".account div")
    asked = "3 sub-questions, 1 of them added by you, 1 of them raised by what was read."
    assert f"Asked {asked}" in account
    assert "You added the sub-question “Part 2”" in account
    assert "You removed the sub-question “Part 4”" in account


# --- instructions in force ------------------------------------------------------------------

BEFORE = "Written for laymen"


@pytest.fixture
def follow_up(modelled: Run) -> Run:
    """A run that took over an instruction and was told another."""
    Run.objects.update(plan={"aspects": [{"text": "Part 1"}], "instructions": [BEFORE, RECENT]})
    modelled.commands.create(
        kind="instruct", payload={"text": RECENT}, actor=modelled.owner, taken_at_place="plan"
    )
    return modelled


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("status", "heard"),
    [
        ("researching", f"Drops “{BEFORE}” after this round."),
        ("paused", f"Drops “{BEFORE}” when it continues."),
        (
            "awaiting_approval",
            f"Drops “{BEFORE}” at the start. The plan was made with it; send it back to have it "
            "planned again.",
        ),
    ],
)
def test_what_a_follow_up_takes_over_is_shown_and_can_be_dropped(
    client: Client, follow_up: Run, status: str, heard: str
) -> None:
    Run.objects.update(status=status)
    soup = shown(client, follow_up)
    taken_over, own = f"Followed from before: “{BEFORE}”", f"Followed: “{RECENT}”"
    assert texts(soup, ".heard li > span") == [taken_over, own]
    button = soup.select(".heard button")[0]
    assert (button["name"], button["value"]) == ("text", BEFORE)
    assert button["formaction"] == f"/runs/{follow_up.public_id}/drop-instruction/"
    soup = tell(client, follow_up, "drop-instruction", text=BEFORE)
    assert texts(soup, ".heard li > span") == [heard, own]
    Command.objects.update(taken_at_place="commands/round/1")
    assert texts(shown(client, follow_up), ".heard li > span") == [own]
    Run.objects.update(status="completed")
    assert texts(shown(client, follow_up), ".heard li") == []


def test_the_plan_and_the_account_tell_what_was_taken_over(client: Client, follow_up: Run) -> None:
    Run.objects.update(status="awaiting_approval")
    facts = texts(shown(client, follow_up), ".asks .facts div")
    assert facts == [f"From before “{BEFORE}”", f"You added “{RECENT}”"]
    Run.objects.update(status="completed")
    told = f"“{BEFORE}” (from before); “{RECENT}” (from the start)"
    assert any(told in text for text in texts(shown(client, follow_up), ".story"))


# --- without the model ----------------------------------------------------------------------


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("status", "button", "address", "does", "verdict"),
    [
        (
            "intake",
            "Plan without the model",
            "plan-by-code",
            "the question as worded becomes the plan.",
            "Going on without the model: code makes the plan.",
        ),
        (
            "researching",
            "Stop and report",
            "stop",
            "the report is written from what was found.",
            "Stopping: the report is written from the findings so far.",
        ),
        (
            "writing",
            "Finish without the model",
            "finish-by-code",
            "what it hasn’t written appears as quotations, and so does what it hasn’t checked, "
            "unless code vouches for it.",
            "Finishing without the model.",
        ),
    ],
)
def test_each_stage_says_what_its_button_does(
    client: Client, modelled: Run, status: str, button: str, address: str, does: str, verdict: str
) -> None:
    Run.objects.update(status=status)
    soup = shown(client, modelled)
    offered = [each for each in texts(soup, ".controls button") if each not in {"Pause", "Cancel"}]
    assert offered == [button]
    [hint] = [each["title"] for each in soup.select(".controls button[title]")]
    assert hint.startswith(f"“{button}”") and hint.endswith(does)
    soup = tell(client, modelled, address)
    assert texts(soup, ".verdict-text") == [verdict]
    assert button not in texts(soup, ".controls button") and not soup.select(".controls [title]")


def test_a_report_that_is_finished_without_the_model_offers_it_no_more(
    client: Client, modelled: Run
) -> None:
    Run.objects.update(status="writing")
    tell(client, modelled, "finish-by-code")
    Command.objects.update(taken_at_place="commands/broken_off/report/draft")
    assert not shown(client, modelled).select(".controls [title]")


@pytest.mark.parametrize(
    ("status", "address", "told"),
    [
        ("writing", "plan-by-code", "This run is not making a plan."),
        ("researching", "finish-by-code", "This run is not writing a report."),
    ],
)
def test_no_other_stage_is_broken_off(
    client: Client, modelled: Run, status: str, address: str, told: str
) -> None:
    Run.objects.update(status=status)
    assert texts(tell(client, modelled, address), ".notice") == [told]
    assert not Command.objects.exists()


@pytest.mark.parametrize("status", ["intake", "writing"])
def test_a_run_without_a_model_offers_no_such_thing(client: Client, run: Run, status: str) -> None:
    Run.objects.update(status=status, analyst="extractive")
    address = {"intake": "plan-by-code", "writing": "finish-by-code"}[status]
    assert "without the model" not in str(shown(client, run).select(".controls"))
    told = "This run has no model whose answer it waits for."
    assert texts(tell(client, run, address), ".notice") == [told]
