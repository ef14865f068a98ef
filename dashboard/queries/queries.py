"""Reads of runs and collections, restricted to what the viewer may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import (
    Count,
    Exists,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Sum,
    TextField,
    Value,
)
from django.db.models.expressions import CombinedExpression
from django.db.models.fields.json import KT
from django.db.models.functions import Length, NullIf, Replace
from django.http import Http404

from dashboard.markdown.parsing import DISPUTED
from research.engine.records import ENDED, WAITING, Status
from research.models import Aspect, Collection, Document, Gap, JournalEntry, Report, Run
from research.services import documents, runs

Viewer: TypeAlias = AbstractBaseUser | AnonymousUser

RUNS_ON_A_PAGE = 25
RECENT_RUNS = 5
SUGGESTIONS = 3
SHORTEST_WORD = 4
MOST_WORDS = 8
CALLS_ON_A_PAGE = 100
FILES_ON_A_PAGE = 50
STATES = {
    "waiting": Q(status__in=WAITING),
    "working": Q(status__in=frozenset(Status) - ENDED - WAITING),
    "done": Q(status=Status.COMPLETED) & ~Q(termination_reason="nothing_found"),
    "nothing_found": Q(status=Status.COMPLETED, termination_reason="nothing_found"),
    "failed": Q(status__in=(Status.FAILED, Status.CANCELLED)),
}
LIST_FIELDS = (
    *("analyst", "public_id", "question", "status", "termination_reason", "quality_score"),
    *("created_at", "origin", "reason"),
)


THREAD_FIELDS = (
    "thread__public_id",
    "thread__name",
    "thread__folder",
    "thread__pinned",
    "thread__archived",
)
LINE_FIELDS = (*LIST_FIELDS, *THREAD_FIELDS)


@dataclass(frozen=True)
class Head:
    """What tells the states of a run apart; `parent` is a primary key."""

    public_id: str
    sequence: int
    status: str
    parent: int | None

    @property
    def ended(self) -> bool:
        return self.status in ENDED


def recent_runs(viewer: Viewer) -> Sequence[Run]:
    found = runs.visible_to(viewer).filter(thread__archived=False).newest_versions()
    return list(with_answers(found)[:RECENT_RUNS])


def with_answers(found: QuerySet[Run]) -> QuerySet[Run]:
    """Load what a list shows of each run, with its thread and the states of its sub-questions.

    `depth` is the value of its knob.
    """
    fields = "run_id", "state", "standing", "dropped", "evidence_labels", "open_points"
    listed = with_reports(found).select_related("thread").only(*LINE_FIELDS)
    listed = listed.annotate(depth=KT("config__research_depth"))
    return listed.prefetch_related(Prefetch("aspects", Aspect.objects.only(*fields)))


def with_reports(found: QuerySet[Run]) -> QuerySet[Run]:
    """Load what lists say of each run's report.

    `answer` and `cited` are the short answer and the citations of the report, `disputes` the number
    of boxes of disputes, `told_disputes` that of boxes and sentences, if known; None without one.
    `open_points` is the number of points that it lists as open, None without such a list,
    `gaps_open` that of open gaps, None for none; `plan_title` and `plan_brief` are the plan's.
    """
    report = Report.objects.filter(run=OuterRef("pk")).order_by("-number")
    gaps = Gap.objects.filter(run=OuterRef("pk"), closed_round=None).order_by()
    null = Value("null", TextField())  # what SQLite makes of a null
    listed_points = NullIf(KT("checks__open_points"), null)
    return found.annotate(
        answer=Subquery(report.values("short_answer")[:1]),
        cited=Subquery(report.values("citations")[:1]),
        told_disputes=Subquery(report.values_list(NullIf(KT("checks__disputes"), null))[:1]),
        disputes=Subquery(report.values_list(_count_in("markdown", DISPUTED))[:1]),
        open_points=Subquery(report.values_list(listed_points)[:1]),
        gaps_open=Subquery(gaps.values("run").values_list(Count("pk"))),
        plan_brief=KT("plan__brief"),
        plan_title=KT("plan__title"),
    )


def _count_in(column: str, text: str) -> CombinedExpression:
    """Return an expression that counts how often a text occurs in a column."""
    return (Length(column) - Length(Replace(column, Value(text)))) / len(text)


def page_of_runs(
    viewer: Viewer, number: str | None, text: str = "", state: str = "", folder: str = ""
) -> Page[Run]:
    """Return a page of runs in that state and folder that hold every word of `text`.

    Pinned ones come first. Only the newest version of a question is listed; archived ones are
    listed if they are searched for. `written` is then the report in which the words were found.
    """
    from dashboard.queries.thread_queries import holding_words

    found = with_answers(runs.visible_to(viewer).newest_versions())
    if text:
        report = Report.objects.filter(run=OuterRef("pk")).order_by("-number")
        found = holding_words(found, text).annotate(written=Subquery(report.values("markdown")[:1]))
    if state in STATES:
        found = found.filter(STATES[state])
    if state == "archived" or not text:
        found = found.filter(thread__archived=state == "archived")
    if folder:
        found = found.filter(thread__folder=folder)
    return Paginator(
        found.order_by("-thread__pinned", "-created_at", "-pk"), RUNS_ON_A_PAGE
    ).get_page(number)


def similar_questions(viewer: Viewer, text: str) -> Sequence[Run]:
    """Return the viewer's own latest questions that contain each of the longer words of `text`."""
    wanted = [word for word in text.split() if len(word) >= SHORTEST_WORD][:MOST_WORDS]
    if not wanted or not viewer.is_authenticated:
        return []
    found = runs.visible_to(viewer).filter(owner=viewer).newest_versions()
    found = with_answers(found)
    for word in wanted:
        found = found.filter(question__icontains=word.strip("?.,;:"))
    return list(found[:SUGGESTIONS])


