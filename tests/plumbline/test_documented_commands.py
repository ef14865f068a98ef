"""Every command and setting in the README and under `docs/` works, or is exempt for a reason.

Commands of `plumbline` and `manage.py` run in this process, as starting one takes seconds. Pages
with a test of their own are listed in `ELSEWHERE`.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import get_commands

from plumbline.cli import commands
from plumbline.cli.main import main
from research.models import Run
from tests.browser.serving import Server
from tests.support.in_process import InProcessPool
from tests.support.installation import ROOT, Installation
from tests.support.web_server import WebServer, html

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`((?:manage\.py|plumbline|python -m|make) [^`]+)`")
OPTION = re.compile(r"--[a-z][a-z-]+")
SHOWN = {"text", "mermaid", "json"}
"""Languages of blocks that are no commands; a test of their page reads them where they matter."""

ELSEWHERE = {
    ("README.md", "python"): "tests/plumbline/test_library.py",
    ("docs/api.md", "sh"): "tests/dashboard/openai_api/test_examples.py",
    ("docs/api.md", "python"): "tests/research/notifications/test_docs.py",
    ("docs/engine.md", "python"): "tests/engine/test_public_api.py",
    ("docs/mcp.md", "sh"): "tests/dashboard/mcp/test_guide.py",
}
EXEMPT = {
    "make ": "builds environments, serves, or runs whole suites; its target has to exist",
    "pipx install .": "installs into the user's home; tests/test_packaging.py checks the package",
    "plumbline serve": "serves until it is stopped; tests/dashboard/test_serve.py starts it",
    "docker compose ": "needs a container engine; tests/test_deploy.py reads the files",
    "cp deploy/plumbline.env.example": "part of the container set-up; the file has to exist",
    "export ": "names the reader's own server and token; the page's test sets its own",
    ".venv/bin/python manage.py backup": "tests/research/operations/test_backup.py",
    ".venv/bin/python manage.py restore": "tests/research/operations/test_backup.py",
}


@dataclass(frozen=True)
class Line:
    page: str
    language: str
    text: str

    @property
    def exempt(self) -> bool:
        return any(self.text.startswith(beginning) for beginning in EXEMPT)


def blocks() -> Iterator[tuple[str, str, str]]:
    for path in PAGES:
        page = str(path.relative_to(ROOT))
        for _, language, text in BLOCK.findall(path.read_text()):
            yield page, language, text


def lines() -> list[Line]:
    """Return the commands that are to be run here; a continued line is one command."""
    found = []
    for page, language, text in blocks():
        if language in SHOWN | {"ini"} or (page, language) in ELSEWHERE:
            continue
        joined = text.replace("\\\n", " ").splitlines()
        found += [Line(page, language, line) for line in joined if line.strip()]
    return found


def run_here() -> list[Line]:
    return [line for line in lines() if not line.exempt]


def test_every_block_is_run_or_says_what_it_is() -> None:
    assert {language for _, language, _ in blocks()} <= {"sh", "python", "ini", "", *SHOWN}
    assert all(line.text.startswith("export ") for line in lines() if not line.language)
    assert len(run_here()) > 25


@pytest.mark.parametrize(("page", "test"), [(page, test) for (page, _), test in ELSEWHERE.items()])
def test_a_page_with_a_test_of_its_own_is_read_by_it(page: str, test: str) -> None:
    assert Path(page).name in (ROOT / test).read_text()


def test_every_exemption_is_used_and_what_it_names_exists() -> None:
    texts = [line.text for line in lines()]
    for beginning, reason in EXEMPT.items():
        assert any(text.startswith(beginning) for text in texts), beginning
        for path in re.findall(r"tests/[\w/]+\.py", reason):
            assert (ROOT / path).is_file(), path
    assert (ROOT / "deploy" / "plumbline.env.example").is_file()


def test_every_setting_in_an_example_exists() -> None:
    known = (ROOT / ".env.example").read_text()
    shown = [text for _, language, text in blocks() if language == "ini"]
    names = re.findall(r"^(\w+)=", "\n".join(shown), re.MULTILINE)
    assert len(names) > 15
    assert [name for name in names if not re.search(rf"^# {name}=", known, re.MULTILINE)] == []


def test_commands_in_sentences_exist_with_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    """Check names and options of commands in running text, which are rarely complete."""
    prose = {page: BLOCK.sub("", page.read_text()) for page in PAGES}
    spans = {" ".join(span.split()) for text in prose.values() for span in SPAN.findall(text)}
    spans |= {line.text for line in lines() if line.text.startswith("make ")}
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    known = {name.replace("_", "-") for name in (*commands.names(), *get_commands())}
    helps: dict[str, str] = {}
    for span in spans:
        program, name, *_ = span.removeprefix("python ").split()
        if program == "make":
            assert "=" in name or name in targets, span
        elif program == "-m":
            assert importlib.util.find_spec(name), span
        elif re.fullmatch(r"[a-z][\w-]+", name) and name not in {"help", "completion"}:
            name = name.replace("_", "-")
            assert name in known, span
            if name not in helps and OPTION.search(span):
                with pytest.raises(SystemExit):
                    main([name, "--help"])
                helps[name] = capsys.readouterr().out
            assert set(OPTION.findall(span)) <= set(OPTION.findall(helps.get(name, ""))), span


@pytest.mark.requirement("F32")
@pytest.mark.subprocess
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_commands_work_as_printed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.STATE_DIR = tmp_path / "state"
    settings.NETWORK_PROBE = "none"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("research.extract.pool.TextPool", InProcessPool)
    monkeypatch.chdir(tmp_path)
    _fill(tmp_path)
    page = html("asyncio", "The module asyncio runs coroutines of one thread concurrently. " * 5)
    with WebServer({"/asyncio": page}) as web, serving(tmp_path / "server") as server:
        settings.FETCH_ALLOW_PRIVATE_HOSTS = [web.place]
        places = {
            "https://docs.python.org/3/library/asyncio.html": web.url("/asyncio"),
            "/usr/share/doc/postgresql-doc-15/html": "papers",
            "https://plumbline.example": server.url,
            "TOKEN": server.make_token(),
        }
        cli = [line for line in run_here() if line.page == "docs/cli.md"]
        for line in [*(each for each in run_here() if each not in cli), *cli]:
            run = Run.objects.order_by("-pk").values_list("public_id", flat=True).first()
            words = [
                {**places, "RUN": run or "", "FOLDER": "papers"}.get(word, word)
                for word in shlex.split(line.text, comments=True)
            ]
            code = _run(words, tmp_path, capsys)
            assert code == 0, (line, capsys.readouterr().err)
    assert (tmp_path / ".zfunc" / "_plumbline").stat().st_size > 500


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    server = Server(Installation(home, {}))
    server.start()
    try:
        yield server
    finally:
        server.kill()


def _run(words: list[str], home: Path, capsys: pytest.CaptureFixture[str]) -> int:
    """Run `plumbline …` or `.venv/bin/python manage.py …`, with `>` to a file if it is given."""
    program = 2 if words[0] == ".venv/bin/python" else 1
    assert words[:program] in (["plumbline"], [".venv/bin/python", "manage.py"]), words
    words, target = words[program:], None
    if ">" in words:
        words, target = words[: words.index(">")], words[-1]
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    if target is not None:
        Path(target.replace("~", str(home))).write_text(capsys.readouterr().out)
    return code


def _fill(folder: Path) -> None:
    """Write the files that the examples name, the questions as they are printed."""
    (folder / "papers").mkdir()
    (folder / "papers" / "vacuum.md").write_text("# Vacuum\n\nThe autovacuum threshold is 50.")
    [questions] = [
        text for page, kind, text in blocks() if (page, kind) == ("docs/evaluation.md", "json")
    ]
    (folder / "questions.jsonl").write_text(questions)
    for place in (".zfunc", ".local/share/bash-completion/completions"):
        (folder / place).mkdir(parents=True)
