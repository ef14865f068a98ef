"""The bars: target values of all measured figures, printed next to the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Compare = Literal["≥", "≤", "=", ">"]
Values = Mapping[str, float | None]
"""Measured figures by the bars' keys; None if a figure could not be measured."""


@dataclass(frozen=True)
class Bar:
    key: str
    text: str
    compare: Compare
    limit: float
    form: str = ".2f"
    guard: float | None = None
    """What `make bench-quick` asserts as long as the bar itself isn't reached: no regression."""

    def reached(self, value: float | None) -> bool:
        return self._keeps(value, self.limit)

    def guarded(self, value: float | None) -> bool:
        """Return whether the bar is reached, or its guard kept if it has one."""
        return self._keeps(value, self.limit if self.guard is None else self.guard)

    def _keeps(self, value: float | None, limit: float) -> bool:
        if value is None:
            return False
        return {
            "≥": value >= limit,
            "≤": value <= limit,
            "=": value == limit,
            ">": value > limit,
        }[self.compare]

    def shown(self, value: float | None) -> str:
        return "–" if value is None else format(value, self.form)

    @property
    def wanted(self) -> str:
        return f"{self.compare} {self.limit:{self.form}}"


SIMPLE_CALLS, MEDIUM_CALLS, COMPLEX_CALLS = 5, 8, 15
"""Model calls of a run by kind of question, at most, whichever way its evaluator names gaps. One of
them is the verifier's, which is asked unless code vouches for every statement.
"""

