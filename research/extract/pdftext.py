"""PDF to text; each page begins with a heading, `## Page 12`.

Pages are numbered by position in the file, as PDF viewers show them. Words and their order
come from pypdf; only lines are joined to paragraphs.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from research.extract.extracted import EmptyPageError, Extracted
from research.extract.html.metadata import MAX_TITLE
from research.fetch.sites import kind_of
from research.fulltext.passages import page_mark

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 2_000
# A line shorter than this share of the page's longest one ends its paragraph.
_SHORT_LINE = 0.75
# A first or last line shared by this number of pages is a running header or footer.
_RUNNING_PAGES = 4

_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
# a page number: "12"; not part of "1.5" or "1,234"
_NUMBER = re.compile(r"(?<![\d.,])\d{1,5}(?![\d.,])")
# "- ", "12) "
_ITEM = re.compile(r"(?:[-*•]|\d{1,3}[.)])\s")
# "7.8 Boards with SATA"; not "1.2 million", nor a line of a table of contents
_SECTION = re.compile(
    r"(\d{1,2}(?:\.\d{1,2}){1,4})\.? (?=[^\W\d_])(?=[^a-z])(?!.*(?:\. ?){4})[^.;,:]*$"
)
_LONGEST_SECTION = 80
# "hyphen-" at the end of a line
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
# "D:20240506120000Z"
_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
_DAMAGED = "the PDF is damaged and cannot be read"
_PROTECTED = "the PDF is protected by a password"


def extract_pdf(body: bytes, url: str) -> Extracted:
    """Return the text of a PDF's pages; raise `EmptyPageError` with the reason if there is none."""
    try:
        return _extract_document(body, url)
    except EmptyPageError:
        raise
    except Exception as error:  # a broken file raises anything from deep within the parser
        raise EmptyPageError(_DAMAGED) from error


def _extract_document(body: bytes, url: str) -> Extracted:
    reader = _open_reader(body)
    pages = [_lines(page.extract_text()) for page in reader.pages]
    if not any(pages):
        raise EmptyPageError(_why_empty(reader))
    texts = _page_texts(pages)
    return Extracted(
        title=_title(reader, texts, url),
        text="\n\n".join(f"{page_mark(number)}\n\n{text}" for number, text in texts),
        published=_published(reader),
        language=_language(reader),
        kind=kind_of(url),
    )


def _open_reader(body: bytes) -> PdfReader:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError

    reader = PdfReader(io.BytesIO(body))
    try:
        if reader.is_encrypted and not reader.decrypt(""):
            raise EmptyPageError(_PROTECTED)
    except (DependencyError, NotImplementedError):
        raise EmptyPageError("the PDF is encrypted in a way that cannot be read") from None
    count = len(reader.pages)
    if count == 0:
        raise EmptyPageError("the PDF has no pages")
    if count > MAX_PAGES:
        raise EmptyPageError(
            f"the PDF has {count:,} pages, more than the {MAX_PAGES:,} that are read"
        )
    return reader


def _lines(text: str) -> list[str]:
    """Return the lines with white space collapsed; "" separates blocks."""
    return [_SPACE.sub(" ", line).strip() for line in text.strip().split("\n")] if text else []


def _page_texts(pages: Sequence[list[str]]) -> list[tuple[int, str]]:
    """Return number (from 1) and text of every page that has text, without running lines.

    If only running lines would remain, they are kept as the text.
    """
    running = _running_lines(pages)
    kept = [_without(page, number, running) for number, page in enumerate(pages, start=1)]
    words = Counter(word for page in pages for line in page for word in _FIRST_WORD.findall(line))
    return [
        (number, "\n\n".join(_paragraphs(lines, words)))
        for number, lines in enumerate(kept if any(map(any, kept)) else pages, start=1)
        if any(lines)
    ]


def _running_lines(pages: Sequence[list[str]]) -> set[tuple[str, int]]:
    """Return the signatures of running headers and footers."""
    signs = Counter(
        sign
        for number, page in enumerate(pages, start=1)
        for sign in {sign for line in (page[:1] + page[-1:]) for sign in _signs(line, number)}
    )
    return {sign for sign, count in signs.items() if count >= _RUNNING_PAGES}


def _signs(line: str, page: int) -> Iterator[tuple[str, int]]:
    """Yield the signatures by which a running line is recognised on other pages: the whole line, or
    the line with its page number replaced and the number's offset from the page.
    """
    yield line, 0
    for found in _NUMBER.finditer(line):
        yield f"{line[: found.start()]}#{line[found.end() :]}", int(found[0]) - page


def _without(page: list[str], number: int, running: set[tuple[str, int]]) -> list[str]:
    kept = list(page)
    for end in (0, -1):
        if kept and not running.isdisjoint(_signs(kept[end], number)):
            del kept[end]
    return kept


def _paragraphs(lines: Sequence[str], words: Counter[str]) -> Iterator[str]:
    """Join lines up to a blank line, a short line, the next list item or a numbered heading. A line
    that begins with "#" in the file, such as a comment of a script, is none.
    """
    full = _SHORT_LINE * max(map(len, lines))
    paragraph = ""
    for line in lines:
        heading = _SECTION.match(line) if len(line) <= _LONGEST_SECTION else None
        if paragraph and (not line or heading or _ITEM.match(line)):
            yield paragraph
            paragraph = ""
        if heading:
            yield f"{'#' * (2 + heading[1].count('.'))} {line}"
            continue
        if not paragraph and line.startswith("#"):
            line = f"\\{line}"
        paragraph = _joined(paragraph, line, words) if line else ""
        if line and len(line) < full:
            yield paragraph
            paragraph = ""
    if paragraph:
        yield paragraph


def _joined(before: str, line: str, words: Counter[str]) -> str:
    """Append a line; rejoin a hyphenated word if the document also contains it unhyphenated."""
    broken, rest = _BROKEN_WORD.search(before), _FIRST_WORD.match(line)
    if not broken or not rest:
        return f"{before} {line}".strip()
    whole = f"{broken[1]}{rest[0]}"
    return f"{before[:-1]}{line}" if whole in words else f"{before}{line}"


def _why_empty(reader: PdfReader) -> str:
    if any(_has_image(page) for page in reader.pages):
        return "the PDF contains only images of its pages (a scan) and no text"
    return "the PDF contains no readable text"


def _has_image(page: PageObject) -> bool:
    resources = page.get("/Resources")
    objects = resources.get_object().get("/XObject") if resources else None
    found = objects.get_object().values() if objects else ()
    return any(each.get_object().get("/Subtype") in ("/Image", "/Form") for each in found)


def _title(reader: PdfReader, texts: Sequence[tuple[int, str]], url: str) -> str:
    """Return the title property, else a short first line, else the file name."""
    said = _SPACE.sub(" ", (reader.metadata and reader.metadata.title) or "").strip()
    first = texts[0][1].split("\n", 1)[0].lstrip("#\\ ")
    name = unquote(urlsplit(url).path.rpartition("/")[2])
    return (said or (first if len(first) <= 100 else name))[:MAX_TITLE]


def _published(reader: PdfReader) -> str | None:
    said = reader.metadata
    found = _DATE.match(str(said.get("/CreationDate", ""))) if said else None
    return "-".join(filter(None, found.groups())) if found else None


def _language(reader: PdfReader) -> str | None:
    written = str(reader.root_object.get("/Lang", "")).split("-")[0].lower()
    return written if re.fullmatch(r"[a-z]{2,3}", written) else None
