"""D13: whether a new turn goes on with its topic, by shared words and markers."""

import pytest

from research.engine.offline.follow_up import Turn, read_turn

ASKED = "Who designed the Harrow Point lighthouse, and where was she trained?"
FOUND = "Edda Marlow designed it; she learned her trade in Leith."


@pytest.mark.requirement("D13")
@pytest.mark.parametrize(
    "said",
    [
        "How tall is the lighthouse?",
        "When did Edda Marlow die?",
        "Is it different from the lighthouse of Gull Rock?",
        "Also, what did oil cost then?",
        "Expand on the second point.",
        "Go deeper.",
        "What did it cost?",
        "And in winter?",
        "How so?",
        "How much oil?",
    ],
)
def test_a_turn_that_shares_words_or_refers_back_is_of_the_same_topic(said: str) -> None:
    assert read_turn(ASKED, FOUND, said).same_topic


@pytest.mark.requirement("D13")
@pytest.mark.parametrize(
    "said",
    [
        "How do I bake bread?",
        "Let's look at the lighthouse of Gull Rock instead.",
        "Switch to lighthouses of Norway",
        "A different lighthouse: who built Gull Rock?",
        "New topic: lighthouse keepers' wages",
    ],
)
def test_a_turn_that_shares_nothing_or_says_so_shifts_the_topic(said: str) -> None:
    assert read_turn(ASKED, FOUND, said) == Turn(False, said)


FOUGHT = "Who would die in the war, and what was the gift of the son? Comment on man and hat."


@pytest.mark.parametrize(
    "said",
    [
        "Wann war die Mondlandung?",
        "Was ist ein Bandoneon, also wie klingt das?",
        "Welches Brot hat man im Mittelalter gegessen?",
        "Comment faire du fromage ?",
        "¿Qué son las mareas?",
        "Come si fanno i formaggi?",
        "Hoe maak je kaas, also in Holland?",
    ],
)
def test_words_that_only_look_like_those_of_the_topic_are_none_in_another_language(
    said: str,
) -> None:
    assert read_turn(FOUGHT, "They will die in the war.", said) == Turn(False, said)


def test_nor_are_they_where_the_thread_is_in_the_other_language() -> None:
    asked = "Wer war der Architekt, und was hat die Stadt für den Turm bezahlt?"
    assert not read_turn(asked, "Die Stadt hat alles bezahlt.", "Do men die of war?").same_topic


@pytest.mark.parametrize("said", ["Und warum?", "Wie hoch ist der Turm?", "Go deeper."])
def test_a_turn_in_the_language_of_its_thread_goes_on_as_ever(said: str) -> None:
    assert read_turn("Wann wurde der Turm gebaut?", "", said).same_topic


def test_a_marker_that_is_a_word_of_the_topic_is_no_marker() -> None:
    asked = "How many ports does the switch of the lighthouse have?"
    assert read_turn(asked, "", "Does the switch have a fuse?").same_topic


@pytest.mark.parametrize(
    "said, alone",
    [
        ("What did it cost?", "What did it cost (Harrow Point)?"),
        ("Expand on the costs.", "Expand on the costs (Harrow Point)."),
        ("How tall is the lighthouse?", "How tall is the lighthouse (Harrow Point)?"),
        ("How tall is Harrow Point lighthouse?", "How tall is Harrow Point lighthouse?"),
        ("When did  Edda Marlow\ndie?", "When did Edda Marlow die?"),
        ("What about Gull Rock?", "What about Gull Rock (Harrow Point)?"),
    ],
)
def test_the_question_can_be_understood_alone(said: str, alone: str) -> None:
    assert read_turn(ASKED, FOUND, said).question == alone


@pytest.mark.parametrize(
    "asked, said, alone",
    [
        ("best practices for rotating secrets", "And backups?",
         "And backups (best practices for rotating secrets)?"),
        ("灯台は誰が設計したか", "灯台の高さは", "灯台の高さは (灯台は誰が設計したか)"),
    ],
)  # fmt: skip
def test_without_a_name_the_earlier_words_are_its_subject(
    asked: str, said: str, alone: str
) -> None:
    assert read_turn(asked, "", said) == Turn(True, alone)
