"""Prompts that fit the model's window: what has no room is cut here, by relevance, and counted.

Nothing is left to the server, which would cut in silence, and at the wrong end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from research.engine.budget import CHARACTERS_PER_TOKEN
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.tasks.ask import A, Task

Context = Mapping[str, Any]
MakeContext = Callable[[int], Context]

EVERYTHING = 1_000_000
TURNS = 8
ANSWER_SHARE = 0.3
REPAIR_SHARE = 0.1
FRAME_TOKENS = 64


async def fitted(run: Run, task: Task[A], make: MakeContext) -> tuple[Task[A], Context]:
    """The task and its context, within the model's window where that is known.

    `make(room)` gives the context with at most so many characters of data, the most relevant
    first. A small window gets a shorter answer too: both share it.
    """
    context = make(EVERYTHING)
    window = await run.context_tokens()
    if window is None:
        return task, context
    task = within(task, window)
    most = (window - task.max_output_tokens - FRAME_TOKENS) * CHARACTERS_PER_TOKEN
    most -= task.shown_answer
    if _length(task, context) <= most:
        return task, context
    run.cut_prompt()
    room = max(0, most - _length(task, make(0)))
    for _ in range(TURNS):
        context = make(room)
        excess = _length(task, context) - most
        if excess <= 0 or room == 0:
            break
        room = max(0, room - excess)
    return task, context


def within(task: Task[A], window: int) -> Task[A]:
    """The task with an answer, and room to show a faulty one again, in keeping with the window."""
    return replace(
        task,
        max_output_tokens=min(task.max_output_tokens, int(window * ANSWER_SHARE)),
        shown_answer=min(task.shown_answer, int(window * REPAIR_SHARE) * CHARACTERS_PER_TOKEN),
    )


def _length(task: Task[A], context: Context) -> int:
    return sum(map(len, task.rendered(context)))


def most_relevant(
    records: Sequence[Evidence], room: int, most: int | None = None
) -> list[Evidence]:
    """Those that fit into so many characters, at most `most`: key claims and the most relevant
    are taken first, and given in their own order.
    """
    kept: list[str] = []
    for record in sorted(records, key=lambda r: (not r.key, -r.relevance, -r.round)):
        room -= len(record.claim) + sum(len(source.quote) for source in record.sources)
        if room >= 0:
            kept.append(record.id)
    return [record for record in records if record.id in kept[:most]]
