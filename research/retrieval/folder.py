"""The files of an operator's folder: which are documents, and where each one's address lies.

Nothing here opens a file; `reading.py` does, in worker processes.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from research.engine.tools import SourceKind, ToolFailure
from research.retrieval.sniffing import DOCX, PDF

# One line adds a kind of document, once `extract` can read its content type.
CONTENT_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".pdf": PDF,
    ".docx": DOCX,
}
MAX_FILE_BYTES = 10 * 1024 * 1024
# Pictures and fonts take most of such a file; the text is a small part.
MAX_PACKED_BYTES = 50 * 1024 * 1024
# What tools leave beside pages: sources and themes of a generated site, packages, caches.
SKIPPED_FOLDERS = frozenset({"_sources", "_static", "node_modules", "__pycache__"})
MOST_KINDS = 8

_ENDING = re.compile(r"\.[a-z0-9_+~-]{1,12}")


class DocumentError(ToolFailure):
    """A folder that cannot be used as documents; `reason` is a sentence for the user."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, permanent=True)


@dataclass(frozen=True)
class BrokenFile:
    """A file that gives no text, and why, in words for the user."""

    path: str
    reason: str


@dataclass(frozen=True)
class FoundFile:
    """A document as the file system shows it; `path` is relative, with forward slashes."""

    path: str
    file: str
    size: int
    mtime_ns: int
    content_type: str


@dataclass(frozen=True)
class FoundFiles:
    """What a folder holds, in the order of paths; `broken` are parts that can't be listed.

    `others` are the endings of the files of other kinds, one for each file.
    """

    files: tuple[FoundFile, ...]
    broken: tuple[BrokenFile, ...]
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Address:
    """Where a document stands for the reader, and what counts as one source with it."""

    url: str
    domain: str
    independence_key: str
    kind: SourceKind | None = None


class Addressing(Protocol):
    """How the files of a collection are named and addressed."""

    def name(self, folder: Path) -> str: ...

    def address(self, collection: str, path: str) -> Address: ...


@dataclass(frozen=True)
class FileAddressing:
    """An operator's documents: `file:///COLLECTION/PATH`, each document a source of its own."""

    def name(self, folder: Path) -> str:
        return folder.name or "documents"

    def address(self, collection: str, path: str) -> Address:
        url = f"file:///{quote(collection, safe='')}/{quote(path)}"
        return Address(url, domain=collection, independence_key=url, kind="document")


def scan(folder: Path) -> FoundFiles:
    """All documents below a folder; raises `DocumentError` where there is nothing to scan.

    Hidden files, folders of `SKIPPED_FOLDERS` and links that leave the folder are passed over.
    """
    root = _readable_root(folder)
    broken: list[BrokenFile] = []

    def unlisted(error: OSError) -> None:
        where = os.path.relpath(error.filename or root, root)
        broken.append(BrokenFile(Path(where).as_posix(), "the folder cannot be listed"))

    files: list[FoundFile] = []
    others: list[str] = []
    for path in _visible(root, unlisted):
        if path.suffix.lower() not in CONTENT_TYPES:
            others.append(path.suffix.lower())
            continue
        try:
            str(path).encode()
            found = _found(root, path)
        except OSError:
            broken.append(BrokenFile(_relative(root, path), "the file cannot be read"))
        except UnicodeEncodeError:
            shown = _relative(root, path).encode(errors="replace").decode()
            broken.append(BrokenFile(shown, "the file's name is not in UTF-8"))
        else:
            files.extend([found] if found else [])
    files.sort(key=lambda file: file.path)
    return FoundFiles(tuple(files), tuple(broken), tuple(others))


def left_out(others: Sequence[str]) -> str:
    """How many files are of other kinds, and of which, the most frequent first; "" for none."""
    if not others:
        return ""
    counted = Counter(each if _ENDING.fullmatch(each) else "no ending" for each in others)
    kinds = sorted(counted, key=lambda kind: (-counted[kind], kind))
    more = ["…"] if len(kinds) > MOST_KINDS else []
    files = "1 file of another kind" if len(others) == 1 else f"{len(others)} files of other kinds"
    return f"{files} left out: {', '.join([*kinds[:MOST_KINDS], *more])}"


def _readable_root(folder: Path) -> Path:
    root = folder.expanduser().resolve()
    if not root.exists():
        raise DocumentError(f"The folder {folder} does not exist.")
    if not root.is_dir():
        raise DocumentError(f"{folder} is not a folder.")
    try:
        with os.scandir(root):
            return root
    except OSError:
        raise DocumentError(f"The folder {folder} cannot be read: permission denied.") from None


class _OnError(Protocol):
    def __call__(self, error: OSError, /) -> None: ...


def _visible(root: Path, on_error: _OnError) -> Iterator[Path]:
    for parent, folders, names in os.walk(root, onerror=on_error, followlinks=False):
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS
        )
        for name in names:
            if not name.startswith("."):
                yield Path(parent, name)


def _found(root: Path, path: Path) -> FoundFile | None:
    """None for what is no regular file within the folder."""
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        return None
    stat = path.stat()
    if not path.is_file():
        return None
    return FoundFile(
        path=_relative(root, path),
        file=str(path),
        size=stat.st_size,
        mtime_ns=stat.st_mtime_ns,
        content_type=CONTENT_TYPES[path.suffix.lower()],
    )


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
