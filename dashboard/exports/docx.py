"""Word export. It uses the built-in styles, so that a template can restyle the report."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from docx import Document
from docx.document import Document as WordDocument
from docx.enum.style import WD_STYLE_TYPE
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.numbering import CT_Num
from docx.shared import Inches, Pt
from docx.text.paragraph import Paragraph
from docx.text.run import Run as WordRun

from dashboard.exports import Format
from dashboard.exports.blocks import Block, Run, parse_blocks
from dashboard.exports.contents import Citation, Contents

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MONOSPACE = "Courier New"
CODE = "Code"
LIST_INDENT = Inches(0.25)
DEEPEST_LIST = 3


def render(whole: Contents) -> bytes:
    document = Document()
    properties = document.core_properties
    properties.title, properties.author = whole.title, "Plumbline"
    properties.language, properties.comments = whole.language, ""
    properties.created = properties.modified = whole.run.finished_at or whole.run.created_at
    add_code_style(document)
    add_page_numbers(document)
    numbers = frozenset(citation.number for citation in whole.citations)
    lists = dict[int, CT_Num]()
    for block in parse_blocks(whole.markdown, numbers, whole.language):
        paragraph = add_block(document, block, whole.page_links)
        if paragraph is not None and block.number:
            number_item(document, paragraph, block, lists)
    if whole.has_quotes:
        document.add_heading(gettext("Quotes"), 1)
        for citation in whole.citations:
            add_citation(document, citation)
    stored = BytesIO()
    document.save(stored)
    return stored.getvalue()


def add_block(document: WordDocument, block: Block, pages: Mapping[int, str]) -> Paragraph | None:
    """Append a block, and return its paragraph; a table has none. Numbers of citations lead to
    their `pages`, those without an entry to the quotes.
    """
    if block.kind == "table":
        add_table(document, block, pages)
        return None
    if block.kind == "heading":
        paragraph = document.add_heading(level=min(block.level - 1, 9))
    else:
        paragraph = document.add_paragraph(style=paragraph_style(block))
        if depth := block.level * (block.kind != "item") or (block.level + 2) * block.in_box:
            paragraph.paragraph_format.left_indent = depth * LIST_INDENT
    add_runs(paragraph, block.runs, pages)
    return paragraph


def number_item(
    document: WordDocument, paragraph: Paragraph, block: Block, lists: dict[int, CT_Num]
) -> None:
    """Number an item in the list of its level, a new one where the count does not go on: Word
    would continue the number of the document's last list.
    """
    assert paragraph.style is not None
    if block.number == 1 or block.level not in lists:
        numbering = document.part.numbering_part.element
        of_style = paragraph.style.element.pPr.numPr.numId.val
        of_list = numbering.add_num(numbering.num_having_numId(of_style).abstractNumId.val)
        of_list.add_lvlOverride(ilvl=0).add_startOverride(block.number)
        lists[block.level] = of_list
    paragraph._p.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = lists[
        block.level
    ].numId


def add_page_numbers(document: WordDocument) -> None:
    """Set the number of each page at its foot."""
    foot = document.sections[0].footer.paragraphs[0]
    foot.alignment = WD_ALIGN_PARAGRAPH.CENTER
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), "PAGE")
    foot._p.append(field)


def add_code_style(document: WordDocument) -> None:
    """Add the style of code: shaded lines in a monospaced font, not to be spell-checked."""
    style = document.styles.add_style(CODE, WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Normal"]
    style.font.name, style.font.size, style.font.no_proof = MONOSPACE, Pt(9.5), True
    style.paragraph_format.keep_together = True
    shade = OxmlElement("w:shd")
    shade.set(qn("w:val"), "clear")
    shade.set(qn("w:fill"), "F2F2F2")
    style.element.get_or_add_pPr().append(shade)


def paragraph_style(block: Block) -> str:
    if block.kind == "item":
        name = "List Number" if block.number else "List Bullet"
        depth = min(block.level, DEEPEST_LIST)
        return name if depth == 1 else f"{name} {depth}"
    return {"quote": "Intense Quote", "code": CODE}.get(block.kind, "Normal")


def add_table(document: WordDocument, block: Block, pages: Mapping[int, str]) -> None:
    width = max((len(row) for row in block.rows), default=0)
    table = document.add_table(rows=len(block.rows), cols=width, style="Table Grid")
    for row, cells in zip(block.rows, table.rows, strict=True):
        for runs, cell in zip(row, cells.cells, strict=False):
            add_runs(cell.paragraphs[0], runs, pages)


def add_runs(paragraph: Paragraph, runs: tuple[Run, ...], pages: Mapping[int, str]) -> None:
    for run in runs:
        if run.cite:
            add_number(paragraph, run.cite, pages)
            continue
        text, link = run.text, run.link
        written = add_hyperlink(paragraph, text, link) if link else paragraph.add_run(text)
        written.bold, written.italic = run.bold or None, run.italic or None
        if run.code:
            written.font.name = MONOSPACE


def add_number(paragraph: Paragraph, number: int, pages: Mapping[int, str]) -> None:
    """Append the number of a citation."""
    text, page = f"[{number}]", pages.get(number)
    if page == "":
        written = paragraph.add_run(text)
    else:
        anchor = "" if page else f"quote-{number}"
        written = add_hyperlink(paragraph, text, page or "", anchor)
    written.font.superscript = True


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
    section = f" › {citation.section}" if citation.section else ""
    head.add_run(f"{section}, {citation.dated}")
    if citation.on_the_web:
        head.add_run(": ")
    if citation.web_link:
        add_hyperlink(head, citation.url, citation.web_link)
    elif citation.on_the_web:
        head.add_run(citation.url)
    for heading, passage in citation.headed_passages:
        if heading:
            named = document.add_paragraph(f"› {heading}")
            named.paragraph_format.keep_with_next = True
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
