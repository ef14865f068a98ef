"""The retrieval suite: searching, fetching, and reading of pages and documents."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path

from bench import documents, page, right_pages
from bench.bars import RETRIEVAL, Values, bars_table
from bench.extraction import (
    measure_against_soup,
    measure_loop,
    measure_quality,
    measure_speed,
)
from bench.index_places import Database
from bench.retrieval import measure_fan_out, measure_relevance

REPEATS = 5
DATABASES: tuple[Database, Database] = ("sqlite", "postgresql")


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
    large, large_there = (asyncio.run(documents.measure_large(each)) for each in DATABASES)
    asked, plainly = asyncio.run(_asked("sqlite"))
    asked_there, _ = asyncio.run(_asked("postgresql"))
    held_to = [each for each in asked if each.kind in right_pages.IN_ITS_WORDS]
    fresh, fresh_plainly = (
        [each for each in given if (each.kind, each.part) == ("fresh", "check")]
        for given in (asked, plainly)
    )
    differences = (
        right_pages.share(asked, 5) - right_pages.share(asked_there, 5),
        large.first_five - large_there.first_five,
    )
    measured: Values = {
        "fan_out": statistics.median(ratios),
        "relevance_gold": min(each.answering for each in parted),
        "relevance_others": min(each.others for each in parted),
        "page_first": right_pages.share(held_to, 1, "check"),
        "page_five": right_pages.share(held_to, 5, "check"),
        "as_hard_first": right_pages.share_as_hard(fresh, fresh_plainly, 1),
        "as_hard_five": right_pages.share_as_hard(fresh, fresh_plainly, 5),
        "index_cold": indexed.cold,
        "index_again": indexed.again,
        "search_large": statistics.median(large.cpu_ms),
        "search_large_postgresql": statistics.median(large_there.wall_ms),
        "page_difference": max(map(abs, differences)),
        "body": quality.body,
        "boilerplate": quality.boilerplate,
        "soup": measure_against_soup()[0][0],
        "reading_speed": speed.ratio,
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
        large_five_there=f"{large_there.first_five:.2f}",
        pages=page.table(
            (
                *("questions", "", "first", "in the first five"),
                *("PostgreSQL: first", "first five", "plain BM25: first", "first five"),
            ),
            _pages_rows(asked, asked_there, plainly),
        ),
    )


async def _asked(database: Database) -> tuple[list[right_pages.Asked], list[right_pages.Asked]]:
    """Send the questions on pages to the index, and to plain BM25 over whole pages."""
    async with right_pages.manuals(database) as (index, names):
        return await right_pages.ask(index, names), await right_pages.ask_plainly(index, names)


def _pages_rows(*given: Sequence[right_pages.Asked]) -> list[list[str]]:
    rows = []
    together = ("all but plain words", right_pages.IN_ITS_WORDS)
    for name, kinds in (*((kind, (kind,)) for kind in right_pages.KINDS), together):
        chosen = [[each for each in asked if each.kind in kinds] for asked in given]
        for part in ("check", "tune"):
            if any(each.part == part for each in chosen[0]):
                shares = (
                    right_pages.share(asked, places, part) for asked in chosen for places in (1, 5)
                )
                rows.append([name, part, *(f"{share:.2f}" for share in shares)])
    return rows
