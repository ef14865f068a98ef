"""Markdown export: the report as written, the commands of its steps as blocks, and the quotes of
each citation behind it.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Citation, Contents
from dashboard.markdown.parsing import with_blocks
from research.engine.report.rendering.markdown_escape import unlinked


def render(whole: Contents) -> bytes:
    report = with_blocks(whole.markdown).rstrip()
    if not whole.has_quotes:
        return f"{report}\n".encode()
    quotes = "\n\n".join("\n".join(quote_entry(citation)) for citation in whole.citations)
    return f"{report}\n\n## {gettext('Quotes')}\n\n{quotes}\n".encode()


def quote_entry(citation: Citation) -> Iterator[str]:
    place = " › ".join(filter(None, (citation.title, citation.section)))
    address = f": <{citation.url}>" if citation.on_the_web else ""
    yield f"[{citation.number}] {unlinked(place)} ({citation.dated}){address}"
    for heading, passage in citation.headed_passages:
        if heading:
            yield from ("", f"› {unlinked(heading)}")
        yield ""
        yield from (f"> {unlinked(line)}".rstrip() for line in passage.quote.splitlines())


FORMAT = Format(
    "Markdown",
    "md",
    "text/markdown; charset=utf-8",
    render,
    position=3,
    purpose=_("For notes, wikis and code repositories"),
)
