"""Word: the report in the program's own styles, so that a reader's template can restyle it."""

from __future__ import annotations

from io import BytesIO

from docx import Document
from docx.document import Document as WordDocument
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph
from docx.text.run import Run as WordRun

from dashboard.exports.blocks import Block, Run, blocks
from dashboard.exports.contents import Citation, Contents

MONOSPACE = "Courier New"
DEEPEST_LIST = 3
# XML 1.0 has no place for control characters; a page's text may hold some
CONTROLS = dict.fromkeys([*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), 0xFFFE, 0xFFFF])


def render(whole: Contents) -> bytes:
    document = Document()
    document.core_properties.title = plain(whole.run.question)
    document.core_properties.author = "Plumbline"
    document.core_properties.language = whole.run.language
    numbers = frozenset(citation.number for citation in whole.citations)
    for block in blocks(whole.markdown, numbers):
        add_block(document, block)
    document.add_heading("Quotes", 1)
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
        add_runs(document.add_paragraph(style=style(block)), block.runs)


def style(block: Block) -> str:
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
            linked(paragraph, f"[{run.cite}]", anchor=f"quote-{run.cite}").font.superscript = True
            continue
        text = plain(run.text)
        written = linked(paragraph, text, run.link) if run.link else paragraph.add_run(text)
        written.bold, written.italic = run.bold or None, run.italic or None
        if run.code:
            written.font.name = MONOSPACE


def linked(paragraph: Paragraph, text: str, address: str = "", anchor: str = "") -> WordRun:
    """A run that leads to an address or to a bookmark of the document."""
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
    bookmark(head, f"quote-{citation.number}", citation.number)
    head.add_run(f"[{citation.number}] {plain(citation.title)}").bold = True
    head.add_run(f", {citation.dated}: ")
    linked(head, citation.url, citation.url)
    for passage in citation.passages:
        quoted = document.add_paragraph(style="Quote")
        quoted.add_run(plain(passage.before))
        quoted.add_run(plain(passage.quote)).bold = True
        quoted.add_run(plain(passage.after))


def bookmark(paragraph: Paragraph, name: str, number: int) -> None:
    for tag in ("w:bookmarkStart", "w:bookmarkEnd"):
        mark = OxmlElement(tag)
        mark.set(qn("w:id"), str(number))
        if tag == "w:bookmarkStart":
            mark.set(qn("w:name"), name)
        paragraph._p.append(mark)


def plain(text: str) -> str:
    return text.translate(CONTROLS)
