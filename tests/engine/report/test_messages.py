import re
from dataclasses import replace
from typing import Any

import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import (
    AnswerStatus,
    AnswerSupport,
    AspectState,
    Gap,
    Round,
    Source,
    Stage,
    StopReason,
)
from research.engine.report import messages
from tests.engine.scripted import ledger


def known(*states: AspectState, rounds: int = 2, novelty: float = 0.0999) -> Ledger:
    made, _ = ledger(*(f"Question {n}?" for n, _ in enumerate(states, 1)))
    for number, state in enumerate(states, 1):
        made.set_aspect(f"A{number}", state=state)
    made.rounds[:] = [
        Round(n, Stage.OVERVIEW, novelty=novelty, pages_read=1, new_evidence=3)
        for n in range(1, rounds + 1)
    ]
    made.queries |= {"one": 1, "two": 0}
    return made


YES, NO = AspectState.ANSWERED, AspectState.OPEN


@pytest.mark.requirement("A10", "E9")
@pytest.mark.parametrize(
    "reason, knobs, states, sentence",
    [
        (StopReason.CANCELLED, {}, [YES, NO], "Cancelled: no report was written."),
        (
            StopReason.USER_STOPPED,
            {},
            [YES, NO],
            "Stopped when you asked: 1 of 2 answered. 1 question stays open.",
        ),
        (
            StopReason.BUDGET_SEARCHES,
            {"max_searches": 1},
            [YES],
            "Stopped at the limit of 1 search: the question is answered.",
        ),
        (
            StopReason.BUDGET_COST,
            {"max_cost_usd": 0.25},
            [NO, NO],
            "Stopped at the limit of $0.25: 0 of 2 answered. 2 questions stay open.",
        ),
        (
            StopReason.BUDGET_TIME,
            {},
            [NO],
            "Stopped at the limit of 600 seconds: the question is still open.",
        ),
        (
            StopReason.BUDGET_TOKENS,
            {},
            [YES, YES],
            "Stopped at the limit of 400,000 tokens: both sub-questions answered.",
        ),
        (
            StopReason.MAX_ROUNDS,
            {},
            [YES, YES],
            "Stopped after 2 rounds, the most for a question like this. "
            "Both sub-questions answered.",
        ),
        (
            StopReason.NOTHING_FOUND,
            {},
            [NO, NO],
            "Found nothing that answers this. 2 queries, 0 pages read.",
        ),
        (
            StopReason.QUALITY_MET,
            {},
            [YES, AspectState.ONE_SOURCE],
            "Stopped: both sub-questions answered, 1 from two or more sites.",
        ),
        (
            StopReason.QUALITY_MET,
            {},
            [YES, YES, NO],
            "Stopped as good enough: 2 of 3 answered, 2 from two or more sites. "
            "1 question stays open.",
        ),
        (
            StopReason.NO_NOVELTY,
            {},
            [YES, NO],
            "Stopped: round 2 read 1 page and added 3 passages; 9\N{NO-BREAK SPACE}% of the words "
            "were new, less than the 15\N{NO-BREAK SPACE}% asked for. 1 of 2 answered. "
            "1 question stays open.",
        ),
        (
            StopReason.STUCK,
            {},
            [NO, NO],
            "Stopped: there was no new way to search. 0 of 2 answered. 2 questions stay open.",
        ),
        (
            StopReason.STUCK,
            {},
            [YES, NO, NO, AspectState.ONE_SOURCE],
            "Stopped: there was no new way to search. 2 of 4 answered. "
            "2 questions stay open, 1 answer rests on one site.",
        ),
        (
            StopReason.STUCK,
            {},
            [AspectState.ONE_SOURCE, AspectState.ONE_SOURCE],
            "Stopped: there was no new way to search. Both sub-questions answered. "
            "2 answers rest on one site.",
        ),
        (
            StopReason.NO_GAPS,
            {},
            [AspectState.DISPUTED],
            "Stopped: sources disagree on the answer, and no gap was left.",
        ),
        (
            StopReason.BUDGET_SEARCHES,
            {"max_searches": 1},
            [AspectState.DISPUTED],
            "Stopped at the limit of 1 search: sources disagree on the answer.",
        ),
        (
            StopReason.NO_GAPS,
            {},
            [YES, AspectState.DISPUTED],
            "Stopped: both sub-questions answered, 1 from two or more sites, and no gap was left.",
        ),
        (
            StopReason.NO_GAPS,
            {},
            [YES, YES],
            "Stopped: both sub-questions answered, 2 from two or more sites, "
            "and nothing more is missing.",
        ),
    ],
)
def test_why_it_stopped_is_said_in_plain_words(
    reason: StopReason, knobs: dict[str, Any], states: list[AspectState], sentence: str
) -> None:
    assert messages.stop_message(reason, known(*states), ResearchConfig(**knobs)) == sentence


