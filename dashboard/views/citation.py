"""A citation as a page and as a panel next to the report."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from django.views.decorators.vary import vary_on_headers

from dashboard.contexts.citation import PAGE_BLOCKS, PANEL_BLOCKS, citation_context
from dashboard.contexts.report import report_context
from dashboard.contexts.run import answer_context
from dashboard.contexts.thread import review_context
from dashboard.queries import queries
from dashboard.queries.run_rows import RunRows
from dashboard.stored_texts import worded
from dashboard.views.sending import by_form
from research.models import Run
from research.services import reviews
from research.services.errors import ServiceError

PANEL = "citation-panel"


@never_cache
@vary_on_headers("HX-Request")
@require_GET
def show_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    return render_citation(request, queries.find_run(request.user, public_id), number)


@by_form
def judge_citation(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """Record a reviewer's verdict on the records behind a citation; the latest verdict counts."""
    run = queries.find_run(request.user, public_id)
    place = place_in(request)
    claims = [row.evidence for row in queries.citation_rows(run, number, place).quotes]
    try:
        reviews.review_all(request.user, claims, request.POST.get("verdict", ""))
    except ServiceError as error:
        messages.error(request, worded(str(error)))
    if is_panel(request):
        return render_judged_citation(request, run, number)
    address = reverse("citation", args=[run.public_id, number])
    return redirect(address if place is None else f"{address}?place={place}")


def render_citation(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    rows = queries.citation_rows(run, number, place_in(request))
    if is_panel(request):
        return render(
            request, "dashboard/_citation_panel.html", citation_with_review(rows, PANEL_BLOCKS)
        )
    return render(request, "dashboard/citation.html", citation_with_review(rows, PAGE_BLOCKS))


def render_judged_citation(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    """Render the panel with the offer to revise the report, and the report with rejections marked.

    The offer above the report appears on the next page load only, so that no text moves.
    """
    rows, of_run = queries.citation_rows(run, number, place_in(request)), RunRows(run)
    context = {**citation_context(rows, PANEL_BLOCKS), "afterwards": review_context(of_run)}
    written = report_context(of_run)
    context |= {
        "run_id": run.public_id,
        "report": written,
        "element": f"run-{run.public_id}-answer",
    }
    context |= answer_context(of_run, written)
    return render(request, "dashboard/judged.html", context)


def citation_with_review(rows: queries.CitationRows, around: int) -> dict[str, Any]:
    return {**citation_context(rows, around), "afterwards": review_context(RunRows(rows.run))}


def place_in(request: HttpRequest) -> int | None:
    """Return the occurrence of the marker that was followed, counted from 0."""
    place = request.GET.get("place", "")
    return int(place) if re.fullmatch(r"[0-9]{1,4}", place) else None


def is_panel(request: HttpRequest) -> bool:
    return bool(request.htmx) and request.htmx.target == PANEL
