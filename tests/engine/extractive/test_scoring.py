from research.engine.extractive.question import read_question
from research.engine.extractive.scoring import Ranking, lines
from research.engine.extractive.wanted import Need, answers_kind, decides
from research.engine.text import term_set
from tests.engine.scripted import page


def need(text: str) -> Need:
    return Need.of(read_question(text))


def best(text: str, question: str) -> str:
    scores = Ranking([page("https://a.example/", text)]).scores(need(question))[0]
    return lines(text)[scores.index(max(scores))].sentence.text


def test_a_setting_is_found_by_what_its_definition_says() -> None:
    text = (
        "## Settings\n\n###### wick_height\n\nSets how far the wick stands out of the burner.\n\n"
        "###### oil_quota\n\nLimits the barrels of oil that a lamp may burn. The default is 12.\n\n"
        "###### colour\n\nThe colour of the glass."
    )
    assert best(text, "Which setting caps the oil of a lamp?").startswith("Limits the barrels")
    assert best(text, "How many barrels may be burnt by default?") == "The default is 12."


def test_a_question_of_other_things_scores_nothing() -> None:
    scores = Ranking([page("https://a.example/", "The lamp burns whale oil.")])
    assert scores.scores(need("Which zebra outran the giraffe?")) == [[0.0]]


def test_scores_are_shares() -> None:
    text = "The lamp burns oil. " * 30
    scores = Ranking([page("https://a.example/", text)]).scores(need("What oil does a lamp burn?"))
    assert all(0 <= score <= 1 for score in scores[0])


def test_the_kind_of_answer_counts() -> None:
    asked = need("How many barrels does the lamp burn?")
    told = "The lamp burns 12 barrels."
    assert answers_kind(told, "", term_set(told), asked) > 0
    assert answers_kind("It burns a lot.", "", term_set("It burns a lot."), asked) == 0


def test_a_short_answer_rests_on_a_date_a_number_or_a_name_where_one_is_asked_for() -> None:
    assert decides("It was lit on 14 March 1887.", need("When was the lamp lit?"))
    assert not decides("It was lit long ago.", need("When was the lamp lit?"))
    assert not decides("It burns a lot.", need("How many barrels does it burn?"))
    assert decides("The lamp was built by Edda Marlow.", need("Who built the lamp?"))
    assert not decides("The lamp was built well.", need("Who built the lamp?"))
    assert not decides("Wicks are made of wool.", need("Compare wicks and burners"))
