"""Bytes of a page in, readable text out: the entry to the extraction chain.

Runs in a worker process. Nothing heavy is imported before it is needed: lxml for the
first page, trafilatura and BeautifulSoup only for the pages that need them.
"""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

from research.retrieval.extracted import EmptyPage, Extracted

Form = Literal["html", "markdown", "plain"]

_FORM_OF_TYPE: dict[str, Form] = {
    "text/html": "html",
    "application/xhtml+xml": "html",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
}
_FORM_OF_SUFFIX: dict[str, Form] = {
    "html": "html",
    "htm": "html",
    "xhtml": "html",
    "md": "markdown",
    "markdown": "markdown",
}
_LOOKS_LIKE_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


def extract(body: bytes, content_type: str | None, url: str) -> Extracted:
    """The readable text of a page; raises `EmptyPage`.

    `content_type` is the header as it came; without one, or with one that says no more
    than "text", the address and the first bytes decide.
    """
    from research.retrieval.charset import decode

    content = decode(body, content_type)
    if "\x00" in content[:4_096]:
        raise EmptyPage("the page is not text")
    form = _form(content, content_type, url)
    if form == "html":
        from research.retrieval.htmltext import extract_html

        return extract_html(content, url)
    from research.retrieval.plaintext import extract_plain

    return extract_plain(content, url, markdown=form == "markdown")


def extract_page(page: tuple[bytes, str | None, str]) -> Extracted:
    """`extract` for a pool: its three arguments in one."""
    return extract(*page)


def _form(content: str, content_type: str | None, url: str) -> Form:
    name = (content_type or "").partition(";")[0].strip().lower()
    if name in _FORM_OF_TYPE:
        return _FORM_OF_TYPE[name]
    by_suffix = _FORM_OF_SUFFIX.get(urlsplit(url).path.rpartition(".")[2].lower())
    if name == "text/plain":
        return "markdown" if by_suffix == "markdown" else "plain"
    if by_suffix:
        return by_suffix
    return "html" if _LOOKS_LIKE_HTML.match(content[:4_096]) else "plain"
