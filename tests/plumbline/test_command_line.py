"""The program `plumbline`: its grammar, exit codes and JSON, and the commands of its guide."""

from __future__ import annotations

import io
import json
import re
import shlex
from argparse import _SubParsersAction
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.checks import Error, Warning
from django.test import Client

from plumbline.cli import commands
from plumbline.cli.main import main
from research.models import Collection, Run
from research.services import people
from research.services.what_if import THRESHOLDS
from tests.dashboard.conftest import add_evidence, add_report, make_run
from tests.engine.scripted import SIMPLE, harbour
from tests.research.test_threads import asked
from tests.support.in_process import InProcessPool
from tests.support.installation import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = (ROOT / "docs" / "cli.md").read_text()
Said = Callable[..., tuple[int, str, str]]


@pytest.fixture
def admin(db: None) -> AbstractUser:
    return people.local_admin()


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Said:
    """Run a command; return its exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def finished(admin: AbstractUser) -> Run:
    run = make_run(admin, "completed", termination_text="Good enough.")
    add_evidence(run, 1)
    add_report(run, "Oaks grow old. [1]")
    return run


def test_the_overview_lists_every_command(say: Said) -> None:
    code, out, _ = say("help")
    listed = re.findall(r"^  ([\w-]+) ", out, re.MULTILINE)
    assert code == 0 and listed[:-1] == commands.names()
    assert {"research", "runs", "documents", "replay", "serve", "mcp"} <= set(listed)


def test_every_command_explains_itself(say: Said) -> None:
    for name in commands.names():
        code, out, _ = say(name, "--help")
        assert code == 0 and out.startswith(f"usage: plumbline {name}")
        assert "--pythonpath" not in out


@pytest.mark.requirement("F24")
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["rnus"], "there is no command rnus. Did you mean runs?"),
        (["runs"], "the following arguments are required: ACTION"),
        (["runs", "show", "unknown"], "There is no run unknown."),
        (["runs", "list", "--limit", "0"], "--limit is a number from 1."),
        (["documents", "add", "no-such-file"], "no-such-file does not exist."),
        (["documents", "search", "oak", "--collection", "Bee"], "There is no collection Bee"),
        (["completion", "csh"], "usage: plumbline completion"),
    ],
)
def test_wrong_use_is_code_2_with_its_reason(
    say: Said, admin: AbstractUser, words: list[str], reason: str
) -> None:
    code, out, err = say(*words)
    assert (code, out) == (2, "") and reason in err


@pytest.mark.subprocess
def test_documents_of_a_folder_keep_apart_and_those_left_out_are_counted(
    say: Said, admin: AbstractUser, tmp_path: Path, settings: Any
) -> None:
    settings.STATE_DIR = tmp_path / "state"
    texts = {"oak/README": "Oaks grow old.", "elm/README": "Elms grow tall.", "elm/a.rst": "A."}
    for name, text in {**texts, "elm/b.odt": "B.", ".git/c.xml": "C."}.items():
        path = tmp_path / "trees" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text} They are found in most woods of the county.\n")
    folder = str(tmp_path / "trees")
    code, out, _ = say("documents", "add", folder, "--collection", "Trees")
    told = "3 documents can be searched.\n1 file of another kind left out: .odt.\n"
    assert (code, out) == (0, f"Trees: ready, {told}"), out
    kept = Collection.objects.get().files.values_list("name", flat=True)
    assert {*kept} == {"oak - README", "elm - README", "a.rst"}
    code, out, _ = say("documents", "add", folder)
    assert (code, out) == (0, f"trees: ready, {told}")


def test_runs_are_listed_for_people_and_for_programs(say: Said, finished: Run) -> None:
    make_run(finished.owner, question="What is a beech?")
    _, table, _ = say("runs", "list")
    assert finished.public_id in table and "What is a beech?" in table
    _, out, _ = say("runs", "list", "oaks old", "--json")
    assert [row["id"] for row in json.loads(out)] == [finished.public_id]


def test_a_run_is_shown_as_its_report_and_as_json(say: Said, finished: Run) -> None:
    assert say("runs", "show", finished.public_id)[1] == "Oaks grow old. [1]\n"
    whole = json.loads(say("runs", "show", finished.public_id, "--json")[1])
    assert (whole["id"], whole["report_markdown"]) == (finished.public_id, "Oaks grow old. [1]")


def test_a_run_without_a_report_shows_where_it_is(say: Said, admin: AbstractUser) -> None:
    run = make_run(admin, "researching")
    add_evidence(run, 1)
    assert say("runs", "show", run.public_id)[1].splitlines()[:3] == [
        "How old do oaks get?",
        "researching.",
        "- Part 1: answered",
    ]


def test_a_report_is_exported(say: Said, finished: Run, tmp_path: Path) -> None:
    target = tmp_path / "oaks.md"
    code, out, _ = say(
        "runs", "export", finished.public_id, "md", "--output", str(target), "--json"
    )
    assert code == 0 and json.loads(out)["bytes"] == target.stat().st_size > 0


def test_commands_are_stored_and_refused_as_on_the_page(say: Said, admin: AbstractUser) -> None:
    paused, ended = make_run(admin, "paused"), make_run(admin, "completed")
    assert say("runs", "resume", paused.public_id)[0] == 0
    assert paused.commands.get().kind == "resume"
    code, _, err = say("runs", "resume", ended.public_id)
    assert code == 2 and "This run is not paused." in err
    code, out, _ = say("runs", "cancel", paused.public_id, "--json")
    assert json.loads(out) == {"id": paused.public_id, "status": "cancelled"}


def test_an_ended_run_is_deleted_and_a_live_one_is_not(say: Said, admin: AbstractUser) -> None:
    live, ended = make_run(admin, "researching"), make_run(admin, "completed")
    assert say("runs", "delete", ended.public_id)[0] == 0
    code, _, err = say("runs", "delete", live.public_id)
    assert code == 2 and "has not ended yet" in err
    assert [run.pk for run in Run.objects.all()] == [live.pk]


WITHOUT_RESULT = {"changepassword", "createsuperuser", "mcp", "migrate", "serve", "worker"}


def has_json(name: str) -> bool:
    """Return whether the command, or each of its actions, has the option."""
    parser = commands.make_parser(name)
    actions = [each for each in parser._actions if isinstance(each, _SubParsersAction)]
    parsers = [made for each in actions for made in each.choices.values()] or [parser]
    return all("--json" in made._option_string_actions for made in parsers)


@pytest.mark.requirement("F24")
def test_every_command_with_a_result_has_json() -> None:
    """The commands without one are named in the guide."""
    assert {name for name in commands.names() if not has_json(name)} == WITHOUT_RESULT
    [told] = re.findall(r"(`serve`[^.]*`changepassword`) have none\.", " ".join(GUIDE.split()))
    assert set(re.findall(r"`([\w-]+)`", told)) == WITHOUT_RESULT


@pytest.fixture
def place(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the state of an installation, and nobody at the terminal."""
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    settings.ENV_FILE = tmp_path / "settings.env"
    settings.LOCAL_MODEL_PORTS = []
    settings.NETWORK_PROBE = "none"
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return tmp_path


