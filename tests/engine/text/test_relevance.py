import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.config import ResearchConfig
from research.engine.text.relevance import RELEVANT, hit_relevance, page_relevance, term_weights

WANTED = "Who designed the Harrow Point lighthouse?"
TEXT = st.text("abc Harrow Point lighthouse.\n", max_size=80)


@given(TEXT, TEXT, TEXT)
def test_relevance_lies_between_0_and_1(wanted: str, title: str, text: str) -> None:
    assert 0 <= page_relevance(wanted, title, text) <= 1
    assert 0 <= hit_relevance(wanted, title, text) <= 1


def test_a_page_with_all_the_words_together_is_fully_relevant() -> None:
    assert page_relevance(WANTED, "", "Edda Marlow designed the lighthouse of Harrow Point.") == 1


def test_a_page_on_something_else_is_not_relevant() -> None:
    assert (
        page_relevance(WANTED, "Cheddar", "A hard cheese.")
        == 0
        == page_relevance("", "Cheddar", "Cheese.")
    )


def test_words_that_stand_together_count_more_than_scattered_ones() -> None:
    apart = "\n\n".join(["Harrow is old.", *["Nothing here."] * 5, "A lighthouse was designed."])
    together = "A lighthouse was designed for Harrow.\n\n" + "Nothing here. " * 5
    assert page_relevance(WANTED, "", apart) < page_relevance(WANTED, "", together)


@pytest.mark.parametrize(
    ("wanted", "relevant", "not_yet"),
    [
        ("nests beside quiet rivers under willows today or tomorrow", "Quiet nests.", "Nests."),
        ("Why is the dam high?", "The dam is high.", "Beavers build dams."),
        ("Where is Leith?", "They went to Leith.", "They went to the harbour."),
    ],
)
def test_a_quarter_of_the_terms_is_enough_but_more_than_one(
    wanted: str, relevant: str, not_yet: str
) -> None:
    assert page_relevance(wanted, "", not_yet) < RELEVANT <= page_relevance(wanted, "", relevant)


def test_the_title_counts_as_if_it_stood_with_every_sentence() -> None:
    text = "Edda Marlow designed it."
    assert page_relevance(WANTED, "Harrow Point lighthouse", text) == 1
    assert page_relevance(WANTED, "", text) < RELEVANT


def test_terms_of_names_weigh_double() -> None:
    weights = term_weights(WANTED)
    assert weights == {"design": 1.0, "harrow": 2.0, "point": 2.0, "lighthous": 1.0}


@pytest.mark.parametrize(
    "better, worse",
    [
        (("Harrow Point lighthouse", ""), ("Lighthouses", "Harrow Point lighthouse")),
        (("Lighthouses", "designed at Harrow Point"), ("Lighthouses", "of the north")),
        ((WANTED, ""), ("Harrow Point lighthouse designed tea towels", "")),
    ],
)
def test_a_hit_is_judged_by_its_title_first(
    better: tuple[str, str], worse: tuple[str, str]
) -> None:
    assert hit_relevance(WANTED, *better) > hit_relevance(WANTED, *worse)


@pytest.mark.requirement("C2")
def test_as_much_as_answering_pages_hold_is_what_the_overview_gate_asks_for() -> None:
    """A quarter of the words that are asked for."""
    wanted = "granite lighthouse harbour keeper foundry engineer lamp bell"
    assert page_relevance(wanted, "", "The granite lighthouse.") == 0.6
    assert ResearchConfig().gate_overview_relevance == 0.6
