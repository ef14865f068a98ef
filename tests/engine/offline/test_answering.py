"""Rule C11: what code alone takes for an answer is on the subject and of the kind asked for."""

import pytest

from research.engine.offline.answering import brings_wanted, is_answer, kind_worth, split_at_answer

WHO = "Who designed the Harrow Point lighthouse?"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "asked, text, brought",
    [
        ("When was the lamp lit?", "The lamp was lit in 1887.", True),
        ("When was the lamp lit?", "The lamp was lit by hand.", False),
        ("How many lamps are there?", "There are two lamps.", True),
        ("How many lamps are there?", "There are lamps.", False),
        (WHO, "The lighthouse was designed by Edda Marlow.", True),
        (WHO, "The Harrow Point lighthouse was designed with care by two people.", False),
        (WHO, "The Harrow Point lighthouse was designed on 14 March 1887.", False),
        ("Which file holds it?", "It stands in file 77.", True),
        ("Why do lamps fail?", "Lamps fail in storms.", True),
        ("How large are the lamps?", "Two lamps of FIPS 204 in 2024.", False),
        ("How large are the lamps?", "The lamps take twelve litres.", True),
        ("How long is the wick?", "The wick has 40 spans.", True),
    ],
)
def test_a_question_for_a_date_number_or_name_is_answered_by_one(
    asked: str, text: str, brought: bool
) -> None:
    assert brings_wanted(text, asked) is brought


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "text, context, answered",
    [
        ("The Harrow Point lighthouse was designed by Edda Marlow.", "", True),
        ("It was designed by Edda Marlow.", "Harrow Point lighthouse", True),
        ("It was designed by Edda Marlow.", "", False),
        ("Edda Marlow walked to Harrow Point.", "Harrow Point", False),
    ],
)
def test_an_answer_is_on_what_is_asked(text: str, context: str, answered: bool) -> None:
    assert is_answer(text, context, WHO) is answered


@pytest.mark.parametrize(
    ("text", "asked", "parts"),
    [
        (
            "This note is on lamps. The lamp takes 12 litres. It burns oil.",
            "How large is the lamp?",
            ("This note is on lamps.", "The lamp takes 12 litres.", "It burns oil."),
        ),
        ("The lamp takes 12 litres.", "How large?", ("", "The lamp takes 12 litres.", "")),
        ("| lamp | 12 litres |", "How large is the lamp?", ("", "| lamp | 12 litres |", "")),
    ],
)
def test_a_passage_is_split_at_the_sentence_that_answers(
    text: str, asked: str, parts: tuple[str, str, str]
) -> None:
    assert split_at_answer(text, asked) == parts


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("The lamp is of brass. It takes 12 litres.", 3),
        ("The lamps have 40 wicks.", 2),
        ("The tower is of stone. The tower is 40 metres high.", 1),
        ("The lamp is of brass.", 0),
    ],
)
def test_a_size_counts_by_its_unit_and_by_what_it_is_of(text: str, worth: int) -> None:
    assert kind_worth(text, "And how large do the lamps become (harbour, tower)?") == worth
