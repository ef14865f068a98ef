"""CPU time of the engine's steps on inputs of stated size, without network or database.

    python -m bench.speed [--json]

Each figure is the median of many repetitions in a process with warm caches.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import cast

from research.engine import (
    Assessment,
    Complexity,
    Dimensions,
    Journal,
    MemoryStore,
    Meter,
    Plan,
    PlannedAspect,
    Question,
    QuoteSource,
    ResearchConfig,
    Tools,
    Topic,
)
from research.engine.assessment import close_round
from research.engine.assessment.assessment import MissingInfo
from research.engine.evidence.store import Finding
from research.engine.rounds import research_round as rounds
from research.engine.rounds.findings import Reading
from research.engine.rounds.merge import Merger
from research.engine.rounds.units import Work
from research.engine.run import Run
from research.engine.text.similarity import Corpus, find_twin
from research.engine.text.tokens import STOP_WORDS

SEED = 7
TOPICS, TOPIC_WORDS = 1_000, 7
KEPT_CHARACTERS, NEW_CHARACTERS = 100_000, 5_000
RECORDS, NEW_FINDINGS, SITES = 5_000, 40, 60
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
ASPECTS = tuple(f"What is known of the {name} side?" for name in ("first", "upper", "other", "old"))


@dataclass(frozen=True)
class Timed:
    """A result: `median_ms` is CPU time, `bound_ms` its bar on the machine of the docs."""

    name: str
    what: str
    bound_ms: float
    median_ms: float
    repeats: int


def measure(records: int = RECORDS) -> list[Timed]:
    """Return all figures, in the order of `main`'s table."""
    return [duplicate_check(), novelty(), novelty_from_scratch(), close_of_a_round(records)]


def duplicate_check(repeats: int = 200) -> Timed:
    words = Words()
    earlier = [words.text(TOPIC_WORDS) for _ in range(TOPICS)]
    topics = iter([words.text(TOPIC_WORDS) for _ in range(repeats + 1)])
    step = lambda: find_twin(next(topics), earlier, 0.75)  # noqa: E731
    what = f"one topic against {TOPICS:,} earlier ones"
    return timed("duplicate_check", what, 0.5, step, repeats)


def novelty(repeats: int = 200) -> Timed:
    words = Words()
    kept = Corpus()
    kept.add([words.characters(KEPT_CHARACTERS)])
    new = words.characters(NEW_CHARACTERS)
    what = f"{NEW_CHARACTERS:,} new characters against findings of {KEPT_CHARACTERS:,}"
    return timed("novelty", what, 1, lambda: kept.novelty([new]), repeats)


def novelty_from_scratch(repeats: int = 50) -> Timed:
    words = Words()
    old, new = words.characters(KEPT_CHARACTERS), words.characters(NEW_CHARACTERS)

    def step() -> None:
        kept = Corpus()
        kept.add([old])
        kept.novelty([new])

    what = "the same, with the words of the findings not kept"
    return timed("novelty_from_scratch", what, 10, step, repeats)


def close_of_a_round(records: int = RECORDS, repeats: int = 30) -> Timed:
    """Merge findings and evaluate gates and stop rule, round after round, on a full ledger."""
    bench = Rounds.of(records, repeats + 1)
    what = f"merge of {NEW_FINDINGS} findings into {records:,} records, gates and stop rule"
    return timed("close_of_a_round", what, 50, bench.step, repeats)


def timed(name: str, what: str, bound_ms: float, step: Callable[[], object], repeats: int) -> Timed:
    step()
    took = []
    for _ in range(repeats):
        started = time.process_time()
        step()
        took.append(time.process_time() - started)
    return Timed(name, what, bound_ms, round(statistics.median(took) * 1000, 3), repeats)


class Words:
    """Made-up text with a skewed word distribution; every third word is a stop word."""

    def __init__(self) -> None:
        self.chance = random.Random(SEED)
        self.vocabulary = [self._word() for _ in range(6_000)]
        self.weights = [1 / rank for rank in range(1, len(self.vocabulary) + 1)]
        self.stop_words = sorted(STOP_WORDS)

    def _word(self) -> str:
        syllables = (
            self.chance.choice("bdfgklmnprstv") + self.chance.choice("aeiou")
            for _ in range(self.chance.randint(2, 4))
        )
        return "".join(syllables) + self.chance.choice(("", "n", "s", "ing", "ed"))

    def text(self, count: int) -> str:
        told = self.chance.choices(self.vocabulary, self.weights, k=count)
        told[2::3] = self.chance.choices(self.stop_words, k=len(told[2::3]))
        return " ".join(told)

    def characters(self, count: int) -> str:
        return self.text(count // 4)[:count]


@dataclass
class Rounds:
    """A run with a full ledger, and the steps that close a round of it."""

    run: Run
    words: Words
    chance: random.Random
    to_come: list[list[Finding]] = field(default_factory=list)

    @classmethod
    def of(cls, records: int, rounds_to_come: int) -> Rounds:
        config = ResearchConfig(max_research_units=100)
        tools = cast(Tools, _Still())
        journal = Journal(MemoryStore(), tools, Meter(config), lambda record: None)
        run = Run(Question("What is known of it?", "2026-03-01", True), config, journal)
        aspects = tuple(PlannedAspect(text, text) for text in ASPECTS)
        run.start(Plan("", Complexity.COMPLEX, "en", aspects))
        made = cls(run, Words(), random.Random(SEED))
        for _ in range(records):
            run.ledger.book.add(made.finding(), 0)
        for _ in range(rounds_to_come):
            made.to_come.append([made.finding() for _ in range(NEW_FINDINGS)])
        return made

    def step(self) -> None:
        run = self.run
        [work] = rounds.begin_round(run, [Topic("a topic", ("a query",), "A1")])
        work.reading = Reading(self.to_come.pop())
        asyncio.run(self._close(work))

    async def _close(self, work: Work) -> None:
        merger = Merger(self.run)
        await merger.add([work])
        await merger.close()
        await close_round.settle_round(self.run, self.assessment())

    def finding(self) -> Finding:
        claim = f"{self.words.text(14).capitalize()} {self.chance.randint(1, 9_999)}."
        site = f"site{self.chance.randrange(SITES)}.example"
        quote = QuoteSource(
            f"https://{site}/{self.chance.randrange(20)}", "A page", site, site,
            claim, 0, len(claim), f"{self.chance.random()}", AT,
        )  # fmt: skip
        aspect = self.chance.choice(list(self.run.ledger.aspects))
        return Finding(claim, aspect, quote, self.chance.random())

    def assessment(self) -> Assessment:
        gap = MissingInfo(self.words.text(6), self.words.text(6), "A1", False)
        marks = Dimensions(6.0, 6.0, 6.0)
        return Assessment(marks, 6.0, "", frozenset(), (gap,), (), False, by_model=True)


class _Still:
    """Tools with nothing but a clock that never advances."""

    @property
    def clock(self) -> _Still:
        return self

    def now(self) -> datetime:
        return AT

    def monotonic(self) -> float:
        return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.speed", description=__doc__)
    parser.add_argument("--json", action="store_true")
    figures = measure()
    if parser.parse_args().json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
        return
    for figure in figures:
        print(f"{figure.median_ms:8.3f} ms (bound {figure.bound_ms:g})  {figure.what}")


if __name__ == "__main__":
    main()
