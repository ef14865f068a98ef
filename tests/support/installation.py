"""Plumbline as users run it: a state folder, an environment and `manage.py`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from tests.support.preloaded import KEPT, ForkedProcess

ROOT = Path(__file__).resolve().parents[2]
LONGEST_SECONDS = 90


@dataclass
class Installation:
    """An installation in a folder.

    `settings` are environment variables; the tests' own environment is not inherited.
    """

    home: Path
    settings: Mapping[str, str]

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        no_file = self.home.parent / "no-settings"
        no_file.touch()
        own = {"PLUMBLINE_HOME": str(self.home), "DEEPRESEARCH_ENV_FILE": str(no_file),
               "NETWORK_PROBE": "none"}  # fmt: skip
        return {**kept, **own, **self.settings}

    def manage(
        self, *arguments: str, prefix: Iterable[str] = (), seconds: float = LONGEST_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """Run `manage.py ARGUMENTS` to completion, without a terminal, with a command `prefix`."""
        with self._process(
            "manage.py", *arguments, prefix=prefix, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as process:  # fmt: skip
            try:
                output, errors = process.communicate(timeout=seconds)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def start(self, *arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
        """Start `manage.py ARGUMENTS`; the caller must end the process."""
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                   "stderr": subprocess.DEVNULL, **streams}  # fmt: skip
        return self._process("manage.py", *arguments, **streams)

    @contextmanager
    def inside(self) -> Iterator[Inside]:
        """Return a proxy for the functions of `tests/support/inside.py`, run in new processes."""
        process = self._process(
            "-m", "tests.support.inside", text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        with process:
            try:
                yield Inside(process)
            finally:
                _end(process)

    def _process(
        self, *command: str, prefix: Iterable[str] = (), **options: Any
    ) -> subprocess.Popen[Any]:
        """Start a process: a fork of the preloaded one where it can be, else a new interpreter."""
        before = list(prefix)
        if before or "PYTHONPATH" in self.settings or sys.platform != "linux":
            command = (*before, sys.executable, *command)
            return subprocess.Popen(command, cwd=ROOT, env=self.environment, **options)
        return ForkedProcess(command, cwd=ROOT, env=self.environment, **options)


def _end(process: subprocess.Popen[str]) -> None:
    """End a process and its forks, even if a call would never return."""
    os.killpg(process.pid, signal.SIGKILL)


class Killed(Exception):
    """The process of a call was ended by SIGKILL."""


class Inside:
    """Calls by name, one at a time: `inside("resource", run=run)`."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def __call__(self, name: str, **arguments: Any) -> Any:
        """Return the result of a call. Raise `Killed`."""
        self.begin(name, **arguments)
        return self.end()

    def begin(self, name: str, **arguments: Any) -> None:
        """Start a call and leave it running until `end`."""
        assert self._process.stdin
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()

    def end(self) -> Any:
        deadline = Timer(LONGEST_SECONDS, _end, [self._process])
        deadline.start()
        try:
            return self._answer()
        finally:
            deadline.cancel()

    def _answer(self) -> Any:
        assert self._process.stdout
        result = None
        for line in self._process.stdout:
            said = json.loads(line)
            if "exit" not in said:
                result = said["result"]
            elif said["exit"] == -signal.SIGKILL:
                raise Killed
            else:
                assert said["exit"] == 0, f"the call ended with {said['exit']}"
                return result
        raise AssertionError("the process of the calls ended")
