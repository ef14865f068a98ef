"""The running program: its name, its clock, and the versions that are frozen in a run's row."""

from __future__ import annotations

import hashlib
import sys
import time
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import MappingProxyType

from research.engine.journal.forms import NEWEST

ENGINE_VERSION = str(int(NEWEST))
"""That of runs which begin now: the newest form of journals (`engine/journal/forms.py`)."""
_FIRST, _BEFORE = 30, frozenset({"", "1"})
"""The first form that was an engine version, and the versions before it."""
REPLAY_VERSIONS = _BEFORE | {str(form) for form in range(_FIRST, NEWEST + 1)}
"""Engine versions whose runs this code takes. Those of newer forms are left to newer workers, so
that old and new ones work side by side while they are replaced. A run whose journal is of a form
before `OLDEST` is not left waiting, but ends as failed.
"""
ENGINE = Path(__file__).parents[1] / "engine"
PROMPT_FILES = ("*.md", "*.txt")


def program_name(python: str = "") -> str:
    """Return `plumbline` if that was started, else `manage.py`, after `python` if it is given."""
    if Path(sys.argv[0]).name == "plumbline":
        return "plumbline"
    return f"{python} manage.py".strip()


@cache
def prompt_digests() -> MappingProxyType[str, str]:
    """Return the engine's prompts and word lists: path in the engine → digest of the text."""
    paths = sorted(path for pattern in PROMPT_FILES for path in ENGINE.rglob(pattern))
    return MappingProxyType(
        {
            path.relative_to(ENGINE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for path in paths
        }
    )


class SystemClock:
    """The system clock, in UTC."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()
