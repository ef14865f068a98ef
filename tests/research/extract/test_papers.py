"""PDF and Word documents: their text, the page it stands on, and why there is none."""

import io
import re
from collections import Counter

import docx
import pytest
from pypdf import PdfWriter

from research.engine.text.sentences import split_sentences
from research.extract import pdftext
from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError
from research.extract.pool import TextPool
from research.fetch.sniffing import DOCX, PDF
from research.fulltext.index import DocumentIndex
from research.fulltext.passages import outline_text
from tests.support.retrieval.folders import write
from tests.support.retrieval.papers import pdf, rewritten, scan, word, written

URL = "file:///notes/report.pdf"
TIDE = (
    "The tide was measured eleven times in the harbour, and the result of each measurement was"
    " written down in the log, which is kept in the archive of the town."
)
WIND = (
    "The wind turned to the north-east after midnight and blew with the force of a gale until"
    " the lanterns on the pier went out one after another."
)


def read(body: bytes, content_type: str = PDF, url: str = URL):
    return extract_text(body, content_type, url)


def reason(body: bytes, content_type: str = PDF) -> str:
    with pytest.raises(EmptyPageError) as caught:
        read(body, content_type)
    return caught.value.reason


def test_each_page_of_a_pdf_stands_under_its_number():
    found = read(pdf(TIDE, "", WIND, title="The log"))
    assert found.title == "The log"
    assert found.text == f"## Page 1\n\n{TIDE}\n\n## Page 3\n\n{WIND}"
    assert [(each.section, each.text) for each in split_sentences(found.text)] == [
        ("Page 1", TIDE),
        ("Page 3", WIND),
    ]


def test_paragraphs_and_items_of_a_pdf_stay_apart():
    found = read(pdf(f"{TIDE}\n\n{WIND}\n\n- first thing\n- second thing"))
    assert found.text.split("\n\n")[1:] == [TIDE, WIND, "• first thing", "• second thing"]


def test_a_word_broken_at_the_end_of_a_line_is_whole_only_where_the_pdf_has_it_whole():
    words = {"lantern": 1}
    joined = pdftext._joined
    assert joined("the old lan-", "tern", words) == "the old lantern"
    assert joined("a well-", "known man", words) == "a well-known man"


def test_heads_and_feet_that_pages_share_are_no_text():
    pages = [f"{TIDE} Volume {number}." for number in range(5)]
    header = "The Log of 1911, page #context counter(page).display() of 5"
    text = read(pdf(*pages, header=header)).text
    assert "The Log" not in text
    assert text.count("The tide was measured") == 5


def test_last_lines_that_differ_in_more_than_the_pages_number_stay():
    pages = [f"{TIDE}\n\nTotal: {total}" for total in (11, 3, 19, 7, 5)]
    text = read(pdf(*pages)).text
    assert [f"Total: {total}" in text for total in (11, 3, 19, 7, 5)] == [True] * 5


def test_numbers_of_pages_are_no_headings_to_search_by():
    assert outline_text(read(pdf(TIDE, WIND)).text).headings == ()
    assert [passage.heading for passage in outline_text(read(pdf(TIDE, WIND)).text).passages] == [
        "",
        "",
    ]


def test_a_pdf_is_told_by_its_first_bytes():
    assert read(pdf(TIDE), "text/html").text.endswith(TIDE)


