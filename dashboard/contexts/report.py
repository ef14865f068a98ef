"""The report of a run as safe HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.urls import reverse

from dashboard import markdown, words
from dashboard.exports import FORMATS
from research.models import Report, Run


def report(run: Run, version: Report | None) -> dict[str, Any]:
    """Empty where nothing was found or the run did not get that far."""
    if version is None or not version.markdown:
        return {}
    rendered = markdown.render(version.markdown, citation_links(run, version))
    return {
        "html": rendered.html,
        "headings": rendered.headings,
        "checked": checked(version.checks),
        "exports": [
            (form.name, reverse("export", args=[run.public_id, extension]))
            for extension, form in FORMATS.items()
        ],
    }


def citation_links(run: Run, shown: Report) -> Callable[[int], str | None]:
    """Marker → address of its page, None for a marker that the report does not have."""
    markers = {entry["marker"] for entry in shown.citations}

    def link(number: int) -> str | None:
        return reverse("citation", args=[run.public_id, number]) if number in markers else None

    return link


def checked(checks: dict[str, int]) -> str:
    """What code found in the report's sentences, in words."""
    statements = checks.get("statements", 0)
    if not statements:
        return ""
    parts = [f"{checks.get('cited', 0)} of {words.count(statements, 'statement')} cited"]
    parts += [f"{checks['repaired']} repaired"] if checks.get("repaired") else []
    parts += [f"{checks['cut']} cut because no quote carried it"] if checks.get("cut") else []
    return "Checked by code: " + ", ".join(parts) + "."
