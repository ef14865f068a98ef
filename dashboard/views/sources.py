"""The sources of a run, and the sites that a person never wants again."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import queries, thread_queries
from dashboard.contexts.run import head
from dashboard.contexts.sources import folds
from dashboard.views.sending import by_form
from research.services import sites
from research.services.errors import ServiceError


@never_cache
@require_GET
def show_sources(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    rows = queries.source_rows(request.user, run)
    found = folds(rows, thread_queries.found_earlier(run))
    context = {"run": head(run), "folds": found, "unopened": rows.unopened}
    return render(request, "dashboard/sources.html", context)


@never_cache
@require_GET
def show_sites(request: HttpRequest) -> HttpResponse:
    return sites_page(request)


def sites_page(request: HttpRequest, typed: str = "", problem: str = "") -> HttpResponse:
    """The list, again with what was `typed` where there is a problem with it."""
    shown = {"sites": sites.of(request.user), "typed": typed, "problem": problem}
    return render(request, "dashboard/sites.html", shown, status=422 if problem else 200)


@by_form
def never(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    try:
        named = sites.never(request.user, site)
    except ServiceError as error:
        return sites_page(request, site, str(error))
    messages.info(request, f"New runs leave out {', '.join(named)}.")
    return back(request)


@by_form
def allow(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    sites.allow(request.user, site)
    messages.info(request, f"New runs may read {site} again.")
    return back(request)


def back(request: HttpRequest) -> HttpResponse:
    """To the sources that the button stood beside, else to the list."""
    if public_id := request.POST.get("run"):
        return redirect("sources", queries.find_run(request.user, public_id).public_id)
    return redirect("sites")
