"""The commands `runs` and `documents` against a server, over HTTP with a token."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth.models import AbstractUser
from django.core.management import CommandError, call_command
from django.db.models import F
from pytest_django.live_server_helper import LiveServer

from dashboard.command_line.remote import RemoteRuns, Server
from research.models import Run
from research.services import api_tokens, runs
from tests.dashboard.conftest import add_evidence, add_report, make_run
from tests.support.serving import closed_place

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
    with pytest.raises(CommandError, match=f"{place} does not answer"):
        call_command("runs", "list", "--server", place, "--token", "t")


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
