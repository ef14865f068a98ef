"""Short answers over two real manuals, and document search beside plain BM25 over twelve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import page
from bench.bars import DOCUMENTATION, bars_table
from bench.comparison.statistics import mean
from bench.documentation import Outcome, measure
from bench.manual_search import Measured
from bench.manual_search import measure as measure_search
from research.engine import ResearchConfig

QUESTIONS = Path(__file__).resolve().parent.parent / "questions"
PARTS = ("tuning", "held_out", "older")


def section(files: Sequence[Path]) -> str:
    machine = page.machine()
    held_out, development = _outcomes("documentation"), _outcomes("development")
    rows: tuple[tuple[str, Callable[[list[Outcome]], str]], ...] = (
        ("short answer holds the string", lambda done: str(sum(o.hit for o in done))),
        ("report holds the string", lambda done: str(sum(o.in_report for o in done))),
        ("page that answers was read", lambda done: str(sum(o.page_read for o in done))),
        ("mean rounds", lambda done: f"{mean(o.rounds for o in done):.2f}"),
    )
    search = {part: asyncio.run(measure_search(part)) for part in PARTS}
    measured = {"documentation_hits": float(sum(o.hit for o in held_out))}
    measured |= search_values(search["held_out"])
    return page.rendered(
        "documentation.md",
        machine=machine,
        bars=page.table(("figure", "bar", "measured", ""), bars_table(DOCUMENTATION, measured)),
        table=page.table(
            ("", f"held out, {len(held_out)}", f"development, {len(development)}"),
            [[label, told(held_out), told(development)] for label, told in rows],
        ),
        search=[(part, _search_table(search[part])) for part in PARTS],
        missing=sorted({package for each in search.values() for package in each.missing}),
    )


def search_values(measured: Measured) -> dict[str, float]:
    """Return the figures of document search in `bench.bars.DOCUMENTATION`."""
    if not measured.kinds:
        return {}
    kinds = {kind.kind: kind for kind in measured.kinds}
    named, two = kinds["automatic: identifier"], kinds["written: two pages"]
    return {
        "search_behind": float(sum(kind.is_behind for kind in measured.kinds)),
        "search_gain": measured.gain_first,
        "search_identifier_first": named.first,
        "search_identifier_five": named.five,
        "search_two_pages": two.five - two.plain_five,
    }


def _search_table(measured: Measured) -> str:
    """Rows by kind: search and plain BM25, a right page first and all right pages in five."""
    rows = [
        [
            kind.kind,
            str(kind.questions),
            *(f"{share:.2f}" for share in (kind.first, kind.plain_first)),
            *(f"{share:.2f}" for share in (kind.five, kind.plain_five)),
            "**behind**" if kind.is_behind else "",
        ]
        for kind in measured.kinds
    ]
    if measured.kinds:
        rows.append(["first, mean over kinds", "", f"{measured.gain_first:+.3f}", "", "", "", ""])
    return page.table(
        ("kind", "questions", "first", "plain BM25", "in five", "plain BM25", ""), rows
    )


def _outcomes(name: str) -> list[Outcome]:
    lines = (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()
    return asyncio.run(measure([json.loads(line) for line in lines], ResearchConfig()))
