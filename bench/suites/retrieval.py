"""Relevance on known pages, and pages fetched side by side, as a section of the page."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path

from bench import page
from bench.bars import RETRIEVAL, Values, bars_table
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
    measured: Values = {
        "fan_out": statistics.median(ratios),
        "relevance_gold": min(each.answering for each in parted),
        "relevance_others": min(each.others for each in parted),
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
    )
