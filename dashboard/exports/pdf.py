"""PDF export, typeset by Typst.

The report is passed to the template as data (`sys.inputs`), never as markup, so that page text
cannot be executed. Typst reads nothing from disk or network except the template.
"""

from __future__ import annotations

import json
from pathlib import Path

import typst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.exports import Format
from dashboard.exports.blocks import parse_blocks
from dashboard.exports.contents import Citation, Contents

EM_SPACE = "\u2003"
"""Stands for a tab, which Typst sets without width."""
SHOWN = ("before", "quote", "after")
TEMPLATE = Path(__file__).with_name("report.typ")


def render(whole: Contents) -> bytes:
    numbers = frozenset(citation.number for citation in whole.citations)
    run = whole.run
    told = {
        "title": whole.title,
        "quotes": gettext("Quotes"),
        "language": whole.language.partition("-")[0].lower(),
        "ended": words.format_day(run.finished_at or run.created_at),
        "blocks": [
            block.plain() for block in parse_blocks(whole.markdown, numbers, whole.language)
        ],
        "citations": [citation_data(each) for each in whole.citations if whole.has_quotes],
        "pages": whole.page_links,
    }
    compiled = typst.compile(str(TEMPLATE), sys_inputs={"report": json.dumps(told)})
    assert isinstance(compiled, bytes)  # a list only for one file per page
    return compiled


def citation_data(citation: Citation) -> dict[str, object]:
    return {
        "number": citation.number,
        "title": citation.title,
        "section": citation.section,
        "address": citation.url if citation.on_the_web else "",
        "link": citation.web_link,
        "dated": citation.dated,
        "passages": [
            {"heading": heading}
            | {name: getattr(passage, name).replace("\t", EM_SPACE) for name in SHOWN}
            for heading, passage in citation.headed_passages
        ],
    }


FORMAT = Format(
    "PDF", "pdf", "application/pdf", render, position=2, purpose=_("To print, or to file")
)
