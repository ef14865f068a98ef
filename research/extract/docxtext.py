"""Word documents (docx) to text: headings, paragraphs, lists and tables in their order."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from research.extract.extracted import EmptyPageError, Extracted
from research.extract.html.metadata import MAX_TITLE
from research.fetch.sites import kind_of

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_UNPACKED_BYTES = 200 * 1024 * 1024

NO_TITLES = frozenset({"", "word document", "document", "untitled"})
"""Title properties that programs set by themselves."""
_OLE = b"\xd0\xcf\x11\xe0"
# style name: "Heading 2"
_HEADING = re.compile(r"heading (\d)", re.I)
_DAMAGED = "the document is damaged and cannot be read"


def extract_docx(body: bytes, url: str) -> Extracted:
    """Return the text of a Word document; raise `EmptyPageError` with a reason if there is none."""
    if body.startswith(_OLE):
        raise EmptyPageError("the document is protected by a password or of an older format")
    try:
        return _extract_document(body, url)
    except EmptyPageError:
        raise
    except Exception as error:  # a broken file raises anything from deep within the parser
        raise EmptyPageError(_DAMAGED) from error


def _extract_document(body: bytes, url: str) -> Extracted:
    from docx import Document

    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        if sum(part.file_size for part in packed.infolist()) > MAX_UNPACKED_BYTES:
            raise EmptyPageError("the document is too large when unpacked")
    document = Document(io.BytesIO(body))
    text = _join_blocks(_document_blocks(document))
    if not text:
        raise EmptyPageError("the document contains no readable text")
    said = document.core_properties
    dated = said.modified or said.created
    return Extracted(
        title=_title(said.title, text, url),
        text=text,
        published=dated.date().isoformat() if dated else None,
        language=(said.language or "")[:2].lower() or None,
        kind=kind_of(url),
    )


def _document_blocks(document: Document) -> Iterator[tuple[str, str]]:
    """Yield kind ("item" or "block") and text of each part that has text."""
    from docx.text.paragraph import Paragraph

    for part in document.iter_inner_content():
        text = _paragraph(part) if isinstance(part, Paragraph) else _table(part)
        if text:
            yield "item" if text.startswith("- ") else "block", text


def _join_blocks(blocks: Iterable[tuple[str, str]]) -> str:
    """Join blocks by blank lines, and consecutive list items by line ends."""
    done, above = "", ""
    for kind, text in blocks:
        done += ("\n" if kind == above == "item" else "\n\n") + text
        above = kind
    return done.strip("\n")


def _paragraph(paragraph: Paragraph) -> str:
    words = " ".join(paragraph.text.split())
    style = (paragraph.style and paragraph.style.name) or ""
    heading = _HEADING.match(style)
    if not words:
        return ""
    if heading or style == "Title":
        return f"{'#' * min(5, int(heading[1]) if heading else 1)} {words}"
    return f"- {words}" if style.startswith("List") or _is_numbered(paragraph) else words


def _is_numbered(paragraph: Paragraph) -> bool:
    properties = paragraph._p.pPr
    return properties is not None and properties.numPr is not None


def _table(table: Table) -> str:
    """Render one line per row; a merged cell, which its row repeats, is written once."""
    cells = (dict.fromkeys(row.cells) for row in table.rows)
    rows = ("\t".join(" ".join(cell.text.split()) for cell in row) for row in cells)
    return "\n".join(row for row in rows if row.strip())


def _title(said: str, text: str, url: str) -> str:
    """Return the title property, else a first heading or short line, else the file name."""
    first = text.split("\n", 1)[0].lstrip("# ")
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    given = "" if said.strip().casefold() in NO_TITLES else said.strip()
    return (given or (first if len(first) <= 100 else name))[:MAX_TITLE]
