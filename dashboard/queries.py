"""Every read of the pages; the number of queries never grows with the number of rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.core.paginator import Page, Paginator
from django.db.models import Count, F, Q, Sum
from django.http import Http404

from dashboard.run_rows import behind_markers, labels_cited
from research.engine.records import ENDED, WAITING, Status
from research.models import (
    Collection,
    Document,
    Evidence,
    EvidenceSource,
    JournalEntry,
    PageText,
    Report,
    Run,
    Source,
)
from research.services import documents, runs, sites

Viewer = AbstractBaseUser | AnonymousUser

RUNS_ON_A_PAGE = 25
RECENT_RUNS = 5
CALLS_ON_A_PAGE = 100
CLAIMS_ON_A_PAGE = 100
FILES_ON_A_PAGE = 50
STATES = {
    "waiting": Q(status__in=WAITING),
    "working": Q(status__in=frozenset(Status) - ENDED - WAITING),
    "done": Q(status=Status.COMPLETED) & ~Q(termination_reason="nothing_found"),
    "nothing_found": Q(status=Status.COMPLETED, termination_reason="nothing_found"),
    "failed": Q(status__in=(Status.FAILED, Status.CANCELLED)),
}
LIST_FIELDS = (
    "public_id",
    "question",
    "status",
    "termination_reason",
    "quality_score",
    "created_at",
    "reason",
)


@dataclass(frozen=True)
class CitationRows:
    """The quotes behind `[number]`, the stored text that they stand in, and the neighbours.

    `verdicts`: what a reviewer said last, by the evidence's key; None where nobody did.
    """

    run: Run
    number: int
    numbers: Sequence[int]
    quotes: Sequence[EvidenceSource]
    page: PageText | None
    verdicts: dict[int, str | None]


@dataclass(frozen=True)
class SourceRows:
    """The pages that were opened, and the viewer's own list of sites to leave out.

    `unopened` counts those that a search named and nobody opened.
    """

    sources: Sequence[Source]
    unopened: int
    citations: Sequence[dict[str, Any]]
    never: Sequence[str]


def recent_runs(viewer: Viewer) -> Sequence[Run]:
    return list(runs.visible_to(viewer).newest_versions().only(*LIST_FIELDS)[:RECENT_RUNS])


def page_of_runs(viewer: Viewer, number: str | None, text: str = "", state: str = "") -> Page[Run]:
    """Those whose question holds every word of `text` and that are in that `state`; of several
    versions the newest.
    """
    found = runs.visible_to(viewer).newest_versions().only(*LIST_FIELDS)
    for word in text.split():
        found = found.filter(question__icontains=word)
    if state:
        found = found.filter(STATES[state])
    return Paginator(found, RUNS_ON_A_PAGE).get_page(number)


def find_run(viewer: Viewer, public_id: str) -> Run:
    """Raises `Http404`, for somebody else's as well, so that its existence cannot be asked for."""
    try:
        return runs.visible_to(viewer).select_related("thread").get(public_id=public_id)
    except Run.DoesNotExist:
        raise Http404("no such run") from None


def last_sources(viewer: Viewer) -> dict[str, Any]:
    """What the person's newest run searches; the sample library, which is searched where there is
    nothing else, doesn't count.
    """
    if not viewer.is_authenticated:
        return {}
    chosen = Run.objects.filter(owner=viewer, sources__has_key="documents")
    chosen = chosen.exclude(sources__search=["samples"])
    return chosen.values_list("sources", flat=True).first() or {}


def collections(viewer: Viewer) -> Sequence[Collection]:
    return list(documents.visible_to(viewer).select_related("owner"))


def collections_to_ask(viewer: Viewer) -> Sequence[Collection]:
    """Those that can hold an answer: an uploaded one without a file can't."""
    return list(documents.visible_to(viewer).with_files())


def find_collection(viewer: Viewer, public_id: str) -> Collection:
    """Raises `Http404`, for somebody else's as well, so that its existence cannot be asked for."""
    try:
        return documents.visible_to(viewer).select_related("owner").get(public_id=public_id)
    except Collection.DoesNotExist:
        raise Http404("no such collection") from None


def upload_sizes(collections: Iterable[Collection]) -> dict[int, int]:
    """The bytes of the uploaded files, by the collection's key."""
    rows = Document.objects.filter(collection__in=list(collections)).order_by()
    return dict(rows.values_list("collection").annotate(Sum("size")))


def page_of_files(collection: Collection, number: str | None) -> Page[Document]:
    return Paginator(collection.files.all(), FILES_ON_A_PAGE).get_page(number)


def sequences(public_ids: Iterable[str]) -> dict[str, int]:
    """Where runs stand now; one that was deleted is not among them."""
    rows = Run.objects.filter(public_id__in=list(public_ids))
    return dict(rows.values_list("public_id", "sequence"))


def calls(run: Run, number: str | None) -> Page[JournalEntry]:
    """A page of the run's outside calls in the order in which they began."""
    outside = run.journal.exclude(kind="decision").order_by("pk")
    return Paginator(outside, CALLS_ON_A_PAGE).get_page(number)


def page_of_evidence(run: Run, number: str | None) -> Page[Evidence]:
    """With quotes and `last_verdict`, the newest first."""
    rows = run.evidence.with_review().prefetch_related("quotes").order_by("-position", "-label")
    return Paginator(rows, CLAIMS_ON_A_PAGE).get_page(number)


def time_spent(run: Run) -> list[dict[str, Any]]:
    """Calls, failures and seconds by kind and, for the model, by task."""
    outside = run.journal.exclude(kind="decision").values("kind", task=F("request__task"))
    return list(
        outside.order_by().annotate(
            calls=Count("pk"), failed=Count("pk", filter=Q(status="failed")), seconds=Sum("seconds")
        )
    )


def cited_rows(run: Run, report: Report) -> dict[int, list[EvidenceSource]]:
    """Marker → the quotes behind it, in order; their claims' other quotes are loaded too."""
    cited = run.evidence.filter(label__in=labels_cited(report)).prefetch_related("quotes")
    return behind_markers(report, list(cited.order_by()))


def citation_rows(run: Run, number: int) -> CitationRows:
    """All that stands behind `[number]` in the run's last report. Raises `Http404`."""
    report = run.reports.order_by("-number").first()
    cited = {entry["marker"]: entry for entry in report.citations} if report else {}
    if number not in cited:
        raise Http404("no such citation")
    quotes = list(
        EvidenceSource.objects.filter(
            evidence__run=run,
            evidence__label__in=cited[number]["evidence_ids"],
            url=cited[number]["url"],
        )
        .select_related("evidence")
        .prefetch_related("evidence__quotes")
    )
    if not quotes:
        raise Http404("no such citation")
    judged = Evidence.objects.with_review().filter(pk__in=[row.evidence_id for row in quotes])
    return CitationRows(
        run=run,
        number=number,
        numbers=sorted(cited),
        quotes=quotes,
        page=PageText.objects.filter(uses__run=run, sha256=quotes[0].text_sha256).first(),
        verdicts=dict(judged.values_list("pk", "last_verdict")),
    )


def source_rows(viewer: Viewer, run: Run) -> SourceRows:
    report = run.reports.order_by("-number").first()
    opened = run.source_pages.exclude(status="not_read").order_by("round", "pk")
    return SourceRows(
        sources=list(opened),
        unopened=run.source_pages.filter(status="not_read").count(),
        citations=report.citations if report else (),
        never=sites.of(viewer),
    )
