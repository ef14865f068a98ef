"""Waiting for a run: its progress in words, and its end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from asgiref.sync import sync_to_async
from django.http import HttpRequest

from dashboard.api.events import progress_states
from dashboard.openai_api.errors import ResearchFailed
from dashboard.serving.handler import without_slot
from research.engine.records import Status
from research.models import Run
from research.readmodel.progress_parts import Progress

PUT_ASIDE = "The run was put aside after its workers failed repeatedly; try it again on its page."


async def wait_for_end(request: HttpRequest, run: Run) -> Run:
    """Return the ended run. Raise `ResearchFailed` if it was deleted or put aside."""
    async with without_slot(request):
        async for _ in progress_lines(run.public_id):
            pass
    return await sync_to_async(load_run)(run.public_id)


async def progress_lines(public_id: str) -> AsyncIterator[str]:
    """Yield what the run is doing, one line for each change, until it ends.

    Raise `ResearchFailed` if it is put aside.
    """
    told: set[str] = set()
    async with aclosing(progress_states(public_id)) as states:
        async for state in states:
            if state.progress.run.status == Status.STALLED:
                raise ResearchFailed(PUT_ASIDE)
            for line in _lines(state.progress):
                if line not in told:
                    told.add(line)
                    yield line


def load_run(public_id: str) -> Run:
    """Return the run. Raise `ResearchFailed` if it was deleted meanwhile."""
    run = Run.objects.filter(public_id=public_id).first()
    if run is None:
        raise ResearchFailed("The run was deleted.")
    return run


def _lines(now: Progress) -> list[str]:
    """Return the verdicts of finished rounds and the current action."""
    rounds = [
        f"Round {each.number}: {each.decision}" for each in now.quality.history if each.decision
    ]
    return [*rounds, *([now.action.text] if now.action else [])]
