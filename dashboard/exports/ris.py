"""RIS export: one reference per cited page, with its quotes as notes.

Tags follow the specification of 2001, dates that of 2011. TY starts a reference, ER ends it, lines
end in CR LF, and a value must not contain line breaks.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Citation, Contents

END = "\r\n"


def render(whole: Contents) -> bytes:
    return "".join(
        f"{tag}  - {' '.join(value.split())}{END}"
        for group in whole.pages()
        for tag, value in ris_fields(group)
    ).encode()


def ris_fields(group: tuple[Citation, ...]) -> Iterator[tuple[str, str]]:
    page = group[0]
    yield "TY", "ELEC"
    yield "TI", page.title
    yield "T2", page.domain
    yield "PB", page.publisher
    if page.published:
        yield "PY", page.published[:4]
        yield "DA", page.published[:10].replace("-", "/")
    yield ("UR", page.url) if page.on_the_web else ("M1", page.address)
    yield "Y2", f"{page.fetched:%Y/%m/%d}"
    for citation in group:
        for passage in citation.passages:
            yield "N1", f"[{citation.number}] “{passage.quote}”"
    yield "ER", ""


FORMAT = Format(
    "RIS",
    "ris",
    "application/x-research-info-systems; charset=utf-8",
    render,
    position=7,
    group=_("References"),
    purpose=_("The sources, for Zotero or EndNote"),
)
