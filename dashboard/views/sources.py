"""The sources of a run, and the user's blocked sites."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.contexts.run import run_head
from dashboard.contexts.sources import (
    source_filters,
    source_folds,
    source_orders,
    summarize_sources,
)
from dashboard.forms.form_errors import by_form
from dashboard.queries import queries, thread_queries
from dashboard.queries.citation_queries import source_rows
from dashboard.stored_texts import worded
from research.services import sites
from research.services.errors import ServiceError


@never_cache
@require_GET
def show_sources(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    rows = source_rows(request.user, run)
    found = source_folds(rows, thread_queries.found_earlier(run), request.GET)
    context = {
        "run": run_head(run),
        "folds": found,
        "summary": summarize_sources(rows),
        "unopened": rows.unopened,
        "filters": source_filters(rows, request.GET),
        "orders": source_orders(rows, request.GET),
    }
    return render(request, "dashboard/sources.html", context)


@never_cache
@require_GET
def show_sites(request: HttpRequest) -> HttpResponse:
    return sites_page(request)


def sites_page(request: HttpRequest, typed: str = "", problem: str = "") -> HttpResponse:
    """Render the blocked sites; with a `problem`, also what was `typed`."""
    shown = {"sites": sites.list_blocked_sites(request.user), "typed": typed, "problem": problem}
    return render(request, "dashboard/sites.html", shown, status=422 if problem else 200)


@by_form
def block_site(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    try:
        named = sites.block_sites(request.user, site)
    except ServiceError as error:
        return sites_page(request, site, worded(str(error)))
    messages.info(request, _("New runs leave out %(sites)s.") % {"sites": ", ".join(named)})
    return redirect_back(request)


@by_form
def unblock_site(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    sites.unblock_site(request.user, site)
    messages.info(request, _("New runs may read %(site)s again.") % {"site": site})
    return redirect_back(request)


def redirect_back(request: HttpRequest) -> HttpResponse:
    """Redirect to the sources page that the form was on, else to the list of sites."""
    if public_id := request.POST.get("run"):
        return redirect("sources", queries.find_run(request.user, public_id).public_id)
    return redirect("sites")
