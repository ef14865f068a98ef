"""Signs by which code sees a reason, a place, a person or a price."""

from __future__ import annotations

import pytest

from research.engine.extractive.signs import (
    asks_price,
    opposes,
    people,
    tells_price,
    tells_where,
    tells_why,
)


@pytest.mark.parametrize(
    "text, gives_one",
    [
        ("The lamp was changed because oil was dear.", True),
        ("Oil was dear, so the lamp was changed.", True),
        ("Since oil was dear, the lamp was changed.", True),
        ("The lamp was changed to save oil.", True),
        ("The lamp has been lit since 1887.", False),
        ("The lamp was changed from oil to gas in 1921.", False),
    ],
)
def test_a_reason_shows_by_a_word(text: str, gives_one: bool) -> None:
    assert tells_why(text, "Why was the lamp changed?") is gives_one


def test_a_reason_shows_in_other_languages() -> None:
    asked = "Warum wurde die Lampe des Leuchtturms ausgetauscht?"
    assert tells_why("Die Lampe wurde ausgetauscht, weil Öl zu teuer war.", asked)
    assert not tells_why("Die Lampe wurde 1921 ausgetauscht.", asked)


@pytest.mark.parametrize(
    "text, says_one",
    [
        ("The lamp was made in Leith.", True),
        ("The lamp stands in the old town of Leith.", True),
        ("The spare lamp lies in the drawer.", True),
        ("The spare lamp hangs behind the stairs.", True),
        ("The lamp reads its wick from /etc/lamp or from lamp.conf at night.", True),
        ("The lamp was lit on 17 October 1851.", False),
        ("The lamp was changed in 1988 in May.", False),
        ("The lamp was not damaged in the storm of 1953.", False),
        ("The lamp of Harrow was made in Harrow.", False),
        ("Die Lampe steht auf dem alten Turm.", True),
    ],
)
def test_a_place_stands_behind_a_preposition(text: str, says_one: bool) -> None:
    asked = "Where was the lamp of Harrow made?"
    assert tells_where(text, asked, frozenset({"lamp", "harrow"})) is says_one


def test_a_city_may_stand_anywhere() -> None:
    asked, known = "Which city made the lamp of Harrow?", frozenset({"lamp", "harrow"})
    assert tells_where("For years Leith made the lamp of Harrow.", asked, known)
    assert not tells_where("The lamp of Harrow was made well.", asked, known)


def test_a_date_or_a_number_is_nobody() -> None:
    assert people("It was lit on 17 October 1851 with B12 oil by Edda Marlow.") == ("Edda Marlow",)


@pytest.mark.parametrize(
    "text, holds_one",
    [
        ("The lamp cost 300 pounds.", True),
        ("The lamp cost 4,000 guineas in 1851.", True),
        ("The lamp was bought for €40.", True),
        ("The lamp is free.", True),
        ("The lamp was bought on 17 October 1851.", False),
        ("The lamp cost much and stands 38 metres above the sea.", False),
        ("The lamp was lit by 12 keepers.", False),
    ],
)
def test_a_price_is_an_amount_that_may_be_money(text: str, holds_one: bool) -> None:
    assert tells_price(text) is holds_one


@pytest.mark.parametrize(
    "asked, is_one",
    [
        ("What did the new lamp cost?", True),
        ("How much does the new lamp cost?", True),
        ("What is the price of the new lamp?", True),
        ("What drives the cost of the new lamp?", False),
        ("How much oil does the new lamp burn?", False),
    ],
)
def test_a_question_for_a_price_is_seen(asked: str, is_one: bool) -> None:
    assert asks_price(asked) is is_one


@pytest.mark.parametrize(
    "text, is_against",
    [
        ("The last keeper was Eilidh Buchan.", True),
        ("The first keeper was Tom Vane, the last keeper Eilidh Buchan.", False),
        ("The keeper Tom Vane lit it at last.", False),
        ("The earliest keeper was Tom Vane.", False),
    ],
)
def test_the_last_is_not_the_first(text: str, is_against: bool) -> None:
    assert opposes(text, "Who was the first keeper of the lighthouse?") is is_against
