"""The wheel as `pip install` leaves it: the program and the library, far from the checkout."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_path

import pytest

from tests.support.installation import LONGEST_SECONDS
from tests.support.preloaded import KEPT
from tests.support.serving import LoopbackServer, Reply, json_reply

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
GUIDE = (ROOT / "docs" / "cli.md").read_text()
OFFLINE = ("--no-deps", "--no-index", "--no-compile", "--quiet", "--disable-pip-version-check")

pytestmark = pytest.mark.subprocess


@dataclass(frozen=True)
class Installed:
    """An environment with the package, and a folder to work in."""

    environment: Path
    home: Path

    def start(self, program: str, *arguments: str) -> subprocess.Popen[str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return subprocess.Popen(
            [self.environment / "bin" / program, *arguments],
            cwd=self.home,
            env={**kept, "HOME": str(self.home), "NETWORK_PROBE": "none"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        with self.start(program, *arguments) as process:
            try:
                out, err = process.communicate(timeout=LONGEST_SECONDS)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the wheel beside the dependencies of this environment, without a network."""
    folder = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("plumbline-*.whl")
    made = Installed(folder / "environment", folder / "home")
    made.home.mkdir()
    venv.create(made.environment, symlinks=True)
    python = made.environment / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", *OFFLINE, str(wheel)]
    subprocess.run(pip, check=True, capture_output=True)
    paths = {"base": str(made.environment), "platbase": str(made.environment)}
    (Path(get_path("purelib", vars=paths)) / "tests.pth").write_text(get_path("purelib") + "\n")
    return made


def test_the_program_and_its_packages_come_from_the_installation(installed: Installed) -> None:
    asked = "import dashboard, plumbline, research; print(dashboard.__file__, plumbline.__file__)"
    done = installed.run("python", "-c", asked)
    assert done.returncode == 0, done.stderr
    assert all(path.startswith(str(installed.environment)) for path in done.stdout.split())


def test_help_lists_the_commands(installed: Installed) -> None:
    done = installed.run("plumbline", "help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: plumbline COMMAND")
    assert {"research", "runs", "documents", "serve"} <= set(
        re.findall(r"^  (\w+) ", done.stdout, re.MULTILINE)
    )


@pytest.mark.requirement("F26")
def test_the_first_example_of_the_guide_researches_the_samples(installed: Installed) -> None:
    example = 'plumbline research "How to make scrambled eggs?" --search samples --yes'
    assert example in GUIDE
    words = ("research", "How to make scrambled eggs?", "--search", "samples", "--yes")
    done = installed.run("plumbline", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# How to make scrambled eggs?") and "[1]" in done.stdout
    assert "plumbline runs export" in done.stderr
    assert (installed.home / ".local" / "share" / "plumbline" / "plumbline.sqlite3").is_file()


class Endless(LoopbackServer):
    """An API whose only run never ends; `polled` is set once it was read."""

    def __init__(self) -> None:
        super().__init__()
        self.polled = threading.Event()

    def reply(self, path: str, body: bytes) -> Reply:
        if path.endswith("/r1"):
            self.polled.set()
        return json_reply({"id": "r1", "status": "researching", "progress": {"action": None}})


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let what the test starts be interrupted, also where this process ignores it, as what a shell
    starts in the background does.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.requirement("F24")
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_command_ends_with_130_and_names_its_run(installed: Installed) -> None:
    with Endless() as server:
        words = ("research", "Why?", "--yes", "--server", server.url(), "--token", "t")
        with installed.start("plumbline", *words) as process:
            try:
                assert server.polled.wait(LONGEST_SECONDS)
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=LONGEST_SECONDS)
            except BaseException:
                process.kill()
                raise
    assert (process.returncode, out, err) == (130, "", "Run r1\n")


@pytest.mark.requirement("F26")
def test_the_library_example_of_the_readme_prints_what_it_says(installed: Installed) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    [printed] = re.findall(r"^```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    done = installed.run("python", "-c", code)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr
