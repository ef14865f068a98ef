"""Searching, fetching, reading pages and documents, as a section of the page."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench import documents, page
from bench.bars import RETRIEVAL, Values, bars_table
from bench.extraction import (
    measure_against_soup,
    measure_loop,
    measure_quality,
    measure_speed,
)
from bench.retrieval import measure_fan_out, measure_relevance

REPEATS = 9


def section(files: Sequence[Path]) -> str:
    if not files:
        raise SystemExit(
            "Name the files of questions: make bench SUITE=retrieval DATA='FILE.jsonl …'"
        )
    machine = page.machine()
    ratios = asyncio.run(measure_fan_out(REPEATS))
    parted = measure_relevance(files)
    quality, speed, held = measure_quality(), measure_speed(), asyncio.run(measure_loop())
    indexed = asyncio.run(documents.measure_indexing(documents.PYTHON))
    large = asyncio.run(documents.measure_large())
    asked, plainly = asyncio.run(_asked())
    named = [each for each in asked if each.kind == "named"]
    measured: Values = {
        "fan_out": statistics.median(ratios),
        "relevance_gold": min(each.answering for each in parted),
        "relevance_others": min(each.others for each in parted),
        "page_first": documents.share(named, 1, "check"),
        "page_five": documents.share(named, 5, "check"),
        "index_cold": indexed.cold,
        "index_again": indexed.again,
        "search_large": statistics.median(large.cpu_ms),
        "body": quality.body,
        "boilerplate": quality.boilerplate,
        "soup": measure_against_soup()[0][0],
        "reading_speed": speed.ours / speed.trafilatura,
        "loop_held": held,
    }
    return page.rendered(
        "retrieval.md",
        machine=machine,
        bars=page.table(("figure", "bar", "measured", ""), bars_table(RETRIEVAL, measured)),
        ratios=f"{min(ratios):.2f} to {max(ratios):.2f} in {REPEATS}",
        table=page.table(
            ("questions", "pages that answer", "0.6 or more", "others, below 0.6"),
            [
                [each.source, str(each.pairs), f"{each.answering:.3f}", f"{each.others:.3f}"]
                for each in parted
            ],
        ),
        index_cpu=f"{indexed.cpu:.1f}",
        large_wall=f"{statistics.median(large.wall_ms):.0f}",
        large_five=f"{large.first_five:.2f}",
        pages=page.table(
            ("questions", "", "first", "in the first five", "plain BM25: first", "first five"),
            _pages_rows(asked, plainly),
        ),
    )


async def _asked() -> tuple[list[documents.Asked], list[documents.Asked]]:
    """The questions on pages to the index, and to plain BM25 over whole pages."""
    with tempfile.TemporaryDirectory() as state:
        async with documents.manuals(Path(state) / "documents.sqlite3") as (index, names):
            return await documents.ask(index, names), documents.ask_plainly(index.path, names)


def _pages_rows(
    asked: Sequence[documents.Asked], plainly: Sequence[documents.Asked]
) -> list[list[str]]:
    rows = []
    for kind in documents.KINDS:
        for part in ("check", "tune"):
            shares = (
                documents.share([each for each in given if each.kind == kind], places, part)
                for given in (asked, plainly)
                for places in (1, 5)
            )
            rows.append([kind, part, *(f"{share:.2f}" for share in shares)])
    return rows
