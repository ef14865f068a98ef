"""Does a model answer follow-up questions from earlier findings where these do, and only there?

    OPENAI_BASE_URL=… RESEARCH_MODEL=… python -m bench.follow_ups [--part tuning|held_out]

`bench/questions/follow_ups_PART.jsonl` has threads: a question, its short answer, findings, and
eight turns, about half of which the findings answer (`answerable`), each with the findings that its
answer must rest on (`needs`). Of the turns answered at once it counts how many should be, and of
the needed findings how many the model names.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.asking import configured_journal
from bench.manuals import read_rows
from bench.page import table
from bench.table_cells import record_of
from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.journal.forms import NEWEST
from research.engine.llm_tasks.follow_up import EarlierTurns, understand_follow_up
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.run import Question, Run

QUESTIONS = Path(__file__).parent / "questions"
PARTS = ("tuning", "held_out")
TODAY = "2026-11-30"
AT_ONCE = 8
"""Maximum number of concurrent requests."""


@dataclass(frozen=True)
class Turn:
    """A turn of a thread, the findings that answer it, and those that a model names."""

    thread: str
    said: str
    answerable: bool
    needs: frozenset[str]
    named: frozenset[str] = frozenset()
    is_failed: bool = False

    @property
    def is_right(self) -> bool:
        return bool(self.named) is self.answerable


def threads_of(part: str) -> Iterator[tuple[EarlierTurns, Sequence[Turn]]]:
    """Yield the earlier turns of each thread, as a run receives them, and its follow-up turns."""
    for row in read_rows(QUESTIONS / f"follow_ups_{part}.jsonl"):
        findings = [record_of(each["id"], {**each, "heading": ""}) for each in row["findings"]]
        before = EarlierTurns(row["question"], "", findings, row["answer"])
        yield before, [_turn_of(row["id"], told) for told in row["turns"]]


def _turn_of(thread: str, told: dict[str, Any]) -> Turn:
    return Turn(thread, told["said"], told["answerable"], frozenset(told["needs"]))


async def ask(journal: Journal, place: str, before: EarlierTurns, turn: Turn) -> Turn:
    """Return the turn with the findings that the journal's model says answer it; without any where
    it fails at the task, which code then does.
    """
    run = Run(Question(turn.said, TODAY), ResearchConfig(), journal, secret="follow-ups")
    run.form = run.began = NEWEST
    try:
        read = await understand_follow_up(run, place, before, turn.said)
    except TaskFailedError:
        return replace(turn, is_failed=True)
    return replace(turn, named=frozenset(read.answered_by))


async def ask_all(part: str) -> list[Turn]:
    """Return all turns of a part as the configured model reads them."""
    free = asyncio.Semaphore(AT_ONCE)
    async with configured_journal() as journal:

        async def one(number: int, before: EarlierTurns, turn: Turn) -> Turn:
            async with free:
                return await ask(journal, f"follow_ups/{number}", before, turn)

        every = [(before, turn) for before, turns in threads_of(part) for turn in turns]
        asked = (one(number, *each) for number, each in enumerate(every))
        return [*await asyncio.gather(*asked)]


def shares_table(turns: Sequence[Turn]) -> str:
    """Return how many turns are answered at once, and how much of what they need is named."""
    lines = []
    for label, told in (("answerable", True), ("not answerable", False)):
        own = [turn for turn in turns if turn.answerable is told]
        lines.append([label, f"{sum(bool(turn.named) for turn in own)} of {len(own)}"])
    right = [turn for turn in turns if turn.answerable and turn.named]
    needed, named = sum(len(t.needs) for t in right), sum(len(t.needs & t.named) for t in right)
    whole = sum(turn.needs <= turn.named for turn in right)
    lines.append(["needed findings named", f"{named} of {needed}"])
    lines.append(["turns with all they need", f"{whole} of {len(right)}"])
    if failed := sum(turn.is_failed for turn in turns):
        lines.append(["not understood", f"{failed} of {len(turns)}"])
    return table(["follow-up questions", "answered at once"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.follow_ups", description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="tuning")
    turns = asyncio.run(ask_all(parser.parse_args().part))
    print(shares_table(turns))
    for turn in turns:
        if not turn.is_right:
            named = ", ".join(sorted(turn.named)) or "none"
            print(f"{turn.thread}: {turn.said!r} named {named}, needs {sorted(turn.needs)}")


if __name__ == "__main__":
    main()
