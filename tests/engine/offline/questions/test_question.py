import pytest

from research.engine.offline.planning import plan_offline, query_of
from research.engine.offline.questions.question import asked_parts, compared_sides, read_question
from research.engine.records import Complexity


@pytest.mark.requirement("C10")
@pytest.mark.parametrize(
    "text, kind, complexity",
    [
        ("When was the lamp of the Harrow Point lighthouse lit?", "when", Complexity.ORDINARY),
        ("Who built the lamp?", "who", Complexity.SIMPLE),
        ("How many keepers did the old lighthouse of Leith have?", "how_many", Complexity.ORDINARY),
        ("How to clean a lamp?", "how_to", Complexity.SIMPLE),
        ("How do I clean the lamp of a lighthouse in winter?", "how_to", Complexity.SIMPLE),
        ("How does the lamp turn itself in the wind?", "how", Complexity.ORDINARY),
        ("Why does the lamp go out in storms?", "why", Complexity.ORDINARY),
        ("Is the lamp of the lighthouse still burning today?", "yes_no", Complexity.ORDINARY),
        ("What is a lamp?", "what", Complexity.SIMPLE),
        ("What are the effects of storms on lamps?", "what", Complexity.COMPLEX),
        ("Impact of storms on lighthouse keeping", "overview", Complexity.COMPLEX),
        ("Whale oil versus gas in lamps", "comparison", Complexity.ORDINARY),
        ("What is the maximum height of a lamp?", "how_many", Complexity.ORDINARY),
        ("What is the largest number of lamps?", "how_many", Complexity.ORDINARY),
        ("What is the largest lighthouse?", "what", Complexity.SIMPLE),
        ("What is the difference between oil and gas lamps?", "comparison", Complexity.ORDINARY),
    ],
)
def test_kind_and_complexity_are_read_off_the_words(
    text: str, kind: str, complexity: Complexity
) -> None:
    found = read_question(text)
    assert (found.kind, found.complexity) == (kind, complexity)


@pytest.mark.parametrize(
    "text, kind, complexity",
    [
        ("Wann wurde die Schwebefähre Rendsheim gebaut?", "when", Complexity.SIMPLE),
        ("Wie viele Passagiere fuhren im Jahr 2025 mit der Bahn?", "how_many", Complexity.ORDINARY),
        ("Was sind die Auswirkungen von Stürmen auf Lampen?", "what", Complexity.COMPLEX),
        ("Comment entretenir un levain naturel ?", "how_to", Complexity.SIMPLE),
        ("Combien de passagers la ligne a-t-elle transportés en 2025 ?", "how_many",
         Complexity.ORDINARY),
        ("¿Cuándo fue construido el puente de la ría de Vigo?", "when", Complexity.ORDINARY),
        ("Chi ha progettato la diga del lago di Como?", "who", Complexity.ORDINARY),
        ("Onde fica a sede da companhia que construiu o farol?", "where", Complexity.ORDINARY),
        ("Waarom gaat de lamp van de vuurtoren uit in een storm?", "why", Complexity.ORDINARY),
        ("青嶺天文台はいつ開館しましたか？", "what", Complexity.ORDINARY),
        ("云桥水库是什么时候建成的？", "what", Complexity.ORDINARY),
        ("人工智能对就业的影响是什么？", "what", Complexity.COMPLEX),
    ],
)  # fmt: skip
def test_kind_and_complexity_are_read_off_the_words_of_other_languages(
    text: str, kind: str, complexity: Complexity
) -> None:
    found = read_question(text)
    assert (found.kind, found.complexity) == (kind, complexity)


@pytest.mark.requirement("D12")
def test_a_choice_between_two_names_gets_a_sub_question_for_each() -> None:
    question = "Which lighthouse was lit first, Harrow Point or Gull Rock?"
    assert compared_sides(read_question(question)) == ("Harrow Point", "Gull Rock")
    planned = plan_offline(question, question)
    assert [aspect.query for aspect in planned.aspects] == [
        "Harrow Point lighthouse lit",
        "Gull Rock lighthouse lit",
    ]
    assert planned.aspects[0].text == question


def test_any_other_question_is_its_own_sub_question() -> None:
    planned = plan_offline("Is it red or white? The lamp.", "Is it red or white?")
    assert [aspect.text for aspect in planned.aspects] == ["Is it red or white?"]
    assert planned.aspects[0].query == "red white lamp"


def test_a_query_is_the_content_words_once_each() -> None:
    assert query_of("How does the lamp of a lamp burn?") == "lamp burn"
    assert query_of("What is it?") == "What is it?"


def test_a_word_that_asks_to_compare_is_no_term() -> None:
    assert read_question("Compare lamps and lenses").terms == ("lamp", "lens")
    assert read_question("Lamps versus lenses").terms == ("lamp", "lens")
    assert "differ" in read_question("What is the difference between lamps and lenses?").terms


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What about an index, or a CHECK?", ["What about an index", "a CHECK"]),
        ("What does it cost? Who pays?", ["What does it cost", "Who pays"]),
        ("Was kostet es und wer zahlt?", ["Was kostet es", "wer zahlt"]),
        ("Does it take 10,000 marks?", ["Does it take 10,000 marks"]),
        ("What does it cost?", ["What does it cost"]),
    ],
)
def test_what_is_asked_one_by_one_is_told_apart(question: str, parts: list[str]) -> None:
    assert asked_parts(question) == parts