ENGINE = (
    Bar("simple_saved", "simple: share of the fixed mode's model calls saved, equal recall",
        "≥", 0.60),
    Bar("simple_calls", "simple: model calls, most of any run without a dispute",
        "≤", SIMPLE_CALLS, ".0f"),
    Bar("simple_most", "simple: model calls, most of any run, disputes included",
        "≤", SIMPLE_CALLS, ".0f"),
    Bar("medium_saved", "medium: share of the fixed mode's model calls saved, equal recall",
        "≥", 0.30),
    Bar("medium_calls", "medium: model calls, most of any run", "≤", MEDIUM_CALLS, ".0f"),
    Bar("complex_saved", "complex: share of the fixed mode's model calls saved, equal recall",
        "≥", 0.30),
    Bar("complex_recall", "complex: recall of the report", "≥", 1.0, ".3f"),
    Bar("complex_calls", "complex: model calls, most of any run", "≤", COMPLEX_CALLS, ".0f"),
    Bar("tied_recall", "complex, gaps tied to sub-questions: recall of the report",
        "≥", 1.0, ".3f"),
    Bar("tied_calls", "complex, gaps tied to sub-questions: most model calls",
        "≤", COMPLEX_CALLS, ".0f"),
    Bar("mix_cost", "money ÷ the fixed mode's, all kinds in equal shares", "≤", 0.70),
    Bar("exact", "stops in the exact round", "≥", 0.90, ".3f"),
    Bar("premature", "stops too early", "≤", 0.02, ".3f"),
    Bar("nothing_found", "unanswerable: ends so, within 3 rounds, with no claim", "≥", 0.98, ".3f"),
    Bar("simple_wall", "simple: wall ÷ the bare loop's, p50", "≤", 1.60),
    Bar("medium_wall", "medium: wall ÷ the bare loop's, p50", "≤", 1.30),
    Bar("complex_wall", "complex: wall ÷ the bare loop's, p50", "≤", 1.35),
    Bar("complex_tokens", "complex: tokens ÷ the bare loop's", "≤", 0.70),
    Bar("busy_p50", "wall ÷ time with any request in flight, p50", "≤", 1.05),
    Bar("busy_p95", "wall ÷ time with any request in flight, p95", "≤", 1.15),
    Bar("repeated_fetches", "pages fetched twice in a run", "=", 0, ".0f"),
    Bar("quote_precision", "quotes that stand in their page: every mode and analyst",
        "=", 1.0, ".4f"),
    Bar("statements_cited", "statements of reports with a valid citation", "≥", 0.98, ".3f"),
    Bar("false_claims", "false claims on true quotes that reach a report", "≤", 0.05, ".3f"),
    Bar("key_claims", "key claims that reach the report", "≥", 0.90, ".3f"),
    Bar("ledger_facts", "facts of the ledger that reach the report", "≥", 0.95, ".3f"),
    Bar("contradiction_precision", "contradictions: precision", "≥", 0.80),
    Bar("contradiction_recall", "contradictions: recall", "≥", 0.80),
)  # fmt: skip
QUICK = (
    Bar("same", "a lower depth is the beginning of a deeper run", "=", 1.0),
    Bar("tree", "fixed mode: 12 searches, 5 query generations, 1 report", "=", 1.0),
    Bar("simple_saved", "simple: share of the fixed mode's calls saved", "≥", 0.60),
    Bar(
        "simple_calls",
        "simple: model calls, most of any run without a dispute",
        "≤",
        SIMPLE_CALLS,
        ".0f",
    ),
    Bar(
        "simple_most",
        "simple: model calls, most of any run, disputes included",
        "≤",
        SIMPLE_CALLS,
        ".0f",
    ),
    Bar("medium_saved", "medium: share of the fixed mode's calls saved", "≥", 0.30),
    Bar("medium_calls", "medium: model calls, most of any run", "≤", MEDIUM_CALLS, ".0f"),
    Bar("complex_saved", "complex: share of the fixed mode's calls saved", "≥", 0.30),
    Bar("complex_recall", "complex: recall of the report", "≥", 0.95, ".3f"),
    Bar("complex_calls", "complex: model calls, most of any run", "≤", COMPLEX_CALLS, ".0f"),
    Bar("tied_recall", "complex, gaps tied to sub-questions: recall", "≥", 1.0, ".3f"),
    Bar(
        "tied_calls",
        "complex, gaps tied to sub-questions: most calls",
        "≤",
        COMPLEX_CALLS,
        ".0f",
    ),
    Bar("mix_cost", "money ÷ the fixed mode's", "≤", 0.70),
    Bar("exact", "stops in the exact round", "≥", 0.80),
    Bar("premature", "stops too early", "≤", 0.10),
    Bar("nothing_found", "unanswerable: ends so, within 3 rounds", "=", 1.0),
    Bar("simple_wall", "simple: wall ÷ the bare loop's", "≤", 1.7),
    Bar("medium_wall", "medium: wall ÷ the bare loop's", "≤", 1.8),
    Bar("complex_wall", "complex: wall ÷ the bare loop's", "≤", 1.7),
    Bar("complex_tokens", "complex: tokens ÷ the bare loop's", "≤", 0.70),
    Bar("busy_p50", "wall ÷ time with any request in flight, p50", "≤", 1.15),
    Bar("repeated_fetches", "pages fetched twice in a run", "=", 0, ".0f"),
    Bar("quote_precision", "quotes that stand in their page", "=", 1.0, ".4f"),
    Bar("statements_cited", "statements with a valid citation", "≥", 0.98, ".3f"),
    Bar("false_claims", "false claims that reach a report", "≤", 0.25, ".3f"),
    Bar("key_claims", "key claims that reach the report", "≥", 0.90, ".3f"),
    Bar("ledger_facts", "facts of the ledger that reach the report", "≥", 0.95, ".3f"),
)
"""Bars asserted by `make bench-quick`: sensitive to regressions, not to a busy machine. Where a
bar is open, its guard is asserted in its place."""

