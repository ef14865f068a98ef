"""The library that questions are asked of: one indexed HTML page for each distinct text.

It is stored in a folder named by a hash of its pages and reused.
"""

from __future__ import annotations

import hashlib
import html
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from bench.evaluation.cases import PageText
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex, Progress

FORM = "1"
COLLECTION = "pages"
PARAGRAPH_SENTENCES = 5
_PAGE = """<!DOCTYPE html>
<html>
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<main>
<article>
<h1>{title}</h1>
{paragraphs}
</article>
</main>
</body>
</html>
"""


@dataclass(frozen=True)
class Library:
    """A folder with `pages` HTML pages and their index."""

    folder: Path
    pages: int

    @property
    def index_path(self) -> Path:
        return self.folder / "documents.sqlite3"

    @property
    def pages_folder(self) -> Path:
        return self.folder / COLLECTION

    def file_of(self, url: str) -> Path:
        """Return the HTML file for the URL of an indexed page."""
        parts = PurePosixPath(unquote(urlsplit(url).path)).parts
        return self.pages_folder.joinpath(*parts[2:])


def build(pages: Iterable[PageText], home: Path) -> Library:
    """Write missing pages below `home`."""
    named = {page_name(page): page for page in pages}
    key = hashlib.sha256("\n".join((FORM, *sorted(named))).encode()).hexdigest()[:16]
    library = Library(home / key, len(named))
    for name, page in named.items():
        _write(library.pages_folder / name, as_html(page))
    return library


async def index(library: Library, progress: Progress | None = None) -> None:
    """Update the index; fast if nothing changed. Raise `DocumentError`."""
    documents = DocumentIndex(library.index_path)
    try:
        with TextPool() as workers:
            await documents.refresh(library.pages_folder, workers, progress)
    finally:
        documents.close()


def page_name(page: PageText) -> str:
    name = hashlib.sha256(f"{page.title}\n{page.text}".encode()).hexdigest()[:24]
    return f"{name[:2]}/{name}.html"


def page_url(page: PageText) -> str:
    return f"file:///{COLLECTION}/{page_name(page)}"


def as_html(page: PageText) -> str:
    paragraphs = "\n".join(f"<p>{html.escape(text)}</p>" for text in _paragraphs(page))
    return _PAGE.format(title=html.escape(page.title), paragraphs=paragraphs)


def _paragraphs(page: PageText) -> Iterator[str]:
    spoken = [" ".join(sentence.split()) for sentence in page.sentences if sentence.strip()]
    for start in range(0, len(spoken), PARAGRAPH_SENTENCES):
        yield " ".join(spoken[start : start + PARAGRAPH_SENTENCES])


def _write(path: Path, text: str) -> None:
    """Write a file atomically, so that an existing file is always complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(f".{os.getpid()}")
        unfinished.write_text(text, "utf-8")
        unfinished.replace(path)


class _Body(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.inside = False
        self.parts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = self.inside or tag == "body"

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.parts.append(data)


def body_text(markup: str) -> str:
    """Return the text of a library page, without using the product's extraction."""
    body = _Body()
    body.feed(markup)
    body.close()
    return " ".join(body.parts)
