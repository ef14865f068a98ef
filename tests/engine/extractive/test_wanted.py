"""Which sentence holds the kind of thing that a question asks for."""

from __future__ import annotations

import pytest

from research.engine.extractive.question import read_question
from research.engine.extractive.wanted import Need, brings_kind, defines


def need(text: str) -> Need:
    return Need.of(read_question(text))


@pytest.mark.parametrize(
    "text, is_counted",
    [
        ("At most 12 lamps burn at a time.", True),
        ("The default is typically 100 lamps.", True),
        ("The lamps are lit once the keeper has waited 12 hours.", False),
        ("A 12-hour lamp is best.", False),
    ],
)
def test_what_is_counted_stands_near_its_number(text: str, is_counted: bool) -> None:
    assert brings_kind(text, need("How many lamps may burn by default?")).counted is is_counted


@pytest.mark.parametrize(
    "text, is_definition",
    [
        ("A signal lamp is a lamp that sends messages.", True),
        ("Signal lamps are used to send messages.", True),
        ("Most signal lamps are written about in books.", False),
        (
            "Note that the keeper will ignore a signal lamp in the tower that is the larger.",
            False,
        ),
    ],
)
def test_a_definition_says_what_its_subject_is(text: str, is_definition: bool) -> None:
    assert defines(text, need("What is a signal lamp?")) is is_definition
