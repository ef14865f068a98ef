"""Whether document search finds the right pages of manuals, beside plain BM25, by kind.

    .venv/bin/python -m bench.manual_search [--part held_out] [--database postgresql]
    .venv/bin/python -m bench.manual_search --embeddings all-minilm http://127.0.0.1:11434/v1

The parts are those of `bench/manuals.py` without its older manuals, and `older`:
the questions for tuning over the PostgreSQL and Python manuals. All manuals of a part are in one
index, and each question is asked of all of them. A manual that is not installed is named and
its questions are left out. With `--embeddings` pages are ranked by that model, too, which a
server at the address has.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, get_args

from bench.documentation import MANUALS
from bench.index_places import Database, empty_index
from bench.manuals import NEWER, PARTS, QUESTIONS, read_rows
from bench.plain_bm25 import PlainPages
from research.documents.folder import FileAddressing, part_url, whole_url
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex
from research.fulltext.meaning import Embedder
from research.llm.embeddings import EmbeddingModel
from research.llm.settings import EmbeddingSettings

ASKED_PARTS = (*PARTS, "older")
LIMIT = 5
# Parts of long pages among which the pages are.
SEARCHED = 3 * LIMIT
# A kind may fall behind plain BM25 by so much.
ALLOWED = 0.01


@dataclass(frozen=True)
class Manual:
    """The pages of one manual; `package` is the Debian package that installs them."""

    name: str
    package: str
    root: Path
    pages: str = "**/*.html"
    exclude: str = ""

    @property
    def files(self) -> list[Path]:
        """Return the pages; symbolic links repeat others."""
        found = sorted(self.root.glob(self.pages))
        return [
            file
            for file in found
            if file.is_file()
            and not file.is_symlink()
            and not (self.exclude and file.match(self.exclude))
        ]


@dataclass(frozen=True)
class Placed:
    """A question with the places of its right pages, from 0; None beyond `LIMIT`."""

    kind: str
    ours: tuple[int | None, ...]
    plain: tuple[int | None, ...]


@dataclass(frozen=True)
class KindResult:
    """Shares of the questions of a kind: a right page first, all right pages in five."""

    kind: str
    questions: int
    first: float
    five: float
    plain_first: float
    plain_five: float

    @property
    def is_behind(self) -> bool:
        lost = max(self.plain_first - self.first, self.plain_five - self.five)
        return lost > ALLOWED


@dataclass(frozen=True)
class Measured:
    """The results of a part, and the packages that are missing."""

    kinds: tuple[KindResult, ...]
    missing: tuple[str, ...]

    @property
    def gain_first(self) -> float:
        """Mean over kinds of what search finds first more often than plain BM25 does."""
        return sum(kind.first - kind.plain_first for kind in self.kinds) / len(self.kinds)


def manuals_of(part: str) -> list[Manual]:
    if part == "older":
        packages = {"postgresql": "postgresql-doc-15", "python": "python3.11-doc"}
        return [Manual(name, package, MANUALS[name]) for name, package in packages.items()]
    return [
        Manual(row["set"], row["package"], Path(row["root"]), row["pages"], row.get("exclude", ""))
        for folder in NEWER
        for row in read_rows(folder / "manuals.jsonl")
        if row["part"] == part
    ]


def questions_of(part: str) -> Iterator[dict[str, Any]]:
    """Yield the questions that have an answer: `set`, `kind`, `question`, `pages`."""
    if part == "older":
        given = [
            *(row for row in read_rows(QUESTIONS / "pages.jsonl") if row["part"] == "tune"),
            *(row | {"kind": "development"} for row in read_rows(QUESTIONS / "development.jsonl")),
            *(row | {"kind": "development"} for row in read_rows(QUESTIONS / "tuning.jsonl")),
        ]
    else:
        given = [
            row | {"kind": f"{name}: {row['kind']}"}
            for folder in NEWER
            for name in ("written", "automatic")
            for row in read_rows(folder / f"{name}.jsonl")
        ]
    for row in given:
        pages = row.get("pages") or [row["page"]]
        if pages != [None]:
            yield row | {"pages": pages}


async def measure(
    part: str, database: Database = "sqlite", embedder: Embedder | None = None
) -> Measured:
    manuals = manuals_of(part)
    installed = {manual.name: manual for manual in manuals if manual.files}
    missing = tuple(manual.package for manual in manuals if manual.name not in installed)
    asked = [row for row in questions_of(part) if row["set"] in installed]
    if not asked:
        return Measured((), missing)
    with tempfile.TemporaryDirectory() as state, empty_index(database) as index:
        names = await _indexed(index, installed.values(), Path(state))
        return Measured(by_kind(await _ask(index, names, asked, embedder)), missing)


def by_kind(placed: Sequence[Placed]) -> tuple[KindResult, ...]:
    """Return the results of each kind, in alphabetical order."""
    return tuple(
        KindResult(
            kind,
            len(chosen),
            _share(_is_first(each.ours) for each in chosen),
            _share(_is_in_five(each.ours) for each in chosen),
            _share(_is_first(each.plain) for each in chosen),
            _share(_is_in_five(each.plain) for each in chosen),
        )
        for kind in sorted({each.kind for each in placed})
        if (chosen := [each for each in placed if each.kind == kind])
    )


async def _indexed(
    index: DocumentIndex, manuals: Iterable[Manual], state: Path
) -> dict[str, tuple[str, list[str]]]:
    """Each manual's collection and the paths of its pages."""
    names = {}
    with TextPool() as pool:
        for manual in manuals:
            paths = [file.relative_to(manual.root).as_posix() for file in manual.files]
            for path in paths:
                copy = state / manual.name / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(manual.root / path, copy)
            report = await index.refresh(state / manual.name, pool)
            names[manual.name] = (report.collection, paths)
    return names


