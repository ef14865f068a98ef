from research.engine.offline.questions.weighted_query import Vocabulary, load_synonyms
from research.engine.text.tokens import term_set

TEXTS = [
    term_set("The keeper removes the lamp."),
    term_set("A register of the harbour."),
    term_set("The lamp burns whale oil."),
]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    vocabulary = Vocabulary(TEXTS)
    assert vocabulary.rarity("harbour") > vocabulary.rarity("lamp") > 0


def test_synonyms_go_both_ways() -> None:
    assert "remov" in load_synonyms()["delet"] and "delet" in load_synonyms()["remov"]
