"""`manage.py evaluate` over files of questions with known evidence, as a section of the page."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import page
from bench.bars import DATA, Values, bars_table

ROOT = Path(__file__).resolve().parents[2]
BY_ROUND = (
    ("gold pages fetched, mean", "recall", ".3f"),
    ("whole chain fetched", "whole_chain", ".3f"),
    ("gold text quoted", "quoted", ".3f"),
    ("searches", "searches", ".1f"),
    ("pages fetched", "fetches", ".1f"),
)


def section(files: Sequence[Path]) -> str:
    if not files:
        raise SystemExit("Name the files of questions: make bench SUITE=data DATA='FILE.jsonl …'")
    machine = page.machine()
    result = _evaluated(files)
    rounds, stopping = result["rounds"], result["stopping"]
    gain = stopping["at_equal_rounds"]
    return page.rendered(
        "data.md",
        machine=machine,
        questions=result["questions"],
        pages=f"{result['pages']:,}",
        analyst=result["analyst"],
        bars=page.table(("figure", "bar", "measured", ""), bars_table(DATA, values(result))),
        table=page.table(
            ("round", *(str(each["round"]) for each in rounds)),
            [[label, *(format(each[name], form) for each in rounds)]
             for label, name, form in BY_ROUND],
        ),
        stopping=stopping,
        gain=f"{gain['gain']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f})",
        quotes=result["quotes"],
    )  # fmt: skip


def _evaluated(files: Sequence[Path]) -> dict[str, Any]:
    command = [sys.executable, "manage.py", "evaluate", "--json"]
    done = subprocess.run(
        [*command, *(str(file.resolve()) for file in files)],
        cwd=ROOT, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def values(result: dict[str, Any]) -> Values:
    """Return the figures of `bench.bars.DATA`."""
    last, stopping = result["rounds"][-1], result["stopping"]
    return {
        "data_recall": last["recall"],
        "data_chain": last["whole_chain"],
        "data_rounds": stopping["mean_rounds"],
        "data_premature": stopping["premature"],
        "data_gain": stopping["at_equal_rounds"]["low"],
    }
