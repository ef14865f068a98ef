"""The manuals that questions are asked of, each indexed by itself, and the questions over them.

`bench/questions/README.md` and those of the folders beside it describe them. The
parts `held_out` to `held_out_5` were measured once and have been looked at since. A folder that is
not there has no questions.
"""

from __future__ import annotations

import json
import os
import re
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
SPENT = (
    "tuning", "tuning_4", "held_out", "held_out_2", "held_out_3", "held_out_4", "held_out_5",
)  # fmt: skip
PARTS = (*SPENT, "held_out_6", "held_out_7")
"""Parts for published figures are in these alone."""
NEWER = tuple(
    path.parent
    for name in (
        *("manuals_held", "manuals_new", "manuals_third", "manuals_fourth", "manuals_fifth"),
        *("manuals_sixth", "manuals_seventh"),
    )
    if (path := QUESTIONS / name / "manuals.jsonl").exists()
)
REPEATED = frozenset({"since", "default"})
"""Kinds whose answers ("Availability: 2.0.0") occur again and again on a page."""
AUTOMATIC_KINDS = frozenset({"meaning", "identifier", "default", "heading", "since"})
"""Kinds of questions that were made from reference entries; some definitions were, too."""
WHOLE_MANUAL = "all.html"
"""The page that repeats the manual of Node.js."""
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
    older = {
        name: Manual(name, root, "**/*.html", WHOLE_MANUAL, "tuning")
        for name, root in MANUALS.items()
    }
    rows = (row for folder in NEWER for row in read_rows(folder / "manuals.jsonl"))
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
        for row in read_rows(QUESTIONS / f"{name}.jsonl"):
            if row.get("part") != "check":
                yield _question(row)
    for folder in NEWER:
        for name in ("automatic", "written"):
            yield from map(_question, read_rows(folder / f"{name}.jsonl"))


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
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
    """Return the extracted text of every page of an index that has any."""
    return [(await fetch.fetch(url)).text for url in await index._read(_urls)]


def _urls(connection: Any) -> list[str]:
    rows = connection.execute("SELECT url FROM documents WHERE text_id IS NOT NULL ORDER BY url")
    return [row["url"] for row in rows]


def answers(question: ManualQuestion, text: str) -> bool:
    """Return whether a text contains an answer, and the name that is asked about if it has to."""
    shown = normalise(text)
    return normalise(question.entry) in shown and any(
        re.search(re.escape(normalise(answer)) + r"(?!\.?\d)", shown) for answer in question.answers
    )


def normalise(text: str) -> str:
    """Return a text without regard to case, runs of white space as one space."""
    return " ".join(text.split()).casefold()


def _pages_of(manual: Manual) -> Iterable[Path]:
    excluded = set(manual.root.glob(manual.exclude)) if manual.exclude else set()
    found = sorted(set(manual.root.glob(manual.pages)) - excluded)
    return (path for path in found if path.is_file() and not os.path.islink(path))
