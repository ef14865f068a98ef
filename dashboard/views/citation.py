"""One citation: at an address of its own, and as a panel beside the report."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from dashboard import queries
from dashboard.contexts.citation import PAGE_BLOCKS, PANEL_BLOCKS, citation
from dashboard.contexts.report import report
from dashboard.contexts.thread import review
from dashboard.run_rows import RunRows
from dashboard.views.sending import by_form
from research.models import Run
from research.services import reviews
from research.services.errors import ServiceError

PANEL = "citation-panel"


@never_cache
@vary_on_headers("HX-Request")
@require_GET
def show_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    return shown(request, queries.find_run(request.user, public_id), number)


@by_form
def judge_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """What a reviewer says of the claims behind a citation; the last word counts."""
    run = queries.find_run(request.user, public_id)
    claims = [row.evidence for row in queries.citation_rows(run, number).quotes]
    try:
        reviews.review_all(request.user, claims, request.POST.get("verdict", ""))
    except ServiceError as error:
        messages.error(request, str(error))
    if is_panel(request):
        return judged(request, run, number)
    return redirect("citation", run.public_id, number)


def shown(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    rows = queries.citation_rows(run, number)
    if is_panel(request):
        return render(request, "dashboard/_citation_panel.html", reviewed(rows, PANEL_BLOCKS))
    return render(request, "dashboard/citation.html", reviewed(rows, PAGE_BLOCKS))


def judged(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    """The panel with the offer to revise the report, and the text with what was rejected marked.

    The offer above the text stays out until the page is loaded anew, so that no line moves.
    """
    rows, of_run = queries.citation_rows(run, number), RunRows(run)
    context = {**citation(rows, PANEL_BLOCKS), "afterwards": review(of_run)}
    context |= {"run_id": run.public_id, "report": report(of_run)}
    return render(request, "dashboard/judged.html", context)


def reviewed(rows: queries.CitationRows, around: int) -> dict[str, Any]:
    return {**citation(rows, around), "afterwards": review(RunRows(rows.run))}


def is_panel(request: HttpRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == PANEL  # type: ignore[attr-defined]
