"""Lists of runs, and pagination."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page
from django.urls import reverse

from dashboard import words
from dashboard.stored_texts import worded
from research.models import Run
from research.readmodel.run_rows import marks_of, trust_of


def run_line(run: Run) -> dict[str, Any]:
    """Return a line of a list of runs."""
    return {
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "name": run.thread.name,
        "folder": run.thread.folder,
        "pinned": run.thread.pinned,
        "archived": run.thread.archived,
        "thread": run.thread.public_id,
        "reason": worded(run.reason),
        "state": words.run_state(run, trust_of(run.aspects.all())),
        "answered": _count_answered(run) if run.ended else "",
        "created": run.created_at,
    }


def _count_answered(run: Run) -> str:
    """Return how many sub-questions of several are answered; '' if there is only one."""
    marks = marks_of(run.aspects.all())
    return words.count_answers(marks, has_model=run.has_model) if len(marks) > 1 else ""


def paging_context(page: Page[Any], wanted: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the pagination links. `wanted` is the filter kept in their query strings."""
    return {
        "query": urlencode({name: value for name, value in (wanted or {}).items() if value}),
        "number": page.number,
        "pages": page.paginator.num_pages,
        "total": page.paginator.count,
        "previous": page.previous_page_number() if page.has_previous() else None,
        "next": page.next_page_number() if page.has_next() else None,
    }
