"""The sources of a run by site, with what each gives, and how they are sorted and narrowed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from dashboard import words
from dashboard.addresses import is_shared
from dashboard.contexts.evidence import (
    day_of,
    describe_cited,
    describe_published,
    describe_reading,
    is_dated_later,
)
from dashboard.queries.citation_queries import SourceRows
from dashboard.queries.thread_queries import Earlier
from dashboard.stored_texts import worded
from dashboard.titles import shorten
from research.engine.evidence.origin import work_of
from research.engine.evidence.quotes import plain_quote
from research.engine.evidence.titles import shorten_titles
from research.models import EvidenceSource, Source

FIRST = "cited"
LAST = 1_000_000
UNKNOWN = "unknown"
KEPT = ("kind", "sort")
"""Parameters of the address that the links of the page keep."""
USES_NAMED = 3
LONGEST_USE = 60
MOST_PAGES = 3
"""Pages of a site that are shown; more are folded below its name."""
ORDERS = {
    "": gettext_lazy("First cited"),
    "date": gettext_lazy("Date"),
    "kind": gettext_lazy("Kind"),
    "cited": gettext_lazy("Times cited"),
}
"""What the list can be sorted by, by the value of `?sort=`."""
Entry: TypeAlias = Mapping[str, Any]
"""A citation of a report."""
Cited: TypeAlias = dict[str, list[Entry]]
Same: TypeAlias = Sequence[Source]
"""A page, and the others that have the same text."""
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
    cited = [row for behind in rows.cited.values() for row in behind]
    quotes = {row.url: row for row in cited}
    if not quotes:
        return ""
    told = [_("The report cites %(pages)s.") % {"pages": describe_cited(quotes, cited)}]
    days = {url: day for url, row in quotes.items() if (day := day_of(row.published))}
    later = {url for url in days if is_dated_later(days[url], quotes[url].fetched_at)}
    dates = sorted(days[url] for url in days if url not in later)
    if dates:
        first, last = (words.format_partial_date(each) for each in (dates[0], dates[-1]))
        between = {"first": first, "last": last, "n": words.format_number(len(dates))}
        if len(dates) == len(quotes):
            several, one = _("Published %(first)s to %(last)s."), _("Published %(first)s.")
        else:
            several, one = (
                _("%(n)s are dated %(first)s to %(last)s."),
                ngettext("%(n)s is dated %(first)s.", "%(n)s are dated %(first)s.", len(dates)),
            )
        told.append((several if first != last else one) % between)
    if later:
        text = ngettext(
            "%(n)s gives a date after it was read.",
            "%(n)s give a date after they were read.",
            len(later),
        )
        told.append(text % {"n": words.format_number(len(later))})
    if undated := len(quotes) - len(days):
        text = ngettext("%(n)s gives no date.", "%(n)s give no date.", undated)
        told.append(text % {"n": words.format_number(undated)})
    read = {words.format_day(row.fetched_at) for row in quotes.values()}
    if len(read) == 1:
        told.append(_("Read %(date)s.") % {"date": read.pop()})
    return " ".join(told)


def source_orders(rows: SourceRows, wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the orders that sources can be in, each with its query; [] if only one is cited."""
    if len(_cited(rows)) < 2:
        return []
    chosen = wanted.get("sort") if wanted.get("sort") in ORDERS else ""
    kept = {key: wanted[key] for key in KEPT if key != "sort" and wanted.get(key)}
    return [
        {
            "text": name,
            "query": urlencode(kept | {"sort": key} if key else kept),
            "is_on": key == chosen,
        }
        for key, name in ORDERS.items()
    ]


