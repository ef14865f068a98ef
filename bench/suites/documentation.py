"""Short answers over two real manuals, held-out and development questions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import page
from bench.bars import DOCUMENTATION, bars_table
from bench.comparison.statistics import mean
from bench.documentation import Outcome, measure
from research.engine.config import ResearchConfig

QUESTIONS = Path(__file__).resolve().parent.parent / "questions"


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    held_out, development = _outcomes("documentation"), _outcomes("development")
    rows: tuple[tuple[str, Callable[[list[Outcome]], str]], ...] = (
        ("short answer holds the string", lambda done: str(sum(o.hit for o in done))),
        ("report holds the string", lambda done: str(sum(o.in_report for o in done))),
        ("page that answers was read", lambda done: str(sum(o.page_read for o in done))),
        ("mean rounds", lambda done: f"{mean(o.rounds for o in done):.2f}"),
    )
    measured = {"documentation_hits": float(sum(o.hit for o in held_out))}
    return page.rendered(
        "documentation.md",
        machine=machine,
        bars=page.table(("figure", "bar", "measured", ""), bars_table(DOCUMENTATION, measured)),
        table=page.table(
            ("", f"held out, {len(held_out)}", f"development, {len(development)}"),
            [[label, told(held_out), told(development)] for label, told in rows],
        ),
    )


def _outcomes(name: str) -> list[Outcome]:
    lines = (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return asyncio.run(measure([json.loads(line) for line in lines], ResearchConfig()))