def test_json_of_a_backup_and_its_restore(say: Said, finished: Run, place: Path) -> None:
    code, out, err = say("backup", str(place), "--json")
    made = json.loads(out)
    assert code == 0 and Path(made["path"]).is_file(), err
    code, out, err = say("restore", made["path"], "--replace", "--json")
    assert code == 0, err
    assert {name: made[name] for name in ("created_at", "files", "bytes")} == json.loads(out)


def test_json_of_setup_names_settings_without_their_values(say: Said, place: Path) -> None:
    (place / "settings.env").write_text("OPENAI_API_KEY=sk-secret\n")
    code, out, err = say("setup", "--json")
    assert code == 0 and "sk-secret" not in out + err
    told = {"file": str(place / "settings.env"), "settings": ["OPENAI_API_KEY"]}
    assert json.loads(out) == told and "Address of the model" in err


def test_json_of_a_sign_in_link(say: Said, admin: AbstractUser) -> None:
    link = json.loads(say("sign-in-link", "--port", "8001", "--json")[1])["link"]
    assert link.startswith("http://127.0.0.1:8001/sign-in/")
    assert Client().get(link.removeprefix("http://127.0.0.1:8001")).status_code == 302


def test_json_of_checks(say: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    issues = [Warning("Slow.", hint="Wait.", id="test.W1")]
    monkeypatch.setattr("django.core.checks.run_checks", lambda **_: issues)
    code, out, _ = say("check", "--json")
    slow = {"level": "warning", "id": "test.W1", "message": "Slow.", "hint": "Wait."}
    assert (code, json.loads(out)) == (0, [slow])
    issues.append(Error("Broken.", id="test.E1"))
    code, out, _ = say("check", "--json")
    assert code == 1 and json.loads(out)[1]["level"] == "error"
    assert say("check")[0] == 1


def test_json_of_what_if(say: Said, admin: AbstractUser) -> None:
    assert json.loads(say("what-if", "--json")[1]) == []
    asked(admin, harbour(SIMPLE), SIMPLE.question)
    rows = json.loads(say("what-if", "--json")[1])
    assert [row["threshold"] for row in rows] == list(THRESHOLDS)
    assert {row["runs"] + row["left_out"] for row in rows} == {1}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completions_name_commands_and_options(say: Said, shell: str) -> None:
    code, out, _ = say("completion", shell)
    assert code == 0 and "documents" in out and "export" in out and "--json" in out


def test_the_guide_names_every_command_and_every_code() -> None:
    told = set(re.findall(r"`([\w-]+)[ `]", GUIDE))
    assert set(commands.names()) - {"migrate"} <= told
    assert all(f"| {code} |" in GUIDE for code in (0, 1, 2, 130))


@pytest.mark.subprocess
def test_the_commands_of_the_guide_work_as_printed(
    say: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.STATE_DIR = tmp_path / "state"
    settings.NETWORK_PROBE = "none"
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "vacuum.md").write_text("# Vacuum\n\nThe autovacuum threshold is 50.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("research.extract.pool.TextPool", InProcessPool)
    block = re.search(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    assert block is not None
    run = ""
    for line in block[1].splitlines():
        words = [{"RUN": run, "FOLDER": "papers"}.get(word, word) for word in shlex.split(line)]
        code, out, err = say(*words[1:])
        assert code == 0, (line, err)
        if words[1] == "research":
            run = Run.objects.get().public_id
        if words[2] == "search":
            assert "The autovacuum threshold is 50." in out
    assert (tmp_path / "report.md").read_text().startswith("# How to make scrambled eggs?")
    assert not Run.objects.exists() and not Collection.objects.exists()
