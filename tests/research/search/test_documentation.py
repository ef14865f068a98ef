"""Real pages: the PostgreSQL manual as Debian packages it."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from research.engine.text.folding import canonical
from research.extract.extract import extract_text
from research.extract.html.htmltext import with_superscripts

MANUAL = Path("/usr/share/doc/postgresql-doc-15/html")
PAGES = sorted(MANUAL.glob("*.html"))[::24]

pytestmark = pytest.mark.skipif(not PAGES, reason="needs Debian's package postgresql-doc-15")


def read(path: Path):
    return extract_text(path.read_bytes(), "text/html", f"file:///manual/{path.name}")


def soup_of(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_bytes().partition(b"?>")[2], "lxml")


def spaced(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_line_stands_in_the_page(path):
    soup = soup_of(path)
    for mark_of_a_note in soup.select("a > sup"):
        mark_of_a_note.decompose()
    for exponent in soup.select("sup"):
        exponent.string = with_superscripts(str(exponent))
    shown = spaced(canonical(soup.get_text()))
    for block in re.sub(r"^(?:    .*|\*\*\*)$", "", read(path).text, flags=re.M).split("\n\n"):
        for line in block.split("\n"):
            words = re.sub(r"^(#+ |\s*- |\s*\d+\. )", "", line)
            assert all(spaced(cell) in shown for cell in words.split("\t"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_words_of_the_page_are_there_and_its_navigation_is_not(path):
    soup = soup_of(path)
    for frame in soup.select("head, .navheader, .navfooter"):
        frame.decompose()
    expected = re.findall(r"\w+", soup.get_text(" "))
    found = re.findall(r"\w+", read(path).text)
    assert len(found) == pytest.approx(len(expected), rel=0.03, abs=5)
    assert len(set(expected) - set(found)) <= 0.02 * len(set(expected))


def test_a_reference_page_has_its_parts():
    extracted = read(MANUAL / "sql-vacuum.html")
    assert extracted.title == "VACUUM"
    assert extracted.text.startswith("## VACUUM\n\nVACUUM — garbage-collect and optionally analyze")
    assert "\n\n    VACUUM [ ( option [, ...] ) ]" in extracted.text
    assert "\n\n###### FREEZE\n\nSelects aggressive “freezing” of tuples." in extracted.text
    assert not re.search(r"^(Prev|Next|Up|Home)\b", extracted.text, re.M)


def test_a_table_has_its_rows():
    text = read(MANUAL / "functions-comparison.html").text
    assert "\n\nOperator\tDescription\n" in text
    assert "datatype < datatype → boolean\tLess than\n" in text
