"""The page with all evidence of a run: groups, filters, and where the report uses a claim."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.views import evidence
from research.models import Report, Run
from research.services import reviews
from tests.dashboard.conftest import URL, add_evidence, add_report, make_run

PLAN = {"aspects": [{"text": "Part 1", "query": "1", "heading": "Age of oaks"}]}


@pytest.fixture
def run(admin: User) -> Run:
    """With three claims: one that the report cites, one of two sites, and one that is disputed."""
    run = make_run(admin, "completed", plan=PLAN)
    for number in (1, 2, 3):
        add_evidence(run, number)
    second = run.evidence.get(label="E2").quotes.get()
    second.pk, second.position, second.url = None, 1, "https://b.test/"
    second.title, second.independence_key = "Beeches", "b.test"
    second.save()
    run.evidence.filter(label="E3").update(contradicts=["E1"])
    report = add_report(run, "It is old. [1]\n\n## More\n\nIt is slow. [1] Slow it is. [1]")
    report.citations[0]["places"] = [["E1"], ["E1"], ["E1"]]
    report.save()
    run.refused_quotes.create(
        round=1, unit=1, ordinal=1, claim="Oaks fly.", url=URL, reason="date differs"
    )
    return run


def shown(client: Client, run: Run, query: str = "") -> BeautifulSoup:
    answer = client.get(f"/runs/{run.public_id}/evidence/{query}")
    assert answer.status_code == 200
    return BeautifulSoup(answer.content, "html.parser")


def labels(page: BeautifulSoup) -> list[str]:
    return [str(each["id"]) for each in page.select("details > ol > li")]


def test_claims_stand_under_the_headings_of_the_plan(client: Client, run: Run) -> None:
    page = shown(client, run)
    groups = [each.get_text(" ", strip=True) for each in page.select("details > summary:has(h2)")]
    assert groups == [
        "Age of oaks 1 claim · 1 used in the report",
        "Part 2 1 claim · 0 used in the report",
        "Part 3 1 claim · 0 used in the report",
    ]
    assert labels(page) == ["E1", "E2", "E3"]
    assert "3 claims from 2 sites" in page.get_text()


def test_a_claim_says_where_the_report_uses_it(client: Client, run: Run) -> None:
    page = shown(client, run)
    address = f"/runs/{run.public_id}/"
    assert [(each.get_text(), each["href"]) for each in page.select("#E1 a")] == [
        ("Citation 1", f"{address}citations/1/"),
        ("Short answer", f"{address}#cite-1"),
        ("More", f"{address}#cite-1-1"),
    ]
    assert "Oak · trees.test · read" in " ".join(page.select_one("#E1").get_text().split())  # type: ignore[union-attr]
    Report.objects.update(markdown="It is old. [1]\n\n## Age of oaks\n\nIt is slow. [1]")
    links = [each.get_text() for each in shown(client, run).select("#E1 a")]
    assert links == ["Citation 1", "Short answer", "its section"]
    assert "Not used in the report" in page.select_one("#E2").get_text()  # type: ignore[union-attr]
    run.reports.all().delete()
    assert "used" not in " ".join(each.get_text() for each in shown(client, run).select("li[id]"))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("standing=used", ["E1"]),
        ("standing=unused", ["E2", "E3"]),
        ("standing=confirmed", ["E2"]),
        ("standing=single", ["E1", "E3"]),
        ("standing=disputed", ["E3"]),
        ("standing=reviewed", ["E2"]),
        ("part=A2", ["E2"]),
        ("text=beeches", ["E2"]),
        ("text=OLD+(3)", ["E3"]),
        ("part=A2&standing=used", []),
        ("text=elms", []),
        ("standing=nonsense&part=A99&page=x", ["E1", "E2", "E3"]),
    ],
)
def test_claims_are_narrowed_down(
    client: Client, run: Run, admin: User, query: str, found: list[str]
) -> None:
    reviews.record_verdict(admin, run.evidence.get(label="E2"), "flag")
    page = shown(client, run, f"?{query}")
    assert labels(page) == found
    assert bool(page.select(".empty")) == (not found)


def test_a_filter_counts_what_it_would_show_and_keeps_the_others(client: Client, run: Run) -> None:
    chips = {
        each.select_one(".filter-name").get_text(): each  # type: ignore[union-attr]
        for each in shown(client, run, "?text=oaks&standing=single").select(".site-counts a")
    }
    assert {name: each.select(".faint")[0].get_text() for name, each in chips.items()} == {
        "Used in the report": "1",
        "Not used": "2",
        "Confirmed by several sources": "1",
        "One source only": "2",
        "Sources disagree": "1",
        "Reworded": "3",
        "Refused": "1",
    }
    assert chips["Not used"]["href"] == "?text=oaks&standing=unused"
    assert chips["One source only"]["href"] == "?text=oaks"
    assert chips["One source only"]["aria-current"] == "true"


def test_points_on_one_site_are_listed_once_and_narrowed_down(client: Client, run: Run) -> None:
    run.evidence.get(label="E3").quotes.update(independence_key="c.test")
    run.reports.update(markdown="It is old. [1]\n\n## More\n\nIt is old. [1] It is slow. [1]")

    def listed(query: str) -> list[str]:
        points = shown(client, run, f"?standing=alone{query}").select(".refused-quotes li")
        return [" ".join(each.get_text(" ").split()) for each in points]

    assert listed("") == ["It is old. Short answer", "It is slow. More"]
    assert listed("&text=slow&part=A1") == ["It is slow. More"] and listed("&part=A2") == []
    chips = [each.get_text(" ", strip=True) for each in shown(client, run).select(".site-counts a")]
    assert "Points on one site 2" in chips


def test_refused_quotes_are_listed_with_the_reason(client: Client, run: Run) -> None:
    page = shown(client, run, "?standing=refused")
    told = page.select_one(".refused-quotes")
    assert told is not None and "Oaks fly." in told.get_text() and "date" in told.get_text()
    assert not labels(page)
    assert not shown(client, run, "?standing=refused&text=elms").select(".refused-quotes")


def test_a_copy_is_not_counted_as_another_source(client: Client, run: Run) -> None:
    claim = shown(client, run).select_one("#E2")
    assert claim is not None and "quoted from 2 sites" in claim.get_text()
    run.evidence.get(label="E2").quotes.filter(position=1).update(independence_key="trees.test")
    claim = shown(client, run).select_one("#E2")
    assert claim is not None
    assert "2 sites, of which 1 copies another" in claim.get_text()
    assert "same text as trees.test" in claim.get_text()
    assert not labels(shown(client, run, "?standing=confirmed"))


def test_later_groups_are_folded(client: Client, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "OPEN_CLAIMS", 2)
    folds = shown(client, run).select("details:has(> ol)")
    assert [each.has_attr("open") for each in folds] == [True, True, False]
    assert len(shown(client, run, "?text=oaks").select("details[open]:has(> ol)")) == 3


def test_many_claims_take_pages_and_no_more_queries(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as captured:
            shown(client, run)
        return len(captured)

    few = count()
    for number in range(4, 20):
        add_evidence(run, number)
    assert count() == few
    monkeypatch.setattr(evidence, "CLAIMS_ON_A_PAGE", 15)
    first, last = (shown(client, run, f"?text=oaks&page={n}") for n in (1, 2))
    assert (len(labels(first)), len(labels(last))) == (15, 4)
    assert str(first.select("a[rel=next]")[0]["href"]) == "?text=oaks&page=2"
