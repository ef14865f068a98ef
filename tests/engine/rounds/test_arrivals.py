"""One slow page does not hold up a round: it is read in a later one, if it comes."""

import asyncio

import pytest

from research.engine.ports import Page
from research.engine.records import Source, Unit
from research.engine.rounds.arrivals import LAST_PAGE_SECONDS
from tests.engine.scripted import (
    CHAIN,
    DESIGNED,
    SIMPLE,
    Oracle,
    Ran,
    Script,
    Web,
    World,
    harbour_pages,
    page,
)

pytestmark = pytest.mark.virtual_time

SLOW, COAST = "https://register.example/harrow", "https://coast.example/harrow"


GUIDE = page(
    "https://guide.example/harrow",
    f"The guide has it too: {DESIGNED} Visitors are led up on Sundays.",
    "Harrow Point lighthouse, a guide",
)


class Slow(Web):
    """Some pages take so many seconds, the others one tenth."""

    def __init__(self, *more: Page, **seconds: float) -> None:
        super().__init__([*harbour_pages(), *more])
        self.seconds = {
            url: taken for name, taken in seconds.items() for url in self.pages if name in url
        }
        self.down: set[str] = set()

    async def fetch(self, url: str) -> Page:
        await asyncio.sleep(self.seconds.get(url, 0.1))
        return await super().fetch(url)


async def asked(web: Web, script: Script = CHAIN) -> tuple[Ran, float]:
    """A run, how long it took, and its replay, which says the same."""
    world, loop = World(web, Oracle(script)), asyncio.get_running_loop()
    began = loop.time()
    ran = await world.ask(script.question)
    took = loop.time() - began
    replayed = await world.replay(script.question)
    assert replayed.final() == ran.final()
    assert (replayed.ended, replayed.journal.divergences) == (None, [])
    return ran, took


def late(ran: Ran) -> list[tuple[int, str | None]]:
    return [(unit.round, unit.failure) for unit in ran.of(Unit) if unit.status == "late"]


def source(ran: Ran, url: str) -> Source:
    return next(source for source in ran.of(Source) if source.url == url)


async def test_a_round_reads_what_is_there_when_one_page_is_missing() -> None:
    ran, took = await asked(Slow(GUIDE, register=50))
    assert late(ran) == [(1, "1 page not there in time")]
    assert source(ran, SLOW).status == "not_read"
    assert took < 10


async def test_the_last_page_has_its_time() -> None:
    ran, _ = await asked(Slow(GUIDE, register=LAST_PAGE_SECONDS))
    assert late(ran) == []
    assert source(ran, SLOW).status in {"read", "cited"}


async def test_a_page_that_was_not_waited_for_is_read_in_a_later_round() -> None:
    ran, _ = await asked(Slow(GUIDE, register=1.15))
    assert late(ran) == [(1, "1 page not there in time")]
    assert source(ran, SLOW).status in {"read", "cited"}
    found = {quote.url: record.round for record in ran.evidence for quote in record.sources}
    assert SLOW in found


async def test_two_missing_pages_are_waited_for() -> None:
    ran, took = await asked(Slow(GUIDE, register=8, coast=8))
    assert late(ran) == []
    assert took > 8


async def test_of_two_pages_none_is_read_without_the_other() -> None:
    ran, took = await asked(Slow(register=8), SIMPLE)
    assert ran.rounds[0].pages_read == 2
    assert late(ran) == [] and took >= 8


async def test_pages_that_failed_are_not_there() -> None:
    web = Slow(GUIDE, register=8)
    web.down = set(web.pages) - {SLOW, COAST}
    assert GUIDE.url in web.down
    ran, _ = await asked(web)
    assert late(ran) == []
