import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.text import entities


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
    assert set(entities.find_numbers(text)) == found


@given(st.integers(0, 10**9))
def test_a_number_is_the_same_however_it_is_grouped(value: int) -> None:
    assert entities.find_numbers(f"{value:,}") == entities.find_numbers(f"{value}") == (str(value),)


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
    assert found in entities.find_dates(text)


def test_names_are_proper_names_acronyms_and_identifiers() -> None:
    text = "The Bank of Leith and NASA set max_wal_size in “The Long Harbour” for Edda Marlow."
    found = entities.find_names(text)
    for name in ("Bank of Leith", "NASA", "max_wal_size", "Long Harbour", "Edda Marlow"):
        assert any(name in each for each in found), name


def test_written_names_keep_their_function_words() -> None:
    text = "She starred in A League of Their Own. When Edda Marlow came, it was over."
    assert entities.written_names(text) == ("A League of Their Own", "Edda Marlow")
    assert entities.written_names("He recorded “What Will You Do When You Catch Me?” here.") == (
        "What Will You Do When You Catch Me?",
    )


def test_written_names_that_run_together_are_taken_apart() -> None:
    text = "Cast: Edda MarlowIvo BrandOna Quill, Danny DeVito and Douglas MacArthur"
    assert entities.written_names(text) == (
        *("Edda Marlow", "Ivo Brand", "Ona Quill"),
        *("Danny DeVito", "Douglas MacArthur"),
    )


def test_a_word_that_only_opens_a_sentence_is_no_name() -> None:
    assert entities.find_names("Lighthouses are tall. Ships fear them.") == ()
    assert entities.find_names("Calder burned. The owner of Calder fled.") == ("Calder",)
    assert entities.find_names("Calder burned. Calder fled.") == ()
    assert entities.find_names("The Calder foundry burned.") == ("Calder",)
    assert entities.find_names("It costs 4.50 crowns.") == ()


@pytest.mark.parametrize(
    "text", ["It does not work", "It can't", "No ship came", "It fails to run"]
)
def test_negations_are_seen(text: str) -> None:
    assert entities.is_negated(text)


@pytest.mark.parametrize(
    "text", ["It works", "A notable knot", "Nothingham", "not only fast", "no less than five"]
)
def test_words_that_only_look_like_negations_are_none(text: str) -> None:
    assert not entities.is_negated(text)


def test_a_negation_reaches_the_words_that_follow_it() -> None:
    assert entities.denied_words("It is sold with no extra lamp") == ["extra lamp"]
    assert entities.denied_words("The lamp burns, but no") == ["The lamp burns, but no"]
    assert entities.denied_words("It burns") == []


def test_a_doubt_is_more_than_a_limit() -> None:
    assert entities.is_uncertain("It may work") and not entities.is_uncertain("It works for some")


@pytest.mark.requirement("D5")
def test_a_month_is_no_doubt() -> None:
    assert not entities.is_uncertain("It works in May, on a canvas")


@pytest.mark.parametrize(
    "text, way",
    [
        ("Prices rose", 1),
        ("Prices fell", -1),
        ("It rose and fell", 0),
        ("Prices", 0),
        ("It takes at most 1 GB", -1),
        ("It takes up to a maximum of 1 GB", -1),
        ("The maximum was 1 GB", 1),
    ],
)
def test_direction_is_the_outweighing_one(text: str, way: int) -> None:
    assert entities.change_direction(text) == way


@pytest.mark.requirement("C11")
def test_fields_hold_what_a_claim_names() -> None:
    found = entities.extract_fields("Edda Marlow is the designer of 3 towers since 14 March 1887.")
    assert found.names == ("Edda Marlow",)
    assert found.dates == ("14 March 1887",)
    assert "3" in found.numbers
    assert found.definitions
