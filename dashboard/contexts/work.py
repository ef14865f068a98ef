"""Queue, runs in progress, stuck runs and limits, as the page "Work" shows them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from dashboard import words
from research.engine.records import Status
from research.models import Run
from research.services.work import Work

LIMITS = {
    "RESEARCH_SLOTS": "Runs at once in one process",
    "MODEL_CONCURRENCY": "Model calls at once in one process",
    "FETCH_AT_ONCE": "Fetches at once in one process",
    "FETCH_AT_ONCE_PER_HOST": "Fetches at once from one host",
    "UPLOADS_MAX_MB": "Uploads of one person, in MB",
    "KEEP_RUNS_DAYS": "Days that ended runs are kept (0: for ever)",
}
"""Settings that bound the work, and what they mean."""

WAITING = (Status.AWAITING_CLARIFICATION, Status.AWAITING_APPROVAL, Status.PAUSED)


def work_context(work: Work) -> dict[str, Any]:
    status = work.status
    waiting = sum(status.by_state[state.value] for state in WAITING)
    return {
        "page": "work",
        "figures": [
            ("In the queue", f"{status.queue_depth:,}"),
            ("Oldest waits", words.format_seconds(status.queue_age_seconds)),
            ("In progress", f"{status.leased:,}"),
            ("Waiting for people", f"{waiting:,}"),
            ("Stuck", f"{work.stuck_count:,}"),
        ],
        "queued": [_line(run) for run in work.queued],
        "more_queued": status.queue_depth - len(work.queued),
        "executing": [_line(run) for run in work.executing],
        "stuck": [_line(run) for run in work.stuck],
        "more_stuck": work.stuck_count - len(work.stuck),
        "limits": [(text, name, getattr(settings, name)) for name, text in LIMITS.items()],
    }


def _line(run: Run) -> dict[str, Any]:
    host, _, rest = run.lease_owner.partition(":")
    return {
        "id": run.public_id,
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "person": run.owner.get_username(),
        "state": words.run_state(run.status, None),
        "action": run.action,
        "created": run.created_at,
        "started": run.started_at,
        "worker": f"{host}, process {rest.partition(':')[0]}" if host else "",
        "crashes": run.crashes,
        "can_retry": run.status == Status.STALLED,
    }
