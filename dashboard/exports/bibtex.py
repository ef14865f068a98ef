"""BibTeX: one `@online` entry (biblatex) a cited page, its quotes as a note."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dashboard.exports.contents import Citation, Contents

# one pass, so that what one replacement brings in is not replaced again
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def render(whole: Contents) -> bytes:
    return "\n".join(entry(group) for group in whole.pages()).encode()


def entry(group: tuple[Citation, ...]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields(group))
    return f"@online{{{key(group[0])},\n{lines}}}\n"


def key(page: Citation) -> str:
    """Made of the site and the first marker, so that it is unique in the file."""
    return f"{re.sub(r'[^a-z0-9]', '', page.domain.lower()) or 'source'}{page.number}"


def fields(group: tuple[Citation, ...]) -> Iterator[tuple[str, str]]:
    page = group[0]
    yield "title", f"{{{escape(page.title)}}}"
    yield "organization", escape(page.domain)
    yield "url", page.url.replace("{", "%7B").replace("}", "%7D")
    yield "urldate", f"{page.fetched:%Y-%m-%d}"
    if re.match(r"\d{4}(-\d\d){0,2}", page.published):
        yield "date", page.published[:10]
    quotes = (
        f"[{citation.number}] ``{escape(' '.join(passage.quote.split()))}''"
        for citation in group
        for passage in citation.passages
    )
    yield "note", " ".join(quotes)


def escape(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)
