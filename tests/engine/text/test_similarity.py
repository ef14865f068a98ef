import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.text.similarity import Corpus, find_twin, jaccard

WORDS = st.frozensets(st.text("abc", min_size=1, max_size=2), max_size=6)


@given(WORDS, WORDS)
def test_similarity_is_symmetric_and_within_bounds(
    one: frozenset[str], other: frozenset[str]
) -> None:
    assert jaccard(one, other) == jaccard(other, one)
    assert 0 <= jaccard(one, other) <= 1
    assert (jaccard(one, other) == 1) == (one == other != frozenset())


@pytest.mark.parametrize(
    "topic, earlier",
    [
        ("scrambled eggs recipe", "recipe for scrambled eggs"),
        ("How do tables get vacuumed?", "tables vacuuming"),
        (
            "impact of migration soft fork on hardware wallet firmware vendors today",
            "impact of migration soft fork on hardware wallet firmware vendors",
        ),
    ],
)
def test_the_same_topic_in_other_words_is_a_twin(topic: str, earlier: str) -> None:
    found = find_twin(topic, ["cheddar cheese", earlier], 0.75)
    assert found is not None
    assert (found.topic, found.twin) == (topic, earlier)
    assert 0.75 <= found.similarity <= 1


@pytest.mark.requirement("E2")
@pytest.mark.parametrize(
    "topic, earlier",
    [
        ("machine learning training data", "machine learning training speed"),
        ("autovacuum vacuum scale factor default", "autovacuum analyze scale factor default"),
        (
            "history of the lighthouse at Harrow Point keepers",
            "history of the lighthouse at Harrow Point builders",
        ),
        (
            "northern lighthouse Harrow Point history keepers",
            "northern lighthouse Harrow Point history builders",
        ),
        ("population of Leith in 1911", "population of Leith in 1921"),
    ],
)
@pytest.mark.parametrize("threshold", [0.75, 0.5])
def test_one_word_of_its_own_on_each_side_is_another_topic(
    topic: str, earlier: str, threshold: float
) -> None:
    assert find_twin(topic, [earlier], threshold) is None


def test_the_most_similar_twin_is_named() -> None:
    found = find_twin("blue whale diet krill", ["blue whale diet", "krill blue whale diet"], 0.7)
    assert found is not None
    assert (found.twin, found.similarity) == ("krill blue whale diet", 1.0)


@pytest.mark.requirement("E2")
def test_below_the_threshold_nothing_is_refused() -> None:
    assert find_twin("blue whale diet krill", ["blue whale diet"], 0.75) is not None
    assert find_twin("blue whale diet krill", ["blue whale diet"], 0.76) is None


@pytest.mark.requirement("C13", "E6")
def test_novelty_is_the_share_of_new_words() -> None:
    corpus = Corpus()
    assert corpus.novelty(["whales eat krill"]) == 1
    corpus.add(["whales eat krill"])
    assert corpus.novelty(["whales eat krill"]) == 0
    assert corpus.novelty(["whales eat", "fish"]) == pytest.approx(1 / 3)


@pytest.mark.requirement("E6")
def test_a_round_without_findings_has_no_novelty() -> None:
    assert Corpus().novelty([]) == 0 == Corpus().novelty(["the of and"])


@pytest.mark.requirement("E2")
@pytest.mark.parametrize("shared, is_twin", [(5, False), (6, True)])
def test_a_word_of_its_own_counts_little_among_many_shared_ones(shared: int, is_twin: bool) -> None:
    words = ["granite", "lighthouse", "harbour", "keeper", "foundry", "engineer"][:shared]
    one, other = " ".join([*words, "lamp"]), " ".join([*words, "bell"])
    assert (find_twin(one, [other], 0.6) is not None) == is_twin
