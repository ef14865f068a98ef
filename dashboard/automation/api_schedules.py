"""Schedules through the API."""

from __future__ import annotations

from datetime import time
from functools import partial
from typing import Any, get_args

from django.http import Http404, HttpRequest
from ninja import Router, Status

from dashboard.api.asking import build_config, find_sources
from dashboard.api.idempotency import IdempotencyKey, make_once
from dashboard.api.paging import Paging, page_of
from dashboard.automation.schemas import (
    ChangedSchedule,
    NewSchedule,
    ResultOut,
    ResultPage,
    ScheduleOut,
    SchedulePage,
    Weekday,
)
from research.models import Occurrence, Schedule
from research.schedules import manage
from research.schedules.manage import Plan
from research.schedules.news import news_of

schedules_router = Router(tags=["schedules"])
WEEKDAYS = get_args(Weekday)


@schedules_router.get("", response=SchedulePage, summary="List schedules, newest first")
def list_schedules(request: HttpRequest, paging: Paging) -> dict[str, Any]:
    shown, following = page_of(request.auth.user.schedules.all(), paging)
    return {"items": [schedule_out(row) for row in shown], "next_cursor": following}


@schedules_router.post("", response={201: ScheduleOut}, summary="Add a schedule")
def create_schedule(
    request: HttpRequest, payload: NewSchedule, idempotency_key: IdempotencyKey = None
) -> Status:
    """Its runs have at most the budget of the token that creates it."""
    given = {"research_depth": payload.depth, "max_cost_usd": payload.max_cost_usd}
    knobs = payload.settings | {name: value for name, value in given.items() if value is not None}
    config = request.auth.limit_budget(build_config(knobs))
    sources = find_sources(request.auth, payload.sources or "", payload.collections)
    plan = Plan(
        question=payload.question,
        cadence=payload.cadence,
        at=time.fromisoformat(payload.at),
        time_zone=payload.time_zone,
        weekday=WEEKDAYS.index(payload.weekday),
        day=payload.day,
        only_new=payload.only_new,
        config=config.model_dump(mode="json"),
        sources=sources or {},
    )
    actor = request.auth.user
    add = partial(manage.add_schedule, actor, plan)
    row = make_once(request, idempotency_key, payload, actor.schedules.all(), add)
    return Status(201, schedule_out(row))


@schedules_router.get("/{schedule_id}", response=ScheduleOut, summary="Read a schedule")
def read_schedule(request: HttpRequest, schedule_id: str) -> ScheduleOut:
    return schedule_out(find_schedule(request, schedule_id))


@schedules_router.patch("/{schedule_id}", response=ScheduleOut, summary="Change, pause or resume a schedule")
def change_schedule(
    request: HttpRequest, schedule_id: str, payload: ChangedSchedule
) -> ScheduleOut:
    changes = payload.model_dump(exclude_none=True, exclude={"sources", "collections"})
    if payload.sources is not None or payload.collections is not None:
        found = find_sources(request.auth, payload.sources or "", payload.collections or [])
        changes["sources"] = found or {}
    if payload.at is not None:
        changes["at"] = time.fromisoformat(payload.at)
    if payload.weekday is not None:
        changes["weekday"] = WEEKDAYS.index(payload.weekday)
    return schedule_out(manage.change_schedule(find_schedule(request, schedule_id), changes))


@schedules_router.delete("/{schedule_id}", response={204: None}, summary="Delete a schedule")
def delete_schedule(request: HttpRequest, schedule_id: str) -> Status:
    """Its runs stay."""
    manage.delete_schedule(find_schedule(request, schedule_id))
    return Status(204, None)


@schedules_router.get("/{schedule_id}/results", response=ResultPage, summary="List the results of a schedule")
def list_results(request: HttpRequest, schedule_id: str, paging: Paging) -> dict[str, Any]:
    """Its due dates, newest first, each with what its report cites that the one before didn't."""
    rows = find_schedule(request, schedule_id).occurrences.select_related("run")
    shown, following = page_of(rows, paging)
    return {"items": [result_out(row) for row in shown], "next_cursor": following}


def find_schedule(request: HttpRequest, public_id: str) -> Schedule:
    schedule = manage.find_schedule(request.auth.user, public_id)
    if schedule is None:
        raise Http404("no such schedule")
    return schedule


def schedule_out(row: Schedule) -> ScheduleOut:
    return ScheduleOut(
        id=row.public_id,
        question=row.question,
        cadence=row.cadence,
        at=f"{row.at:%H:%M}",
        time_zone=row.time_zone,
        weekday=WEEKDAYS[row.weekday],
        day=row.day,
        only_new=row.only_new,
        paused=row.paused,
        max_cost_usd=row.config.get("max_cost_usd"),
        searches=row.sources.get("search", []),
        collections=[each["id"] for each in row.sources.get("collections", ())],
        next_at=None if row.paused else row.next_at,
        created_at=row.created_at,
    )


def result_out(row: Occurrence) -> ResultOut:
    run = row.run
    news = news_of(row) if run and run.status == "completed" else None
    return ResultOut(
        due_at=row.due_at,
        run=run.public_id if run else None,
        status=run.status if run else None,
        skipped=row.skipped,
        missed=row.missed,
        previous_run=news.previous.public_id if news else None,
        new=[vars(each) for each in news.findings] if news else None,
    )
