"""Reads of threads: their questions, the versions of these, and the search in the history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.http import Http404

from dashboard.queries.lineage import ancestor_runs, run_that_searched
from dashboard.queries.queries import THREAD_FIELDS, Viewer, with_reports
from dashboard.queries.run_rows import RunRows, labels_cited, labels_of_earlier
from research.models import Aspect, Evidence, Report, Run, Source, Thread
from research.models.lookups import keep_alphanumeric

VERSION_FIELDS = (
    *("public_id", "kind", "origin_id", "reason"),
    *("status", "termination_reason", "created_at"),
)
LONGEST_THREAD = 200
MOST_WORDS = 12


@dataclass(frozen=True)
class Earlier:
    """An earlier run that a run was made from.

    `number` is that of the version; None if it answers a different question.
    """

    public_id: str
    number: int | None


@dataclass(frozen=True)
class Correction:
    """A later question of a thread whose report, written `at` that time, says otherwise on records
    that an earlier report cites, by their labels: it gives `newer` values for them, or cites
    sources that the earlier one hadn't and that have them `disputed`.
    """

    run: Run
    at: datetime
    newer: frozenset[str]
    disputed: frozenset[str]


def run_versions(run: Run) -> Sequence[Run]:
    """Return all versions of a run's question, oldest first."""
    first = run.origin_id or run.pk
    found = Run.objects.filter(Q(pk=first) | Q(origin=first))
    return list(found.order_by("pk").only(*VERSION_FIELDS))


def found_earlier(run: Run) -> dict[str, Earlier]:
    """Return the pages that a run took over, by `url_key`, with the earlier run that found each."""
    made_from = ancestor_runs(run)
    found = Source.objects.filter(run__in=made_from, round__gt=0).values_list("url_key", "run")
    there = {row.pk: row for row in made_from}
    last = {key: there[pk] for key, pk in found.order_by("run")}
    numbers = _numbers(run) if last else {}
    return {key: Earlier(row.public_id, numbers.get(row.pk)) for key, row in last.items()}


def searched_for(run: Run) -> Earlier | None:
    """Return the run whose research a rewritten version is based on; None if it was deleted."""
    row = run_that_searched(run)
    return Earlier(row.public_id, _numbers(run).get(row.pk)) if row else None


def _numbers(run: Run) -> dict[int, int]:
    return {row.pk: number for number, row in enumerate(run_versions(run), 1)}


def thread_questions(thread_id: int) -> Sequence[Run]:
    """Return the newest version of each question of a thread, in the order they were asked.

    They have what `with_reports` loads.
    """
    found = with_reports(Run.objects.filter(thread=thread_id).newest_versions())
    listed = ("analyst", "language", "question", "quality_score", *THREAD_FIELDS)
    found = found.select_related("thread").only(*VERSION_FIELDS, *listed)
    found = found.prefetch_related("aspects")
    newest = list(found.order_by("-pk")[:LONGEST_THREAD])
    return sorted(newest, key=lambda run: run.origin_id or run.pk)


def later_questions(run: Run) -> Sequence[Run]:
    """Return the questions of a thread that were asked after that of a run."""
    found = Run.objects.filter(thread=run.thread_id).newest_versions()
    found = found.annotate(first=Coalesce("origin_id", "pk"))
    later = found.filter(first__gt=run.origin_id or run.pk).select_related("thread")
    return list(later.order_by("first", "pk"))


def find_corrections(rows: RunRows, later: Sequence[Run]) -> list[Correction]:
    """Return which of the `later` questions correct what a run's report says.

    A follow-up keeps the ids and claims of the records that it takes over.
    """
    reports = {row.run_id: row for row in Report.objects.filter(run__in=later).order_by("number")}
    if not reports or not rows.cited_labels:
        return []
    claims = {row.label: row.claim for row in rows.evidence}
    wanted = Q(label__in=rows.cited_labels) | ~Q(contradicts=[])
    records: dict[int, dict[str, Evidence]] = {run_id: {} for run_id in reports}
    for row in Evidence.objects.filter(wanted, run__in=reports).order_by():
        records[row.run_id][row.label] = row
    found = []
    for run in later:
        if run.pk not in reports:
            continue
        report, known = reports[run.pk], records[run.pk]
        ours = {label for label, row in known.items() if row.claim == claims.get(label)}
        news = labels_cited(report) & known.keys() - ours
        kept = ours & rows.cited_labels - rows.earlier
        newer = kept & labels_of_earlier(report)
        disputed = {label for label in kept - newer if news.intersection(known[label].contradicts)}
        if newer or disputed:
            found.append(Correction(run, report.created_at, frozenset(newer), frozenset(disputed)))
    return found


def visible_threads(viewer: Viewer, *, deleted: bool = False) -> QuerySet[Thread]:
    """Return a user's own threads; staff see all. `deleted` includes those that can be restored."""
    threads = Thread.objects.all() if viewer.is_staff else Thread.objects.filter(owner=viewer)
    return threads if deleted else threads.filter(deleted_at=None)


def find_thread(viewer: Viewer, public_id: str, *, deleted: bool = False) -> Thread:
    """Return a thread. Raise `Http404` also for threads of other users.

    `deleted` includes those that can still be restored.
    """
    try:
        return visible_threads(viewer, deleted=deleted).get(public_id=public_id)
    except Thread.DoesNotExist:
        raise Http404("no such thread") from None


def question_position(run: Run) -> tuple[int, int]:
    """Return (number, total): the position of a run's question in its thread, from 1."""
    first = run.origin_id or run.pk
    asked = Run.objects.filter(thread=run.thread_id, origin=None)
    found = asked.aggregate(number=Count("pk", filter=Q(pk__lte=first)), total=Count("pk"))
    return found["number"], found["total"]


def count_other_runs(run: Run) -> int:
    """Return the number of other runs in the thread, including versions."""
    return Run.objects.filter(thread=run.thread_id).exclude(pk=run.pk).count()


def asked_aspects(run: Run) -> Sequence[Aspect]:
    """Return the sub-questions that were not dropped, in order."""
    return list(run.aspects.filter(dropped=False).order_by("position"))


def holding_words(found: QuerySet[Run], text: str) -> QuerySet[Run]:
    """Return the runs that hold every word of `text`, each in any of their parts."""
    for word in text.split()[:MOST_WORDS]:
        found = found.filter(_holds(word))
    return found


def list_folders(viewer: Viewer) -> Sequence[str]:
    """Return the names of the viewer's own folders, in order."""
    own = Thread.objects.filter(owner=viewer.pk, deleted_at=None).exclude(folder="")
    return list(own.order_by("folder").values_list("folder", flat=True).distinct())


def _holds(word: str) -> Q:
    asked = Q(question__icontains=word) | Q(thread__name__icontains=word)
    read = Source.objects.filter(run=OuterRef("pk")).exclude(status="not_read")
    held = asked | Q(Exists(read.filter(Q(title__icontains=word) | Q(domain__icontains=word))))
    if not keep_alphanumeric(word):
        return held
    return held | Q(Exists(Report.objects.filter(run=OuterRef("pk"), markdown__has_word=word)))
