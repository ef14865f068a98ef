"""Passages without a model over manuals that nothing was fitted on, and what their score means."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from bench import page
from bench.passages import figures, measured


def section(files: Sequence[Path]) -> str:
    return page.rendered(
        "passages.md",
        machine=page.machine(),
        figures=figures(asyncio.run(measured("held_out", 0))),
    )
