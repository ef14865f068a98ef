"""Fits what each sign that a passage answers weighs, and prints the table of `weights.py`.

    .venv/bin/python -m bench.fitting

Read are the questions of `development.jsonl` and `tuning.jsonl` and those of `manuals.jsonl`
whose part is "train". Each takes the pages that one search names; its passages with the
answer's string should rank above the others. The loss is a softmax over a question's
passages, with a penalty on large weights, and is brought down by gradient descent (Adam).

The table is scaled so that the best passage of a question and an ordinary one score `BEST`
and `ORDINARY` in the median: the thresholds on scores were chosen for that range.
"""

from __future__ import annotations

import asyncio
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median, pstdev
from typing import Any

from bench.documentation import MANUALS, holds
from research.engine.extractive.passages import Passage, passages
from research.engine.extractive.planning import query_of
from research.engine.extractive.question import read_question
from research.engine.extractive.scoring import Ranking
from research.engine.extractive.wanted import Need
from research.engine.extractive.weights import WEIGHTS
from research.engine.tools import FetchFailure, Page, SearchRequest
from research.retrieval.documents import DocumentFetch, DocumentSearch
from research.retrieval.index import DocumentIndex
from research.retrieval.pool import TextPool

QUESTIONS = Path(__file__).parent / "questions"
BESIDE = {
    "postgresql": "python",
    "python": "postgresql",
    "nodejs": "valgrind",
    "valgrind": "nodejs",
}
"""The manual that is searched together with a question's own."""

HITS = 10
LONGEST_PAGE = 1_000_000
"""Characters: a page that holds a whole manual once more teaches nothing."""

OTHERS = 120
STEPS = 120
RATE = 0.1
PENALTY = 8.0
BEST = 0.63
ORDINARY = 0.4

Row = list[float]
Asked = tuple[list[Row], list[bool]]
"""The signs of a question's passages, and which hold its answer."""


def questions() -> list[dict[str, Any]]:
    lines = [
        line
        for name in ("development", "tuning", "manuals")
        for line in (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]
    return [asked for asked in map(json.loads, lines) if asked.get("part") != "check"]


async def asked() -> list[Asked]:
    """Every question that has an answer among the passages of its pages."""
    with TextPool() as pool, tempfile.TemporaryDirectory() as folder:
        index = DocumentIndex(Path(folder) / "documents.sqlite3")
        try:
            reports = {n: await index.refresh(each, pool) for n, each in MANUALS.items()}
            names = {name: report.collection for name, report in reports.items()}
            found = [await _asked(question, index, names) for question in questions()]
        finally:
            index.close()
    return [(rows, right) for rows, right in found if any(right)]


async def _asked(question: dict[str, Any], index: DocumentIndex, names: dict[str, str]) -> Asked:
    searched = [names[question["set"]], names[BESIDE[question["set"]]]]
    pages = await _pages(question["question"], index, searched)
    scores = Ranking(pages).scores(Need.of(read_question(question["question"])))
    wanted = [question["answer"], *question["alternatives"]]
    rows, right = [], []
    for number, page in enumerate(pages):
        for passage in passages(page):
            signs = scores.signs(number, passage)
            rows.append([signs[name] for name in WEIGHTS])
            right.append(holds(_quoted(passage), wanted))
    return _hardest(rows, right)


async def _pages(text: str, index: DocumentIndex, searched: Sequence[str]) -> list[Page]:
    fetch = DocumentFetch(index, searched)
    answer = await DocumentSearch(index, searched).search(SearchRequest(query_of(text), HITS))
    pages = []
    for hit in answer.hits:
        try:
            page = await fetch.fetch(hit.url)
        except FetchFailure:
            continue
        if len(page.text) <= LONGEST_PAGE:
            pages.append(page)
    return pages


def _quoted(passage: Passage) -> str:
    label = passage.page.text[slice(*passage.label)] if passage.label else ""
    return f"{label} … {passage.text}"


def _hardest(rows: list[Row], right: list[bool]) -> Asked:
    """The right passages and those of the others that say most of the question."""
    ranked = sorted(range(len(rows)), key=lambda i: (not right[i], -rows[i][0] - rows[i][1]))
    kept = ranked[: sum(right) + OTHERS]
    return [rows[i] for i in kept], [right[i] for i in kept]


# --- fitting --------------------------------------------------------------------------------


def fitted(every: Sequence[Asked]) -> tuple[float, Row]:
    """The base and the weight of each sign."""
    columns = list(zip(*(row for rows, _ in every for row in rows), strict=True))
    means, spreads = [fmean(c) for c in columns], [pstdev(c) or 1.0 for c in columns]
    scaled = [
        ([[(x - m) / s for x, m, s in zip(row, means, spreads, strict=True)] for row in rows],
         right)
        for rows, right in every
    ]  # fmt: skip
    weights = [w / s for w, s in zip(_descended(scaled), spreads, strict=True)]
    values = [[_dot(weights, row) for row in rows] for rows, _ in every]
    best, ordinary = median(map(max, values)), median(map(median, values))
    factor = (BEST - ORDINARY) / (best - ordinary)
    return ORDINARY - factor * ordinary, [factor * weight for weight in weights]


def _descended(every: Sequence[Asked]) -> Row:
    size = len(every[0][0][0])
    weights, slope, square = [0.0] * size, [0.0] * size, [0.0] * size
    for step in range(1, STEPS + 1):
        gradient = [PENALTY * w / len(every) for w in weights]
        for rows, right in every:
            for i, part in enumerate(_gradient(weights, rows, right)):
                gradient[i] += part / len(every)
        for i, g in enumerate(gradient):
            slope[i] = 0.9 * slope[i] + 0.1 * g
            square[i] = 0.999 * square[i] + 0.001 * g * g
            moved = slope[i] / (1 - 0.9**step)
            weights[i] -= RATE * moved / (math.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
    return weights


def _gradient(weights: Row, rows: Sequence[Row], right: Sequence[bool]) -> Row:
    """Of -log of the share that the right passages have of the softmax."""
    values = [_dot(weights, row) for row in rows]
    top = max(values)
    shares = [math.exp(value - top) for value in values]
    whole = sum(shares)
    held = sum(share for share, holds in zip(shares, right, strict=True) if holds)
    pulls = [s / whole - (s / held if r else 0.0) for s, r in zip(shares, right, strict=True)]
    columns = zip(*rows, strict=True)
    return [_dot(pulls, column) for column in columns]


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(map(float.__mul__, one, other))


def main() -> None:
    every = asyncio.run(asked())
    base, weights = fitted(every)
    print(f"# {len(every)} questions")
    print(f"BASE = {base:.3f}\nWEIGHTS = {{")
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.3f},')
    print("}")


if __name__ == "__main__":
    main()
