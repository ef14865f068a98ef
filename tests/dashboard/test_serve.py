"""The serve command as people start it: a process of its own on a free port."""

from __future__ import annotations

import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.browser.serving import free_port
from tests.support.installation import ROOT, Installation

pytestmark = pytest.mark.subprocess
pytest_plugins = ["tests.support.fixtures"]

Start = Callable[[Path, int], subprocess.Popen[str]]
SECONDS_TO_START = 60
SECONDS_TO_END = 8.0  # of a busy machine; an open socket would hold it for longer


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def home(empty_state: Path, tmp_path: Path) -> Path:
    """A state folder whose database is migrated already."""
    return Path(shutil.copytree(empty_state, tmp_path / "state"))


def start(home: Path, port: int, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    environment = {"PORT": str(port), **variables}
    return Installation(home, environment).start(
        "serve", *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def start_fresh(home: Path, port: int) -> subprocess.Popen[str]:
    """Start the server in a new interpreter, as people do."""
    return subprocess.Popen(
        [sys.executable, "manage.py", "serve"], cwd=ROOT, text=True,
        env={**Installation(home, {}).environment, "PORT": str(port)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@contextmanager
def serving(
    home: Path, port: int, start: Start = start
) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The process and the lines that it printed once it was up."""
    process = start(home, port)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(4)]
        yield process, lines
    finally:
        process.kill()
        process.communicate(timeout=10)


def link_in(lines: list[str]) -> str:
    return lines[0].split()[-1]


def test_it_prints_a_link_that_works_until_the_next_start(home: Path, port: int) -> None:
    with serving(home, port, start_fresh) as (_, lines):
        assert [line.split()[0] for line in lines[1:]] == ["Model", "Search", "Store"]
        older = link_in(lines)
        assert older.startswith(f"http://127.0.0.1:{port}/sign-in/")
    with serving(home, port) as (_, lines):
        assert httpx.get(older).status_code == 403
        with httpx.Client() as browser:
            answer = browser.get(link_in(lines), follow_redirects=True)
            assert "What do you want to know?" in answer.text
        assert httpx.get(link_in(lines)).status_code == 403


def test_its_state_is_for_its_owner_only(tmp_path: Path, port: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    home.chmod(0o755)
    with serving(home, port):
        modes = {path.name: path.stat().st_mode for path in home.rglob("*") if path.is_file()}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {"plumbline.sqlite3", "plumbline.sqlite3-wal", "plumbline.sqlite3-shm"} <= modes.keys()
    assert not [name for name, mode in modes.items() if mode & 0o077]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_and_soon(home: Path, port: int, sent: signal.Signals) -> None:
    with serving(home, port) as (process, _):
        process.send_signal(sent)
        begun = time.monotonic()
        assert process.wait(timeout=10) == 0
        assert time.monotonic() - begun < SECONDS_TO_END
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


def test_a_taken_port_is_one_sentence_and_leaves_the_other_link_good(home: Path, port: int) -> None:
    with serving(home, port) as (_, lines):
        second = start(home, port)
        _, told = second.communicate(timeout=SECONDS_TO_START)
        assert second.returncode == 1
        assert f"Port {port} is taken" in told and f"PORT={port + 1} make run" in told
        assert len(told.strip().splitlines()) == 1
        assert httpx.get(link_in(lines)).status_code == 302


def test_it_refuses_the_network_while_nobody_has_a_password(home: Path, port: int) -> None:
    process = start(home, port, HOST="0.0.0.0")
    _, told = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert "manage.py createsuperuser" in told and "Traceback" not in told


def test_an_address_of_another_machine_is_refused(home: Path, port: int) -> None:
    process = start(home, port, "--host", "192.0.2.1")
    _, told = process.communicate(timeout=SECONDS_TO_START)
    assert process.returncode == 1
    assert "192.0.2.1 is no address of this machine" in told


def test_a_machine_that_serves_on_every_address_says_who_may_ask(home: Path, port: int) -> None:
    with_an_account(home, port)
    lines, page = seen_from_elsewhere(home, port)
    assert lines[0] == f"Plumbline   http://localhost:{port}/sign-in/"
    assert "other machines are refused until .env says by which names" in lines[4]
    assert lines[5].strip() == "ALLOWED_HOSTS=NAME,ADDRESS"
    assert page.status_code == 400
    assert "does not answer to this name" in page.text and "ALLOWED_HOSTS" in page.text


def test_a_machine_that_serves_on_every_address_is_asked_by_the_names_allowed(
    home: Path, port: int
) -> None:
    with_an_account(home, port)
    lines, page = seen_from_elsewhere(home, port, ALLOWED_HOSTS="192.0.2.5,plumbline.test")
    assert lines[0] == f"Plumbline   http://192.0.2.5:{port}/sign-in/"
    assert [line.split()[0] for line in lines[1:]] == ["Model", "Search", "Store", "Stop"]
    assert page.status_code == 200 and "Sign in" in page.text


def with_an_account(home: Path, port: int) -> None:
    """As the first start of a machine and `createsuperuser` leave it."""
    with serving(home, port):
        pass
    account = {
        "DJANGO_SUPERUSER_USERNAME": "ada",
        "DJANGO_SUPERUSER_EMAIL": "ada@plumbline.test",
        "DJANGO_SUPERUSER_PASSWORD": "correct horse battery",
    }
    Installation(home, account).manage("createsuperuser", "--noinput").check_returncode()


def seen_from_elsewhere(
    home: Path, port: int, **variables: str
) -> tuple[list[str], httpx.Response]:
    """What the server says when it is up, and what it answers to a name of this machine."""
    process = start(home, port, HOST="0.0.0.0", **variables)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().rstrip()]
        while not lines[-1].startswith("Stop") and lines[-1]:
            lines.append(process.stdout.readline().rstrip())
        address = {"Host": f"192.0.2.5:{port}"}
        page = httpx.get(f"http://127.0.0.1:{port}/sign-in/", headers=address, timeout=60)
        return lines, page
    finally:
        process.kill()
        process.communicate(timeout=10)
