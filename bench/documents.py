"""How fast documents are indexed and searched.

    .venv/bin/python -m bench.documents index
    .venv/bin/python -m bench.documents large

`--database postgresql` keeps the index there rather than in SQLite.

`index` reads the Python manual twice; `large` searches 25,000 made pages.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import resource
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import get_args

from bench.documentation import FOLDERS
from bench.index_places import Database, empty_index
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex
from research.fulltext.query_terms import query_terms

POSTGRESQL, PYTHON = FOLDERS
LIMIT = 8
PAGES = 25_000
PAGE_WORDS = 600
QUERIES = 100
QUERY_TERMS = 20


@dataclass(frozen=True)
class Indexed:
    """Seconds for the first reading of a folder, and for the next one of the same files.

    `cpu` is the CPU time of the first, of all processes: what it takes on an idle machine
    with one core.
    """

    files: int
    cold: float
    cpu: float
    again: float


async def measure_indexing(folder: Path, database: Database = "sqlite") -> Indexed:
    with empty_index(database) as index:
        (_, cold, cpu), (files, again, _) = [await _refresh(index, folder) for _ in range(2)]
        return Indexed(files, cold, cpu, again)


async def _refresh(index: DocumentIndex, folder: Path) -> tuple[int, float, float]:
    """Return how many documents the folder has; seconds on the wall, and of CPU in all
    processes.
    """
    started, spent = time.perf_counter(), _cpu_seconds()
    with TextPool() as pool:
        report = await index.refresh(folder, pool)
    return report.documents, time.perf_counter() - started, _cpu_seconds() - spent


def _cpu_seconds() -> float:
    """Of this process and of those it started that have ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@dataclass(frozen=True)
class Large:
    """Queries over `PAGES` made pages: ms on the wall and of CPU, and the share of the pages
    that a query was made from which stand among the first five."""

    wall_ms: list[float]
    cpu_ms: list[float]
    first_five: float


async def measure_large(database: Database = "sqlite") -> Large:
    with (
        tempfile.TemporaryDirectory() as state,
        TextPool() as pool,
        empty_index(database) as index,
    ):
        folder = Path(state) / "pages"
        queries = make_pages(folder)
        name = (await index.refresh(folder, pool)).collection
        return await _search_large(index, name, queries)


async def _search_large(index: DocumentIndex, name: str, queries: dict[str, str]) -> Large:
    wall, cpu, right = [], [], 0
    for page, query in queries.items():
        started, spent = time.perf_counter(), time.process_time()
        hits = await index.search(query, [name], LIMIT)
        wall.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
        right += f"file:///{name}/{page}" in [hit.url for hit in hits[:5]]
    return Large(wall, cpu, right / len(queries))


def make_pages(folder: Path) -> dict[str, str]:
    """Writes the pages; returns queries by the page whose words they are.

    Words come with the frequencies that they have in the PostgreSQL manual.
    """
    folder.mkdir()
    chance = random.Random(5)
    words, weights = _vocabulary()
    queries = {}
    for number in range(PAGES):
        drawn = chance.choices(words, cum_weights=weights, k=PAGE_WORDS)
        page = folder / f"{number:05}.md"
        page.write_text(_page(drawn), "utf-8")
        if number % (PAGES // QUERIES) == 0:
            queries[page.name] = _query(drawn, chance)
    return queries


def _vocabulary() -> tuple[list[str], list[int]]:
    counts: Counter[str] = Counter()
    for path in sorted(POSTGRESQL.glob("*.html")):
        shown = re.sub(r"<[^>]*>", " ", path.read_text("utf-8", "replace"))
        counts.update(re.findall(r"[a-z]{2,}", shown.lower()))
    return list(counts), list(accumulate(counts.values()))


def _page(words: list[str]) -> str:
    """Return a heading, then four sections of ten sentences."""
    lines = [f"# {' '.join(words[:5]).capitalize()}"]
    for start in range(0, len(words), 150):
        section = words[start : start + 150]
        lines.append(f"## {' '.join(section[:4]).capitalize()}")
        sentences = (" ".join(section[at : at + 15]).capitalize() for at in range(0, 150, 15))
        lines.append(". ".join(sentences) + ".")
    return "\n\n".join(lines) + "\n"


def _query(words: list[str], chance: random.Random) -> str:
    told = sorted(query_terms(" ".join(words[:120])).words)
    return " ".join(chance.sample(told, min(QUERY_TERMS, len(told))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", choices=get_args(Database), default="sqlite")
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("index")
    what.add_parser("large")
    told = parser.parse_args()
    if told.what == "index":
        indexed = asyncio.run(measure_indexing(PYTHON, told.database))
        print(f"{indexed.files} files: {indexed.cold:.1f} s ({indexed.cpu:.1f} s of CPU),"
              f" again {indexed.again:.2f} s")  # fmt: skip
    else:
        large = asyncio.run(measure_large(told.database))
        print(f"median of {len(large.wall_ms)}: {statistics.median(large.wall_ms):.0f} ms"
              f" ({statistics.median(large.cpu_ms):.0f} ms of CPU),"
              f" right page in the first five {large.first_five:.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
