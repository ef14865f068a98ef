"""Starts the research that a request asks for, once, and waits for its end.

A client's retry finds the same run: the same token, endpoint and body within a day are one request.
A run that failed is tried again after some minutes. An `Idempotency-Key` takes the place of the
body.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from datetime import timedelta
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest
from django.utils import timezone

from dashboard.api.asking import Asked, ask_on, start_run
from dashboard.api.auth import Caller
from dashboard.api.events import progress_states
from dashboard.api.idempotency import KEY_LENGTH
from dashboard.openai_api.errors import DELETED, InvalidRequestError, ResearchFailedError
from dashboard.openai_api.reports import WAIT_REASONS
from dashboard.serving.handler import without_slot
from research.engine.records import Status
from research.models import Run
from research.readmodel.progress_parts import Progress

SAME_REQUEST = timedelta(hours=24)
FAILED_AGAIN = timedelta(minutes=10)


def request_key(endpoint: str, body: Mapping[str, Any], header: str | None) -> str:
    """Return the idempotency key of a request."""
    if header and len(header) > KEY_LENGTH:
        raise InvalidRequestError(f"A key has at most {KEY_LENGTH} characters.", "Idempotency-Key")
    said = header or json.dumps(body, sort_keys=True, separators=(",", ":"))
    return f"{endpoint}-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def find_or_start(caller: Caller, asked: Asked, key: str, parent: Run | None = None) -> Run:
    """Return the run of this request, started if there is none.

    `parent` is the run of the question before this one in the conversation: its findings are kept.
    """
    before = Run.objects.filter(
        owner=caller.user, idempotency_key__startswith=f"{caller.key}/{key}"
    ).order_by("-pk")
    last = before.filter(thread__deleted_at=None).first()
    if last is not None and _is_same_request(last):
        return last
    attempt = f"{key}-{before.count()}"
    if parent is not None:
        return ask_on(caller, parent, asked, attempt)
    return start_run(caller, asked, attempt)


def _is_same_request(run: Run) -> bool:
    now = timezone.now()
    if run.status in (Status.FAILED, Status.CANCELLED) and run.finished_at is not None:
        return now - run.finished_at < FAILED_AGAIN
    return now - run.created_at < SAME_REQUEST


def find_parent(caller: Caller, question: str) -> Run | None:
    """Return the newest finished run of this question by the user; None for ''."""
    if not question:
        return None
    asked = Run.objects.filter(
        owner=caller.user,
        question=question,
        status=Status.COMPLETED,
        thread__deleted_at=None,
    )
    return asked.exclude(plan=None).order_by("-pk").first()


async def wait_for_end(request: HttpRequest, run: Run) -> Run:
    """Return the ended run. Raise `ResearchFailedError` if it was deleted or waits for a person."""
    async with without_slot(request):
        async for _ in progress_lines(run.public_id):
            pass
    return await sync_to_async(load_run)(run.public_id)


async def progress_lines(public_id: str) -> AsyncGenerator[str, None]:
    """Yield what the run is doing, one line for each change, until it ends.

    Raise `ResearchFailedError` if it waits for a person, whom nothing here can ask.
    """
    told: set[str] = set()
    async with aclosing(progress_states(public_id)) as states:
        async for state in states:
            waits = WAIT_REASONS.get(Status(state.progress.run.status))
            if waits is not None:
                raise ResearchFailedError(f"{waits} (run {public_id})")
            for line in _lines(state.progress):
                if line not in told:
                    told.add(line)
                    yield line


def load_run(public_id: str) -> Run:
    """Return the run. Raise `ResearchFailedError` if it was deleted meanwhile."""
    run = Run.objects.filter(public_id=public_id).first()
    if run is None:
        raise ResearchFailedError(DELETED)
    return run


def _lines(now: Progress) -> list[str]:
    """Return the verdicts of finished rounds and the current action."""
    rounds = [
        f"Round {each.number}: {each.decision}" for each in now.quality.history if each.decision
    ]
    return [*rounds, *([now.action.text] if now.action else [])]
