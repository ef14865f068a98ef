"""The manuals that questions are asked of, each indexed by itself, and the questions over them.

`bench/questions/README.md` and those of `manuals_held` and `manuals_new` describe them. What is
chosen or fitted goes by the part `tuning` alone; each other part is measured once, at the end. Part
`held_out` has been looked at since.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.documentation import MANUALS
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex
from research.search.documents import DocumentFetch

QUESTIONS = Path(__file__).parent / "questions"
NEWER = (QUESTIONS / "manuals_held", QUESTIONS / "manuals_new")
REPEATED = frozenset({"since", "default"})
"""Kinds whose answers ("Availability: 2.0.0") occur again and again on a page."""
LONGEST_PAGE = 1_000_000
"""Characters: a page that repeats a whole manual is not read."""
OLDER = ("development", "tuning", "documentation", "manuals")
"""Files over the manuals of `bench.documentation`; their rows of part "check" are left out."""


@dataclass(frozen=True)
class Manual:
    """A folder of pages, with the part that it belongs to."""

    name: str
    root: Path
    pages: str
    exclude: str
    part: str


@dataclass(frozen=True)
class ManualQuestion:
    """A question with the literals of which each answers it; none if nothing answers it.

    A quote answers only if it also contains `entry`, the name that is asked about, if there is one.
    """

    id: str
    manual: str
    kind: str
    text: str
    pages: tuple[str, ...]
    answers: tuple[str, ...]
    entry: str = ""


def manuals() -> dict[str, Manual]:
    """Every manual by name."""
    older = {name: Manual(name, root, "**/*.html", "", "tuning") for name, root in MANUALS.items()}
    rows = (row for folder in NEWER for row in _rows(folder / "manuals.jsonl"))
    newer = {
        row["set"]: Manual(
            row["set"],
            Path(row["root"]),
            row["pages"],
            row.get("exclude", ""),
            row["part"],
        )
        for row in rows
    }
    return older | newer


def questions(part: str) -> list[ManualQuestion]:
    """Return the questions over the manuals of a part."""
    parts = {name: manual.part for name, manual in manuals().items()}
    return [asked for asked in _every_question() if parts[asked.manual] == part]


def _every_question() -> Iterator[ManualQuestion]:
    for name in OLDER:
        for row in _rows(QUESTIONS / f"{name}.jsonl"):
            if row.get("part") != "check":
                yield _question(row)
    for folder in NEWER:
        for name in ("automatic", "written"):
            yield from map(_question, _rows(folder / f"{name}.jsonl"))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text("utf-8").splitlines())


def _question(row: dict[str, Any]) -> ManualQuestion:
    answers = row.get("answers") or [row["answer"], *row.get("alternatives", ())]
    repeats = row["kind"] in REPEATED and row.get("count", 1) > 1
    pages = row.get("pages") or [row["page"], *row.get("also", ())]
    return ManualQuestion(
        row["id"],
        row["set"],
        row["kind"],
        row["question"],
        tuple(filter(None, pages)),
        tuple(filter(None, answers)),
        row["entry"] if repeats else "",
    )


async def open_manual(manual: Manual, folder: Path, pool: TextPool) -> tuple[DocumentIndex, str]:
    """Index a manual's pages under `folder`, and return the index with its collection's name.

    Raises `DocumentError` if the manual isn't installed.
    """
    copied = folder / manual.name
    for path in _pages_of(manual):
        target = copied / path.relative_to(manual.root)
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            shutil.copy2(path, target)
    index = DocumentIndex(folder / f"{manual.name}.sqlite3")
    report = await index.refresh(copied, pool)
    return index, report.collection


async def texts_of(index: DocumentIndex, fetch: DocumentFetch) -> list[str]:
    """Return the extracted text of every page of an index, but for those above `LONGEST_PAGE`."""
    urls = await index._read(_urls)
    return [text for url in urls if len(text := (await fetch.fetch(url)).text) <= LONGEST_PAGE]


def _urls(connection: Any) -> list[str]:
    return [row["url"] for row in connection.execute("SELECT url FROM documents ORDER BY url")]


def normalise(text: str) -> str:
    """Return a text without regard to case, runs of white space as one space."""
    return " ".join(text.split()).casefold()


def _pages_of(manual: Manual) -> Iterable[Path]:
    excluded = set(manual.root.glob(manual.exclude)) if manual.exclude else set()
    found = sorted(set(manual.root.glob(manual.pages)) - excluded)
    return (path for path in found if path.is_file() and not os.path.islink(path))
