"""Bytes of a page in, readable text out: the entry to the extraction chain.

Runs in a worker process. Nothing heavy is imported before it is needed: lxml for the
first page, trafilatura and BeautifulSoup only for the pages that need them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

from research.retrieval.extracted import EmptyPage, Extracted
from research.retrieval.junk import is_junk
from research.retrieval.sniffing import DOCX, PDF, looks_like_html, packed_type

Form = Literal["html", "markdown", "plain", "csv", "pdf", "docx"]

# As much as a text file may have in bytes: what is packed may unpack to anything.
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


def extract(body: bytes, content_type: str | None, url: str) -> Extracted:
    """The readable text of a page; raises `EmptyPage`.

    `content_type` is the header as it came; without one, or with one that says little,
    the address and the bytes decide.
    """
    extracted = _extract(body, content_type, url)
    if len(extracted.text) > MAX_CHARACTERS:
        raise EmptyPage("it holds more text than can be read")
    if is_junk(extracted.text):
        raise EmptyPage("the page holds encoded data and no readable text")
    return replace(
        extracted,
        title=storable(extracted.title),
        text=storable(extracted.text),
        site=storable(extracted.site),
    )


def extract_page(page: tuple[bytes, str | None, str]) -> Extracted:
    """`extract` for a pool: its three arguments in one."""
    return extract(*page)


def storable(text: str) -> str:
    """Without what no database keeps: NUL, and halves of surrogate pairs."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def type_name(content_type: str | None) -> str:
    """The bare name of a content type's header, in lower case; "" for none."""
    return (content_type or "").partition(";")[0].strip().lower()


def _extract(body: bytes, content_type: str | None, url: str) -> Extracted:
    form = _packed_form(body, content_type, url)
    if form == "pdf":
        from research.retrieval.pdftext import extract_pdf

        return extract_pdf(body, url)
    if form == "docx":
        from research.retrieval.docxtext import extract_docx

        return extract_docx(body, url)
    return _extract_text(body, content_type, url)


def _extract_text(body: bytes, content_type: str | None, url: str) -> Extracted:
    from research.retrieval.charset import decode

    content = decode(body, content_type)
    if "\x00" in content[:4_096]:
        raise EmptyPage("the page is not text")
    form = _form(content, content_type, url)
    if form == "html":
        from research.retrieval.htmltext import extract_html

        return extract_html(content, url)
    if form == "csv":
        from research.retrieval.csvtext import extract_csv

        return extract_csv(content, url)
    from research.retrieval.plaintext import extract_plain

    return extract_plain(content, url, markdown=form == "markdown")


def _packed_form(body: bytes, content_type: str | None, url: str) -> Form | None:
    """The form of what is no text in itself; its first bytes tell it whatever its type."""
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
