"""Every planned sub-question is searched before a run may end as good enough, and a model whose
judgement can't be used gives no good marks."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from research.engine.assessment.close_round import MARKED_BY_CODE, UNJUDGED
from research.engine.records import Aspect, Round, StopReason
from research.engine.report.messages import mark_words
from tests.engine.scripted import (
    MARKS,
    Answer,
    Oracle,
    Part,
    Ran,
    Script,
    Web,
    World,
    lines_of,
    page,
)

MORE = "Duke{thing} had the {thing} built of {thing}stone from {thing}quarry."
THINGS = ("tower", "bell", "mill", "weir", "barn", "quay")
QUESTION = Script(
    "Who built the tower, bell, mill, weir, barn and quay of Orrin?",
    tuple(
        Part(f"Who built the Orrin {thing}?", f"{thing} {thing}wright", (thing, "built"))
        for thing in THINGS
    ),
    "ordinary",
)


def asks_for(things: tuple[str, ...]) -> Script:
    return Script(QUESTION.question, QUESTION.parts[: len(things)], QUESTION.complexity)


def orrin(*, sites: int = 2, things: tuple[str, ...] = THINGS, more: str = "") -> World:
    """Each thing on so many sites of its own, with `more` said of it."""
    pages = [
        page(
            f"https://{thing}{site}.example/",
            f"The Orrin {thing} was built by Mason{thing}. So says {thing} book {site}. "
            + more.format(thing=thing),
            f"The {thing} and its {thing}wright",
        )
        for thing in things
        for site in range(sites)
    ]
    return World(Web(pages), Oracle(asks_for(things)))


def content(answer: Answer) -> Answer:
    """Complete, whatever was found."""
    best = dict.fromkeys(MARKS, 10)
    return {**answer, "dimensions": best, "overall": 10, "unanswered": [], "gaps": [],
            "ready": True}  # fmt: skip


async def asked(world: World, **knobs: Any) -> Ran:
    ran = await world.ask(QUESTION.question, **knobs)
    replayed = await world.replay(QUESTION.question, **knobs)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])
    return ran


@pytest.mark.requirement("A3", "A5")
async def test_an_evaluator_that_is_content_ends_no_run_before_all_was_searched() -> None:
    world = orrin()
    assert world.model is not None
    world.model.twists["assess"] = content
    ran = await asked(world)
    assert {part.query for part in QUESTION.parts} <= set(world.web.searched)
    assert ran.rounds[1].topics[:2] == tuple(part.question for part in QUESTION.parts[4:])
    assert {aspect.state for aspect in ran.of(Aspect)} == {"answered"}
    first = next(r for r in ran.of(Round) if r.number == 1)
    assert first.score is not None and first.score < 7, "four of six would be 7.0, the threshold"
    assert "2 not searched" in first.cap_reason


async def test_what_was_not_searched_is_called_so_everywhere() -> None:
    ran = await asked(orrin(), adaptive_max_depth=1)
    states = [aspect.state for aspect in ran.of(Aspect)]
    assert states == ["answered"] * 4 + ["not_searched"] * 2
    _, _, told = ran.report.markdown.partition("## Not searched")
    assert "barn" in told.partition("##")[0] and "quay" in told.partition("##")[0]
    assert "## Not found" not in ran.report.markdown
    assert ran.state.termination_reason is StopReason.MAX_ROUNDS
    assert "2 questions stay open" in (ran.state.termination_text or "")
    assert mark_words(ran.of(Aspect)[-1].state, 0) == "not searched"  # type: ignore[arg-type]


async def test_what_was_searched_in_vain_is_not_found() -> None:
    world = orrin()
    gone = ("barn", "quay")
    world.web = Web([p for p in world.web.pages.values() if not any(g in p.url for g in gone)])
    ran = await asked(world)
    assert [aspect.state for aspect in ran.of(Aspect)][4:] == ["not_found"] * 2
    assert "## Not searched" not in ran.report.markdown


@pytest.mark.requirement("A2", "A3")
@pytest.mark.parametrize("sites, best", [(1, 6.5), (2, 10)])
async def test_code_in_the_place_of_an_evaluator_gives_no_good_marks_unless_all_holds(
    sites: int, best: float
) -> None:
    world = orrin(sites=sites)
    assert world.model is not None
    world.model.raw["assess"] = lambda text: "I would say it is complete."
    ran = await asked(world)
    assert ran.usage.fallbacks["assess"]
    assert max(r.score or 0 for r in ran.of(Round)) <= best
    if sites == 1:
        assert ran.state.termination_reason is not StopReason.QUALITY_MET
        assert "the model's judgement could not be used" in ran.of(Round)[-1].cap_reason
    else:
        assert ran.state.termination_reason is StopReason.QUALITY_MET


def prose(text: str) -> str:
    return "I would say it is complete."


async def asked_of_three(assess: Callable[[str], str]) -> Ran:
    """Three sub-questions with one source each: code's marks alone reach the threshold."""
    world = orrin(sites=1, things=THINGS[:3], more=MORE)
    assert world.model is not None
    world.model.raw["assess"] = assess
    return await asked(world)


@pytest.mark.requirement("A2", "A3")
async def test_marks_of_code_that_reach_the_threshold_end_no_run_that_is_held() -> None:
    ran = await asked_of_three(prose)
    last = ran.of(Round)[-1]
    assert {aspect.state for aspect in ran.of(Aspect)} == {"one_source"}
    assert (last.score, last.cap_reason) == (6.5, f"3 resting on too few sources; {UNJUDGED}")
    assert last.model_score is not None and last.model_score >= 7
    assert ran.state.termination_reason is not StopReason.QUALITY_MET


class SmallOracle(Oracle):
    """Answers the smaller tasks of the profile for small models."""

    def _intake(self, sections: Mapping[str, str]) -> Answer:
        first, *others = self.script.parts
        return {"query": first.query, "parts": [part.question for part in others]}

    def _read(self, sections: Mapping[str, str]) -> Answer:
        told = [line for line in lines_of(sections["PAGES"]) if "built" in line[2]]
        return {"findings": [{"sentence": int(n), "claim": text} for n, _, text in told]}

    def _assess(self, sections: Mapping[str, str]) -> Answer:
        return {"enough": True, "missing": "", "query": ""}

    def _draft(self, sections: Mapping[str, str]) -> Answer:
        return {"statements": []}


async def test_a_small_model_that_says_enough_does_not_turn_code_s_marks_into_its_own() -> None:
    world = orrin(sites=1, things=THINGS[:3], more=MORE)
    world.model = SmallOracle(asks_for(THINGS[:3]))
    ran = await world.ask(QUESTION.question, model_profile="small")
    last = ran.of(Round)[-1]
    assert MARKED_BY_CODE in last.cap_reason
    assert ran.state.termination_reason is not StopReason.QUALITY_MET
