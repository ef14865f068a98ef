"""Reads of runs, collections, citations and sources, restricted to what the viewer may see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from django.contrib.auth import get_user_model
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.paginator import Page, Paginator
from django.db import connection
from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery, Sum, TextField, Value
from django.db.models.expressions import CombinedExpression
from django.db.models.fields.json import KT
from django.db.models.functions import Length, NullIf, Replace
from django.http import Http404

from dashboard.markdown.parsing import DISPUTED, markers_beside
from dashboard.markdown.statements import CitedText, cited_texts
from dashboard.queries.run_rows import cited_rows, copied_pages, labels_at, labels_of_earlier
from dashboard.titles import name_parts
from research.engine.records import ENDED, WAITING, Status
from research.models import (
    Aspect,
    Collection,
    Document,
    Evidence,
    EvidenceSource,
    Gap,
    JournalEntry,
    PageText,
    Report,
    Run,
    Source,
)
from research.services import documents, runs, sites

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
class CitedStatement:
    """A statement of a report with the records behind it: the labels of those behind one of its
    numbers, and all with their quotes.
    """

    said: CitedText
    labels: frozenset[str]
    evidence: Sequence[Evidence]


@dataclass(frozen=True)
class CitationRows:
    """The quotes behind `[number]`, at its occurrence `place` if given, and the stored text.

    `numbers` are those of all citations; `verdicts` maps an evidence key to the last verdict, or
    None; `calculations` are those of statements computed from the quotes; `together` has all quotes
    of the statement, also those behind its other markers; `checks` are the counts of the report.
    `statements` are those that cite the number there, `others` counts those that do elsewhere.
    """

    run: Run
    number: int
    numbers: Sequence[int]
    quotes: Sequence[EvidenceSource]
    page: PageText | None
    verdicts: dict[int, str | None]
    calculations: Sequence[str] = ()
    place: int | None = None
    together: Sequence[EvidenceSource] = ()
    checks: Mapping[str, Any] = field(default_factory=dict)
    statements: Sequence[CitedStatement] = ()
    others: int = 0


@dataclass(frozen=True)
class SourceRows:
    """The sources of a run.

    `unopened` counts hits that were not fetched; `cited` has the quotes behind each marker;
    `never` has the viewer's blocked sites, `asked` the names of sub-questions by label, without one
    that is the whole question, `earlier` the labels of records that the report gives as an earlier
    value, `copied_from` the address of the page that another one has the text of.
    """

    sources: Sequence[Source]
    unopened: int
    citations: Sequence[dict[str, Any]]
    cited: Mapping[int, Sequence[EvidenceSource]]
    never: Sequence[str]
    asked: Mapping[str, str]
    earlier: frozenset[str]
    copied_from: Mapping[str, str]


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
    """Return the `sources` of the user's newest run, ignoring runs over the sample library."""
    if not viewer.is_authenticated:
        return {}
    chosen = Run.objects.filter(owner=viewer, sources__has_key="documents")
    chosen = chosen.exclude(sources__search=["samples"])
    return chosen.values_list("sources", flat=True).first() or {}


def list_collections(viewer: Viewer) -> Sequence[Collection]:
    return list(documents.visible_to(viewer).select_related("owner"))


def collections_to_ask(viewer: Viewer) -> Sequence[Collection]:
    """Return the collections that can be searched: not those without a file that can be read."""
    return list(documents.visible_to(viewer).with_files().readable())


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


def citation_rows(run: Run, number: int, place: int | None = None) -> CitationRows:
    """Return everything behind `[number]` in the latest report, at one place or at all of them.

    Raise `Http404` if not cited.
    """
    report = run.reports.order_by("-number").first()
    cited = {entry["marker"]: entry for entry in report.citations} if report else {}
    if report is None or number not in cited:
        raise Http404("no such citation")
    group = markers_beside(report.markdown, number, place or 0)
    own = {(cited[number]["url"], label) for label in labels_at(cited[number], place)}
    together = own.union(_pages_behind(group, cited))
    every = [each for each in cited_texts(report.markdown) if each.place_of(number) is not None]
    texts = [each for each in every if place is None or (number, place) in each.markers]
    markers = [marker for each in texts for marker in each.markers]
    wanted = {label for _, label in together.union(_pages_behind(markers, cited))}
    found = list(
        EvidenceSource.objects.filter(evidence__run=run, evidence__label__in=wanted)
        .select_related("evidence")
        .prefetch_related("evidence__quotes")
    )
    quotes = [row for row in found if (row.url, row.evidence.label) in own]
    if not quotes:
        raise Http404("no such citation")
    records = {row.evidence.label: row.evidence for row in found}
    judged = Evidence.objects.with_review().filter(pk__in=[row.evidence_id for row in quotes])
    return CitationRows(
        run=run,
        number=number,
        numbers=sorted(cited),
        quotes=quotes,
        page=PageText.objects.filter(uses__run=run, sha256=quotes[0].text_sha256).first(),
        verdicts=dict(judged.values_list("pk", "last_verdict")),
        calculations=cited[number].get("calculations", ()),
        place=place,
        together=[row for row in found if (row.url, row.evidence.label) in together],
        checks=report.checks,
        statements=[
            CitedStatement(
                said=each,
                labels=frozenset(labels_at(cited[number], each.place_of(number))),
                evidence=[
                    records[label]
                    for label in dict.fromkeys(
                        label for _, label in _pages_behind(each.markers, cited)
                    )
                    if label in records
                ],
            )
            for each in texts
        ],
        others=len(every) - len(texts),
    )


def _pages_behind(
    markers: Iterable[tuple[int, int]], cited: Mapping[int, dict[str, Any]]
) -> list[tuple[str, str]]:
    """Return the pages and the labels of the records behind markers at their occurrences."""
    return [
        (cited[marker]["url"], label)
        for marker, at in markers
        if marker in cited
        for label in labels_at(cited[marker], at)
    ]


def source_rows(viewer: Viewer, run: Run) -> SourceRows:
    report = run.reports.order_by("-number").first()
    asked = dict(run.aspects.values_list("label", "text"))
    names = name_parts(list(asked.values()), run.plan)
    opened = run.source_pages.exclude(status="not_read").order_by("round", "pk")
    return SourceRows(
        sources=list(opened),
        unopened=run.source_pages.filter(status="not_read").count(),
        citations=report.citations if report else (),
        cited=cited_rows(run, report) if report else {},
        never=sites.list_blocked_sites(viewer),
        asked={label: names[text] for label, text in asked.items() if text != run.question},
        earlier=labels_of_earlier(report) if report else frozenset(),
        copied_from=copied_pages(run),
    )
