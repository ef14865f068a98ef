"""Comparison of a schedule's result with the one before: which cited findings are new."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from research.engine.records import Status
from research.models import Evidence, EvidenceSource, Occurrence, Report, Run


@dataclass(frozen=True)
class NewFinding:
    """A claim that the report cites, with its first quote that the report before didn't cite.

    `is_new_page` says whether that report cited nothing of the whole page.
    """

    evidence: str
    claim: str
    quote: str
    url: str
    title: str
    is_new_page: bool


@dataclass(frozen=True)
class News:
    previous: Run
    findings: tuple[NewFinding, ...]


def news_of(occurrence: Occurrence) -> News | None:
    """Return what is new in an occurrence's report; None without an earlier report."""
    if occurrence.run is None:
        return None
    previous = previous_run(occurrence)
    if previous is None:
        return None
    return News(previous, compare_reports(occurrence.run, previous))


def previous_run(occurrence: Occurrence) -> Run | None:
    """Return the schedule's last completed run before this occurrence that has a report."""
    earlier = Run.objects.filter(
        occurrence__schedule=occurrence.schedule_id,
        occurrence__due_at__lt=occurrence.due_at,
        status=Status.COMPLETED.value,
        reports__isnull=False,
    )
    return earlier.order_by("-occurrence__due_at").first()


def compare_reports(run: Run, previous: Run) -> tuple[NewFinding, ...]:
    """Return the evidence cited by a run's report of which the earlier report cites no quote."""
    known = [quote for row in cited_evidence(previous) for quote in row.quotes.all()]
    pages = {quote.url for quote in known}
    found = []
    for row in cited_evidence(run):
        quotes = sorted(row.quotes.all(), key=lambda quote: quote.position)
        if not quotes or any(_is_known(quote, known) for quote in quotes):
            continue
        first = next((quote for quote in quotes if quote.url not in pages), quotes[0])
        found.append(
            NewFinding(
                evidence=row.label,
                claim=row.claim,
                quote=first.quote,
                url=first.url,
                title=first.title,
                is_new_page=first.url not in pages,
            )
        )
    return tuple(found)


def cited_evidence(run: Run) -> Iterable[Evidence]:
    """Return the evidence that a run's latest report cites, in order, with its quotes."""
    report = Report.objects.filter(run=run).order_by("number").last()
    cited = report.citations if report else []
    labels = {label for citation in cited for label in citation["evidence_ids"]}
    return run.evidence.filter(label__in=labels).prefetch_related("quotes").order_by("position")


def _is_known(quote: EvidenceSource, known: Iterable[EvidenceSource]) -> bool:
    """Return whether an earlier quote is the same, or a longer or shorter cut of one page."""
    words = _plain(quote.quote)
    for each in known:
        other = _plain(each.quote)
        if words == other or (quote.url == each.url and (words in other or other in words)):
            return True
    return False


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
