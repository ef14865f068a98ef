"""Markdown export: the report as written, the commands of its steps as blocks, and the quotes of
each citation behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.exports import Format
from dashboard.exports.contents import Citation, Contents
from dashboard.markdown.parsing import in_lines, is_command
from research.engine.report.rendering.markdown_escape import unlinked

_STEP = re.compile(r"^(\d{1,3}\. )(.+)$", re.MULTILINE)
_CODE = re.compile(r" ?`([^`\n]{1,2000})`[,;.]? ?")
_GAP = re.compile(r"\n\n {1,5}\n\n")


def render(whole: Contents) -> bytes:
    report = with_blocks(whole.markdown).rstrip()
    if not whole.has_quotes:
        return f"{report}\n".encode()
    quotes = "\n\n".join("\n".join(quote_entry(citation)) for citation in whole.citations)
    return f"{report}\n\n## {gettext('Quotes')}\n\n{quotes}\n".encode()


def with_blocks(markdown: str) -> str:
    """Return Markdown whose numbered steps have their long commands as blocks of code."""

    def step(found: re.Match[str]) -> str:
        indent = " " * len(found[1])

        def block(code: re.Match[str]) -> str:
            if not is_command(code[1]):
                return code[0]
            lines = ("```", *in_lines(code[1]).splitlines(), "```")
            return "\n\n" + "".join(f"{indent}{line}\n" for line in lines) + f"\n{indent}"

        told = _CODE.sub(block, found[2])
        return found[1] + _GAP.sub("\n\n", told).rstrip()

    return _STEP.sub(step, markdown)


def quote_entry(citation: Citation) -> Iterator[str]:
    place = " › ".join(filter(None, (citation.title, citation.section)))
    yield f"[{citation.number}] {unlinked(place)} ({citation.dated}): <{citation.url}>"
    for passage in citation.passages:
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
