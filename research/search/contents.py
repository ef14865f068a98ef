"""What collections hold, in a few lines: for the planner of a run that searches nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from research.engine.text.tokens import unique_texts

if TYPE_CHECKING:
    from research.fulltext.index import DocumentIndex
    from research.fulltext.index_queries import ListedDocument

MOST_LISTED, MOST_GROUPS, MOST_TITLES, MOST_NAMES = 5000, 12, 40, 60
"""Documents of a collection that are looked at; folders and titles that are named of them, and
folders of which only the name is told.
"""
LONGEST_TITLE = 70
"""Letters of a title."""
FIRST_PAGES = frozenset({"index", "readme", "introduction", "intro", "contents", "overview"})


async def describe_contents(index: DocumentIndex, collections: Sequence[str]) -> list[str]:
    """Return for each collection, or each folder of its documents, a line with its name, how many
    documents it has and some of their titles. Raise `DocumentError` if the index is unusable.
    """
    lines: list[str] = []
    for name in collections:
        listed = await index.list_documents(name, "", 0, MOST_LISTED)
        groups = _folders(listed)
        most = max(1, MOST_TITLES // max(1, min(len(groups), MOST_GROUPS)))
        lines += [
            _line(f"{name}/{folder}" if folder else name, group, most)
            for folder, group in [*groups.items()][:MOST_GROUPS]
        ]
        if rest := [*groups][MOST_GROUPS:]:
            names, more = rest[:MOST_NAMES], len(rest) - MOST_NAMES
            told = [*names, f"{more} more"] if more > 0 else names
            lines.append(f"{name}, further folders: {', '.join(told)}")
    return lines


def _folders(listed: Sequence[ListedDocument]) -> dict[str, list[ListedDocument]]:
    """Return the documents by the first folder in which they differ, the largest ones first."""
    paths = [PurePosixPath(each.path).parts for each in listed]
    depth = 0
    while paths and all(len(p) > depth + 1 for p in paths) and len({p[depth] for p in paths}) == 1:
        depth += 1
    groups: dict[str, list[ListedDocument]] = {}
    for document, parts in zip(listed, paths, strict=True):
        folder = "/".join(parts[: depth + 1]) if len(parts) > depth + 1 else "/".join(parts[:depth])
        groups.setdefault(folder, []).append(document)
    return dict(sorted(groups.items(), key=lambda each: (-len(each[1]), each[0])))


def _line(name: str, documents: Sequence[ListedDocument], most: int) -> str:
    first = [each for each in documents if PurePosixPath(each.path).stem.lower() in FIRST_PAGES]
    step = -(-len(documents) // most)
    chosen = [*first[:1], *documents[::step]]
    titles = unique_texts(
        textwrap.shorten(each.title, LONGEST_TITLE, placeholder=" …") for each in chosen
    )[:most]
    return f"{name} ({len(documents):,}): {'; '.join(titles)}"
