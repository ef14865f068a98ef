"""Word export. It uses the built-in styles, so that a template can restyle the report."""

from __future__ import annotations

from io import BytesIO

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from docx import Document
from docx.document import Document as WordDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from docx.text.run import Run as WordRun

from dashboard.exports import Format
from dashboard.exports.blocks import Block, Run, parse_blocks
from dashboard.exports.contents import Citation, Contents

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MONOSPACE = "Courier New"
DEEPEST_LIST = 3


def render(whole: Contents) -> bytes:
    document = Document()
    document.core_properties.title = whole.title
    document.core_properties.author = "Plumbline"
    document.core_properties.language = whole.language
    numbers = frozenset(citation.number for citation in whole.citations)
    for block in parse_blocks(whole.markdown, numbers, whole.language):
        add_block(document, block)
    document.add_heading(gettext("Quotes"), 1)
    for citation in whole.citations:
        add_citation(document, citation)
    stored = BytesIO()
    document.save(stored)
    return stored.getvalue()


def add_block(document: WordDocument, block: Block) -> None:
    if block.kind == "heading":
        add_runs(document.add_heading(level=min(block.level - 1, 9)), block.runs)
    elif block.kind == "table":
        add_table(document, block)
    else:
        add_runs(document.add_paragraph(style=paragraph_style(block)), block.runs)


def paragraph_style(block: Block) -> str:
    if block.kind == "item":
        name = "List Number" if block.number else "List Bullet"
        depth = min(block.level, DEEPEST_LIST)
        return name if depth == 1 else f"{name} {depth}"
    return {"quote": "Intense Quote", "code": "No Spacing"}.get(block.kind, "Normal")


def add_table(document: WordDocument, block: Block) -> None:
    width = max((len(row) for row in block.rows), default=0)
    table = document.add_table(rows=len(block.rows), cols=width, style="Table Grid")
    for row, cells in zip(block.rows, table.rows, strict=True):
        for runs, cell in zip(row, cells.cells, strict=False):
            add_runs(cell.paragraphs[0], runs)


def add_runs(paragraph: Paragraph, runs: tuple[Run, ...]) -> None:
    for run in runs:
        if run.cite:
            add_hyperlink(
                paragraph, f"[{run.cite}]", anchor=f"quote-{run.cite}"
            ).font.superscript = True
            continue
        text, link = run.text, run.link
        written = add_hyperlink(paragraph, text, link) if link else paragraph.add_run(text)
        written.bold, written.italic = run.bold or None, run.italic or None
        if run.code:
            written.font.name = MONOSPACE


def add_hyperlink(paragraph: Paragraph, text: str, address: str = "", anchor: str = "") -> WordRun:
    """Append a run that links to a URL or to a bookmark of the document."""
    link = OxmlElement("w:hyperlink")
    if anchor:
        link.set(qn("w:anchor"), anchor)
    else:
        kind = RELATIONSHIP_TYPE.HYPERLINK
        link.set(qn("r:id"), paragraph.part.relate_to(address, kind, is_external=True))
    run = paragraph.add_run(text)
    link.append(run._r)
    paragraph._p.append(link)
    return run


def add_citation(document: WordDocument, citation: Citation) -> None:
    head = document.add_paragraph()
    add_bookmark(head, f"quote-{citation.number}", citation.number)
    head.add_run(f"[{citation.number}] {citation.title}").bold = True
    head.add_run(f", {citation.dated}: ")
    if citation.link:
        add_hyperlink(head, citation.url, citation.link)
    else:
        head.add_run(citation.url)
    for passage in citation.passages:
        quoted = document.add_paragraph(style="Quote")
        quoted.add_run(passage.before)
        quoted.add_run(passage.quote).bold = True
        quoted.add_run(passage.after)


def add_bookmark(paragraph: Paragraph, name: str, number: int) -> None:
    for tag in ("w:bookmarkStart", "w:bookmarkEnd"):
        mark = OxmlElement(tag)
        mark.set(qn("w:id"), str(number))
        if tag == "w:bookmarkStart":
            mark.set(qn("w:name"), name)
        paragraph._p.append(mark)


FORMAT = Format("Word", "docx", MEDIA_TYPE, render, position=1, purpose=_("To edit, or to hand on"))
