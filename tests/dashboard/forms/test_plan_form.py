from __future__ import annotations

import pytest

from dashboard.forms.run_forms import PlanForm

LINES = ("A", "B", "C")
PLAN = {"aspects": [{"text": line} for line in LINES]}


def order(places: dict[int, str], lines: dict[int, str] | None = None) -> str:
    """What stands after these places and words were typed."""
    shown = PlanForm(PLAN, with_terms=False)
    typed = {field.html_name: str(field.value() or "") for field in shown}
    typed |= {f"place-{number}": place for number, place in places.items()}
    typed |= {f"line-{number}": words for number, words in (lines or {}).items()}
    form = PlanForm(PLAN, with_terms=False, data=typed)
    assert form.is_valid(), form.errors
    return "".join(form.aspects())


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ({}, "ABC"),
        ({3: "1"}, "CAB"),
        ({1: "2"}, "BAC"),
        ({1: "3"}, "BCA"),
        ({1: "2", 2: "1"}, "BAC"),
        ({1: "3", 2: "1", 3: "2"}, "BCA"),
        ({2: "1", 3: "1"}, "BCA"),
        ({1: ""}, "BCA"),
        ({1: "9"}, "BCA"),
        ({1: "30", 2: "20", 3: "10"}, "CBA"),
    ],
)
def test_a_line_comes_to_the_place_that_was_typed(places: dict[int, str], expected: str) -> None:
    assert order(places) == expected


def test_a_line_that_was_added_comes_to_its_place_too() -> None:
    assert order({5: "2"}, {5: "D"}) == "ADBC"


def test_an_emptied_line_leaves_the_order_of_the_others() -> None:
    assert order({3: "1"}, {2: ""}) == "CA"


def test_consent_is_asked_for_only_where_documents_meet_the_web() -> None:
    assert PlanForm(PLAN, with_terms=False).consent_field is None
    form = PlanForm(
        PLAN, with_terms=False, data={"line-1": "What?", "searches_private_words": "on"},
        with_consent=True,
    )  # fmt: skip
    assert form.is_valid()
    assert form.consent() is True
