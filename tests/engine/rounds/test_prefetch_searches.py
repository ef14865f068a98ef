"""What pages named is searched for while the round is judged, and used where it is wanted."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from research.engine.ports import ModelAnswer, ModelRequest
from research.engine.records import Unit
from tests.engine.scripted import (
    CHAIN,
    SIMPLE,
    Answer,
    Oracle,
    Ran,
    Web,
    World,
    harbour,
    harbour_pages,
)

pytestmark = pytest.mark.virtual_time

FIRST, SECOND = "Edda Marlow", "Calder foundry"


class Beside(Oracle):
    """Answers the first assessment only once the first lead was searched for."""

    def __init__(self) -> None:
        super().__init__(CHAIN)
        self.web = Web(harbour_pages())

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        async with asyncio.timeout(5):
            while request.task == "assess" and FIRST not in self.web.searched:
                await asyncio.sleep(0)
        return await super().complete(request)


class Uninterested(Oracle):
    """Asks for what pages named in words of its own, or for something else."""

    def __init__(self, query: str) -> None:
        super().__init__(CHAIN)
        self.query = query

    def _assess(self, sections: Mapping[str, str]) -> Answer:
        answer = super()._assess(sections)
        return {**answer, "gaps": [{**gap, "query": self.query} for gap in answer["gaps"][:1]]}


async def asked(world: World, question: str = CHAIN.question, **knobs: Any) -> Ran:
    """A run whose replay asks for nothing and says the same."""
    ran = await world.ask(question, **knobs)
    replayed = await world.replay(question, **knobs)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences, replayed.journal.live) == (None, [], 0)
    assert ran.usage.searches == len(world.web.searched)
    return ran


def searches(world: World) -> dict[str, str]:
    """Where each search is journaled, with its query."""
    entries = world.store.entries.values()
    return {e.place: e.request["query"] for e in entries if e.kind == "search"}


def scouted(world: World) -> list[str]:
    return [query for place, query in searches(world).items() if "/scout/" in place]


async def test_a_lead_is_searched_for_while_the_round_is_judged() -> None:
    model = Beside()
    world = World(model.web, model)
    ran = await asked(world)
    assert searches(world)["round/1/scout/1"] == FIRST
    assert "3 of 3 answered" in ran.report.markdown


@pytest.mark.requirement("C17")
async def test_the_next_topic_takes_the_results_and_nothing_is_searched_twice() -> None:
    world = harbour(CHAIN)
    ran = await asked(world, min_evidence_records=4)
    assert scouted(world) == [FIRST, SECOND]
    assert max(world.web.searched.count(query) for query in world.web.searched) == 1
    assert FIRST in ran.rounds[1].topics[0] or FIRST in searches(world).values()
    plain = harbour(CHAIN)
    few = await plain.ask(CHAIN.question, min_evidence_records=4, max_searches=11)
    assert [r.topics for r in few.rounds] == [r.topics for r in ran.rounds]
    assert (few.report, scouted(plain)) == (ran.report, [])


async def test_a_query_in_nearly_the_same_words_takes_them_too() -> None:
    world = World(Web(harbour_pages()), Uninterested("the Edda Marlow"))
    await asked(world)
    assert "the Edda Marlow" not in world.web.searched and FIRST in world.web.searched


async def test_results_that_the_next_topic_does_not_want_are_kept_for_a_later_one() -> None:
    world = World(Web(harbour_pages()), Uninterested("keepers of old lights"))
    ran = await asked(world)
    assert FIRST in scouted(world) and "keepers of old lights" in world.web.searched
    assert any(FIRST in unit.queries for unit in ran.of(Unit))
    assert world.web.searched.count(FIRST) == 1


async def test_a_search_that_nobody_wants_is_counted_all_the_same() -> None:
    """The assessment is content with what there is, whatever pages named."""
    world = harbour(replace(SIMPLE, leads={"first lit": FIRST}))
    ran = await asked(world, SIMPLE.question)
    assert len(ran.rounds) == 1 and scouted(world) == [FIRST]
    assert ran.usage.searches == 2


async def test_a_run_without_leads_scouts_nothing() -> None:
    world = harbour(SIMPLE)
    await asked(world, SIMPLE.question)
    assert scouted(world) == []


async def test_nothing_is_scouted_after_the_last_round() -> None:
    world = harbour(CHAIN)
    await asked(world, adaptive_max_depth=1)
    assert scouted(world) == []


async def test_nothing_is_scouted_where_searches_are_short() -> None:
    world = harbour(CHAIN)
    await asked(world, max_searches=9)
    assert scouted(world) == []


async def test_at_most_two_things_are_scouted_for_and_none_that_was_searched_for() -> None:
    leads = {"designed by Edda Marlow": "ferry", "first lit": "coal", "fire of": "cape"}
    script = Oracle(CHAIN)
    script.twists["read"] = lambda answer: {
        **answer,
        "leads": [{"topic": t, "query": t, "sentence": 1} for t in (*leads.values(), FIRST)],
    }
    world = World(Web(harbour_pages()), script)
    await asked(world)
    first = [query for place, query in searches(world).items() if place.startswith("round/1/scout")]
    assert len(first) == 2
    assert max(world.web.searched.count(query) for query in world.web.searched) == 1


async def test_none_is_scouted_that_was_searched_for() -> None:
    """Though by another name."""
    world = harbour(CHAIN)
    assert world.model is not None
    lead = {"topic": "The lamp", "query": CHAIN.parts[0].query, "sentence": 1}
    world.model.twists["read"] = lambda answer: {**answer, "leads": [lead]}
    ran = await asked(world)
    assert len(ran.rounds) > 1 and scouted(world) == []


async def test_broken_off_anywhere_it_goes_on_and_asks_for_no_answer_again() -> None:
    whole = harbour(CHAIN)
    expected = await whole.ask(CHAIN.question)
    entries = await whole.store.load()
    for kept in range(0, len(entries), 3):
        world = harbour(CHAIN)
        world.store.texts = dict(whole.store.texts)
        for entry in entries[:kept]:
            await world.store.put(entry)
        ran = await world.ask(CHAIN.question)
        known = [e.request["query"] for e in entries[:kept] if e.kind == "search"]
        assert ran.report == expected.report
        assert not set(known) & set(world.web.searched)
        assert ran.usage.searches == len(known) + len(world.web.searched)
