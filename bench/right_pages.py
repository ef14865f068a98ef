"""Whether document search finds the right page of two manuals, beside plain BM25.

    .venv/bin/python -m bench.right_pages [--misses] [--part tune|check] [--database postgresql]

Asks `bench/questions/pages.jsonl` of the PostgreSQL and Python manuals in one index.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from bisect import bisect_left
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from bench.documentation import FOLDERS
from bench.index_places import Database, empty_index
from bench.plain_bm25 import PlainPages
from research.documents.folder import FileAddressing, scan_folder
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex

QUESTIONS = Path(__file__).parent / "questions" / "pages.jsonl"
KINDS = ("fresh", "expert", "drawn", "ordinary", "named", "plain words")
# Kinds whose questions are in words that the manual uses, too.
IN_ITS_WORDS = ("fresh", "expert", "drawn", "ordinary", "named")
LIMIT = 8
# Of the questions beside which the bar was set: the shares that plain BM25 finds first, second
# to fifth, and not among the first five.
BAR_DIFFICULTY = (0.84, 0.12, 0.04)


@dataclass(frozen=True)
class Asked:
    """A question with the place of its page among the answers, from 0; None beyond them."""

    id: str
    kind: str
    part: str
    question: str
    place: int | None
    found: tuple[str, ...]


def questions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]


def share(asked: Iterable[Asked], places: int, part: str | None = None) -> float:
    """Return how many of a part's pages stand among the first `places`."""
    chosen = [each for each in asked if part in (None, each.part)]
    return sum(each.place is not None and each.place < places for each in chosen) / len(chosen)


def share_as_hard(asked: Iterable[Asked], plainly: Iterable[Asked], places: int) -> float:
    """`share` over questions weighted to the difficulty of those beside which the bar was set.

    Questions stand in three strata, by where plain BM25 has their page; each counts for as much
    as it does among the bar's (post-stratification). `plainly` are the same questions.
    """
    strata: tuple[list[bool], ...] = ([], [], [])
    for ours, plain in zip(asked, plainly, strict=True):
        stratum = 2 if plain.place is None else bisect_left((0, 4), plain.place)
        strata[stratum].append(ours.place is not None and ours.place < places)
    return sum(
        weight * sum(found) / len(found)
        for weight, found in zip(BAR_DIFFICULTY, strata, strict=True)
    )


async def ask(index: DocumentIndex, names: Sequence[str]) -> list[Asked]:
    """`names` are the collections of PostgreSQL and Python."""
    asked = []
    for each in questions():
        hits = await index.search(each["question"], names, LIMIT)
        asked.append(_placed(each, names, [hit.url for hit in hits]))
    return asked


def _placed(question: dict[str, Any], names: Sequence[str], found: Sequence[str]) -> Asked:
    root = names[("postgresql", "python").index(question["set"])]
    right = f"file:///{root}/{question['page']}"
    return Asked(
        id=question["id"],
        kind=question["kind"],
        part=question["part"],
        question=question["question"],
        place=found.index(right) if right in found else None,
        found=tuple(found),
    )


async def ask_plainly(index: DocumentIndex, names: Sequence[str]) -> list[Asked]:
    """Return the yardstick: the same questions to BM25 over whole pages, stemmed, without
    fields.
    """
    pages = []
    for name, folder in zip(names, FOLDERS, strict=True):
        for file in scan_folder(folder).files:
            page = await index.document(FileAddressing().address(name, file.path).url, [name])
            if page is not None:
                pages.append((page.url, f"{page.title}\n{page.text}"))
    plain = PlainPages(pages)
    asked = [_placed(each, names, plain.search(each["question"], LIMIT)) for each in questions()]
    plain.close()
    return asked


@asynccontextmanager
async def manuals(database: Database) -> AsyncIterator[tuple[DocumentIndex, list[str]]]:
    """Both manuals in one index, and the names of their collections."""
    with empty_index(database) as index:
        with TextPool() as pool:
            names = [(await index.refresh(folder, pool)).collection for folder in FOLDERS]
        yield index, names


async def _pages(database: Database, part: str | None, misses: bool) -> None:
    async with manuals(database) as (index, names):
        asked, plainly = await ask(index, names), await ask_plainly(index, names)
    for name, given in (("ours", asked), ("plain BM25", plainly)):
        for kind in KINDS:
            chosen = [e for e in given if e.kind == kind and part in (None, e.part)]
            if chosen:
                print(f"{name}, {kind}: first {share(chosen, 1):.3f},"
                      f" first five {share(chosen, 5):.3f}")  # fmt: skip
    for each in asked:
        if misses and each.place != 0 and part in (None, each.part):
            print(each.place, each.id, each.question, *(url[8:] for url in each.found[:5]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--database", choices=get_args(Database), default="sqlite")
    parser.add_argument("--part", choices=["tune", "check"])
    parser.add_argument("--misses", action="store_true", help="show what was found instead")
    told = parser.parse_args()
    asyncio.run(_pages(told.database, told.part, told.misses))


if __name__ == "__main__":
    main()