def find_run(viewer: Viewer, public_id: str) -> Run:
    """Return a run. Raise `Http404` also for other users' runs, so as not to reveal them."""
    return _visible_run(runs.visible_to(viewer).select_related("thread"), public_id)


def find_head(viewer: AbstractUser, public_id: str) -> Head:
    """Return the head of a run that `find_run` would return."""
    sql, parameters = _head_query(viewer.pk, viewer.is_staff)
    with connection.cursor() as cursor:
        cursor.execute(sql, (*parameters, public_id))
        row = cursor.fetchone()
    if row is None:
        raise Http404("no such run")
    return Head(*row)


@lru_cache(maxsize=1_000)
def _head_query(viewer: int, is_staff: bool) -> tuple[str, tuple[Any, ...]]:
    """Return the SQL of a viewer's `find_head` and all parameters but the last, the public id.

    Clients poll it. Writing the SQL takes Django ten times as long as the database needs for it.
    """
    user = get_user_model()(pk=viewer, is_staff=is_staff)
    found = runs.visible_to(user).order_by().filter(public_id="")
    rows = found.values_list("public_id", "sequence", "status", "parent")
    sql, parameters = rows.query.sql_with_params()
    return sql, parameters[:-1]


def _visible_run(rows: QuerySet[Run], public_id: str) -> Run:
    try:
        return rows.get(public_id=public_id)
    except Run.DoesNotExist:
        raise Http404("no such run") from None


def last_sources(viewer: Viewer) -> dict[str, Any]:
    """Return the `sources` of the user's newest run that nothing was attached to, ignoring runs
    over the sample library.
    """
    if not viewer.is_authenticated:
        return {}
    attached = Collection.objects.filter(thread=OuterRef("thread"))
    chosen = Run.objects.filter(~Exists(attached), owner=viewer, sources__has_key="documents")
    chosen = chosen.exclude(sources__search=["samples"])
    return chosen.values_list("sources", flat=True).first() or {}


def list_collections(viewer: Viewer) -> Sequence[Collection]:
    return list(documents.visible_to(viewer).select_related("owner"))


def collections_to_ask(viewer: Viewer) -> Sequence[Collection]:
    """Return the collections that can be searched: not those without a file that can be read."""
    return list(documents.visible_to(viewer).with_files().readable())


def runs_attached_to(viewer: Viewer, collections: Iterable[Collection]) -> dict[int, str]:
    """Return the public id of the first run of the thread that files were attached to, by the
    primary key of their collection.
    """
    threads = {row.thread_id: row.pk for row in collections if row.is_attached}
    rows = runs.visible_to(viewer).filter(thread__in=threads).order_by("-pk")
    return {
        threads[thread]: public_id for thread, public_id in rows.values_list("thread", "public_id")
    }


def find_collection(viewer: Viewer, public_id: str) -> Collection:
    """Return a collection. Raise `Http404` also for collections that the viewer may not see."""
    try:
        return documents.visible_to(viewer).select_related("owner").get(public_id=public_id)
    except Collection.DoesNotExist:
        raise Http404("no such collection") from None


def upload_sizes(collections: Iterable[Collection]) -> dict[int, int]:
    """Return the total size of uploaded files in bytes, by primary key of the collection."""
    rows = Document.objects.filter(collection__in=list(collections)).order_by()
    return dict(rows.values_list("collection").annotate(Sum("size")))


def page_of_files(collection: Collection, number: str | None) -> Page[Document]:
    return Paginator(collection.files.all(), FILES_ON_A_PAGE).get_page(number)


def current_sequences(public_ids: Iterable[str]) -> dict[str, int]:
    """Return the committed sequence of each run; deleted runs are missing."""
    rows = Run.objects.filter(public_id__in=list(public_ids))
    return dict(rows.values_list("public_id", "sequence"))


def page_of_calls(run: Run, number: str | None, only: Mapping[str, str]) -> Page[JournalEntry]:
    """Return a page of the run's outside calls with these columns, in the order in which they
    began.
    """
    return Paginator(calls_of(run).filter(**only), CALLS_ON_A_PAGE).get_page(number)


def calls_of(run: Run) -> QuerySet[JournalEntry]:
    return run.journal.exclude(kind="decision").order_by("pk")
