"""What a run was made with: frozen in its row, so that a replay knows what it replays."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

ENGINE_VERSION = "1"
ENGINE = Path(__file__).parent / "engine"
PROMPT_FILES = ("*.md", "*.txt")


@cache
def prompt_digests() -> dict[str, str]:
    """Each prompt and word list of the engine, by its path there, with a digest of its text."""
    paths = sorted(path for pattern in PROMPT_FILES for path in ENGINE.rglob(pattern))
    return {
        path.relative_to(ENGINE).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in paths
    }
