"""Without a model: a round's second wave, from name to name, and why research goes on."""

import pytest

from research.engine.records import GateResult, Round, Source, StopReason, Unit
from tests.engine.scripted import Ran, Web, World, harbour_pages, page

CHAIN = "Who owned the place where the designer of the Harrow Point lighthouse was trained?"
PAGES = 5


def read_in(ran: Ran, number: int) -> set[str]:
    """What was read by the end of a round, by what the records told in that order."""
    read: set[str] = set()
    for record in ran.records:
        if isinstance(record, Round) and record.number > number:
            break
        if isinstance(record, Source) and record.status in {"read", "cited"}:
            read.add(record.url)
    return read


async def asked(question: str, **knobs: object) -> Ran:
    return await World(Web(harbour_pages()), None).ask(
        question, **{"max_pages_per_round": PAGES, **knobs}
    )


@pytest.mark.requirement("D7")
async def test_the_second_wave_follows_what_the_first_one_read() -> None:
    ran = await asked(CHAIN)
    units = [unit for unit in ran.of(Unit) if unit.round == 1]
    assert units[0].topic == CHAIN
    assert "Edda Marlow" in {unit.topic for unit in units[1:]}
    assert [unit.number for unit in units] == list(range(1, len(units) + 1))
    assert ran.rounds[0].topics == tuple(unit.topic for unit in units)
    assert "https://people.example/marlow" in read_in(ran, 1)
    assert ran.rounds[0].pages_read <= PAGES


async def test_the_first_wave_leaves_pages_for_what_it_names() -> None:
    """Three fifths of the pages; what the first wave could not take, the second one may."""
    pages = [page(f"https://s{n}.example/", f"{CHAIN[:-1]}? Note {n}.") for n in range(9)]
    world = World(Web(pages), None)
    ran = await world.ask(CHAIN, max_pages_per_round=PAGES, adaptive_max_depth=1)
    places = [place for place, _ in world.store.entries]
    first = places[: places.index("round/1/unit/2/search/1")]
    assert sum(place.startswith("fetch/") for place in first) == 3
    assert ran.usage.fetches == PAGES


async def test_a_first_round_follows_no_more_names_than_it_may_read_pages() -> None:
    names = ("Ada Lorn", "Bo Maltby", "Cy Narrow", "Di Oakes", "Ed Pratt", "Flo Quill", "Gus Rook")
    told = "".join(f"The Harrow Point lighthouse was seen by {name}. " for name in names)
    pages = [page(f"https://s{n}.example/", f"{told}Note {n}.") for n in range(4)]
    ran = await World(Web(pages), None).ask(CHAIN, max_pages_per_round=PAGES, adaptive_max_depth=1)
    searched, *followed = [unit for unit in ran.of(Unit) if unit.round == 1]
    left = PAGES - 3
    assert len({unit.number for unit in followed} - {searched.number}) <= left


async def test_a_round_with_room_for_one_page_has_one_wave() -> None:
    ran = await asked(CHAIN, max_pages_per_round=1)
    assert len(ran.rounds[0].topics) == 1
    assert all(r.pages_read <= 1 for r in ran.rounds)


async def test_the_second_wave_keeps_to_the_limits_of_a_run_and_of_a_unit() -> None:
    ran = await asked(CHAIN, max_research_units=1)
    assert [len(r.topics) for r in ran.rounds] == [1]
    ran = await asked(CHAIN, max_searches=2)
    assert ran.usage.searches == 2
    ran = await asked(CHAIN, max_pages_per_round=9, unit_tool_calls=(3, 3, 3))
    read = ran.rounds[0].pages_read
    searches = sum(len(unit.queries) for unit in ran.of(Unit) if unit.round == 1)
    assert read + searches <= 3 * len(ran.rounds[0].topics)


async def test_the_whole_chain_is_read() -> None:
    ran = await asked(CHAIN)
    assert {"https://works.example/calder", "https://people.example/marlow"} <= read_in(ran, 9)


async def test_going_on_says_which_words_stand_apart() -> None:
    ran = await asked("Which cheese did the designer of the Harrow Point lighthouse despise?")
    assert "No page read so far has" in ran.rounds[0].decision
    assert "“despise”" in ran.rounds[0].decision


async def test_a_closed_chain_needs_no_second_source_for_the_whole() -> None:
    question = "Which iron tools did the designer of the Cold Hope light forge?"
    told = {
        "https://a.example/": ("Cold Hope light", "The designer of the light was Ann Sorrel."),
        "https://b.example/": ("Ann Sorrel", "Ann Sorrel learned to forge iron tools in Leith."),
    }
    pages = [page(url, text, title) for url, (title, text) in told.items()]
    ran = await World(Web(pages), None).ask(question, max_pages_per_round=PAGES)
    decisions = {gate.decision for gate in ran.of(GateResult) if gate.round == 1}
    assert "not_to_be_had" in decisions and "retry" not in decisions
    assert len(ran.rounds) == 1


async def test_what_nobody_wrote_about_ends_as_nothing_found_within_three_rounds() -> None:
    ran = await asked("Which glazier repaired the dome of Quorl under Queen Ysolde of Brenn?")
    assert ran.state.termination_reason is StopReason.NOTHING_FOUND
    assert len(ran.rounds) <= 3