DOCUMENTATION = (
    Bar("documentation_hits", "short answers that hold the string, of the held-out forty",
        "≥", 30, ".0f"),
    Bar("search_identifier_first", "held-out manuals, names alone: the right page comes first",
        "≥", 0.88),
    Bar("search_identifier_five", "the same: the right page is among the first five", "≥", 0.97),
    Bar("search_gain", "the same manuals: first, mean over kinds, more than plain BM25 by",
        "≥", 0.04, ".3f"),
    Bar("search_two_pages", "questions on two pages: both in five, more than plain BM25 by",
        "≥", 0.20),
    Bar("search_behind", "kinds of questions that plain BM25 answers better by more than 0.01",
        "≤", 0, ".0f"),
)  # fmt: skip
DATA = (
    Bar("data_recall", "gold pages fetched in five rounds, mean", "≥", 0.91, ".3f"),
    Bar("data_chain", "whole chain fetched in five rounds", "≥", 0.82, ".3f"),
    Bar("data_rounds", "rounds at the stop, mean", "≤", 2.5),
    Bar("data_premature", "stops too early", "≤", 0.10, ".3f"),
    Bar("data_gain", "recall gained on a fixed depth of equal cost, lower bound", ">", 0.0, ".3f"),
)
RETRIEVAL = (
    Bar("fan_out", "20 pages on 20 hosts, search included: wall ÷ the slowest chain", "≤", 1.15),
    Bar("relevance_gold", "pages that answer: relevance of 0.6 or more", "≥", 0.90, ".3f"),
    Bar("relevance_others", "other pages: relevance below 0.6", "≥", 0.90, ".3f"),
    Bar("page_first", "documents: the right page comes first", "≥", 0.88),
    Bar("page_five", "documents: the right page is among the first five", "≥", 0.97),
    Bar("as_hard_first", "the same, questions weighted to the bar's difficulty: first", "≥", 0.88),
    Bar("as_hard_five", "the same, so weighted: among the first five", "≥", 0.97),
    Bar("index_cold", "indexing the Python 3.11 manual, seconds", "≤", 45, ".1f"),
    Bar("index_again", "the same again, nothing changed, seconds", "≤", 2),
    Bar(
        "search_large",
        "documents: a query of 20 terms over 25,000 pages, median ms of CPU",
        "≤",
        80,
        ".0f",
    ),
    Bar(
        "search_large_postgresql",
        "the same with the index in PostgreSQL, median ms on the wall",
        "≤",
        250,
        ".0f",
    ),
    Bar(
        "page_difference",
        "the right page in the first five, here and there: SQLite and PostgreSQL apart by",
        "≤",
        0.05,
        ".3f",
    ),
    Bar("body", "reading pages, worst of twenty layouts: share of the body found", "≥", 0.97),
    Bar("boilerplate", "reading pages, worst of twenty layouts: share of other text", "≤", 0.05),
    Bar("soup", "500 pages of manuals, the worst: share of BeautifulSoup's main words", "≥", 0.70),
    Bar("reading_speed", "reading pages: pages a second of CPU ÷ trafilatura's", "≥", 5, ".1f"),
    Bar("loop_held", "reading pages: longest hold-up of the event loop, ms", "≤", 50, ".0f"),
)
DASHBOARD = (
    Bar("true", "1, 500 and 1,000 viewers: share that ended on the true state", "=", 1.0, ".4f"),
    Bar("updates", "most updates that a viewer was sent within a second", "≤", 11, ".0f"),
    Bar("core", "1,000 viewers: share of one core that the server took", "≤", 0.9),
    Bar("fold", "missing in the first view at 1280 × 720 and 390 × 844", "=", 0, ".0f"),
    Bar("calm", "updates in a reader's browser", "≥", 200, ".0f"),
    Bar("lost", "of focus, selection, scroll, opened details: lost by them", "=", 0, ".0f"),
    Bar("shift", "layout shift over them", "≤", 0.02, ".4f"),
    Bar("onlookers", "the same where nobody touches anything, at the worst size", "≤", 0.02, ".4f"),
    Bar("axe", "axe-core: violations on all pages, light and dark", "=", 0, ".0f"),
    Bar("hosts", "first page: requests to other hosts", "=", 0, ".0f"),
    Bar("no_script", "first page: a question can be asked without script", "=", 1, ".0f"),
    Bar("weight", "first page: KB transferred", "≤", 150, ".0f"),
    Bar("queries", "pages that take more queries over 10,000 runs than over three", "=", 0, ".0f"),
    Bar("slowest", "slowest page over 10,000 runs: median ms from request to answer",
        "≤", 100, ".0f"),
    Bar("slowest_cpu", "the same: median ms of the server's CPU", "≤", 100, ".0f"),
    Bar("one", "1 viewer: ms from commit to changed browser, p95", "≤", 150, ".0f"),
    Bar("many", "500 viewers: ms from commit to changed browser, p95", "≤", 400, ".0f"),
    Bar("memory", "1,000 viewers, 50 of whom read nothing: MB of the server at most",
        "≤", 300, ".0f"),
)  # fmt: skip
BARS = {"engine": ENGINE, "documentation": DOCUMENTATION, "data": DATA, "retrieval": RETRIEVAL,
        "dashboard": DASHBOARD}  # fmt: skip


def bars_table(bars: tuple[Bar, ...], values: Values) -> list[list[str]]:
    """Return rows of (figure, bar, measured, reached)."""
    return [
        [
            bar.text,
            bar.wanted,
            bar.shown(values.get(bar.key)),
            "reached" if bar.reached(values.get(bar.key)) else "**not reached**",
        ]
        for bar in bars
    ]
