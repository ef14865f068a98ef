"""PDF, set by Typst from a template of ours.

The report reaches the template as data (`sys.inputs`), never as markup: nothing that stands in
a page can act as code. Nothing is read from the disk or the network but the template.
"""

from __future__ import annotations

import json
from pathlib import Path

import typst

from dashboard import words
from dashboard.exports.blocks import blocks
from dashboard.exports.contents import Citation, Contents

TEMPLATE = Path(__file__).with_name("report.typ")


def render(whole: Contents) -> bytes:
    numbers = frozenset(citation.number for citation in whole.citations)
    run = whole.run
    told = {
        "title": whole.title,
        "language": whole.language.partition("-")[0].lower(),
        "ended": words.day(run.finished_at or run.created_at),
        "blocks": [block.plain() for block in blocks(whole.markdown, numbers)],
        "citations": [entry(citation) for citation in whole.citations],
    }
    compiled = typst.compile(str(TEMPLATE), sys_inputs={"report": json.dumps(told)})
    assert isinstance(compiled, bytes)  # a list only where pages become files of their own
    return compiled


def entry(citation: Citation) -> dict[str, object]:
    return {
        "number": citation.number,
        "title": citation.title,
        "section": citation.section,
        "url": citation.url,
        "link": citation.link,
        "dated": citation.dated,
        "passages": [vars(passage) for passage in citation.passages],
    }
