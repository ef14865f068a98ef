"""Threads, and the runs that follow a report: other versions and follow-up questions."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router

from dashboard.api.auth import Caller
from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.api.runs import created_run, run_summary
from dashboard.api.schemas import (
    Deeper,
    FollowUp,
    Further,
    NewVersion,
    Reshape,
    RunOut,
    RunSummary,
    ThreadOut,
    ThreadPage,
    ThreadQuestion,
    ThreadSummary,
)
from dashboard.queries import queries, thread_queries
from research.models import Run, Thread
from research.services import threads

router = Router(tags=["threads"])
following = Router(tags=["threads"])


@router.get("", response=ThreadPage, summary="List threads, newest first")
def list_threads(request: HttpRequest, paging: Paging) -> dict[str, Any]:
    found = thread_queries.visible_threads(request.auth.user)
    shown, cursor = page_of(found, paging)
    return {"items": [thread_summary(row) for row in shown], "next_cursor": cursor}


@router.get("/{thread_id}", response=ThreadOut, summary="Read a thread")
def read_thread(request: HttpRequest, thread_id: str) -> ThreadOut:
    """Each question with the newest version of its answer."""
    row = thread_queries.find_thread(request.auth.user, thread_id)
    questions = [
        ThreadQuestion(**run_summary(run).model_dump(), short_answer=run.answer)
        for run in thread_queries.thread_questions(row.pk)
    ]
    return ThreadOut(**thread_summary(row).model_dump(), questions=questions)


@following.get(
    "/{run_id}/versions", response=list[RunSummary], summary="List the versions of a report"
)
def list_versions(request: HttpRequest, run_id: str) -> list[RunSummary]:
    """Runs that answer the same question, oldest first."""
    run = queries.find_run(request.auth.user, run_id)
    return [run_summary(row) for row in thread_queries.run_versions(run)]


@following.post(
    "/{run_id}/versions", response={201: RunOut}, summary="Make another version of a report"
)
def create_version(
    request: HttpRequest,
    run_id: str,
    payload: NewVersion,
    idempotency_key: IdempotencyKey = None,
) -> HttpResponse:
    """Revise, reshape, dig deeper or research further: a new run. Repeated while that one is
    active, returns it; with an `Idempotency-Key` also later.
    """
    run = queries.find_run(request.auth.user, run_id)
    make, rows = partial(make_version, request.auth, run, payload), Run.objects.filter(parent=run)
    return created_run(make_once(request, idempotency_key, payload, rows, make))


@following.post("/{run_id}/follow-ups", response={201: RunOut}, summary="Ask a follow-up question")
def ask_follow_up(
    request: HttpRequest,
    run_id: str,
    payload: FollowUp,
    idempotency_key: IdempotencyKey = None,
) -> HttpResponse:
    """What earlier findings answer is answered from them, without a search (`termination_reason`
    `known_before`). Repeated while that run is active, returns it; with an `Idempotency-Key` also
    later.
    """
    run = queries.find_run(request.auth.user, run_id)
    limit = _cost_limit(request.auth, run, None)
    ask = partial(threads.follow_up, request.auth.user, run, payload.question, limit)
    rows = Run.objects.filter(parent=run)
    return created_run(make_once(request, idempotency_key, payload, rows, ask))


def make_version(caller: Caller, run: Run, version: NewVersion) -> Run:
    """Create the run of another version. Raise `ServiceError` if it can't be made."""
    match version:
        case Reshape():
            return threads.reshape_report(caller.user, run, version.form, version.reader or "")
        case Deeper():
            limit = _cost_limit(caller, run, version.max_cost_usd)
            return threads.dig_deeper(caller.user, run, version.sub_questions, limit)
        case Further():
            return threads.research_further(caller.user, run, _cost_limit(caller, run, None))
        case _:
            return threads.revise_report(caller.user, run)


def thread_summary(row: Thread) -> ThreadSummary:
    return ThreadSummary(id=row.public_id, title=row.title, created_at=row.created_at)


def _cost_limit(caller: Caller, run: Run, wanted: float | None) -> float | None:
    """Return the lowest limit of request, earlier run and token; None if there is none."""
    token = caller.token.max_cost_usd if caller.token else None
    limits = [limit for limit in (wanted, token) if limit is not None]
    earlier = run.config.get("max_cost_usd")
    if wanted is None and earlier is not None:
        limits.append(earlier)
    return min(limits, default=None)
