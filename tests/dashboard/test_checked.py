"""How a report's sentences were checked, in words."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from dashboard.contexts.report import describe_checks, describe_verifier
from research.engine.records import Checks


def test_a_report_of_code_alone_says_what_it_always_said() -> None:
    told = describe_checks(asdict(Checks(statements=4, cited=4, cut=1, by_code=4)))
    assert told == (
        "All 4 statements carry a citation. 1 more was cut because no quote supports it."
    )
    assert describe_verifier(asdict(Checks(statements=4, cited=4, by_code=4))) == ""


def test_what_vouches_for_statements_adds_up_to_those_of_the_report() -> None:
    checks = asdict(Checks(
        statements=9, cited=8, connections=1, by_code=5, by_model=2, by_neither=1,
        quoted_instead=3, planted=10, planted_found=9, verifier="believed",
    ))  # fmt: skip
    assert describe_checks(checks) == (
        "8 of 9 statements carry a citation. 1 only connects others."
    )
    assert describe_verifier(checks) == (
        "Statements found to say what their quotes say: 5 by code, 2 by the model; "
        "quotations: 1. To test the model, 10 statements with an error put in on purpose were "
        "among them; it found 9. With 95 % certainty it finds at least 61 % of such errors."
    )


@pytest.mark.parametrize("use", ["disbelieved", "unqualified", "failed", "off"])
def test_why_verdicts_were_not_used_is_told(use: str) -> None:
    plain = describe_verifier(asdict(Checks(statements=2, cited=2, verifier="believed")))
    told = describe_verifier({**asdict(Checks(statements=2, cited=2)), "verifier": use})
    assert told.startswith(plain) and len(told) > len(plain) > 0


def test_an_old_report_is_still_told() -> None:
    told = describe_checks({"statements": 2, "cited": 2})
    assert told == "2 of 2 statements carry a citation."
