"""The sources of a run, and the user's blocked sites."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import words
from dashboard.contexts.evidence import describe_published, describe_reading
from dashboard.contexts.run import run_head
from dashboard.queries import queries, thread_queries
from dashboard.queries.queries import SourceRows
from dashboard.queries.thread_queries import Earlier
from dashboard.stored_texts import worded
from dashboard.titles import shorten
from dashboard.views.sending import by_form
from research.models import EvidenceSource, Source
from research.services import sites
from research.services.errors import ServiceError


@never_cache
@require_GET
def show_sources(request: HttpRequest, public_id: str) -> HttpResponse:
    run = queries.find_run(request.user, public_id)
    rows = queries.source_rows(request.user, run)
    found = source_folds(rows, thread_queries.found_earlier(run), request.GET)
    context = {
        "run": run_head(run),
        "folds": found,
        "summary": summarize_sources(rows),
        "unopened": rows.unopened,
        "filters": source_filters(rows, request.GET),
    }
    return render(request, "dashboard/sources.html", context)


@never_cache
@require_GET
def show_sites(request: HttpRequest) -> HttpResponse:
    return sites_page(request)


def sites_page(request: HttpRequest, typed: str = "", problem: str = "") -> HttpResponse:
    """Render the blocked sites; with a `problem`, also what was `typed`."""
    shown = {"sites": sites.list_blocked_sites(request.user), "typed": typed, "problem": problem}
    return render(request, "dashboard/sites.html", shown, status=422 if problem else 200)


@by_form
def block_site(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    try:
        named = sites.block_sites(request.user, site)
    except ServiceError as error:
        return sites_page(request, site, worded(str(error)))
    messages.info(request, _("New runs leave out %(sites)s.") % {"sites": ", ".join(named)})
    return redirect_back(request)


@by_form
def unblock_site(request: HttpRequest) -> HttpResponse:
    site = request.POST.get("site", "")
    sites.unblock_site(request.user, site)
    messages.info(request, _("New runs may read %(site)s again.") % {"site": site})
    return redirect_back(request)


def redirect_back(request: HttpRequest) -> HttpResponse:
    """Redirect to the sources page that the form was on, else to the list of sites."""
    if public_id := request.POST.get("run"):
        return redirect("sources", queries.find_run(request.user, public_id).public_id)
    return redirect("sites")


FIRST = "cited"
LAST = 1_000_000
DATE = re.compile(r"\d{4}(-\d\d){0,2}$")
DAY = len("2026-01-31")
"""Characters of a date without the time of day that some pages give."""
USES_NAMED = 3
LONGEST_USE = 60
MOST_SITES = 6
"""Sites that are named above the list; the others are folded behind their number."""
FOLDS = (
    (gettext_lazy("Cited"), ("cited",), ""),
    (
        gettext_lazy("Read but not used"),
        ("read",),
        gettext_lazy("They contain nothing that the report needs."),
    ),
    (
        gettext_lazy("Refused or failed"),
        ("refused", "failed", "empty"),
        gettext_lazy("These could not be read, or must not be."),
    ),
)


def summarize_sources(rows: SourceRows) -> str:
    """Return what the report cites: how many pages of how many sites, how old they are, what of
    them is disputed or out of date, and when they were read; '' if it cites none.
    """
    quotes = {row.url: row for cited in rows.cited.values() for row in cited}
    if not quotes:
        return ""
    told = [_("The report cites %(pages)s.") % {"pages": words.describe_pages(quotes)}]
    dates = sorted(
        day
        for row in quotes.values()
        if DATE.match(day := (row.published or "")[:DAY])
        and day <= row.fetched_at.date().isoformat()
    )
    if dates:
        first, last = (words.format_partial_date(each) for each in (dates[0], dates[-1]))
        between = {"first": first, "last": last}
        told.append(
            _("Published %(first)s to %(last)s.") % between
            if first != last
            else _("Published %(first)s.") % between
        )
    if undated := len(quotes) - len(dates):
        text = ngettext("%(n)s gives no date.", "%(n)s give no date.", undated)
        told.append(text % {"n": words.format_number(undated)})
    days = {words.format_day(row.fetched_at) for row in quotes.values()}
    if len(days) == 1:
        told.append(_("Read %(date)s.") % {"date": days.pop()})
    return " ".join(told)


def source_folds(
    rows: SourceRows, earlier: Mapping[str, Earlier], wanted: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return title, sentence and sources of each fold that has any; only those of a site or kind,
    if one is `wanted`. Cited and blocked sources are expanded, and cited ones are in the order of
    their numbers.
    """
    markers = _markers(rows)
    site, kind = wanted.get("site", ""), wanted.get("kind", "")
    kept = [
        row for row in rows.sources
        if site in ("", words.short_place(row.url)) and kind in ("", row.kind)
    ]  # fmt: skip
    ordered = sorted(kept, key=lambda row: markers[row.url] or [LAST])
    found = [
        _fold(
            title,
            says,
            [_source(row, rows, markers, earlier) for row in ordered if row.status in statuses],
            is_open=bool(site or kind) or FIRST in statuses,
        )
        for title, statuses, says in FOLDS
    ]
    return [fold for fold in found if fold["sources"]]