def test_a_pdf_without_text_says_why(monkeypatch: pytest.MonkeyPatch):
    body = pdf(TIDE)
    locked = rewritten(body, lambda writer: writer.encrypt("secret", algorithm="RC4-128"))
    blank = rewritten(pdf(""), lambda writer: writer.add_metadata({"/Title": "Blank"}))
    assert reason(locked) == "the PDF is protected by a password"
    assert reason(blank) == "the PDF contains no readable text"
    assert "a scan" in reason(scan())
    assert reason(written(PdfWriter())) == "the PDF has no pages"
    assert reason(body[: len(body) // 2]) == "the PDF is damaged and cannot be read"
    assert reason(b"%PDF-1.7 nonsense") == "the PDF is damaged and cannot be read"
    monkeypatch.setattr(pdftext, "MAX_PAGES", 1)
    assert "has 2 pages" in reason(pdf(TIDE, WIND))


def test_a_pdf_that_needs_no_password_to_be_read_is_read():
    def lock(writer: PdfWriter) -> None:
        writer.encrypt("", "owner", algorithm="RC4-128")

    assert read(rewritten(pdf(TIDE), lock)).text.endswith(TIDE)


def test_a_title_that_a_program_set_by_itself_is_none():
    document = docx.Document(io.BytesIO(word(("Normal", TIDE))))
    document.core_properties.title = "Word Document"
    body = io.BytesIO()
    document.save(body)
    assert read(body.getvalue(), DOCX, "file:///notes/log.docx").title == "log.docx"


def test_a_word_document_keeps_its_shape():
    body = word(
        ("Title", "Harbour log"),
        ("Heading 1", "Tides"),
        ("Normal", TIDE),
        ("List Bullet", "spring"),
        ("List Bullet", "neap"),
        [("month", "height"), ("May", "3 m")],
        ("Heading 2", "Winds"),
        ("Normal", WIND),
    )
    found = read(body, DOCX, "file:///notes/log.docx")
    assert found.title == "Harbour log"
    assert found.text == (
        f"# Harbour log\n\n# Tides\n\n{TIDE}\n\n- spring\n- neap\n\nmonth\theight\nMay\t3 m\n\n"
        f"## Winds\n\n{WIND}"
    )


def test_a_cell_over_several_columns_is_read_once():
    document = docx.Document(io.BytesIO(word([("month", "height"), ("May", "3 m")])))
    top = document.tables[0].cell(0, 0)._tc
    top.get_or_add_tcPr().get_or_add_gridSpan().val = 100_000
    body = io.BytesIO()
    document.save(body)
    text = read(body.getvalue(), DOCX, "file:///notes/log.docx").text
    assert text == "month\theight\nMay\t3 m"


@pytest.mark.slow
def test_a_small_file_that_unpacks_to_a_huge_text_is_refused():
    body = word(*[("Normal", "tide " * 100_000)] * 24)
    assert len(body) < 100_000
    assert reason(body, DOCX) == "it contains more text than can be processed"


def test_a_word_document_without_text_says_why():
    assert reason(word(), DOCX) == "the document contains no readable text"
    assert reason(b"PK\x03\x04 junk", DOCX) == "the document is damaged and cannot be read"
    assert "protected by a password" in reason(b"\xd0\xcf\x11\xe0" + b"\0" * 600, DOCX)


def test_a_pdf_of_one_like_line_a_page_keeps_its_lines():
    text = extract_text(pdf(*(f"Buoy {at} lies at the mole." for at in range(6))), PDF, URL).text
    assert "## Page 6\n\nBuoy 5 lies at the mole." in text


@pytest.mark.subprocess
async def test_both_are_found_in_a_folder_and_broken_ones_are_listed(tmp_path):
    folder = write(
        tmp_path / "notes",
        {
            "report.pdf": pdf(TIDE, WIND),
            "log.docx": word(("Normal", "The lantern keeper wrote of granite.")),
            "scan.pdf": scan(),
            "torn.docx": b"PK",
        },
    )
    index = DocumentIndex(tmp_path / "index.sqlite3")
    with TextPool(1) as pool:
        report = await index.refresh(folder, pool)
    assert report.documents == 2
    assert {file.path: bool(re.search("scan|damaged", file.reason)) for file in report.broken} == {
        "scan.pdf": True,
        "torn.docx": True,
    }
    [hit] = await index.search("force of the gale", ["notes"], 8)
    assert hit.url == "file:///notes/report.pdf"
    assert "force of a gale" in hit.snippet
    [hit] = await index.search("lantern keeper's granite", ["notes"], 1)
    assert hit.url == "file:///notes/log.docx"
    index.close()


def test_numbered_headings_of_a_pdf_are_headings_and_its_comments_are_none():
    lines = [
        "1 Boards . . . . . . . . . . . 3",
        "7.7 Boards of the harbour",
        "The first board has a port for disks and needs five volts of power, as all the others do.",
        "7.7.6 Known Issues",
        "- Revision K of this board does not work properly with any of the disks of the harbour.",
        "7.8 Boards of the mill",
        "# apt update",
        "It has 1.2 million readers in all the towns on the coast and inland, too.",
    ]
    assert [*pdftext._paragraphs(lines, Counter())] == [
        lines[0],
        "### 7.7 Boards of the harbour",
        lines[2],
        "#### 7.7.6 Known Issues",
        lines[4],
        "### 7.8 Boards of the mill",
        "\\# apt update",
        lines[7],
    ]
