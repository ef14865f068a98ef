"""What a report says of evidence that is (nearly) all from one site or collection."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence import ledger
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.origin import lone_origin
from research.engine.journal.forms import Form
from research.engine.records import AspectState, Evidence, Source, StopReason
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.messages import stop_message
from research.engine.report.parts.sources import lone_titles
from research.engine.report.rendering.markdown import render_report
from tests.engine.report.test_comparing import ledger_of, record_of
from tests.engine.scripted import page

CLAIMS = [f"The setting number {n} is on." for n in range(1, 11)]


def of_sites(*hosts: str) -> list[Evidence]:
    made = zip(CLAIMS, hosts, strict=True)
    return [record_of(f"E{n}", claim, host) for n, (claim, host) in enumerate(made, 1)]


def of_collection(name: str, number: int) -> list[Evidence]:
    """Return records of so many documents of a collection."""
    return [
        replace(
            record,
            sources=tuple(
                replace(
                    source,
                    url=f"file:///{name}/{record.id}.html",
                    domain=name,
                    independence_key=f"file:///{name}/{record.id}.html",
                )
                for source in record.sources
            ),
        )
        for record in of_sites(*["a.example"] * number, *["b.example"] * (10 - number))[:number]
    ]


def report_of(known: Ledger) -> str:
    told = tuple(Statement(record.claim, (record.id,)) for record in known.evidence)
    sections = Section("A1", told[:2]), Section("A2", told[2:])
    known.aspects["A2"] = replace(known.aspects["A1"], id="A2", text="What else is on?")
    return render_report(known, Draft((), sections), "", 0, 0).markdown


@pytest.mark.parametrize(
    ("keys", "lone"),
    [
        ([["a.example"]] * 9 + [["b.example"]], "a.example"),
        ([["a.example"]] * 8 + [["b.example"]] * 2, ""),
        ([["a.example"]] * 8 + [["a.example", "b.example"]] * 2, ""),
        ([["a.example"]] * 4, ""),
        ([[f"file:///manual/{n}.html", "file:///manual/x.html"] for n in range(6)],
         "file:///manual"),
        ([[f"file:///{n}/a.html"] for n in range(6)], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_nine_in_ten_records_have_a_lone_origin(keys: list[list[str]], lone: str) -> None:
    assert lone_origin(keys) == lone


def test_one_site_is_said_once_and_beside_no_section() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 9, "b.example"))
    told = report_of(known)
    assert told.count("rests on manual.example, b.example; every quoted sentence") == 1
    assert "Preliminary" not in told and "more than half" not in told
    assert "outside sources" not in told and "findings are from" not in told
    known.began = Form.COMPUTED
    assert "9 of 10 findings are from one site, manual.example" in report_of(known)
    known.began = Form.REPAIRED
    assert "Preliminary: quoted from one of 2 sites" in report_of(known)


def test_several_sites_are_told_beside_each_section() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 7, *["b.example"] * 3))
    told = report_of(known)
    assert "Preliminary" in told and "findings are from" not in told


def test_a_collection_is_said_once_by_its_name() -> None:
    known = ledger_of(*of_collection("manual%2015", 6))
    told = report_of(known)
    assert "each statement rests on one of them" not in told and "Preliminary" not in told
    known.began = Form.COMPUTED
    assert report_of(known).count("6 of 6 findings are from one collection, manual 15") == 1


def test_the_end_of_research_counts_no_answers_from_one_site() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 10))
    known.aspects["A2"] = replace(known.aspects["A1"], id="A2", state=AspectState.ONE_SOURCE)
    assert "rest" not in stop_message(StopReason.STUCK, known, ResearchConfig())
    known.began = Form.REPAIRED
    told = stop_message(StopReason.STUCK, known, ResearchConfig())
    assert told.endswith("1 answer rests on one site.")


MANUAL = "Manual 15"


def titled(known: Ledger, *titles: str, site: str = "") -> str:
    """Return the list of sources of a report whose pages, each on its own address, have titles."""
    for record, title in zip(tuple(known.evidence), titles, strict=True):
        known.book.records[record.id] = replace(
            record,
            sources=tuple(
                replace(s, url=f"{s.url}{record.id}", section=f"Section {record.id}")
                for s in record.sources
            ),
        )
        [source] = known.book.records[record.id].sources
        page = replace(known.pages["https://manual.example/"], url=source.url, site=site)
        known.pages[source.url] = page
        known.put_source(Source(source.url, title, source.domain, 1, status="read"))
    return report_of(known).partition("### Cited\n\n")[2].partition("\n\n")[0]


def test_sources_of_one_manual_are_named_by_what_tells_them_apart() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 10))
    told = titled(known, *(f"{MANUAL}: 25.{n} Part — {MANUAL}" for n in range(10)), site=MANUAL)
    first, second, *_ = told.splitlines()
    assert first.startswith("- [1] 25.0 Part, Manual 15, manual.example: <")
    assert second.startswith("- [2] 25.1 Part, manual.example: <")
    assert told.count(MANUAL) == 1


def test_pages_with_one_title_are_named_with_the_section_that_is_quoted() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 10))
    told = titled(known, *[MANUAL] * 10)
    assert "- [3] Manual 15 › Section E3, manual.example" in told
    known.began = Form.REPAIRED
    assert "›" not in report_of(known)


def test_documents_of_several_books_are_named_with_theirs() -> None:
    known = ledger_of(*of_collection("C", 10))
    for n, record in enumerate(known.evidence):
        url, book = record.sources[0].url, ["A History", "A Handbook", ""][min(n, 2)]
        known.pages[url] = replace(page(url, record.claim), site=book)
        known.put_source(Source(url, f"Chapter {n}", "C", 1, status="read"))
    urls, names = [record.sources[0].url for record in known.evidence], lone_titles(known)
    named = ["A History, Chapter 0", "A Handbook, Chapter 1", "Chapter 2"]
    assert [names[url] for url in urls[:3]] == named
    known.put_source(replace(known.sources[urls[2]], status="read", reason="It was not needed."))
    known.put_source(replace(known.sources[urls[3]], status="failed", reason="It was gone."))
    told = report_of(known)
    assert "Chapter 2" in told and "A History: <" in told
    assert "Chapter 2, A History" not in told, "a book is that of its own chapters alone"
    assert "It was not needed." not in told and "It was gone." in told


def test_a_publisher_among_others_is_named_with_each_page() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 7, *["b.example"] * 3))
    told = titled(known, *(f"25.{n} Part — {MANUAL}" for n in range(10)), site=MANUAL)
    assert told.count(", Manual 15, manual.example") == 7


def test_a_quotation_from_one_manual_is_named_by_its_page() -> None:
    known = ledger_of(*of_sites(*["manual.example"] * 10))
    titled(known, *(f"25.{n} Part (P{n}) — {MANUAL}" for n in range(10)), site=MANUAL)
    [source] = known.book.records["E2"].sources
    assert lone_titles(known)[source.url] == "25.1 Part"
    quotation = Statement("“It is on.”", ("E2",), quoted=True)
    draft = Draft((), (Section("A1", (quotation,)),))
    assert "(25.1 Part)" in render_report(known, draft, "", 0, 0).markdown
    known.began = Form.REPAIRED
    assert lone_titles(known) == {}
    assert f"({MANUAL})" in render_report(known, draft, "", 0, 0).markdown


def test_documents_that_repeat_nothing_are_one_work(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ledger_of(*of_collection("manual", 10))
    assert not known.is_one_work, "ten findings are too few to tell"
    monkeypatch.setattr(ledger, "ONE_WORK", 10)
    assert known.is_one_work
    twice = known.book.records["E1"], known.book.records["E2"]
    sources = tuple(source for record in twice for source in record.sources)
    known.book.records["E1"] = replace(twice[0], sources=sources)
    assert known.lone_origin and not known.is_one_work
    assert not ledger_of(*of_sites(*["a.example"] * 10)).is_one_work