def source_filters(rows: SourceRows, wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the kinds of the cited pages, if there are several, and their sites, those with most
    pages first, each with its number and the query that shows only those, or all again. Only some
    are `shown`, unless one of the others is chosen.
    """
    cited = {entry["url"] for entry in rows.citations}
    pages = [row for row in rows.sources if row.url in cited]
    kinds = Counter(row.kind for row in pages if words.KIND[row.kind])
    sites = Counter(words.short_place(row.url) for row in pages)
    named = {words.short_place(row.url): _site_of(row).name for row in pages}
    groups = (
        ("kind", [(kind, str(words.KIND[kind]), n) for kind, n in kinds.most_common()]),
        ("site", [(site, named[site], n) for site, n in sites.most_common()]),
    )
    listed = [
        [_filter(name, value, text, number, wanted) for value, text, number in found]
        for name, found in groups
        if found[1:]
    ]
    return [
        {
            "is_site": each[0]["is_site"],
            "shown": each[:MOST_SITES],
            "others": each[MOST_SITES:],
            "is_open": any(other["is_on"] for other in each[MOST_SITES:]),
        }
        for each in listed
    ]


def _filter(
    name: str, value: str, text: str, number: int, wanted: Mapping[str, str]
) -> dict[str, Any]:
    is_on = wanted.get(name) == value
    others = {key: wanted[key] for key in ("kind", "site") if key != name and wanted.get(key)}
    return {
        "text": text,
        "is_site": name == "site",
        "number": words.format_number(number),
        "query": urlencode(others if is_on else others | {name: value}),
        "is_on": is_on,
    }


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
    cited = [each for marker in markers[row.url] for each in rows.cited[marker]]
    quotes = [each.quote for each in cited]
    told = ngettext("%(n)s quote", "%(n)s quotes", len(quotes)) % {"n": len(quotes)}
    place = words.readable_url(row.url)
    return {
        "title": row.title or place,
        "url": row.url if is_web else "",
        "place": place,
        "shown_site": _site_of(row) if row.title else None,
        "kind": str(words.KIND[row.kind]),
        "facts": [*_facts(row, cited, rows), *([told] if quotes else [])],
        "uses": _uses(cited, rows.asked),
        "is_disputed": any(each.evidence.contradicts for each in cited),
        "is_superseded": any(each.evidence.label in rows.earlier for each in cited),
        "quote": max(quotes, key=len, default=""),
        "found": None if row.round else _earlier_run_link(earlier.get(row.url_key)),
        "reason": worded(row.reason or ""),
        "markers": markers[row.url],
        "site": row.domain if is_web else "",
        "never": _blocking_site(row.domain, rows.never),
    }


def _site_of(row: Source) -> words.Site:
    return words.site_of(row.url, None if row.site == row.title else row.site)


def _uses(cited: Sequence[EvidenceSource], asked: Mapping[str, str]) -> str:
    """Return for which sub-questions a page is cited: names, the others counted."""
    names = [asked.get(each.evidence.aspect_label or "", "") for each in cited]
    named = [
        shorten(name.rstrip("?？ "), LONGEST_USE) for name in dict.fromkeys(filter(None, names))
    ]
    more = len(named) - USES_NAMED
    counted = ngettext("%(n)s more", "%(n)s more", more) % {"n": words.format_number(more)}
    return "; ".join([*named[:USES_NAMED], *([counted] if more > 0 else [])])


def _facts(row: Source, cited: Sequence[EvidenceSource], rows: SourceRows) -> list[str]:
    """Return the date of a page, and when it was read unless all were read on one day."""
    read = cited[0].fetched_at if cited else None
    days = {each.fetched_at.date() for quotes in rows.cited.values() for each in quotes}
    dated = describe_published(row.published, read or row.run.created_at) or gettext("undated")
    return [dated, describe_reading(read)] if read and len(days) > 1 else [dated]


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
