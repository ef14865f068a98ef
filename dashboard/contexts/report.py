"""The report of a run as safe HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.urls import reverse
from django.utils.text import Truncator

from dashboard import markdown, words
from dashboard.contexts.evidence import dated, support
from dashboard.exports import FORMATS
from dashboard.markdown import Link
from dashboard.run_rows import RunRows
from research.models import EvidenceSource

QUOTE_LENGTH = 240


def report(rows: RunRows) -> dict[str, Any]:
    """Empty where nothing was found or the run did not get that far.

    What rests on rejected evidence is marked.
    """
    run, version = rows.run, rows.report
    if version is None or not version.markdown:
        return {}
    rendered = markdown.render(version.markdown, citation_links(rows))
    return {
        "html": rendered.html,
        "headings": rendered.headings,
        "checked": checked(version.checks),
        "sources": reverse("sources", args=[run.public_id]),
        "exports": [
            (form.name, reverse("export", args=[run.public_id, extension]))
            for extension, form in FORMATS.items()
        ],
    }


def citation_links(rows: RunRows) -> Callable[[int], Link | None]:
    """Marker → its page, None for a marker that the report does not have."""
    links = {
        marker: Link(
            reverse("citation", args=[rows.run.public_id, marker]),
            *glance(quotes),
            any(row.evidence.label in rows.rejected for row in quotes),
        )
        for marker, quotes in rows.cited.items()
    }
    return links.get


def glance(rows: Sequence[EvidenceSource]) -> tuple[str, bool]:
    """Quote, site, date and support in a line, and whether it rests on one source alone."""
    if not rows:
        return "", False
    first = rows[0]
    keys = {row.independence_key for each in rows for row in each.evidence.quotes.all()}
    told = f"{first.domain}, {dated(first)} · {support(first.evidence.quotes.all())}"
    return f"“{Truncator(first.quote).chars(QUOTE_LENGTH)}” {told}", len(keys) == 1


def checked(checks: dict[str, int]) -> str:
    """What code found in the report's sentences, in words."""
    statements = checks.get("statements", 0)
    if not statements:
        return ""
    parts = [f"{checks.get('cited', 0)} of {words.count(statements, 'statement')} cited"]
    parts += [f"{checks['repaired']} repaired"] if checks.get("repaired") else []
    parts += [f"{checks['cut']} cut because no quote carried it"] if checks.get("cut") else []
    return "Checked by code: " + ", ".join(parts) + "."
