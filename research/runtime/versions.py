"""Versions that produced a run, frozen in its row so that a replay can compare them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from types import MappingProxyType

ENGINE_VERSION = "1"
REPLAY_VERSIONS = frozenset({ENGINE_VERSION, ""})
"""Engine versions whose journals this code can continue; others are left to other workers."""
ENGINE = Path(__file__).parents[1] / "engine"
PROMPT_FILES = ("*.md", "*.txt")


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
