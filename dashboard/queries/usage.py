"""What runs took: sums over days, the usual time of each depth, the time of a run's calls, and the
one under way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone

from dashboard.queries.queries import Viewer
from research.engine.records import Status, Usage
from research.models import InstallationSetting, JournalEntry, Run
from research.models.runs import Kind

RECENT = 50
LATEST = 10
"""Runs of a model that are looked at for its last answer, or an overdue one."""
LEAST_RUNS = 3
"""Runs of a depth from which on their time is called usual."""


@dataclass(frozen=True)
class UsageTotal:
    """What runs used; `cost_usd` is None if the price of one is unknown."""

    runs: int = 0
    seconds: float = 0.0
    llm_calls: int = 0
    tokens: int = 0
    searches: int = 0
    fetches: int = 0
    cost_usd: float | None = 0.0


def usage_since(viewer: Viewer, days: int) -> UsageTotal:
    """Sum up the user's own runs that were created in the last `days` days."""
    since = timezone.now() - timedelta(days=days)
    rows = Run.objects.filter(owner=viewer, created_at__gte=since).values_list("usage", flat=True)
    used = [{**vars(Usage()), **usage} for usage in rows]
    costs = [each["cost_usd"] for each in used]
    return UsageTotal(
        runs=len(used),
        seconds=sum(each["seconds"] for each in used),
        llm_calls=sum(each["llm_calls"] for each in used),
        tokens=sum(each["prompt_tokens"] + each["completion_tokens"] for each in used),
        searches=sum(each["searches"] for each in used),
        fetches=sum(each["fetches"] for each in used),
        cost_usd=None if None in costs else sum(costs, 0.0),
    )


def usual_seconds(viewer: Viewer, model: str) -> dict[str, float]:
    """Return the median time, by depth, of the user's latest finished questions with this model."""
    ran = Run.objects.filter(
        owner=viewer, analyst=model, status=Status.COMPLETED, kind=Kind.INITIAL
    ).order_by("-pk")
    took = defaultdict[str, list[float]](list)
    for depth, seconds in ran.values_list("config__research_depth", "usage__seconds")[:RECENT]:
        if depth and seconds:
            took[depth].append(seconds)
    return {depth: median(each) for depth, each in took.items() if len(each) >= LEAST_RUNS}


def time_spent(run: Run) -> list[dict[str, Any]]:
    """Return calls, failures and seconds by kind and, for model calls, by task."""
    outside = run.journal.exclude(kind="decision").values("kind", task=F("request__task"))
    return list(
        outside.order_by().annotate(
            calls=Count("pk"), failed=Count("pk", filter=Q(status="failed")), seconds=Sum("seconds")
        )
    )


def places_of(run: Run) -> list[tuple[int, str]]:
    """Return the places of all entries of a run's journal by key, in their order."""
    return list(run.journal.order_by("pk").values_list("pk", "place"))


# --- the call under way ---------------------------------------------------------------------

CALLING = frozenset({Status.INTAKE, Status.RESEARCHING, Status.WRITING})
LONG_SECONDS, LONG_FIRST_SECONDS = 60.0, 120.0
"""Seconds before which no call is overdue; the second is for a task without an answer so far, since
a reasoning model may take minutes.
"""
FACTOR = 3.0
LEAST_CALLS = 3
"""Calls from which on their mean time tells how long others will take."""


@dataclass(frozen=True)
class Call:
    """A model call under way; `usual_seconds` is the mean of its task in this run, if known."""

    task: str
    since: datetime
    usual_seconds: float | None
    is_long: bool


def may_call(run: Run) -> bool:
    """Return whether a run may have model calls under way."""
    return run.has_model and run.status in CALLING


def call_under_way(run: Run) -> Call | None:
    """Return the oldest model call under way; None if there is none."""
    if not may_call(run):
        return None
    pending = run.journal.filter(kind="model", status="pending").order_by("created_at", "pk")
    first = pending.values_list("request__task", "created_at").first()
    if first is None:
        return None
    task, since = first
    by_task = run.usage.get("spent_by", {}).get("task", {})
    usual = _mean_seconds([by_task[task]] if task in by_task else [])
    expected = usual or _mean_seconds(list(by_task.values())) or 0.0
    least = LONG_FIRST_SECONDS if usual is None else LONG_SECONDS
    passed = (timezone.now() - since).total_seconds()
    is_long = not run.draft and passed > max(least, FACTOR * expected)
    return Call(task, since, usual, is_long)


def runs_calling(model: str) -> QuerySet[Run]:
    """Return the runs that may have calls of a model under way, the oldest `LATEST`."""
    return Run.objects.filter(status__in=CALLING, analyst=model).order_by("created_at")[:LATEST]


def overdue_call(under_way: Iterable[Run]) -> Call | None:
    """Return the call of these runs that is overdue the longest; None if none is."""
    calls = (call_under_way(run) for run in under_way)
    overdue = [call for call in calls if call is not None and call.is_long]
    return min(overdue, key=lambda call: call.since, default=None)


def seconds_per_call(run: Run) -> float | None:
    """Return the mean time of a run's model calls, None before the first few."""
    spent = list(run.usage.get("spent_by", {}).get("task", {}).values())
    return _mean_seconds(spent) if sum(part["calls"] for part in spent) >= LEAST_CALLS else None


def last_answer(model: str) -> datetime | None:
    """Return when a model last answered a run since the settings were changed; None if it didn't.
    A server isn't recorded, so settings stored later may be of another one.
    """
    latest = Run.objects.filter(analyst=model).order_by("-created_at").values_list("pk", flat=True)
    answers = JournalEntry.objects.filter(
        run__in=list(latest[:LATEST]), kind="model", status="done"
    )
    told = answers.order_by("-created_at").values_list("created_at", "seconds").first()
    if told is None:
        return None
    changed = InstallationSetting.objects.aggregate(last=Max("changed_at"))["last"]
    asked, seconds = told
    is_of_now = changed is None or changed <= asked
    return asked + timedelta(seconds=seconds) if is_of_now else None


def _mean_seconds(spent: list[dict[str, float]]) -> float | None:
    calls = sum(part["calls"] for part in spent)
    return sum(part.get("seconds", 0.0) for part in spent) / calls if calls else None
