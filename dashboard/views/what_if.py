"""What other thresholds would have changed: of one run, and over many for admins."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard.contexts.run import run_head
from dashboard.contexts.what_if import effects_context, replay_context
from dashboard.forms.what_if_form import WhatIfForm
from dashboard.queries import queries
from dashboard.stored_texts import worded
from dashboard.views.sending import by_form
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.services import what_if

RUNS = 50
SECONDS = 10.0
"""Maximum duration of one request that replays runs; the rest is left to the next one."""

admin_only = user_passes_test(lambda user: user.is_staff)


@never_cache
@require_GET
def show_run(request: HttpRequest, public_id: str) -> HttpResponse:
    """Replay a run with the thresholds of the query, if there are any."""
    run = queries.find_run(request.user, public_id)
    if not what_if.can_replay(run):
        raise Http404
    form = WhatIfForm(ResearchConfig.model_validate(run.config), request.GET or None)
    context = {"run": run_head(run), "form": form}
    if form.is_bound and form.is_valid():
        try:
            replay = what_if.replay_with(request.user, run, form.changes())
        except ConfigError as error:
            form.add_error(None, worded(str(error)))
        else:
            context["replay"] = replay_context(run, replay)
    status = 422 if form.errors else 200
    return render(request, "dashboard/what_if_run.html", context, status=status)


@admin_only
@never_cache
@require_GET
def show_runs(request: HttpRequest) -> HttpResponse:
    context = effects_context(what_if.threshold_effects(RUNS))
    context |= {"page": "work", "runs": RUNS, "missing": len(what_if.missing_runs(RUNS))}
    return render(request, "dashboard/what_if.html", context)


@admin_only
@never_cache
@by_form
def replay_runs(request: HttpRequest) -> HttpResponse:
    """Store the replays that are missing, as many as fit into `SECONDS`."""
    left = what_if.store_replays(request.user, RUNS, SECONDS)
    if left:
        messages.info(
            request,
            ngettext(
                "%(n)s run left; replay again to continue.",
                "%(n)s runs left; replay again to continue.",
                left,
            )
            % {"n": left},
        )
    return redirect("what_if")
