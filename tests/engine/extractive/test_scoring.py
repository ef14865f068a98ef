import pytest

from research.engine.extractive.passages import Passage, passages
from research.engine.extractive.question import read_question
from research.engine.extractive.scoring import Ranking, Scores
from research.engine.extractive.wanted import Need, brings_kind, decides
from research.engine.extractive.weights import BY_HAND, WEIGHTS
from tests.engine.scripted import page

SETTINGS = (
    "## Settings\n\n###### wick_height\n\nSets how far the wick stands out of the burner.\n\n"
    "###### oil_quota\n\nLimits the barrels of oil that a lamp may burn. The default is 12.\n\n"
    "###### colour\n\nThe colour of the glass that stands around it."
)


def need(text: str) -> Need:
    return Need.of(read_question(text))


def scored(text: str, question: str) -> tuple[Scores, list[Passage]]:
    read = page("https://a.example/", text)
    return Ranking([read]).scores(need(question)), passages(read)


def best(text: str, question: str) -> str:
    scores, found = scored(text, question)
    return max(found, key=lambda passage: scores.of(0, passage)).text


def test_a_setting_is_found_by_what_its_definition_says() -> None:
    assert best(SETTINGS, "Which setting caps the oil of a lamp?").startswith("Limits the barrels")
    assert "12" in best(SETTINGS, "How many barrels may be burnt by default?")


def test_a_question_of_other_things_scores_nothing() -> None:
    scores, [passage] = scored(
        "The lamp burns whale oil every night.", "Which zebra outran the giraffe?"
    )
    assert scores.of(0, passage) == 0.0


def test_scores_and_signs_are_shares() -> None:
    scores, found = scored("The lamp burns oil. " * 30, "What oil does a lamp burn?")
    assert all(0 <= scores.of(0, passage) <= 1 for passage in found)
    assert all(0 <= sign <= 1 for p in found for sign in scores.signs(0, p).values())


def test_every_sign_has_a_weight() -> None:
    scores, [first, *_] = scored(SETTINGS, "Which setting caps the oil of a lamp?")
    assert list(scores.signs(0, first)) == [*WEIGHTS, *BY_HAND]


def test_a_word_of_the_heading_counts_for_what_stands_beneath() -> None:
    scores, found = scored(SETTINGS, "What is oil_quota?")
    by_start = {passage.text.split()[0]: scores.signs(0, passage) for passage in found}
    assert by_start["Limits"]["headings word for word"] > 0
    assert by_start["Sets"]["headings word for word"] == 0


@pytest.mark.parametrize(
    "question, text, kind",
    [
        ("How many barrels does the lamp burn?", "The lamp burns 12 barrels.", "number"),
        ("How long is the wick if I don't choose?", "Where it is omitted, an inch.", "default"),
        ("What happens if oil runs out?", "The lamp goes out when oil is short.", "condition"),
    ],
)
def test_the_kind_of_thing_asked_for_is_seen(question: str, text: str, kind: str) -> None:
    assert getattr(brings_kind(text, need(question)), kind)
    assert not getattr(brings_kind("It burns a lot.", need(question)), kind)


def test_a_short_answer_rests_on_a_date_a_number_or_a_name_where_one_is_asked_for() -> None:
    assert decides("It was lit on 14 March 1887.", need("When was the lamp lit?"))
    assert not decides("It was lit long ago.", need("When was the lamp lit?"))
    assert decides("It burns a lot.", need("Is it lit?"))
    assert not decides("It burns a lot.", need("How many barrels does it burn?"))
    assert decides("It burns eight barrels a year.", need("How many barrels does it burn?"))
    assert not decides(
        "Built in 1887, it has burnt oil from wooden barrels.",
        need("How many barrels does it burn?"),
    )
    assert decides("The Fresnel lamp weighs 40 kg.", need("How much does the lamp weigh?"))
    assert decides("The lamp was built by Edda Marlow.", need("Who built the lamp?"))
    assert not decides("The lamp was built well.", need("Who built the lamp?"))
    assert not decides("Wicks are made of wool.", need("Compare wicks and burners"))


def test_when_something_happens_again_and_again_is_told_by_a_condition() -> None:
    asked = need("When does the lamp go out?")
    assert decides("The lamp goes out once the oil is short.", asked)
    assert not decides("The lamp goes out.", asked)


def test_a_definition_answers_what_a_thing_is() -> None:
    text = "The lamp keeper fills a lamp each day. A lamp is a vessel that burns oil."
    scores, found = scored(text, "What is a lamp?")
    values = {passage.text[:5]: scores.of(0, passage) for passage in found}
    assert values["A lam"] > values["The l"]


def test_a_note_on_versions_falls_behind() -> None:
    noted = scored(
        "Deprecated since version 3: the use of a lamp that burns gas in the tower.",
        "What does a lamp burn?",
    )
    plain = scored(
        "Some people there know the use of a lamp that burns gas in the tower.",
        "What does a lamp burn?",
    )
    assert noted[0].of(0, noted[1][0]) < plain[0].of(0, plain[1][0])
