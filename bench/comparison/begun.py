"""Whether what is begun ahead pays: the report, and searches for what pages named.

Each question is researched as it is and without the one or the other, at full latency, one run
after the other; the questions take turns in which of the three comes first. What it takes at worst
is counted under an analyst that is never satisfied, where nothing takes time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from bench.comparison.running import Bench, Ran
from bench.comparison.statistics import mean
from bench.comparison.variant import AS_IT_IS, Variant
from bench.world.hostile import HONEST
from research.engine import Rules

DISCONTENT = "oracle-repeating"
REPORT, LEADS = "the report", "searches for leads"
PLACES = {REPORT: re.compile(r"round/\d+/draft"), LEADS: re.compile(r"round/\d+/scout/\d+")}
"""Where the journal notes what was begun ahead."""
WITHOUT = {
    REPORT: Variant("no draft ahead", rules=Rules(drafts_ahead=False)),
    LEADS: Variant("no search ahead", rules=Rules(searches_ahead=False)),
}


@dataclass(frozen=True)
class Spent:
    """What one run took, by the engine's own count; `begun` says what of it was begun ahead."""

    begun: Mapping[str, int]
    seconds: float
    calls: int
    tokens: int
    searches: int
    usd: float

    @classmethod
    def of(cls, ran: Ran) -> Spent:
        usage = ran.resource["usage"]
        places = {place for place, _ in ran.store.entries}
        return cls(
            {what: sum(map(bool, map(form.fullmatch, places))) for what, form in PLACES.items()},
            ran.figures.wall_seconds,
            usage["llm_calls"],
            usage["prompt_tokens"] + usage["completion_tokens"],
            usage["searches"],
            usage["cost_usd"],
        )


@dataclass(frozen=True)
class Begun:
    """One question with something begun ahead, and without."""

    what: str
    analyst: str
    kind: str
    ahead: Spent
    waiting: Spent


async def time_begun(bench: Bench) -> list[Begun]:
    """Every question of a world that is served with latency; each is run once to warm up."""
    return await _both_ways(bench, HONEST, warm=True)


async def count_begun(bench: Bench) -> list[Begun]:
    """Return the wasted spending under an analyst that is never satisfied."""
    return await _both_ways(bench, DISCONTENT, warm=False)


async def _both_ways(bench: Bench, analyst: str, warm: bool) -> list[Begun]:
    variants = {"": AS_IT_IS, **WITHOUT}
    names, found = list(variants), []
    for question in bench.running.world.questions:
        if warm:
            await bench.run(question, model=analyst)
        took = {
            name: Spent.of(await bench.run(question, variant=variants[name], model=analyst))
            for name in names
        }
        names = [*names[1:], names[0]]
        found += [Begun(what, analyst, question.kind, took[""], took[what]) for what in WITHOUT]
    return found


# --- read off -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What is begun ahead, for one kind of question: how much of it a question, and what it comes
    to, ahead ÷ or − waiting.
    """

    what: str
    analyst: str
    kind: str
    questions: int
    begun: float
    seconds: float
    calls: float
    tokens: float
    searches: float
    usd: float


def rows(found: Sequence[Begun]) -> Iterator[Row]:
    """Yield the median of the time, of all else the sum over the questions of a kind."""
    ordered = sorted(found, key=lambda each: list(WITHOUT).index(each.what))
    for place in dict.fromkeys((each.what, each.analyst, each.kind) for each in ordered):
        of = [each for each in ordered if (each.what, each.analyst, each.kind) == place]
        yield Row(
            *place,
            len(of),
            mean(each.ahead.begun[each.what] for each in of),
            median(each.ahead.seconds / each.waiting.seconds for each in of),
            mean(each.ahead.calls - each.waiting.calls for each in of),
            _ratio([(each.ahead.tokens, each.waiting.tokens) for each in of]),
            mean(each.ahead.searches - each.waiting.searches for each in of),
            _ratio([(each.ahead.usd, each.waiting.usd) for each in of]),
        )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(one for one, _ in pairs) / sum(other for _, other in pairs)
