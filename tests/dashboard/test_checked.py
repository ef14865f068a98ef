"""How a report's sentences were checked, in words."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from dashboard.contexts.report import check_details, describe_checks, summarize_checks
from research.engine.records import Checks


def test_a_report_of_code_alone_says_what_it_always_said() -> None:
    checks = asdict(Checks(statements=4, cited=4, cut=1, by_code=4))
    told = "All 4 statements carry a citation. 1 more was cut because its quotes don’t carry it."
    assert describe_checks(checks) == summarize_checks(checks) == told
    assert check_details(checks) == []


def test_one_sentence_says_what_vouches_for_the_statements_and_the_figures_follow() -> None:
    checks = asdict(Checks(
        statements=1_144, cited=1_143, connections=1, by_code=1_112, by_model=29, by_neither=1,
        quoted_instead=2, repaired=3, shortened=1, planted=10, planted_found=9, verifier="believed",
    ))  # fmt: skip
    assert summarize_checks(checks) == (
        "1,143 cited statements, each compared with its quotes: 1,112 by code, 29 by the model, "
        "2 are quotations."
    )
    assert check_details(checks) == [
        "1,143 of 1,144 statements carry a citation. 1 only connects others.",
        "3 were rewritten because their first wording said more than their quotes.",
        "1 was left out for length; a thorough report has room for more.",
        "To test the model, 10 statements with a deliberate error were mixed in; it found 9 of "
        "them. With 95 % confidence it finds at least 61 % of such errors.",
    ]


def test_what_was_cut_is_said_first() -> None:
    """The head of the report links to it."""
    checks = asdict(Checks(statements=1, cited=1, by_code=1, cut=2, verifier="off"))
    assert summarize_checks(checks) == (
        "1 cited statement, compared with its quotes: 1 by code. "
        "2 more were cut because their quotes don’t carry them."
    )


@pytest.mark.parametrize("use", ["disbelieved", "unqualified", "failed", "off"])
def test_why_verdicts_were_not_used_is_told(use: str) -> None:
    plain = check_details(asdict(Checks(statements=2, cited=2, verifier="believed")))
    told = check_details({**asdict(Checks(statements=2, cited=2)), "verifier": use})
    assert told[:-1] == plain and len(told[-1]) > 20


def test_an_old_report_is_still_told() -> None:
    told = "2 of 2 statements carry a citation."
    assert describe_checks({"statements": 2, "cited": 2}) == told
    assert summarize_checks({"statements": 2, "cited": 2}) == told
    assert summarize_checks({}) == describe_checks({}) == "" and check_details({}) == []
