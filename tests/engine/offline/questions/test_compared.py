"""The things and properties that a question lists to compare them."""

from __future__ import annotations

import pytest

from research.engine.llm_tasks.answers import CellAnswer, CompareAnswer
from research.engine.offline.questions.compared import compared_properties, compared_things
from research.engine.report.checking.table_values import as_asked

COUNCIL = (
    "A council may copy one of the five in Ossander. Please compare Kelmar, Vintry and Holvane. A "
    "table should give for each the cases a year, the filing fee and the venue of the hearings."
)


@pytest.mark.parametrize(
    ("question", "things"),
    [
        (COUNCIL, ("Kelmar", "Vintry", "Holvane")),
        ("We are choosing between Redis and Memcached for a shop.", ("Redis", "Memcached")),
        ("Which of Alpha, Beta and Gamma Ray is cheapest?", ("Alpha", "Beta", "Gamma Ray")),
        ("Compare Rust and Go by speed.", ("Rust", "Go")),
        (
            "Compare the three makers (Orlite, Cavel, Ebbrick) by price.",
            ("Orlite", "Cavel", "Ebbrick"),
        ),
        (
            "We are choosing between an Alto, a Nimbus and our Corsair.",
            ("Alto", "Nimbus", "Corsair"),
        ),
        (
            "We choose between an Alto, a Tilsen and a Pailbird, and my brother also wants to hear "
            "about the Dovrin and the Orkmeer. Who in Paris sells them?",
            ("Alto", "Tilsen", "Pailbird", "Dovrin", "Orkmeer"),
        ),
        ("Compare Rust and Go. Please also look at Zig.", ("Rust", "Go", "Zig")),
        ("Compare Rust and Go. Also, who in Paris uses them, as in May?", ("Rust", "Go")),
        (
            "I keep a shop's books. Which of Alpha, Beta and gamma fits? Which does it do worse?",
            ("Alpha", "Beta", "gamma"),
        ),
        ("Which of restic, borg and duplicity is best?", ("restic", "borg", "duplicity")),
        ("Which of these, those and them is best?", ()),
        ("Who wrote War and Peace?", ()),
        ("What do Romeo and Juliet die of?", ()),
    ],
)
def test_the_names_that_a_question_compares(question: str, things: tuple[str, ...]) -> None:
    assert compared_things(question) == things


def test_the_columns_that_a_question_asks_for() -> None:
    assert compared_properties(COUNCIL) == ("cases a year", "filing fee", "venue of the hearings")
    assert compared_properties("Compare Rust and Go by compile time and speed.") == (
        "compile time", "speed",
    )  # fmt: skip
    assert compared_properties("Who sleeps by day?") == ()


def test_rows_are_the_things_that_the_question_lists_whatever_the_model_calls_them() -> None:
    cell = CellAnswer(
        entity="the tribunal of Kelmar", property="filing fee", value="35 marks", evidence=["E1"]
    )
    answer = CompareAnswer(newer=[], disagree=[], cells=[cell])
    asked = as_asked(answer, COUNCIL)
    assert asked.entities == ["Kelmar", "Vintry", "Holvane"]
    assert asked.properties == ["filing fee", "cases a year", "venue of the hearings"]
    assert [each.entity for each in asked.cells] == ["Kelmar"]
    assert as_asked(answer, "How old is Kelmar?") is answer
