"""The sources of a run, grouped by outcome into three folds."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.queries.queries import SourceRows
from dashboard.queries.thread_queries import Earlier
from dashboard.stored_texts import worded
from research.models import Source

FIRST = "cited"
LAST = 1_000_000
MOST_SITES = 12
"""Sites that are named above the list."""
FOLDS = (
    (_("Cited"), ("cited",), _("The report quotes these.")),
    (_("Read but not used"), ("read",), _("They contain nothing that the report needs.")),
    (
        _("Refused or failed"),
        ("refused", "failed", "empty"),
        _("These could not be read, or must not be."),
    ),
)


def source_folds(rows: SourceRows, earlier: Mapping[str, Earlier]) -> list[dict[str, Any]]:
    """Return title, sentence and sources of each fold that has any. Cited and blocked sources are
    expanded, and cited ones are in the order of their numbers.
    """
    markers = _markers(rows)
    ordered = sorted(rows.sources, key=lambda row: markers[row.url] or [LAST])
    found = [
        _fold(
            title,
            says,
            [_source(row, rows, markers, earlier) for row in ordered if row.status in statuses],
            is_open=FIRST in statuses,
        )
        for title, statuses, says in FOLDS
    ]
    return [fold for fold in found if fold["sources"]]


def site_counts(rows: SourceRows) -> list[tuple[str, str]]:
    """Return the sites of the cited pages, those with most pages first, with their numbers."""
    cited = {entry["url"] for entry in rows.citations}
    counts = Counter(words.short_place(row.url) for row in rows.sources if row.url in cited)
    return [(site, words.format_number(number)) for site, number in counts.most_common(MOST_SITES)]


def _fold(
    title: words.Text, says: words.Text, sources: list[dict[str, Any]], is_open: bool
) -> dict[str, Any]:
    to_undo = any(source["never"] for source in sources)
    return {"title": title, "says": says, "sources": sources, "open": is_open or to_undo}


def _source(
    row: Source,
    rows: SourceRows,
    markers: Mapping[str, list[int]],
    earlier: Mapping[str, Earlier],
) -> dict[str, Any]:
    is_web = words.is_on_the_web(row.url)
    quotes = [cited.quote for marker in markers[row.url] for cited in rows.cited[marker]]
    told = ngettext("%(n)s quote", "%(n)s quotes", len(quotes)) % {"n": len(quotes)}
    place = words.readable_url(row.url)
    return {
        "title": row.title or place,
        "url": row.url if is_web else "",
        "place": place,
        "shown_site": words.short_place(row.url) if row.title else "",
        "kind": str(words.KIND[row.kind]),
        "facts": [
            *_facts(row),
            *([told] if quotes else []),
        ],
        "quote": max(quotes, key=len, default=""),
        "found": None if row.round else _earlier_run_link(earlier.get(row.url_key)),
        "reason": worded(row.reason or ""),
        "markers": markers[row.url],
        "site": row.domain if is_web else "",
        "never": _blocking_site(row.domain, rows.never),
    }


def _facts(row: Source) -> list[str]:
    dated = gettext("undated")
    if row.published:
        dated = gettext("published %(date)s") % {"date": words.format_partial_date(row.published)}
    told = gettext("round %(n)s") % {"n": row.round} if row.round else ""
    return [part for part in (dated, told) if part]


def _earlier_run_link(where: Earlier | None) -> dict[str, str]:
    """Return a link to the run that originally found a page taken over by this run."""
    if where is None:
        return {"text": gettext("found in an earlier run"), "url": ""}
    told = gettext("found for an earlier question")
    if where.number:
        told = gettext("found in version %(n)s") % {"n": where.number}
    return {"text": told, "url": reverse("sources", args=[where.public_id])}


def _markers(rows: SourceRows) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for entry in rows.citations:
        found[entry["url"]].append(entry["marker"])
    return found


def _blocking_site(domain: str, never: Sequence[str]) -> str:
    """Return the blocked site that covers a domain; '' if it is not blocked."""
    host = domain.removeprefix("www.")
    return next((site for site in never if host == site or host.endswith(f".{site}")), "")
