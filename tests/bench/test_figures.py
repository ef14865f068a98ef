"""What is read off a run's report, and the page that figures are written to."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from bench import page
from bench.comparison.charts import Mark, bars, scatter
from bench.comparison.figures import Prices, metered, statements_of
from bench.comparison.overhead import ideal_seconds

RECORDS = [{"id": f"E{n}", "sources": [{"url": f"http://h/{n}"}]} for n in (1, 2)]
CITATIONS = [{"marker": n, "evidence_ids": [f"E{n}"], "url": f"http://h/{n}"} for n in (1, 2)]


def run_of(body: str) -> dict[str, Any]:
    return {
        "evidence": RECORDS,
        "citations": CITATIONS,
        "report_markdown": f"# What?\n\n{body}\n\n## Sources\n\n- [1] x\n",
    }


def test_every_sentence_with_a_citation_that_leads_to_a_quote_counts() -> None:
    body = "**Short answer.** It is tall. [1] It is old. [1][2]\n\n*2 of 2 answered · 1 site*"
    assert statements_of(run_of(body)) == (2, 2)


def test_a_sentence_without_a_marker_is_a_statement_without_a_citation() -> None:
    assert statements_of(run_of("It is tall. It was built in 1902. It is old. [1]")) == (3, 1)


def test_a_marker_that_leads_nowhere_is_no_citation() -> None:
    assert statements_of(run_of("It is tall. [1] It is old. [7]")) == (2, 1)


def test_a_quotation_is_part_of_one_sentence() -> None:
    body = "**Register › Lights:** “It is tall. It was built in 1902.” [1]"
    assert statements_of(run_of(body)) == (1, 1)


def test_one_short_connection_in_ten_does_not_count() -> None:
    cited = "It is tall. [1] " * 9
    assert statements_of(run_of(f"Two records speak of it. {cited}")) == (9, 9)
    assert statements_of(run_of("Two records speak of it. It is tall. [1]")) == (2, 1)


def test_what_was_not_found_is_no_statement() -> None:
    body = "It is tall. [1]\n\n## Not found\n\n- Who built it?\n\nSearches tried: “it”."
    assert statements_of(run_of(body)) == (1, 1)


def test_money_follows_from_tokens() -> None:
    usage = {"llm_calls_by_task": {"read": 2}, "prompt_tokens": 500_000, "searches": 1,
             "completion_tokens": 250_000, "fetches": 3, "repeated_fetches": 0}  # fmt: skip
    assert Prices(1.0, 4.0).of(metered(usage)) == 1.5


def test_the_ideal_is_plan_hops_and_report() -> None:
    took = (("bare_plan", 1), ("bare_read", 2), ("bare_read", 4), ("bare_report", 1))
    entries = [{"task": task, "start": 0.0, "end": seconds} for task, seconds in took]
    assert round(ideal_seconds(entries, 2), 6) == 1 + 2 * (0.3 + 0.12 + 3) + 1


# --- the page ---------------------------------------------------------------------------------


def test_a_suite_replaces_its_own_section_alone(tmp_path: Path) -> None:
    file, order = tmp_path / "page.md", ["first", "second"]
    page.put_section("second", "## Two\n\nold", order, file)
    page.put_section("first", "## One", order, file)
    before = page.read_sections(file.read_text())
    page.put_section("second", "## Two\n\nnew", order, file)
    after = page.read_sections(file.read_text())
    assert list(after) == ["first", "second"] and before["first"] == after["first"] == "## One"
    assert after["second"] == "## Two\n\nnew"
    assert file.read_text().count("# Measurements") == 1


def test_charts_are_well_formed_and_hold_their_labels() -> None:
    marks = [Mark("forced", 4, 0.5, 1, True), Mark("forced", 6, 1, 1, True), Mark("a < b", 4, 1, 0)]
    for drawn in (scatter([("simple", marks)], "calls", "recall"), bars([("Plumbline", 2)], "x")):
        assert ElementTree.fromstring(drawn).tag.endswith("svg")
    assert "a &lt; b" in scatter([("simple", marks)], "calls", "recall")
