"""Rounds without a readable page: tried another way, named, and not judged by what they gave."""

from dataclasses import replace
from typing import Any

import pytest

from research.engine.assessment.close_round import MARKED_BY_CODE, UNJUDGED
from research.engine.ports import Page, SearchAnswer, SearchRequest
from research.engine.records import Aspect, Problem, Round, Source, StopReason, Unit
from tests.engine.scripted import (
    CHAIN,
    DESIGNED,
    DESIGNED_TOO,
    LIT,
    LIT_TOO,
    OWNED,
    OWNED_TOO,
    SIMPLE,
    TRAINED,
    TRAINED_TOO,
    Oracle,
    Ran,
    Script,
    Web,
    World,
    lines_of,
    page,
    sections_of,
)
from tests.engine.test_unsearched import MORE, QUESTION, THINGS, orrin, prose

LONG: dict[str, Any] = {"adaptive_soft_depth": (5, 5, 5), "max_search_results_for_agent": 50}


class Failing(Web):
    """No page can be read while one of these rounds goes on; a round begins with its searches."""

    def __init__(self, pages: list[Page], *rounds: int) -> None:
        super().__init__(pages)
        self.rounds = rounds
        self.round = 0
        self._was_fetching = True

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.round += self._was_fetching
        self._was_fetching = False
        return await super().search(request)

    async def fetch(self, url: str, *told: Any, **more: Any) -> Page:
        self._was_fetching = True
        self.down = set(self.pages) if self.round in self.rounds or not self.rounds else set()
        return await super().fetch(url, *told, **more)


def many_pages() -> list[Page]:
    """Forty short pages on each fact, each on a site of its own."""
    facts = {
        "Harrow Point lighthouse": (LIT, LIT_TOO, DESIGNED, DESIGNED_TOO),
        "Edda Marlow": (TRAINED, TRAINED_TOO),
        "Calder foundry": (OWNED, OWNED_TOO),
    }
    told = [(title, fact) for title, all_of in facts.items() for fact in all_of]
    return [
        page(f"https://s{n}x{at}.example/", f"{fact} Print {n}.", title)
        for at, (title, fact) in enumerate(told)
        for n in range(40)
    ]


async def asked(
    script: Script, *rounds: int, model: bool = True, **knobs: Any
) -> tuple[Ran, World]:
    """A run in which no page of these rounds can be read, and its replay, which says the same."""
    world = World(Failing(many_pages(), *rounds), Oracle(script) if model else None)
    ran = await world.ask(script.question, **{**LONG, **knobs})
    replayed = await world.replay(script.question, **{**LONG, **knobs})
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])
    return ran, world


def problems(ran: Ran) -> list[str]:
    return [f"{each.where}: {each.message}" for each in ran.of(Problem)]


async def test_a_round_without_a_readable_page_is_tried_another_way() -> None:
    ran, world = await asked(SIMPLE, 1)
    assert ran.state.termination_reason is StopReason.QUALITY_MET
    assert [round.topics for round in ran.rounds] == 2 * [(SIMPLE.question,)]
    assert "round 1: None of 6 pages could be read" in " ".join(problems(ran))
    assert max(world.web.fetched.values()) == 1
    assert (ran.rounds[0].novelty, ran.rounds[0].pages_read) == (None, 0)


async def test_without_a_model_the_second_wave_of_a_round_tries_other_pages() -> None:
    ran, _ = await asked(SIMPLE, 1, model=False)
    assert ran.rounds[0].pages_read > 0
    assert [unit.status for unit in ran.of(Unit)][:2] == ["failed", "done"]


async def test_a_failed_round_is_not_assessed_by_the_model() -> None:
    ran, world = await asked(SIMPLE, 1)
    assert world.model is not None
    assert world.model.tasks.count("assess") == 1
    assert ran.of(Unit)[0].status == "failed"


async def test_a_failed_round_makes_no_model_s_judgement_of_one_of_code() -> None:
    """The evaluator answers in prose, and each sub-question rests on one site, of which no further
    page can be read.
    """
    world = orrin(sites=1, things=THINGS[:3], more=MORE)
    pages = [
        replace(page, url=f"{page.url}{n}", text=f"{page.text} Print {n}.")
        for page in world.web.pages.values()
        for n in range(9)
    ]
    world.web = Failing(pages, 2)
    assert world.model is not None
    world.model.raw["assess"] = prose
    ran = await world.ask(QUESTION.question, **LONG, adaptive_min_depth=2)
    first, failed = (next(r for r in ran.of(Round) if r.number == n) for n in (1, 2))
    assert (first.score, failed.score, failed.pages_read) == (6.5, 6.5, 0)
    assert UNJUDGED in first.cap_reason and MARKED_BY_CODE in failed.cap_reason
    assert failed.decision.startswith("Going on")


async def test_novelty_and_improvement_are_not_judged_on_a_failed_round() -> None:
    ran, _ = await asked(CHAIN, 2)
    assert [round.novelty is None for round in ran.rounds] == [False, True, False, False, False]
    assert {aspect.state for aspect in ran.of(Aspect)} == {"answered"}


@pytest.mark.parametrize("model", [True, False], ids=["with a model", "without one"])
async def test_a_run_that_can_read_no_page_says_so(model: bool) -> None:
    ran, _ = await asked(SIMPLE, model=model)
    assert ran.state.termination_reason is StopReason.PAGES_UNREADABLE
    assert "none of the pages found last could be read" in (ran.state.termination_text or "")
    assert {source.status for source in ran.of(Source)} <= {"failed", "not_read"}
    assert ran.report.markdown == ""


async def test_what_was_found_before_pages_failed_is_reported() -> None:
    ran, _ = await asked(CHAIN, 2, 3, 4, 5)
    assert ran.state.termination_reason is StopReason.PAGES_UNREADABLE
    assert ran.evidence and ran.report.markdown
    assert len(ran.rounds) == 4


async def test_a_reader_is_told_that_the_pages_before_could_not_be_read() -> None:
    _, world = await asked(SIMPLE, 1)
    assert world.model is not None
    [prompt] = [each.prompt for each in world.model.requests if each.task == "read"]
    assert "could not be read" in sections_of(prompt)["WHY THESE PAGES"]
    assert lines_of(sections_of(prompt)["PAGES"])
