"""Reports that are shared by link: the page that makes the link, and those that it opens.

What a link opens is the same for everyone, signed in or not, and leads nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dashboard.addresses import as_shared, link_to_share
from dashboard.contexts.report import SHARED_FORMATS, copy_links, export_links
from dashboard.contexts.run import run_head
from dashboard.contexts.thread import corrections_context, written_without_model
from dashboard.exports import PASTE
from dashboard.forms.form_errors import by_form
from dashboard.live import fragments
from dashboard.queries import queries
from dashboard.queries.run_rows import RunRows, latest_report
from dashboard.queries.thread_queries import later_questions
from dashboard.stored_texts import worded
from dashboard.views.citation import render_citation
from dashboard.views.run import download_report
from research.models import Run, ShareLink
from research.models.journal import PUBLIC
from research.services import people
from research.services.errors import ServiceError

LEAVES = ("state", "line", "verdict", "answer", "contents", "report", "summary")
"""The parts of a run's page that readers of its report see."""
THIS_MACHINE = {"127.0.0.1", "localhost", "::1"}
HEADERS = {"Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow"}


# --- making a link ------------------------------------------------------------------------


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def share_report(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show the link to a report, or offer to make one; a POST makes it."""
    run = queries.find_run(request.user, public_id)
    if request.method == "POST":
        try:
            people.share_report(request.user, run)
        except ServiceError as error:
            messages.error(request, worded(str(error)))
        return redirect("share", run.public_id)
    link = people.open_links().filter(run=run).select_related("actor").first()
    context: dict[str, Any] = {
        "page": "runs",
        "run": run_head(run),
        "refusal": worded(people.why_not_shared(run)),
        "cites_private": cites_private(run),
    }
    if link is not None:
        address = link_to_share(request, link)
        context |= {
            "link": link,
            "address": address,
            "is_local": urlsplit(address).hostname in THIS_MACHINE,
            "maker": "" if link.actor == request.user else link.actor.get_username(),
        }
    return render(request, "dashboard/share.html", context)


@by_form
def stop_sharing(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    people.stop_sharing(request.user, run)
    messages.info(request, _("The report is no longer shared."))
    return redirect("share", run.public_id)


def cites_private(run: Run) -> bool:
    """Return whether a report cites pages that only people with an account could read."""
    report = latest_report(run)
    cited = {entry["url"] for entry in report.citations} if report else set()
    kept = run.pages.filter(url__in=cited).exclude(page__scope=PUBLIC)
    return any(url.startswith("file:") for url in cited) or kept.exists()


# --- reading by a link --------------------------------------------------------------------


def by_link(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Call the view with the run of an open link; render a page without links if there is none."""

    @login_not_required
    @require_safe
    @cache_control(private=True, no_store=True)
    @wraps(view)
    def shown(request: HttpRequest, token: str, *args: Any, **named: Any) -> HttpResponse:
        request.user = AnonymousUser()
        try:
            response = _by_token(view, request, token, *args, **named)
        except Http404:
            context = {"is_shared": True}
            response = render(request, "dashboard/shared_gone.html", context, status=404)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response

    return shown


def _by_token(
    view: Callable[..., HttpResponse], request: HttpRequest, token: str, *args: Any, **named: Any
) -> HttpResponse:
    try:
        link = people.open_links().select_related("run").get(token=token)
    except ShareLink.DoesNotExist:
        raise Http404("no such link") from None
    with as_shared(link):
        return view(request, link.run, *args, **named)


@by_link
def show_report(request: HttpRequest, run: Run) -> HttpResponse:
    rows = RunRows(run)
    if rows.report is None or not rows.report.markdown:
        raise Http404("no report")
    context = {
        "is_shared": True,
        "shows": "ended outcome report answer",
        "run": run_head(run, trust=rows.trust, judged_by_model=rows.judged_by_model),
        "corrections": corrections_context(rows, later_questions(run)),
        "without_model": written_without_model(run),
        "live": fragments.render_leaves(rows, LEAVES),
        "exports": export_links(run),
        "copies": copy_links(run),
    }
    return render(request, "dashboard/shared.html", context)


@by_link
def show_citation(request: HttpRequest, run: Run, number: int) -> HttpResponse:
    return render_citation(request, run, number)


@by_link
def download(request: HttpRequest, run: Run, extension: str) -> HttpResponse:
    if extension not in (*SHARED_FORMATS, PASTE):
        raise Http404("no such format")
    return download_report(request, run, extension)
