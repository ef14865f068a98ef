"""PDF and Word files generated for the tests."""

import io
from collections.abc import Callable, Sequence

import docx
import typst
from pypdf import PdfReader, PdfWriter


def pdf(*pages: str, header: str = "", title: str = "") -> bytes:
    """Return a PDF made by Typst from one markup text per page."""
    paper = f"#set page(width: 16cm, height: 12cm, header: [{header}])"
    head = f'{paper}\n#set document(title: "{title}")'
    body = "\n#pagebreak()\n".join(pages)
    return typst.compile(f"{head}\n{body}".encode())


def scan() -> bytes:
    """Return a PDF whose only page is an image."""
    return pdf('#image(bytes((0, 255, 255, 0)), format: (encoding: "luma8", width: 2, height: 2))')


def rewritten(body: bytes, change: Callable[[PdfWriter], object]) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(body)))
    change(writer)
    return written(writer)


def written(writer: PdfWriter) -> bytes:
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word(*parts: tuple[str, str] | Sequence[Sequence[str]], title: str = "") -> bytes:
    """Return a Word document of paragraphs (style, text) and tables (rows of cells)."""
    document = docx.Document()
    document.core_properties.title = title
    for part in parts:
        if isinstance(part, tuple):
            document.add_paragraph(part[1], style=part[0])
            continue
        table = document.add_table(rows=0, cols=len(part[0]))
        for row in part:
            for cell, text in zip(table.add_row().cells, row, strict=True):
                cell.text = text
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
