"""Results of a run: evidence with verdicts, sources, reports and exports."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import Router, Status

from dashboard.addresses import link_to_share
from dashboard.api.paging import Paging, page_of
from dashboard.api.schemas import NewVerdict, RecordPage, ReportOut, SharedOut, VerdictOut
from dashboard.exports import FORMATS, export_report
from dashboard.queries import queries
from research.models import Report
from research.readmodel.run_json import evidence_object, source_object
from research.services import people, reviews
from research.threads.verdicts import is_stale

router = Router(tags=["results"])


@router.get("/{run_id}/evidence", response=RecordPage, summary="List the evidence of a run")
def list_evidence(request: HttpRequest, run_id: str, paging: Paging) -> dict[str, Any]:
    """Each record has its quotes and, as `review`, the last verdict."""
    run = queries.find_run(request.auth.user, run_id)
    rows = run.evidence.with_review().prefetch_related("quotes")
    shown, following = page_of(rows, paging, newest_first=False)
    texts = dict(run.aspects.values_list("label", "text"))
    return {"items": [evidence_object(row, texts) for row in shown], "next_cursor": following}


@router.post(
    "/{run_id}/evidence/{evidence_id}/verdicts",
    response={201: VerdictOut},
    summary="Review an evidence record",
)
def add_verdict(
    request: HttpRequest, run_id: str, evidence_id: str, payload: NewVerdict
) -> Status[VerdictOut]:
    run = queries.find_run(request.auth.user, run_id)
    evidence = run.evidence.filter(label=evidence_id).first()
    if evidence is None:
        raise Http404("no such evidence")
    row = reviews.record_verdict(request.auth.user, evidence, payload.verdict, payload.note)
    out = VerdictOut(evidence=evidence.label, verdict=row.verdict, note=row.note, at=row.created_at)
    return Status(201, out)


@router.get("/{run_id}/sources", response=RecordPage, summary="List the sources of a run")
def list_sources(request: HttpRequest, run_id: str, paging: Paging) -> dict[str, Any]:
    """Pages that were found, with whether each was read, and why not."""
    run = queries.find_run(request.auth.user, run_id)
    shown, following = page_of(run.source_pages.all(), paging, newest_first=False)
    return {"items": [source_object(row) for row in shown], "next_cursor": following}


@router.get("/{run_id}/report", response=ReportOut, summary="Read the report of a run")
def read_report(request: HttpRequest, run_id: str) -> ReportOut:
    run = queries.find_run(request.auth.user, run_id)
    report = run.reports.select_related("run").order_by("-number").first()
    if report is None:
        raise Http404("no report of this run")
    return report_out(report)


@router.get("/{run_id}/exports/{extension}", summary="Export the report of a run")
def export_run(
    request: HttpRequest, run_id: str, extension: str, quotes: bool = True
) -> HttpResponse:
    """Formats: docx, pdf, md, html, csv, json, ris and bib. With `quotes=false` the first four end
    with the report, without the quotes of its citations.
    """
    run = queries.find_run(request.auth.user, run_id)
    if extension not in FORMATS:
        raise Http404("no such format")
    written = export_report(run, FORMATS[extension], with_quotes=quotes)
    return HttpResponse(written.content, content_type=written.content_type)


@router.post("/{run_id}/share", response={201: SharedOut}, summary="Share the report of a run")
def share_report(request: HttpRequest, run_id: str) -> Status[SharedOut]:
    """Anyone who has the returned link can read the report. Repeating the request returns the same
    link.
    """
    link = people.share_report(request.auth.user, queries.find_run(request.auth.user, run_id))
    out = SharedOut(url=link_to_share(request, link), created_at=link.created_at)
    return Status(201, out)


@router.delete("/{run_id}/share", response={204: None}, summary="Stop sharing a report")
def stop_sharing(request: HttpRequest, run_id: str) -> Status[None]:
    """The link stops working at once."""
    people.stop_sharing(request.auth.user, queries.find_run(request.auth.user, run_id))
    return Status(204, None)


def report_out(report: Report) -> ReportOut:
    return ReportOut(
        run=report.run.public_id,
        number=report.number,
        markdown=report.markdown,
        short_answer=report.short_answer,
        citations=report.citations,
        checks=report.checks,
        stale=is_stale(report),
        created_at=report.created_at,
    )
