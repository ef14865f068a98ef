"""Starts the research that a request asks for, once: a client's retry finds the same run.

The same token, endpoint and body within a day are one request; a run that failed is tried again
after some minutes. An `Idempotency-Key` takes the place of the body.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from dashboard.api.asking import Asked, start_run
from dashboard.api.auth import Caller
from dashboard.openai_api.errors import InvalidRequest
from research.engine.records import Status
from research.models import Run
from research.models.runs import Kind
from research.services import threads

SAME_REQUEST = timedelta(hours=24)
FAILED_AGAIN = timedelta(minutes=10)
KEY_LENGTH = 100


def request_key(endpoint: str, body: Mapping[str, Any], header: str | None) -> str:
    """Return the idempotency key of a request."""
    if header and len(header) > KEY_LENGTH:
        raise InvalidRequest(f"A key has at most {KEY_LENGTH} characters.", "Idempotency-Key")
    said = header or json.dumps(body, sort_keys=True, separators=(",", ":"))
    return f"{endpoint}-{hashlib.sha256(said.encode()).hexdigest()[:32]}"


def find_or_start(caller: Caller, asked: Asked, key: str, earlier: str = "") -> Run:
    """Return the run of this request, started if there is none.

    `earlier` is the question before this one in the conversation: its findings are kept if the
    same user asked it here.
    """
    before = Run.objects.filter(
        owner=caller.user, idempotency_key__startswith=f"{caller.key}/{key}"
    ).order_by("-pk")
    last = before.first()
    if last is not None and _is_same_request(last):
        return last
    parent = _find_parent(caller, earlier) if earlier else None
    if parent is not None:
        return _follow_up(caller, parent, asked.question)
    return start_run(caller, asked, f"{key}-{before.count()}")


def _is_same_request(run: Run) -> bool:
    now = timezone.now()
    if run.status in (Status.FAILED, Status.CANCELLED) and run.finished_at is not None:
        return now - run.finished_at < FAILED_AGAIN
    return now - run.created_at < SAME_REQUEST


def _find_parent(caller: Caller, question: str) -> Run | None:
    """Return the newest finished run of this question by the user."""
    asked = Run.objects.filter(owner=caller.user, question=question, status=Status.COMPLETED)
    return asked.exclude(plan=None).order_by("-pk").first()


def _follow_up(caller: Caller, parent: Run, question: str) -> Run:
    children = Run.objects.filter(parent=parent, kind=Kind.FOLLOW_UP, question=question)
    last = children.order_by("-pk").first()
    if last is not None and _is_same_request(last):
        return last
    limit = caller.token.max_cost_usd if caller.token else None
    return threads.follow_up(caller.user, parent, question, limit)
