"""Fit prompts to the model's window: excess data is cut by relevance, and counted.

Otherwise the server would cut silently, and at the wrong end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from research.engine.budget.meter import BYTES_PER_TOKEN
from research.engine.llm_tasks.prompting.ask import (
    A,
    Task,
    TaskFailedError,
    TooLongError,
    ask_model,
)
from research.engine.ports import Hear, Page
from research.engine.records import Evidence
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long

Context = Mapping[str, Any]
MakeContext = Callable[[int], Context]
_Fitted = tuple[Task[A], Context, bool]
"""Whether the prompt was cut, besides."""

EVERYTHING = 1_000_000
TURNS = 8
ANSWER_SHARE = 0.3
REPAIR_SHARE = 0.1
FRAME_TOKENS = 64
LEAST_TOKENS = 512


async def ask_fitting(
    run: Run,
    place: str,
    task: Task[A],
    make: MakeContext,
    on_text: Hear | None = None,
    pages: Sequence[Page] = (),
) -> tuple[A, Context]:
    """Return the answer of a task and the context that it was given, within the model's window.

    `make(room)` returns the context with at most this number of characters of data, the most
    relevant first. A prompt that the server still refuses as too long is repeated at half its
    length, within the attempts of a task. Raises `TaskFailedError`.

    Where the `pages` that a prompt shows are long, it is fitted in the thread for texts; `make`
    must then read nothing that changes meanwhile.
    """
    attempts, first = run.config.max_model_attempts, 1
    window = await run.context_tokens()
    while True:
        fitted = await run_in_thread_if_long(pages, _fit, task, make, window)
        fitting, context = _counted(run, fitted)
        try:
            return await ask_model(
                run.journal, attempts, place, fitting, context, on_text, first
            ), context
        except TooLongError as failed:
            window = _count_tokens(fitting, context) // 2
            if failed.attempt >= attempts or window < LEAST_TOKENS:
                raise TaskFailedError(failed.cause) from None
            first = failed.attempt + 1
            run.found_too_long(window)


def fit_task(
    run: Run, task: Task[A], make: MakeContext, window: int | None
) -> tuple[Task[A], Context]:
    """Return the task and the length of its context in tokens, None if the window is unknown.

    A small window shortens the answer as well, because they share it.
    """
    return _counted(run, _fit(task, make, window))


def _counted(run: Run, fitted: _Fitted[A]) -> tuple[Task[A], Context]:
    """Return what was fitted; a prompt that was cut for it counts."""
    task, context, is_cut = fitted
    if is_cut:
        run.cut_prompt()
    return task, context


def _fit(task: Task[A], make: MakeContext, window: int | None) -> _Fitted[A]:
    context = make(EVERYTHING)
    if (roomy := fit_uncut(task, context, window)) is not None or window is None:
        return roomy or task, context, False
    task = fit_answer(task, window)
    most = _prompt_limit(task, window)
    share = _characters_per_byte(task, context)
    room = max(0, int((most - _count_bytes(task, make(0))) * share))
    for _ in range(TURNS):
        context = make(room)
        excess = _count_bytes(task, context) - most
        if excess <= 0 or room == 0:
            break
        room = max(0, room - math.ceil(excess * share))
    return task, context, True


def fit_uncut(task: Task[A], context: Context, window: int | None) -> Task[A] | None:
    """Return the task if the window has room for it with its whole context, else None."""
    if window is None:
        return task
    task = fit_answer(task, window)
    return task if _count_bytes(task, context) <= _prompt_limit(task, window) else None


def fit_answer(task: Task[A], window: int) -> Task[A]:
    """Return the task with an answer, and room to show a faulty one again, in keeping with the
    window.
    """
    return replace(
        task,
        max_output_tokens=min(task.max_output_tokens, int(window * ANSWER_SHARE)),
        shown_answer=min(task.shown_answer, int(window * REPAIR_SHARE) * BYTES_PER_TOKEN),
    )


def _prompt_limit(task: Task[A], window: int) -> int:
    """Bytes of the longest prompt that leaves room for the answer and for its repair."""
    tokens = window - task.max_output_tokens - FRAME_TOKENS
    return tokens * BYTES_PER_TOKEN - task.shown_answer


def _count_tokens(task: Task[A], context: Context) -> int:
    """Of the prompt and the longest answer to it."""
    return _count_bytes(task, context) // BYTES_PER_TOKEN + task.max_output_tokens


def _count_bytes(task: Task[A], context: Context) -> int:
    """Bytes, for tokens go by them: a Chinese character is three, and about one token."""
    return sum(len(text.encode(errors="replace")) for text in task.rendered(context))


def _characters_per_byte(task: Task[A], context: Context) -> float:
    """Return characters per byte, the unit of cuts; 1 if all are ASCII."""
    return sum(map(len, task.rendered(context))) / _count_bytes(task, context)


def size_of(record: Evidence) -> int:
    """Return the characters of a claim and its quotes."""
    return len(record.claim) + sum(len(source.quote) for source in record.sources)


def most_relevant(
    records: Sequence[Evidence], room: int, most: int | None = None
) -> list[Evidence]:
    """Return the records that fit into this number of characters, at most `most`, in their order:
    key claims and the most relevant ones are taken first.
    """
    kept: list[str] = []
    for record in sorted(records, key=lambda r: (not r.key, -r.relevance, -r.round)):
        room -= size_of(record)
        if room >= 0:
            kept.append(record.id)
    return [record for record in records if record.id in kept[:most]]
