from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from research.engine.assessment import score as quality
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.records import AspectState, Dimensions
from tests.engine.scripted import SIMPLE, harbour, ledger, page, quoted

EQUAL = ResearchConfig().weights
BEST = Dimensions(10, 10, 10, 10)
SUBJECTS = ["dams of beavers", "pebbles of otters", "minnows of herons", "nests of kingfishers"]


def known(*counts: int) -> Ledger:
    """A ledger in which the n-th sub-question rests on so many sites."""
    made, _ = ledger(*(f"What about {subject}?" for subject in SUBJECTS[: len(counts)]))
    for number, count in enumerate(counts):
        for site in range(count):
            put(made, number, site)
    made.refresh_aspects()
    return made


def put(made: Ledger, aspect: int, site: int, relevance: float = 0.9) -> None:
    claim = f"The {SUBJECTS[aspect]} are well known."
    source = page(f"https://s{site}.example/{aspect}", f"Site {site}: {claim}")
    made.book.add(Finding(claim, f"A{aspect + 1}", quoted(source, claim), relevance), 1)


@pytest.mark.parametrize(
    "counts, cap, reason",
    [
        ((2, 2), 10, ""),
        ((2, 1), 8.88, "1 resting on too few sources"),
        ((2, 0), 5.5, "1 without an answer"),
        ((1, 0), 4.38, "1 without an answer, 1 resting on too few sources"),
        ((0, 0), 1, "2 without an answer"),
        ((3,), 10, ""),
    ],
)
def test_the_cap_follows_its_formula(counts: tuple[int, ...], cap: float, reason: str) -> None:
    assert quality.score_cap(known(*counts), 2) == (pytest.approx(cap, abs=0.006), reason)


def test_a_dispute_holds_the_cap_down() -> None:
    made = known(2, 2)
    made.set_aspect("A1", state=AspectState.DISPUTED)
    assert quality.score_cap(made, 2) == (7.75, "1 on which sources disagree")


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.floats(0, 1)), max_size=6),
    st.integers(1, 3),
)
def test_more_evidence_never_lowers_the_cap(
    counts: list[int], more: list[tuple[int, int, float]], wanted: int
) -> None:
    made = known(*counts)
    before = [quality.score_cap(made, wanted)[0]]
    for aspect, site, relevance in more:
        if aspect < len(counts):
            put(made, aspect, site, relevance)
            made.refresh_aspects()
            before.append(quality.score_cap(made, wanted)[0])
    assert before == sorted(before)


def test_an_unjudged_dimension_leaves_the_weights() -> None:
    assert quality.weighted_mean(Dimensions(8, 4, 6, None), EQUAL) == 6
    assert quality.weighted_mean(Dimensions(8, None, None, None), EQUAL) == 8
    assert quality.weighted_mean(Dimensions(), EQUAL) == 1


@pytest.mark.requirement("A2")
def test_weights_weigh() -> None:
    weights = {**EQUAL, "completeness": 0.5, "depth": 0.0}
    assert quality.weighted_mean(Dimensions(9, 1, 5, 5), weights) == 7


@pytest.mark.requirement("A2")
@pytest.mark.parametrize("mark", ["completeness", "depth", "reliability", "actionability"])
async def test_the_weights_of_a_run_weigh_its_rounds(mark: str) -> None:
    """One mark alone counts; equal weights would make 5.5 of these four."""
    marks = {"completeness": 7, "depth": 6, "reliability": 5, "actionability": 4}
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {**answer, "dimensions": marks}
    weights = {f"weight_{name}": float(name == mark) for name in marks}
    ran = await world.ask(SIMPLE.question, adaptive_max_depth=1, **weights)
    assert (ran.rounds[0].model_score, ran.rounds[0].score) == (marks[mark], marks[mark])


def score(made: Ledger, marks: Dimensions, *, passed: bool, threshold: float = 7) -> quality.Score:
    return quality.score_round(made, marks, EQUAL, 2, threshold, passed)


@pytest.mark.requirement("A2")
def test_what_holds_a_score_keeps_it_below_the_threshold() -> None:
    held = quality.score_round(known(2, 2), BEST, EQUAL, 2, 7, True, ("1 not searched", "unjudged"))
    assert (held.score, held.earned) == (6.5, 10)
    assert held.cap_reason == "1 not searched; unjudged"


def test_a_flattering_model_is_capped_and_both_scores_are_kept() -> None:
    found = score(known(2, 0), BEST, passed=True)
    assert (found.score, found.model_score, found.cap) == (5.5, 10, 5.5)
    assert found.cap_reason == "1 without an answer"


def test_a_cap_that_takes_nothing_gives_no_reason() -> None:
    found = score(known(2, 0), Dimensions(3, 3, 3, 3), passed=True)
    assert (found.score, found.cap_reason) == (3, "")


@given(st.floats(1, 10), st.floats(1, 10))
def test_no_score_reaches_the_threshold_while_the_evidence_gate_fails(
    mark: float, threshold: float
) -> None:
    found = score(
        known(2, 2), Dimensions(mark, mark, mark, mark), passed=False, threshold=threshold
    )
    assert found.score < threshold or threshold == 1
    assert 1 <= found.score <= max(1, found.model_score)


@pytest.mark.requirement("D3")
def test_a_failing_evidence_gate_is_named() -> None:
    found = score(known(2, 1), BEST, passed=False)
    assert found.score == 6.5
    assert found.cap_reason == "1 resting on too few sources; too little evidence for the gate"


def test_a_record_of_no_use_to_the_sub_question_lifts_nothing() -> None:
    made = known(0)
    put(made, 0, 1, relevance=0.29)
    made.refresh_aspects()
    assert quality.score_cap(made, 1)[0] == 1
    assert made.aspects["A1"] == replace(made.aspects["A1"], state=AspectState.OPEN)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.floats(0, 1)), max_size=6),
    st.integers(0, 7),
    st.floats(1, 10),
)
@example([2, 0], [(0, 3, 0.9), (1, 0, 0.9)], 7, 5.8)
def test_more_evidence_never_lowers_the_cap_whether_the_gate_fails_or_passes(
    counts: list[int], more: list[tuple[int, int, float]], passes_after: int, threshold: float
) -> None:
    made = known(*counts)
    caps = []
    for turn, (aspect, site, relevance) in enumerate(more):
        if aspect < len(counts):
            put(made, aspect, site, relevance)
            made.refresh_aspects()
            caps.append(score(made, BEST, passed=turn >= passes_after, threshold=threshold).cap)
    assert caps == sorted(caps)


@given(st.floats(1, 10), st.floats(1, 10), st.booleans())
def test_what_a_round_earned_does_not_depend_on_the_threshold(
    one: float, other: float, passed: bool
) -> None:
    marks = Dimensions(9, 8, 7, 9)
    earned = {score(known(2, 1), marks, passed=passed, threshold=t).earned for t in (one, other)}
    assert len(earned) == 1
