"""How a report's sentences were checked, in words."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from dashboard.contexts.report import describe_checks
from research.engine.records import Checks


def test_a_report_of_code_alone_says_what_it_always_said() -> None:
    told = describe_checks(asdict(Checks(statements=4, cited=4, cut=1, by_code=4)))
    assert told == (
        "Automatic check: all 4 statements carry a citation. "
        "1 removed because no quote supports it."
    )


def test_what_the_model_found_of_planted_errors_is_told_with_its_lower_bound() -> None:
    told = describe_checks(asdict(Checks(
        statements=9, cited=8, connections=1, by_code=5, by_model=2, by_neither=1,
        quoted_instead=1, planted=10, planted_found=9, verifier="believed",
    )))  # fmt: skip
    assert told.endswith(
        "Statements checked by code: 5, by the model: 2, by neither: 1; quoted instead: 1. "
        "The model found 9 of 10 planted errors (at least 61 %)."
    )
    assert "accura" not in told


@pytest.mark.parametrize("use", ["disbelieved", "unqualified", "failed", "off"])
def test_why_verdicts_were_not_used_is_told(use: str) -> None:
    plain = describe_checks(asdict(Checks(statements=2, cited=2, verifier="believed")))
    told = describe_checks({**asdict(Checks(statements=2, cited=2)), "verifier": use})
    assert told.startswith(plain) and len(told) > len(plain)


def test_an_old_report_is_still_told() -> None:
    told = describe_checks({"statements": 2, "cited": 2})
    assert told == "Automatic check: 2 of 2 statements carry a citation."
