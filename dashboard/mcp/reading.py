"""Reads for the tools: report, evidence, and a quote within its stored page."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.mcp import results
from research.models import Evidence, EvidenceSource, PageText, Run
from research.services import ServiceError


def newest_report(run: Run) -> results.ReportText:
    return results.describe_report(run, run.reports.order_by("-number").first())


def page_of_evidence(run: Run, ids: Sequence[str], offset: int, limit: int) -> results.EvidencePage:
    """Return evidence records from `offset` on; `ids` restricts them to these labels."""
    rows = run.evidence.with_review().prefetch_related("quotes")
    if ids:
        rows = rows.filter(label__in=ids)
    total = rows.count()
    texts = dict(run.aspects.values_list("label", "text"))
    shown: list[Evidence] = list(rows[offset : offset + limit])
    after = offset + len(shown)
    return results.EvidencePage(
        run=run.public_id,
        total=total,
        next_offset=after if after < total else None,
        evidence=results.describe_evidence(shown, texts),
    )


def quote_in_context(
    run: Run, label: str, position: int, characters: int
) -> results.QuoteInContext:
    """Return a quote within its page. Raise `ServiceError` if the run has no such quote."""
    row = EvidenceSource.objects.filter(
        evidence__run=run, evidence__label=label, position=position
    ).first()
    if row is None:
        raise ServiceError(f"The run has no quote {position} of evidence {label}.")
    page = PageText.objects.filter(uses__run=run, sha256=row.text_sha256).first()
    return results.place_quote(label, row, page, characters)
