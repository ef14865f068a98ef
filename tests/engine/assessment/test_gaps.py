"""Gaps from round to round: an id for as long as one is open, and none lost to another."""

from typing import Any

import pytest

from research.engine.records import Gap, StopReason
from tests.engine.scripted import CHAIN, Answer, Ran, World, harbour, sections_of

ENOUGH: dict[str, Any] = {"adaptive_soft_depth": (5, 5, 5)}


def gap(
    text: str, query: str, sub_question: str = "A1", critical: bool = True, **more: Any
) -> Answer:
    return {
        "text": text,
        "sub_question": sub_question,
        "query": query,
        "critical": critical,
        **more,
    }


def naming(*rounds: list[Answer], **changes: Any) -> World:
    """A model that names these gaps round by round, the last ones ever after."""
    world, left = harbour(CHAIN), list(rounds)
    assert world.model is not None

    def twist(answer: Answer) -> Answer:
        gaps = left.pop(0) if len(left) > 1 else left[0]
        return {**answer, "gaps": gaps, "ready": not gaps, **changes}

    world.model.twists["assess"] = twist
    return world


def of_text(ran: Ran) -> dict[str, Gap]:
    return {each.text: each for each in ran.of(Gap)}


def shown(world: World, label: str, task: str = "assess") -> list[str]:
    """A section of each prompt of a task; "" where it has none."""
    assert world.model is not None
    prompts = [asked.prompt for asked in world.model.requests if asked.task == task]
    return [sections_of(prompt).get(label, "") for prompt in prompts]


FORGE, SAILS = gap("Who forged the lamp", "lamp forge"), gap("Who sewed the sails", "sail loft")


@pytest.mark.requirement("A8")
async def test_a_newer_gap_stands_beside_an_older_one_of_the_same_sub_question_and_weight() -> None:
    world = naming([FORGE], [SAILS], [])
    ran = await world.ask(CHAIN.question, **ENOUGH)
    assert list(of_text(ran)) == ["Who forged the lamp", "Who sewed the sails"]
    assert "sail loft" in world.web.searched


@pytest.mark.requirement("A8")
async def test_the_model_is_shown_the_open_gaps_and_names_them_by_id() -> None:
    again = gap("The forge of the lamp", "smithy of the lamp", id="[G1]")
    world = naming([FORGE], [again], [])
    ran = await world.ask(CHAIN.question, **ENOUGH)
    assert shown(world, "OPEN GAPS")[:2] == ["", "[G1] (A1; critical) Who forged the lamp"]
    [(text, kept)] = of_text(ran).items()
    assert text == "The forge of the lamp"
    assert kept.query == "smithy of the lamp" and "smithy of the lamp" in world.web.searched
    assert (kept.opened_round, kept.closed_round) == (1, 3)


@pytest.mark.requirement("A8")
@pytest.mark.parametrize(
    "again",
    [
        gap("Who forged the lamp", "lamp blacksmith"),
        gap("The forge of the lamp", "the lamp's forge"),
        gap("The forge of the lamp", "the lamp's forge", "A2", critical=False, id="G9"),
    ],
    ids=["same words", "same query", "same query, another sub-question, no such id"],
)
async def test_a_gap_without_an_id_is_new_unless_its_words_or_its_query_are_known(
    again: Answer,
) -> None:
    ran = await naming([FORGE, FORGE], [again]).ask(CHAIN.question, **ENOUGH)
    assert list(of_text(ran)) == ["Who forged the lamp"]


@pytest.mark.requirement("A8")
async def test_gaps_beyond_the_most_sub_questions_are_kept_without_one() -> None:
    rounds = [
        [gap(f"Thing{n}{turn} of it", f"thing{n}{turn} place", "") for n in range(10)]
        for turn in range(2)
    ]
    ran = await naming(*rounds).ask(CHAIN.question, **ENOUGH)
    gaps = ran.of(Gap)
    assert len(gaps) == 20
    assert [each.aspect_id is None for each in gaps] == [n >= 9 for n in range(20)]


@pytest.mark.requirement("A6", "E6")
async def test_an_untried_query_of_a_critical_gap_is_searched_before_novelty_ends_the_run() -> None:
    rounds = [[gap(f"Thing{n} of it", f"thing{n} place", "A3")] for n in range(9)]
    ran = await naming(*rounds).ask(CHAIN.question, **ENOUGH)
    assert ran.state.termination_reason is StopReason.MAX_ROUNDS
    assert {round.novelty for round in ran.rounds[2:]} == {0.0}
    weak = [[{**each, "critical": False} for each in named] for named in rounds]
    ended = await naming(*weak).ask(CHAIN.question, **ENOUGH)
    assert ended.state.termination_reason in {StopReason.STUCK, StopReason.NO_NOVELTY}


@pytest.mark.requirement("A8")
async def test_a_reader_is_told_what_found_the_pages_and_why() -> None:
    world = naming([FORGE, gap("The smith", "smith of the lamp", critical=False)], [])
    await world.ask(CHAIN.question, **ENOUGH)
    told = shown(world, "WHY THESE PAGES", "read")
    assert told[0] == "- Harrow Point lighthouse designer"
    [why] = [text for text in told if "- lamp forge" in text]
    assert "the answer would be wrong or useless without it" in why
