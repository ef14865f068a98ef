"""Reads of a thread: its questions, their versions, and what reviewers refused."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Count, OuterRef, Q, Subquery
from django.http import Http404

from dashboard.queries import Viewer
from research.models import Aspect, Report, Run, Thread

VERSION_FIELDS = ("public_id", "kind", "reason", "status", "termination_reason", "created_at")
LONGEST_THREAD = 200


def versions(run: Run) -> Sequence[Run]:
    """All versions of a run's question, first one first."""
    first = run.origin_id or run.pk
    found = Run.objects.filter(Q(pk=first) | Q(origin=first))
    return list(found.order_by("pk").only(*VERSION_FIELDS))


def questions(thread_id: int) -> Sequence[Run]:
    """The newest version of each question of a thread, in the order in which they were asked.

    `answer` is the short answer of its report, None where there is no report.
    """
    answer = Report.objects.filter(run=OuterRef("pk")).order_by("-number").values("short_answer")
    found = Run.objects.filter(thread=thread_id).newest_versions()
    found = found.annotate(answer=Subquery(answer[:1]))
    found = found.only(*VERSION_FIELDS, "question", "quality_score", "origin_id")
    newest = list(found.order_by("-pk")[:LONGEST_THREAD])
    return sorted(newest, key=lambda run: run.origin_id or run.pk)


def find_thread(viewer: Viewer, public_id: str) -> Thread:
    """Raises `Http404`, for somebody else's as well, so that its existence cannot be asked for."""
    threads = Thread.objects.all() if viewer.is_staff else Thread.objects.filter(owner=viewer)
    try:
        return threads.get(public_id=public_id)
    except Thread.DoesNotExist:
        raise Http404("no such thread") from None


def place(run: Run) -> tuple[int, int]:
    """The number of a run's question in its thread, from 1, and how many questions there are."""
    first = run.origin_id or run.pk
    asked = Run.objects.filter(thread=run.thread_id, origin=None)
    found = asked.aggregate(number=Count("pk", filter=Q(pk__lte=first)), total=Count("pk"))
    return found["number"], found["total"]


def others(run: Run) -> int:
    """How many other runs its thread has, versions among them."""
    return Run.objects.filter(thread=run.thread_id).exclude(pk=run.pk).count()


def asked_aspects(run: Run) -> Sequence[Aspect]:
    """The sub-questions that nobody left out, in their order."""
    return list(run.aspects.filter(dropped=False).order_by("position"))