async def _ask(
    index: DocumentIndex,
    manuals: Mapping[str, tuple[str, list[str]]],
    asked: Sequence[dict[str, Any]],
    embedder: Embedder | None,
) -> list[Placed]:
    collections = [collection for collection, _ in manuals.values()]
    plainly = PlainPages([page async for page in _texts(index, manuals)])
    placed = []
    for question in asked:
        collection, _ = manuals[question["set"]]
        right = [FileAddressing().address(collection, page).url for page in question["pages"]]
        hits = await index.search(question["question"], collections, SEARCHED, embedder)
        plain = plainly.search(question["question"], SEARCHED)
        places = _places(right, _whole_pages(hit.url for hit in hits))
        placed.append(Placed(question["kind"], places, _places(right, _whole_pages(plain))))
    plainly.close()
    return placed


async def _texts(index: DocumentIndex, manuals: Mapping[str, tuple[str, list[str]]]) -> Any:
    """Yield the addresses and stored texts of all pages, long ones in parts."""
    for collection, paths in manuals.values():
        for path in paths:
            url = FileAddressing().address(collection, path).url
            for part in count():
                page = await index.document(part_url(url, part), [collection])
                if page is None:
                    break
                yield page.url, f"{page.title}\n{page.text}"


def _whole_pages(urls: Iterable[str]) -> list[str]:
    """Return the first `LIMIT` pages that the found parts belong to, each once."""
    return list(dict.fromkeys(map(whole_url, urls)))[:LIMIT]


def _places(right: Sequence[str], found: Sequence[str]) -> tuple[int | None, ...]:
    return tuple(found.index(url) if url in found else None for url in right)


def _is_first(places: Sequence[int | None]) -> bool:
    return 0 in places


def _is_in_five(places: Sequence[int | None]) -> bool:
    return None not in places


def _share(found: Iterable[bool]) -> float:
    every = list(found)
    return sum(every) / len(every)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--part", choices=ASKED_PARTS, default="tuning")
    parser.add_argument("--database", choices=get_args(Database), default="sqlite")
    parser.add_argument("--embeddings", nargs=2, metavar=("MODEL", "ADDRESS"))
    options = parser.parse_args()
    embedder = options.embeddings and EmbeddingModel(EmbeddingSettings(*options.embeddings))
    measured = asyncio.run(measure(options.part, options.database, embedder))
    for package in measured.missing:
        print(f"not installed, and left out: {package}")
    for kind in measured.kinds:
        print(f"{kind.kind:28} {kind.questions:4}  first {kind.first:.3f}, plain"
              f" {kind.plain_first:.3f}; in five {kind.five:.3f}, plain {kind.plain_five:.3f}"
              f"{'  behind' if kind.is_behind else ''}")  # fmt: skip
    if measured.kinds:
        print(f"first, mean over kinds: {measured.gain_first:+.3f}")


if __name__ == "__main__":
    main()
