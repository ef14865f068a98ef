"""The line of a report on what it rests on, and how that was checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.records import Source
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_i18n import labels_for, translated_languages
from tests.engine.report.test_comparing import ledger_of
from tests.engine.report.test_origin import of_collection, of_sites, report_of
from tests.engine.scripted import page

OWN = "nothing was checked against outside sources"


def documents(*given: tuple[str, str, str]) -> Ledger:
    """Return the findings of documents, each with title, book and date."""
    known = ledger_of(*of_collection("C", len(given)))
    for record, (title, book, day) in zip(tuple(known.evidence), given, strict=True):
        url = record.sources[0].url
        known.pages[url] = replace(page(url, record.claim), site=book)
        known.put_source(Source(url, title, "C", 1, "document", day or None, status="read"))
    return known


def line_of(markdown: str) -> str:
    return next(each for each in markdown.split("\n\n") if each.startswith("*This report rests"))


def test_documents_are_named_by_their_works_and_dates() -> None:
    chapters = [(f"Chapter {n}", "A Manual of Mills 15", "2023-05-01") for n in range(3)]
    told = line_of(
        report_of(
            documents(
                *chapters,
                ("Lease", "", "2024-02-03"),
                ("Minutes", "", ""),
                ("Letter", "", ""),
                ("Bill", "", ""),
            )
        )
    )
    assert told == (
        "*This report rests on “A Manual of Mills 15” (May 2023), “Lease” (February 2024), "
        "“Minutes” and 2 further works; every quoted sentence was found there word for word, "
        f"and {OWN}.*"
    )


def test_documents_in_folders_are_named_by_them() -> None:
    known = documents(("README", "", ""), ("flac(1)", "", ""), ("SoX(1)", "", ""))
    folders = ("flac", "flac", "sox")
    for (url, source), folder in zip(tuple(known.sources.items()), folders, strict=True):
        known.sources[url] = replace(source, domain=f"C/{folder}")
    assert "rests on “flac”, “sox”; every" in line_of(report_of(known))


@pytest.mark.parametrize(("dated", "is_told"), [(1, False), (2, True)])
def test_a_newest_date_is_told_where_most_pages_have_one(dated: int, is_told: bool) -> None:
    days = ["2007-12-08"] * dated + [""] * (3 - dated)
    told = report_of(documents(*((f"Part {n}", "", day) for n, day in enumerate(days))))
    assert ("newest 8 December 2007" in told) is is_told


def test_the_year_in_a_title_is_not_told_again() -> None:
    told = line_of(report_of(documents(("Lease of 2024", "", "2024-02-03"), ("Bill", "", ""))))
    assert "“Lease of 2024”, “Bill”;" in told


def test_several_dates_of_a_work_are_its_years() -> None:
    told = line_of(report_of(documents(("I", "Log", "2019-05-01"), ("II", "Log", "2024-02-03"))))
    assert "“Log” (2019–2024);" in told


def test_titles_with_a_common_end_are_of_the_work_that_it_names() -> None:
    titles = ((f"25.{n} Part — Manual 15", "", "") for n in range(4))
    assert "rests on “Manual 15”;" in line_of(report_of(documents(*titles)))


def test_sites_are_named_by_most_quotes_and_others_counted() -> None:
    sites = ["a.example", *["b.example"] * 2, *(f"{n}.example" for n in range(7))]
    told = line_of(report_of(ledger_of(*of_sites(*sites))))
    assert "rests on b.example, a.example, 0.example and 6 further sites;" in told
    assert OWN not in told


def test_conclusions_are_explained_where_there_are_any() -> None:
    known = documents(("Lease", "", ""), ("Bill", "", ""))
    one, two = (Statement(each.claim, (each.id,)) for each in known.evidence)
    judged = Statement("It is on.", ("E1", "E2"), concludes=True)
    for said, is_told in ((judged, True), (two, False)):
        sections = (Section("A1", (one, said)),)
        told = line_of(render_report(known, Draft((), sections), "", 0, 0).markdown)
        assert (" What is marked “conclusion” follows from what it cites" in told) == is_told


def test_pages_are_counted_as_they_are_listed() -> None:
    """Also one that an earlier report cited."""
    known = documents(("Lease", "", ""), ("Bill", "", ""), ("Letter", "", ""))
    for title, status in (("Map", "read"), ("Plan", "cited")):
        known.put_source(Source(f"file:///C/{title}", title, "C", 1, status=status))
    told = report_of(known)
    assert "5 pages read\n" in told and "- 2 pages read but not used" in told
    unused = told.partition("### Read but not used\n\n")[2].partition("\n\n")[0]
    assert len(unused.splitlines()) == 2


def test_the_line_has_words_in_each_language() -> None:
    for language in translated_languages():
        words = labels_for(language)
        for key in ("rests_on", "rests_on_own"):
            assert "Mill" in words[key].format(works="Mill")
        for key in ("and_sites", "and_titles"):
            assert "2" in words.count(key, 2, names="Mill")
        assert words["concluded"] in words["concludes"].format(mark=words["concluded"])
