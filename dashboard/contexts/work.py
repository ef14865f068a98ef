"""Queue, runs in progress, stuck runs and limits, as the page "Work" shows them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from dashboard import words
from research.engine.records import Status
from research.models import Run
from research.services.work import Work

LIMITS = {
    "RESEARCH_SLOTS": _("Runs at once in one process"),
    "MODEL_CONCURRENCY": _("Model calls at once in one process"),
    "FETCH_AT_ONCE": _("Fetches at once in one process"),
    "FETCH_AT_ONCE_PER_HOST": _("Fetches at once from one host"),
    "UPLOADS_MAX_MB": _("Uploads of one person, in MB"),
    "KEEP_RUNS_DAYS": _("Days that ended runs are kept (0: forever)"),
}
"""Settings that bound the work, and what they mean."""

WAITING = (Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.PAUSED)


def work_context(work: Work) -> dict[str, Any]:
    status = work.status
    waiting = sum(status.by_state[state.value] for state in WAITING)
    return {
        "page": "work",
        "figures": [
            (_("In the queue"), words.format_number(status.queue_depth)),
            (_("Longest wait"), words.format_seconds(status.queue_age_seconds)),
            (_("In progress"), words.format_number(status.leased)),
            (_("Waiting for people"), words.format_number(waiting)),
            (_("Stuck"), words.format_number(work.stuck_count)),
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
        "person": run.owner.get_username(),
        "state": words.run_state(run),
        "action": run.action,
        "created": run.created_at,
        "started": run.started_at,
        "worker": _("%(host)s, process %(process)s") % where if host else "",
        "crashes": run.crashes,
        "can_retry": run.status == Status.STALLED,
    }
