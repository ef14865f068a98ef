"""Values of a table that several findings give together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from research.engine.report.parts.comparison import have_value_together
from tests.engine.report.test_comparing import record_of

DUMP = record_of("E1", "A dump leaves out the planner's statistics.", "a.example")
LATER = replace(
    record_of(
        "E2", "It takes only several seconds; what was changed meanwhile stays out.", "a.example"
    ),
    claim="A dump lacks 3 rows that were changed while it ran.",
)
NAMES = ("dump", "link mode", "what is lost")


@pytest.mark.parametrize(
    ("entity", "value", "is_given"),
    [
        ("dump", "planner's statistics; rows changed meanwhile", True),
        ("a dump", "certain statistics, as in link mode", True),
        ("dump", "3 rows", False),
        ("dump", "statistics and sequences", False),
        ("dump", "link mode", False),
        ("replica", "planner's statistics", False),
        ("dump", "", False),
        ("dump", "only several seconds", True),
        ("dump", "several second", False),
    ],
)
def test_numbers_are_those_of_quotes_and_words_also_those_of_claims_and_names(
    entity: str, value: str, is_given: bool
) -> None:
    assert have_value_together([DUMP, LATER], entity, value, NAMES) is is_given