def test_earlier_runs_count_disputes_where_they_stop() -> None:
    ledger = known(YES, AspectState.DISPUTED)
    ledger.began = Form.COMPUTED
    told = messages.stop_message(StopReason.NO_GAPS, ledger, ResearchConfig())
    assert told.startswith("Stopped: both sub-questions answered, 1 of them disputed, 1 from")


@pytest.mark.parametrize("reason", sorted(set(StopReason) - {StopReason.CANCELLED}))
def test_no_sentence_ends_in_a_figure_before_one_that_begins_with_a_figure(
    reason: StopReason,
) -> None:
    """“Close to 3. 5 questions” reads as a decimal."""
    made = known(YES, NO, NO, AspectState.ONE_SOURCE, YES)
    for label in ("A4", "A5"):
        made.set_aspect(label, standing=AnswerSupport((), False))
    sentence = messages.stop_message(reason, made, ResearchConfig(max_cost_usd=1.0), [5.0, 5.2])
    assert not re.search(r"\d\. \d", sentence)
    without = {StopReason.NOTHING_FOUND, StopReason.KNOWN_BEFORE}
    assert reason in without or "close to 2 more" in sentence


@pytest.mark.requirement("A6", "A10", "E9")
@pytest.mark.parametrize("last, gain", [(5.49, "+0.49"), (5.0, "+0"), (4.2, "-0.8")])
def test_an_end_for_want_of_improvement_holds_the_gain_and_its_bar(last: float, gain: str) -> None:
    ended = messages.stop_message(
        StopReason.DIMINISHING_QUALITY,
        known(YES),
        ResearchConfig(),
        [3.0, 5.0, last],
    )
    assert ended == (
        "Stopped: round 2 read 1 page and added 3 passages and hardly improved the result: "
        f"{gain} points, less than the +0.5 asked for. The question is answered."
    )


def test_being_stuck_after_two_empty_rounds_says_so() -> None:
    made = known(YES, YES, novelty=0.0)
    assert messages.stop_message(StopReason.STUCK, made, ResearchConfig()) == (
        "Stopped: two rounds in a row brought nothing new. Both sub-questions answered."
    )


@pytest.mark.requirement("A10")
@pytest.mark.parametrize("reason", StopReason)
def test_every_reason_has_a_whole_sentence(reason: StopReason) -> None:
    sentence = messages.stop_message(reason, known(YES, NO), ResearchConfig())
    assert sentence[0].isupper() and sentence.endswith(".")
    assert "{" not in sentence and ".." not in sentence and "  " not in sentence
    assert reason.value not in sentence or reason.value == "cancelled"


@pytest.mark.requirement("C9")
def test_going_on_says_what_is_missing_and_what_is_next() -> None:
    made = known(YES, NO, NO, NO)
    assert messages.going_on(made, ["Lamps?", "Oil", "Gas"]) == (
        "Going on: 1 of 4 answered. Missing: “Question 2”, “Question 3” and 1 more. "
        "Round 3 looks for “Lamps”, “Oil” and 1 more."
    )
    long = "Which lamps lit the streets, and who paid for the oil that the town burned in them?"
    made.set_aspect("A2", text=long)
    named = "Which lamps lit the streets"
    gap = f"the number of lamps that {'the council of the town ' * 9}bought"
    assert messages.going_on(made, [long, f"More on: {long}"]) == (
        f"Going on: 1 of 4 answered. Missing: “{named}”, “Question 3” and 1 more. "
        f"Round 3 looks for “{named}” and “More on: {named}”."
    )
    assert len(messages.going_on(made, [gap])) < 220
    whole = known(YES)
    assert messages.going_on(whole, []) == (
        "Going on for more detail: the question is answered. Round 3 looks for more sources."
    )
    whole.gaps = {"G1": Gap("G1", "the fee", "A1", True, 1), "G2": Gap("G2", "who", "A1", False, 1)}
    assert messages.going_on(whole, ["Fee"]) == (
        "Going on: the question is answered, but 2 points missing. Round 3 looks for “Fee”."
    )


@pytest.mark.parametrize(
    "number, noun, said",
    [
        (1, "page", "1 page"),
        (0, "page", "0 pages"),
        (2, "search", "2 searches"),
        (2, "query", "2 queries"),
    ],
)
def test_counts_agree_with_their_nouns(number: int, noun: str, said: str) -> None:
    assert messages.count_noun(number, noun) == said


def test_pages_that_could_not_be_read_are_counted() -> None:
    made = known(NO)
    source = Source("https://a.example/", "", "a.example", 1)
    made.put_source(replace(source, status="failed"))
    assert messages.stop_message(StopReason.NOTHING_FOUND, made, ResearchConfig()) == (
        "Found nothing that answers this. 2 queries, 0 pages read, 1 page could not be read."
    )


def test_the_terminal_says_what_the_report_leaves_open_of_an_answer() -> None:
    assert messages.mark_words(AnswerStatus.ONE_SOURCE, 1, 2) == "one site · 2 points open"
    assert messages.mark_words(AnswerStatus.CLOSE, 1, 2) == messages.mark_words(
        AnswerStatus.CLOSE, 1
    )
