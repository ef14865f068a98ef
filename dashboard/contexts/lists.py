"""Runs in a list, and the pages of the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page
from django.urls import reverse

from dashboard import words
from research.models import Run


def run_line(run: Run) -> dict[str, Any]:
    """A run in a list."""
    return {
        "url": reverse("run", args=[run.public_id]),
        "question": run.question,
        "reason": run.reason,
        "state": words.status(run.status, run.termination_reason),
        "score": run.quality_score,
        "created": run.created_at,
    }


def paging(page: Page[Any], wanted: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`wanted` stays in the addresses of the other pages."""
    return {
        "query": urlencode({name: value for name, value in (wanted or {}).items() if value}),
        "number": page.number,
        "pages": page.paginator.num_pages,
        "total": page.paginator.count,
        "previous": page.previous_page_number() if page.has_previous() else None,
        "next": page.next_page_number() if page.has_next() else None,
    }
