"""Entry to the extraction chain: bytes of a page in, readable text out.

Runs in a worker process. Heavy libraries are imported on first use: lxml for the first page,
trafilatura and BeautifulSoup only for pages that need them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from research.engine.text.folding import canonical
from research.extract.charset import is_junk
from research.extract.extracted import EmptyPageError, Extracted
from research.fetch.sniffing import DOCX, PDF, looks_like_html, packed_type

Form = Literal["html", "markdown", "plain", "csv", "pdf", "docx"]

# The limit for a text file's bytes, too: compressed formats can unpack to any size.
MAX_CHARACTERS = 10 * 1024 * 1024

_FORM_OF_TYPE: dict[str, Form] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
    "text/csv": "csv",
    "text/tab-separated-values": "csv",
    PDF: "pdf",
    DOCX: "docx",
}
_FORM_OF_SUFFIX: dict[str, Form] = {
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "md": "markdown",
    "markdown": "markdown",
    "csv": "csv",
    "tsv": "csv",
    "docx": "docx",
}


def extract_text(body: bytes, content_type: str | None, url: str) -> Extracted:
    """Return the readable text of a page; raise `EmptyPageError`.

    `content_type` is the raw header; if it is missing or generic, address and bytes decide.
    """
    extracted = _dispatch_extraction(body, content_type, url)
    if len(extracted.text) > MAX_CHARACTERS:
        raise EmptyPageError("it contains more text than can be processed")
    if is_junk(extracted.text):
        raise EmptyPageError("the page contains encoded data and no readable text")
    return replace(
        extracted,
        title=canonical(strip_unstorable(extracted.title)),
        text=canonical(strip_unstorable(extracted.text)),
        site=canonical(strip_unstorable(extracted.site)),
    )


def extract_page(page: tuple[bytes, str | None, str]) -> Extracted:
    """Call `extract_text` with its three arguments as one tuple, as a pool needs it."""
    return extract_text(*page)


def strip_unstorable(text: str) -> str:
    """Replace what databases reject: NUL and lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def type_name(content_type: str | None) -> str:
    """Return the media type of a Content-Type header in lower case, without parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


def _dispatch_extraction(body: bytes, content_type: str | None, url: str) -> Extracted:
    form = _packed_form(body, content_type, url)
    if form == "pdf":
        from research.extract.pdftext import extract_pdf

        return extract_pdf(body, url)
    if form == "docx":
        from research.extract.docxtext import extract_docx

        return extract_docx(body, url)
    return _extract_text(body, content_type, url)


def _extract_text(body: bytes, content_type: str | None, url: str) -> Extracted:
    from research.extract.charset import decode_page

    content = decode_page(body, content_type)
    if "\x00" in content[:4_096]:
        raise EmptyPageError("the page is not text")
    form = _form(content, content_type, url)
    if form == "html":
        from research.extract.html.htmltext import extract_html

        return extract_html(content, url)
    if form == "csv":
        from research.extract.plaintext import extract_csv

        return extract_csv(content, url)
    from research.extract.plaintext import extract_plain

    return extract_plain(content, url, markdown=form == "markdown")


def _packed_form(body: bytes, content_type: str | None, url: str) -> Form | None:
    """Return "pdf" or "docx" by magic bytes, else by type or suffix; None for text formats."""
    name = type_name(content_type)
    by_bytes = packed_type(body)
    form = _FORM_OF_TYPE.get(by_bytes or name) or (_by_suffix(url) if not name else None)
    return form if form in ("pdf", "docx") else None


def _form(content: str, content_type: str | None, url: str) -> Form:
    name = type_name(content_type)
    if name in _FORM_OF_TYPE:
        return _FORM_OF_TYPE[name]
    by_suffix = _by_suffix(url)
    if name == "text/plain":
        return by_suffix if by_suffix in ("markdown", "csv") else "plain"
    if by_suffix in ("html", "markdown", "csv"):
        return by_suffix
    return "html" if looks_like_html(content) else "plain"


def _by_suffix(url: str) -> Form | None:
    return _FORM_OF_SUFFIX.get(urlsplit(url).path.rpartition(".")[2].lower())
