"""Prompts that fit the model's window: what has no room is cut here, by relevance, and counted.

Nothing is left to the server, which would cut in silence, and at the wrong end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from research.engine.budget import BYTES_PER_TOKEN
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.tasks.ask import A, Task, TaskFailed, TooLong, ask
from research.engine.tools import Hear

Context = Mapping[str, Any]
MakeContext = Callable[[int], Context]

EVERYTHING = 1_000_000
TURNS = 8
ANSWER_SHARE = 0.3
REPAIR_SHARE = 0.1
FRAME_TOKENS = 64
LEAST_TOKENS = 512


async def ask_fitting(
    run: Run, place: str, task: Task[A], make: MakeContext, on_text: Hear | None = None
) -> tuple[A, Context]:
    """The answer of a task and the context that it was given, within the model's window.

    `make(room)` gives the context with at most so many characters of data, the most relevant
    first. What the server finds too long all the same is asked again at half the length, within
    the attempts of a task. Raises `TaskFailed`.
    """
    attempts, first = run.config.max_model_attempts, 1
    window = await run.context_tokens()
    while True:
        fitting, context = fitted(run, task, make, window)
        try:
            return await ask(
                run.journal, attempts, place, fitting, context, on_text, first
            ), context
        except TooLong as failed:
            window = _tokens(fitting, context) // 2
            if failed.attempt >= attempts or window < LEAST_TOKENS:
                raise TaskFailed(failed.cause) from None
            first = failed.attempt + 1
            run.found_too_long(window)


def fitted(
    run: Run, task: Task[A], make: MakeContext, window: int | None
) -> tuple[Task[A], Context]:
    """The task and its context within so many tokens, None where the window is not known.

    A small window gets a shorter answer too: both share it.
    """
    context = make(EVERYTHING)
    if (roomy := uncut(task, context, window)) is not None or window is None:
        return roomy or task, context
    task = within(task, window)
    most = _most(task, window)
    run.cut_prompt()
    share = _characters_per_byte(task, context)
    room = max(0, int((most - _length(task, make(0))) * share))
    for _ in range(TURNS):
        context = make(room)
        excess = _length(task, context) - most
        if excess <= 0 or room == 0:
            break
        room = max(0, room - math.ceil(excess * share))
    return task, context


def uncut(task: Task[A], context: Context, window: int | None) -> Task[A] | None:
    """The task as the window has room for it beside all of the context; None where it has none."""
    if window is None:
        return task
    task = within(task, window)
    return task if _length(task, context) <= _most(task, window) else None


def within(task: Task[A], window: int) -> Task[A]:
    """The task with an answer, and room to show a faulty one again, in keeping with the window."""
    return replace(
        task,
        max_output_tokens=min(task.max_output_tokens, int(window * ANSWER_SHARE)),
        shown_answer=min(task.shown_answer, int(window * REPAIR_SHARE) * BYTES_PER_TOKEN),
    )


def _most(task: Task[A], window: int) -> int:
    """Bytes of the longest prompt that leaves room for the answer and for its repair."""
    tokens = window - task.max_output_tokens - FRAME_TOKENS
    return tokens * BYTES_PER_TOKEN - task.shown_answer


def _tokens(task: Task[A], context: Context) -> int:
    """Of the prompt and the longest answer to it."""
    return _length(task, context) // BYTES_PER_TOKEN + task.max_output_tokens


def _length(task: Task[A], context: Context) -> int:
    """Bytes, for tokens go by them: a Chinese character is three, and about one token."""
    return sum(len(text.encode(errors="replace")) for text in task.rendered(context))


def _characters_per_byte(task: Task[A], context: Context) -> float:
    """What data are cut by are characters; 1 where all are ASCII."""
    return sum(map(len, task.rendered(context))) / _length(task, context)


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
