"""The page "Work": the queue and the state of all runs, for admins."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import user_passes_test
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.forms.form_errors import by_form
from dashboard.titles import title_of
from research.engine.records import Status
from research.models import Run
from research.services import work
from research.services.work import Work

admin_only = user_passes_test(lambda user: user.is_staff)


@admin_only
@never_cache
@require_GET
def show_work(request: HttpRequest) -> HttpResponse:
    return render(request, "dashboard/work.html", work_context(work.read_work(request.user)))


@admin_only
@never_cache
@by_form
def retry_runs(request: HttpRequest) -> HttpResponse:
    """Retry the stalled runs that the form names."""
    retried = work.retry_stalled(request.user, request.POST.getlist("run"))
    if retried:
        messages.success(
            request,
            ngettext(
                "%(n)s run is back in the queue.", "%(n)s runs are back in the queue.", retried
            )
            % {"n": retried},
        )
    else:
        messages.info(request, _("Nothing to retry: the run is no longer put aside."))
    return redirect("work")


LIMITS = {
    "RESEARCH_SLOTS": gettext_lazy("Runs at once in one process"),
    "MODEL_CONCURRENCY": gettext_lazy("Model calls at once in one process"),
    "FETCH_AT_ONCE": gettext_lazy("Fetches at once in one process"),
    "FETCH_AT_ONCE_PER_HOST": gettext_lazy("Fetches at once from one host"),
    "UPLOADS_MAX_MB": gettext_lazy("Uploads of one person, in MB"),
    "KEEP_RUNS_DAYS": gettext_lazy("Days that ended runs are kept (0: forever)"),
}
"""Settings that bound the work, and what they mean."""

WAITING = (Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.PAUSED)


def work_context(work: Work) -> dict[str, Any]:
    status = work.status
    waiting = sum(status.by_state[state.value] for state in WAITING)
    return {
        "page": "work",
        "figures": [
            (gettext_lazy("In the queue"), words.format_number(status.queue_depth)),
            (gettext_lazy("Longest wait"), words.format_seconds(status.queue_age_seconds)),
            (gettext_lazy("In progress"), words.format_number(status.leased)),
            (gettext_lazy("Waiting for people"), words.format_number(waiting)),
            (gettext_lazy("Stuck"), words.format_number(work.stuck_count)),
        ],
        "queued": [_line(run) for run in work.queued],
        "more_queued": status.queue_depth - len(work.queued),
        "executing": [_line(run) for run in work.executing],
        "stuck": [_line(run) for run in work.stuck],
        "more_stuck": work.stuck_count - len(work.stuck),
        "limits": [(text, name, getattr(settings, name)) for name, text in LIMITS.items()],
    }


def _line(run: Run) -> dict[str, Any]:
    host, _colon, rest = run.lease_owner.partition(":")
    where = {"host": host, "process": rest.partition(":")[0]}
    return {
        "id": run.public_id,
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "title": title_of(run),
        "person": run.owner.get_username(),
        "state": words.run_state(run),
        "action": run.action,
        "created": run.created_at,
        "started": run.started_at,
        "worker": gettext_lazy("%(host)s, process %(process)s") % where if host else "",
        "crashes": run.crashes,
        "can_retry": run.status == Status.STALLED,
    }