def source_folds(
    rows: SourceRows, earlier: Mapping[str, Earlier], wanted: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return title, sentence and sites of each fold that has any, each site with its pages; only
    those of a kind, if one is `wanted`. Cited and blocked ones are expanded. Sites and their pages
    are in the order that is `wanted`, else in that of their numbers. Pages with one text are one
    entry: the first cited.
    """
    cited = _cited(rows)
    kind, order = wanted.get("kind", ""), wanted.get("sort", "")
    kept = [row for row in rows.sources if kind in ("", row.kind)]
    texts = dict[str, list[Source]]()
    for row in sorted(kept, key=lambda row: _markers(cited[row.url]) or [LAST]):
        texts.setdefault(rows.copied_from.get(row.url, row.url), []).append(row)
    ordered = sorted(texts.values(), key=lambda same: _sort_key(same[0], order, cited, rows))
    found = []
    for title, statuses, says in FOLDS:
        pages = [same for same in ordered if same[0].status in statuses]
        sites = _group_by_site(pages, order, cited)
        is_told = FIRST in statuses
        groups = [
            _site_group(group, rows, cited, earlier, is_open=bool(kind) or (is_told and not at))
            for at, group in enumerate(sites)
        ]
        found.append(_fold(title, says, groups, is_open=bool(kind) or FIRST in statuses))
    return [fold for fold in found if fold["sites"]]


def _group_by_site(pages: Sequence[Same], order: str, cited: Cited) -> list[list[Same]]:
    """Return the pages of each site in the order of the first ones; by citations in that of all."""
    groups = dict[str, list[Same]]()
    for same in pages:
        groups.setdefault(_site_key(same[0].url), []).append(same)
    if order != "cited":
        return list(groups.values())
    return sorted(groups.values(), key=lambda group: -_cited_in_all(group, cited))


def _site_key(url: str) -> str:
    """Return the site of a web page or the collection of a document; a shared report hides it."""
    if urlsplit(url).hostname is not None:
        return words.short_place(url)
    return "" if is_shared() else work_of(url)


def _cited_in_all(group: Sequence[Same], cited: Cited) -> int:
    return sum(_times_cited(cited[same[0].url]) for same in group)


def _site_group(
    group: Sequence[Same],
    rows: SourceRows,
    cited: Cited,
    earlier: Mapping[str, Earlier],
    *,
    is_open: bool,
) -> dict[str, Any]:
    """Return a site: its name, kind, what it gives in all, and its pages."""
    first = group[0][0]
    is_file = urlsplit(first.url).hostname is None
    kinds = {row.kind for row, *_ in group}
    kind = first.kind if len(kinds) == 1 and not is_file else ""
    site = words.site_of_documents(first.url) if is_file else _name_site(group)
    pages = [
        _source(same, rows, cited, earlier, names_kind=not kind and not is_file) for same in group
    ]
    titles = {same[0].url: page["title"] for same, page in zip(group, pages, strict=True)}
    short = shorten_titles(titles, site.name).titles
    for same, page in zip(group, pages, strict=True):
        page["title"] = short[same[0].url]
    return {
        "site": site,
        "kind": _kind_word(kind),
        "facts": _site_facts(group, rows, cited, "document" if is_file else "page"),
        "pages": pages,
        "markers": sorted(marker for page in pages for marker in page["markers"]),
        "folded": len(pages) > MOST_PAGES,
        "open": is_open,
        "is_disputed": any(page["is_disputed"] for page in pages),
        "blocks": first.domain if words.is_on_the_web(first.url) else "",
        "never": _blocking_site(first.domain, rows.never),
    }


def _name_site(group: Sequence[Same]) -> words.Site:
    """Return the site under the name that one of its pages gives it, or under its domain."""
    named = [_site_of(row) for row, *_ in group]
    return next((site for site in named if site.domain), named[0])


def _site_facts(group: Sequence[Same], rows: SourceRows, cited: Cited, noun: str) -> list[str]:
    """Return how many pages a site has, how often they are cited, and the newest one's date; [] for
    a single page, which says so itself.
    """
    if len(group) < 2:
        return []
    facts = [words.count_noun(len(group), noun)]
    if times := _cited_in_all(group, cited):
        facts.append(_count_times(times))
    dated = [(day, row) for row, *_ in group if (day := day_of(row.published))]
    days = [day for day, row in dated if not is_dated_later(day, _read_at(row, cited, rows))]
    if days:
        day = words.format_partial_date(max(days))
        facts.append(gettext("newest %(date)s") % {"date": day})
    return facts


def _sort_key(row: Source, order: str, cited: Cited, rows: SourceRows) -> tuple[int, ...]:
    """Return what a source is sorted by; those that are alike stay in the order of their numbers.

    By date the newest come first, and last those that give a date after they were read, or none.
    """
    if order == "cited":
        return (-_times_cited(cited[row.url]),)
    if order == "kind":
        return (list(words.KIND).index(row.kind),)
    if order == "date":
        day = day_of(row.published)
        is_later = is_dated_later(day, _read_at(row, cited, rows))
        return (is_later + 2 * (not day), -int(day.replace("-", "").ljust(8, "0")))
    return ()


def source_filters(rows: SourceRows, wanted: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the known kinds of the cited pages, if they are not all of one, each with its number
    and the query that shows only those, or all again.
    """
    cited = {entry["url"] for entry in rows.citations}
    kinds = Counter(row.kind for row in rows.sources if row.url in cited)
    if len(kinds) < 2:
        return []
    sort = {"sort": wanted["sort"]} if wanted.get("sort") else {}
    return [
        {
            "text": str(words.KIND[kind]),
            "number": words.format_number(number),
            "query": urlencode(sort if wanted.get("kind") == kind else {"kind": kind} | sort),
            "is_on": wanted.get("kind") == kind,
        }
        for kind, number in kinds.most_common()
        if kind != UNKNOWN
    ]


def _fold(
    title: words.Text, says: words.Text, sites: list[dict[str, Any]], is_open: bool
) -> dict[str, Any]:
    to_undo = any(site["never"] for site in sites)
    entries = [page for site in sites for page in site["pages"]]
    listed = [entry for page in entries for entry in (page, *page["copies"])]
    pages = sum(bool(entry["markers"]) for entry in listed) or len(listed)
    return {
        "title": title,
        "says": says,
        "sites": sites,
        "pages": words.format_number(pages),
        "open": is_open or to_undo,
    }


def _source(
    same: Same,
    rows: SourceRows,
    cited: Cited,
    earlier: Mapping[str, Earlier],
    *,
    names_kind: bool,
) -> dict[str, Any]:
    """Return an entry of the list: a page, with the others that have the same text."""
    row, *copies = same
    entries = cited[row.url]
    quoted = _quotes(entries, rows)
    return {
        **_page(row, entries),
        "kind": _kind_word(row.kind) if names_kind else "",
        "facts": [*_facts(row, quoted, rows), *_counts(entries, len(quoted))],
        "uses": _uses(quoted, rows.asked),
        "is_disputed": any(each.evidence.contradicts for each in quoted),
        "is_superseded": any(each.evidence.label in rows.earlier for each in quoted),
        "quotes": list(dict.fromkeys(plain_quote(each.quote) for each in quoted)),
        "copies": [_page(copy, cited[copy.url]) for copy in copies],
        "found": None if row.round else _earlier_run_link(earlier.get(row.url_key)),
        "reason": worded(row.reason or ""),
    }


def _kind_word(kind: str) -> str:
    """Return the word for a kind; '' where nothing is known of it."""
    return "" if kind in ("", UNKNOWN) else str(words.KIND[kind])


def _page(row: Source, entries: Sequence[Entry]) -> dict[str, Any]:
    place = words.readable_url(row.url)
    return {
        "title": row.title or place,
        "url": row.url if words.is_on_the_web(row.url) else "",
        "place": place,
        "shown_site": _site_of(row) if row.title else None,
        "markers": _markers(entries),
    }


def _counts(entries: Sequence[Entry], quotes: int) -> list[str]:
    """Return how many quotes of a page the report has, and how often it cites the page."""
    if not quotes:
        return []
    counted = ngettext("%(n)s quote", "%(n)s quotes", quotes) % {"n": words.format_number(quotes)}
    return [counted, _count_times(_times_cited(entries))]


def _count_times(times: int) -> str:
    return ngettext("cited once", "cited %(n)s times", times) % {"n": words.format_number(times)}


def _quotes(entries: Sequence[Entry], rows: SourceRows) -> list[EvidenceSource]:
    return [quote for entry in entries for quote in rows.cited[entry["marker"]]]


def _read_at(row: Source, cited: Cited, rows: SourceRows) -> datetime:
    """Return when a page was read, or when its run was asked for."""
    quotes = _quotes(cited[row.url], rows)
    return quotes[0].fetched_at if quotes else row.run.created_at


def _times_cited(entries: Sequence[Entry]) -> int:
    return sum(len(entry.get("places") or entry["evidence_ids"]) for entry in entries)


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
    """Return the date of a page, if any, and when it was read unless all were read on one day."""
    read = cited[0].fetched_at if cited else None
    days = {each.fetched_at.date() for quotes in rows.cited.values() for each in quotes}
    dated = describe_published(row.published, read or row.run.created_at)
    return [*filter(None, [dated]), *([describe_reading(read)] if read and len(days) > 1 else ())]


def _earlier_run_link(where: Earlier | None) -> dict[str, str]:
    """Return a link to the run that originally found a page taken over by this run."""
    if where is None:
        return {"text": gettext("found in an earlier run"), "url": ""}
    told = gettext("found for an earlier question")
    if where.number:
        told = gettext("found in version %(n)s") % {"n": where.number}
    return {"text": told, "url": reverse("sources", args=[where.public_id])}


def _cited(rows: SourceRows) -> Cited:
    """Return the citations of each page, by its address."""
    found: Cited = defaultdict(list)
    for entry in rows.citations:
        found[entry["url"]].append(entry)
    return found


def _markers(entries: Sequence[Entry]) -> list[int]:
    return [entry["marker"] for entry in entries]


def _blocking_site(domain: str, never: Sequence[str]) -> str:
    """Return the blocked site that covers a domain; '' if it is not blocked."""
    host = domain.removeprefix("www.")
    return next((site for site in never if host == site or host.endswith(f".{site}")), "")
