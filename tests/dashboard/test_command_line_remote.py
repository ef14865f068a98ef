"""The commands `runs` and `documents` against a server, over HTTP with a token."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import CommandError, call_command
from django.db.models import F
from pytest_django.live_server_helper import LiveServer

from dashboard.command_line.output import BadUseError
from dashboard.command_line.remote import POLL_SECONDS, RETRY_SECONDS, RemoteRuns, Server
from research.models import Run
from research.services import api_tokens, documents, people, runs
from tests.dashboard.conftest import add_evidence, add_report, make_run
from tests.support.in_process import InProcessPool
from tests.support.serving import LoopbackServer, Reply, closed_place, json_reply

pytestmark = pytest.mark.django_db(transaction=True)

Say = Callable[..., str]


@pytest.fixture
def say(live_server: LiveServer, admin: AbstractUser) -> Say:
    """Run a command on the server; return its standard output."""
    token = api_tokens.create_token(admin, "Command line")[1]

    def run(*words: str) -> str:
        out = io.StringIO()
        call_command(*words, "--server", live_server.url, "--token", token, stdout=out)
        return out.getvalue()

    return run


@pytest.fixture
def finished(admin: AbstractUser) -> Run:
    run = make_run(admin, "completed", termination_text="Good enough.")
    add_evidence(run, 1)
    add_report(run, "Oaks grow old. [1]")
    return run


def test_runs_are_listed_shown_exported_and_deleted(
    say: Say, finished: Run, tmp_path: Path
) -> None:
    assert [row["id"] for row in json.loads(say("runs", "list", "--json"))] == [finished.public_id]
    assert say("runs", "show", finished.public_id) == "Oaks grow old. [1]\n"
    target = tmp_path / "oaks.md"
    say("runs", "export", finished.public_id, "md", "--output", str(target))
    assert "Oaks grow old." in target.read_text()
    say("runs", "delete", finished.public_id)
    assert not Run.objects.exists()


def test_a_server_lists_runs_as_this_machine_does(say: Say, finished: Run) -> None:
    out = io.StringIO()
    call_command("runs", "list", "--json", stdout=out)
    assert json.loads(say("runs", "list", "--json")) == json.loads(out.getvalue()) != []


def test_a_list_is_longer_than_a_page(live_server: LiveServer, admin: AbstractUser) -> None:
    made = [make_run(admin).public_id for _ in range(5)]
    server = Server(live_server.url, api_tokens.create_token(admin, "Command line")[1])
    assert [row["id"] for row in RemoteRuns(server).list(4)] == made[:0:-1]


def test_what_the_server_refuses_is_said_with_code_2(say: Say, admin: AbstractUser) -> None:
    run = make_run(admin, "paused")
    say("runs", "resume", run.public_id)
    assert run.commands.get().kind == "resume"
    with pytest.raises(CommandError, match="has not ended yet") as refused:
        say("runs", "delete", run.public_id)
    assert refused.value.returncode == 2


def test_documents_are_uploaded_listed_and_removed(say: Say, tmp_path: Path, settings: Any) -> None:
    settings.STATE_DIR = tmp_path / "state"
    paper = tmp_path / "oak.md"
    paper.write_text("# Oak\n\nAn oak lives for 600 years.")
    added = json.loads(say("documents", "add", str(paper), "--collection", "Trees", "--json"))
    assert (added["name"], added["refused"]) == ("Trees", [])
    assert "Trees" in say("documents", "list")
    folder = tmp_path / "papers"
    folder.mkdir()
    row = documents.create_from_folder(people.local_admin(), "Papers", str(folder))
    out = io.StringIO()
    call_command("documents", "list", "--json", stdout=out)
    there, here = json.loads(say("documents", "list", "--json")), json.loads(out.getvalue())
    assert there == here
    assert [each["folder"] for each in there] == [str(folder), ""]
    documents.delete_collection(people.local_admin(), row)
    say("documents", "remove", "Trees", "--file", "oak.md")
    say("documents", "remove", "Trees")
    assert json.loads(say("documents", "list", "--json")) == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["runs", "list", "--token", "x"], "--token belongs to a --server."),
        (["runs", "list", "--server", "http://127.0.0.1:1"], "--server needs --token"),
        (["runs", "resume", "x", "--here", "--server", "u", "--token", "t"], "--here resumes"),
        (["research", "Why?", "--server", "http://u", "--token", "t"], "add --yes"),
        (
            ["research", "Why?", "--yes", "--search", "samples", "--server", "u", "--token", "t"],
            "leave them out",
        ),
        (["documents", "add", "no-file", "--server", "http://u", "--token", "t"], "not a file"),
    ],
)
def test_wrong_use_is_refused(db: None, words: list[str], reason: str) -> None:
    with pytest.raises(CommandError, match=reason):
        call_command(*words)


def test_a_wrong_token_and_a_wrong_address_are_told_apart(live_server: LiveServer) -> None:
    with pytest.raises(CommandError, match=r"(?i)token|unauthori|authenti"):
        call_command("runs", "list", "--server", live_server.url, "--token", "wrong")
    place = f"http://{closed_place()}"
    with pytest.raises(CommandError, match=f"{place} does not answer") as refused:
        call_command("runs", "list", "--server", place, "--token", "t")
    assert refused.value.returncode == 1
    with pytest.raises(CommandError, match="plumbline is no address of a server") as refused:
        call_command("runs", "list", "--server", "plumbline", "--token", "t")
    assert refused.value.returncode == 2


@pytest.mark.requirement("F24")
@pytest.mark.parametrize(("status", "code"), [(401, 2), (404, 2), (429, 1), (500, 1), (503, 1)])
def test_a_server_that_cannot_answer_now_is_code_1(db: None, status: int, code: int) -> None:
    with Failing([status]) as server, pytest.raises(CommandError, match=str(status)) as refused:
        call_command("runs", "list", "--server", server.url(), "--token", "t")
    assert refused.value.returncode == code


def test_a_run_is_cancelled(say: Say, admin: AbstractUser) -> None:
    run = make_run(admin, "paused")
    assert say("runs", "cancel", run.public_id) == f"Run {run.public_id} is cancelled.\n"
    run.refresh_from_db()
    assert run.status == "cancelled"
    with pytest.raises(CommandError) as refused:
        say("runs", "cancel", run.public_id)
    assert refused.value.returncode == 2


@pytest.mark.requirement("F23")
@pytest.mark.subprocess
def test_documents_are_searched(
    say: Say, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STATE_DIR = tmp_path / "state"
    monkeypatch.setattr("research.extract.pool.TextPool", InProcessPool)
    trees = {"Oaks": "An oak lives for 600 years.", "Yews": "A yew lives for 1,000 years."}
    for name, text in trees.items():
        (tmp_path / f"{name}.md").write_text(text)
        call_command("documents", "add", str(tmp_path / f"{name}.md"), "--collection", name)

    def found(*words: str) -> list[str]:
        return [row["quote"] for row in json.loads(say("documents", "search", *words, "--json"))]

    def here(*words: str) -> Any:
        out = io.StringIO()
        call_command("documents", *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert found("lives years") == list(trees.values())
    assert found("lives years", "--collection", "Yews") == [trees["Yews"]]
    assert found("1,000 years", "--limit", "1") == [trees["Yews"]], "the best of all collections"
    assert say("documents", "search", "volcano") == "Nothing was found.\n"
    for words in (["list"], ["search", "lives years"], ["search", "oak", "--collection", "Oaks"]):
        assert json.loads(say("documents", *words, "--json")) == here(*words) != []


class Failing(LoopbackServer):
    """An API that answers with these statuses in turn, the last one for ever.

    A run is queued where it is created, and completed where it is read.
    """

    def __init__(self, statuses: Sequence[int]) -> None:
        super().__init__()
        self.statuses = list(statuses)
        self.asked: list[str] = []

    def reply(self, path: str, body: bytes) -> Reply:
        self.asked.append(path)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        run = {"id": "r1", "status": "completed" if len(self.asked) > 1 else "queued"}
        told = {"progress": {"action": None}, "report_markdown": "Oaks grow old.\n"}
        return json_reply({**run, **told}, status)


def followed(
    statuses: Sequence[int], monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str, list[float]]:
    """Research on a failing server; return what it printed, and its pauses."""
    out, err, pauses = io.StringIO(), io.StringIO(), list[float]()
    monkeypatch.setattr("dashboard.command_line.remote.time.sleep", pauses.append)
    with Failing(statuses) as server:
        asked = ("--yes", "--server", server.url(), "--token", "t")
        try:
            call_command("research", "How old do oaks get?", *asked, stdout=out, stderr=err)
        except CommandError as error:
            assert error.returncode == 1
            out.write(str(error))
    return out.getvalue(), err.getvalue(), pauses


@pytest.mark.requirement("F25")
def test_polls_that_fail_do_not_end_research(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err, pauses = followed([201, 503, 502, 429, 200, 500, 200], monkeypatch)
    assert out == "Oaks grow old.\n"
    assert pauses == [POLL_SECONDS, 1, 2, 4, 1]
    lines = err.splitlines()
    assert lines[0] == "Run r1"
    assert lines[1] == "The server answered 503. Trying again in 1 s."


@pytest.mark.requirement("F25")
def test_polls_end_when_the_server_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    out, err, pauses = followed([201, 503], monkeypatch)
    assert out == "The server answered 503."
    assert pauses == [POLL_SECONDS, *RETRY_SECONDS]
    assert err.startswith("Run r1\n")


def test_a_refused_poll_ends_research_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("dashboard.command_line.remote.time.sleep", pauses.append)
    with Failing([201, 404]) as server, pytest.raises(BadUseError):
        asked = ("--yes", "--server", server.url(), "--token", "t")
        call_command("research", "How old do oaks get?", *asked, stderr=io.StringIO())
    assert pauses == [POLL_SECONDS]


def test_research_on_a_server_is_followed_to_its_end(
    say: Say, admin: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def finish(seconds: float) -> None:
        run = Run.objects.get()
        assert run.agreed and run.config["max_searches"] == 3
        add_evidence(run, 1)
        add_report(run, "Oaks grow old. [1]")
        Run.objects.update(status="completed", sequence=F("sequence") + 1)

    monkeypatch.setattr("dashboard.command_line.remote.time.sleep", finish)
    asked = ("research", "How old do oaks get?", "--yes", "--set", "MAX_SEARCHES=3")
    assert say(*asked) == "Oaks grow old. [1]\n"


@pytest.mark.parametrize("lost", [httpx.ReadTimeout("slow"), httpx.RemoteProtocolError("cut")])
def test_research_whose_answer_was_lost_is_asked_once(
    live_server: LiveServer, admin: AbstractUser, monkeypatch: pytest.MonkeyPatch, lost: Exception
) -> None:
    server = Server(live_server.url, api_tokens.create_token(admin, "Command line")[1])
    send, keys = httpx.request, []

    def lose_first(*arguments: Any, **content: Any) -> httpx.Response:
        keys.append(content["headers"]["Idempotency-Key"])
        answer = send(*arguments, **content)
        if len(keys) == 1:
            raise lost
        return answer

    monkeypatch.setattr("dashboard.command_line.remote.httpx.request", lose_first)
    made = server.create("runs", {"question": "How old do oaks get?"})
    assert [run.public_id for run in Run.objects.all()] == [made["id"]]
    assert keys[0] == keys[1]
    other = server.create("runs", {"question": "How old do oaks get?"})
    assert other["id"] != made["id"]


def test_the_key_of_research_on_a_server_is_stored(
    say: Say, admin: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(seconds: float) -> None:
        runs.request_cancel(admin, Run.objects.get())

    monkeypatch.setattr("dashboard.command_line.remote.time.sleep", cancel)
    with pytest.raises(SystemExit):
        say("research", "How old do oaks get?", "--yes")
    assert Run.objects.get().idempotency_key


def test_a_run_without_a_report_on_a_server_is_code_1(
    say: Say, admin: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancel(seconds: float) -> None:
        runs.request_cancel(admin, Run.objects.get())

    monkeypatch.setattr("dashboard.command_line.remote.time.sleep", cancel)
    with pytest.raises(SystemExit) as ended:
        say("research", "How old do oaks get?", "--yes")
    assert ended.value.code == 1


def test_a_setting_that_the_server_refuses_starts_nothing(say: Say) -> None:
    with pytest.raises(CommandError, match=r"(?i)max_searches"):
        say("research", "How old do oaks get?", "--yes", "--set", "MAX_SEARCHES=-1")
    assert not Run.objects.exists()
