"""Whether what is begun ahead pays: the report, and searches for what pages named.

Each question is researched as it is and without the one or the other, at full latency, one run
after the other; the questions take turns in which of the three comes first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from unittest.mock import patch

from bench.comparison.running import Bench, Ran
from bench.comparison.statistics import mean
from bench.comparison.variant import AS_IT_IS, Variant
from bench.world.facts import KINDS
from research.engine import ahead
from research.engine.run import Run


async def _no_draft(run: Run) -> None:
    """The report waits for the verdict."""


WITHOUT = {
    "the report": Variant(
        "no draft ahead", engine=lambda: patch.object(ahead, "begin_draft", _no_draft)
    ),
    "searches for leads": Variant(
        "no search ahead", engine=lambda: patch.object(ahead, "scout", lambda run: None)
    ),
}


@dataclass(frozen=True)
class Spent:
    """What one run took, by the engine's own count."""

    seconds: float
    calls: int
    tokens: int
    searches: int
    usd: float

    @classmethod
    def of(cls, ran: Ran) -> Spent:
        usage = ran.resource["usage"]
        return cls(
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
    kind: str
    ahead: Spent
    waiting: Spent


async def time_begun(bench: Bench) -> list[Begun]:
    """Every question of a world, which has to be served with latency."""
    variants = {"": AS_IT_IS, **WITHOUT}
    names, found = list(variants), []
    for question in bench.running.world.questions:
        took = {name: Spent.of(await bench.run(question, variant=variants[name])) for name in names}
        names = [*names[1:], names[0]]
        found += [Begun(what, question.kind, took[""], took[what]) for what in WITHOUT]
    return found


# --- read off -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What is begun ahead, for one kind of question: begun ahead ÷ or − waiting."""

    what: str
    kind: str
    questions: int
    seconds: float
    calls: float
    tokens: float
    searches: float
    usd: float


def rows(found: Sequence[Begun]) -> Iterator[Row]:
    """The median of the time, of all else the sum over the questions of a kind."""
    for what in WITHOUT:
        for kind in KINDS:
            of = [each for each in found if (each.what, each.kind) == (what, kind)]
            if not of:
                continue
            yield Row(
                what,
                kind,
                len(of),
                median(each.ahead.seconds / each.waiting.seconds for each in of),
                mean(each.ahead.calls - each.waiting.calls for each in of),
                _ratio([(each.ahead.tokens, each.waiting.tokens) for each in of]),
                mean(each.ahead.searches - each.waiting.searches for each in of),
                _ratio([(each.ahead.usd, each.waiting.usd) for each in of]),
            )


def _ratio(pairs: Sequence[tuple[float, float]]) -> float:
    return sum(one for one, _ in pairs) / sum(other for _, other in pairs)
