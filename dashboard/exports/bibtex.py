"""BibTeX export: one `@online` entry (biblatex) per cited page, with its quotes as a note."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Citation, Contents

# Applied in one pass, so that the backslashes of replacements are not escaped again.
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def render(whole: Contents) -> bytes:
    return "\n".join(bibtex_entry(group) for group in whole.pages()).encode()


def bibtex_entry(group: tuple[Citation, ...]) -> str:
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in entry_fields(group))
    return f"@online{{{citation_key(group[0])},\n{lines}}}\n"


def citation_key(page: Citation) -> str:
    """Return a key that is unique in the file: the site and the first marker."""
    # "www.example-site.org" → "wwwexamplesiteorg"
    return f"{re.sub(r'[^a-z0-9]', '', page.domain.lower()) or 'source'}{page.number}"


def entry_fields(group: tuple[Citation, ...]) -> Iterator[tuple[str, str]]:
    page = group[0]
    yield "title", f"{{{escape_tex(page.title)}}}"
    yield "organization", escape_tex(page.domain)
    if page.on_the_web:
        yield "url", page.url.replace("{", "%7B").replace("}", "%7D")
    else:
        yield "howpublished", escape_tex(page.address)
    yield "urldate", f"{page.fetched:%Y-%m-%d}"
    if re.match(r"\d{4}(-\d\d){0,2}", page.published):  # "2023", "2023-05", "2023-05-17"
        yield "date", page.published[:10]
    quotes = (
        f"[{citation.number}] ``{escape_tex(' '.join(passage.quote.split()))}''"
        for citation in group
        for passage in citation.passages
    )
    yield "note", " ".join(quotes)


def escape_tex(text: str) -> str:
    return "".join(SPECIAL.get(character, character) for character in text)


FORMAT = Format(
    "BibTeX",
    "bib",
    "application/x-bibtex; charset=utf-8",
    render,
    position=8,
    group=_("References"),
    purpose=_("The sources, for LaTeX"),
)
