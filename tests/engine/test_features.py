import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine import features


@pytest.mark.parametrize(
    "text, found",
    [
        ("It cost 1,000.50 dollars", {"1000.5"}),
        ("It cost 1 000 dollars", {"1000"}),
        ("twelve pages and 12 more", {"12"}),
        ("between 2019-2020", {"2019", "2020"}),
        ("a gain of −3.0 %", {"-3"}),
        ("version v2 of utf8", set()),
        ("In 1990 200 people came", {"1990", "200"}),
        ("no figures at all", set()),
    ],
)
def test_numbers_are_read_in_one_form(text: str, found: set[str]) -> None:
    assert set(features.numbers(text)) == found


@given(st.integers(0, 10**9))
def test_a_number_is_the_same_however_it_is_grouped(value: int) -> None:
    assert features.numbers(f"{value:,}") == features.numbers(f"{value}") == (str(value),)


@pytest.mark.parametrize(
    "text, found",
    [
        ("lit on 14 March 1887.", "14 March 1887"),
        ("lit on March 14, 1887", "March 14, 1887"),
        ("since 2024-05-01 only", "2024-05-01"),
        ("in the 1990s", "1990s"),
    ],
)
def test_dates_are_found_as_written(text: str, found: str) -> None:
    assert found in features.dates(text)


def test_names_are_proper_names_acronyms_and_identifiers() -> None:
    text = "The Bank of Leith and NASA set max_wal_size in “The Long Harbour” for Edda Marlow."
    found = features.names(text)
    for name in ("Bank of Leith", "NASA", "max_wal_size", "Long Harbour", "Edda Marlow"):
        assert any(name in each for each in found), name


def test_a_word_that_only_opens_a_sentence_is_no_name() -> None:
    assert features.names("Lighthouses are tall. Ships fear them.") == ()
    assert features.names("Calder burned. The owner of Calder fled.") == ("Calder",)
    assert features.names("Calder burned. Calder fled.") == ()
    assert features.names("The Calder foundry burned.") == ("Calder",)
    assert features.names("It costs 4.50 crowns.") == ()


@pytest.mark.parametrize(
    "text", ["It does not work", "It can't", "No ship came", "It fails to run"]
)
def test_negations_are_seen(text: str) -> None:
    assert features.negated(text)


@pytest.mark.parametrize(
    "text", ["It works", "A notable knot", "Nothingham", "not only fast", "no less than five"]
)
def test_words_that_only_look_like_negations_are_none(text: str) -> None:
    assert not features.negated(text)


def test_a_negation_reaches_the_words_that_follow_it() -> None:
    assert features.denied("It is sold with no extra lamp") == ["extra lamp"]
    assert features.denied("The lamp burns, but no") == ["The lamp burns, but no"]
    assert features.denied("It burns") == []


def test_a_doubt_is_more_than_a_limit() -> None:
    assert features.uncertain("It may work") and not features.uncertain("It works for some")
    assert features.hedged("It works for some") and features.hedged("It works at about 5 m")
    assert not features.hedged("a talk about lamps")
    assert features.absolutes("The only lamp is the largest") == {"only", "largest"}


@pytest.mark.requirement("D5")
def test_hedges_are_seen() -> None:
    assert features.hedged("It may work") and not features.hedged("It works in May, on a canvas")


@pytest.mark.parametrize(
    "text, way", [("Prices rose", 1), ("Prices fell", -1), ("It rose and fell", 0), ("Prices", 0)]
)
def test_direction_is_the_outweighing_one(text: str, way: int) -> None:
    assert features.direction(text) == way


@pytest.mark.requirement("C11")
def test_fields_hold_what_a_claim_names() -> None:
    found = features.fields("Edda Marlow is the designer of 3 towers since 14 March 1887.")
    assert found.names == ("Edda Marlow",)
    assert found.dates == ("14 March 1887",)
    assert "3" in found.numbers
    assert found.definitions
