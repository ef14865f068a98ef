"""Evidence records with their quotes, counts of records, rejected quotes, and lists of all."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db.models import prefetch_related_objects
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from dashboard import words
from dashboard.addresses import address_of, anchor_of
from dashboard.contexts.quotes import quote_pieces
from dashboard.markdown.statements import CitedText, cited_texts
from dashboard.queries.run_rows import RunRows, labels_at
from dashboard.stored_texts import worded
from dashboard.titles import name_parts
from research.engine.text.tokens import capitalize_heading
from research.fetch.sites import independence_key
from research.models import Evidence, EvidenceSource, RefusedQuote, Run

DATE = re.compile(r"\d{4}(-\d\d){0,2}$")


def count_evidence(rows: RunRows) -> dict[str, Any]:
    """Return the number of records, and on how many sites and documents they rest."""
    keys = {key for _, key, _ in rows.quotes}
    documents = sum(key.startswith("file:") for key in keys)
    support = words.describe_support(len(keys) - documents, documents)
    return {"total": rows.progress.evidence.count, "support": support}


def shown_counts(rows: RunRows) -> dict[str, Any]:
    """Return the number of records on the page and the number omitted."""
    shown = len(rows.shown)
    return {"shown": shown, "left_out": rows.progress.evidence.count - shown}


def all_evidence_link(rows: RunRows) -> dict[str, Any]:
    """Return the link to the full list of records; its address is '' if the page shows them all."""
    total = rows.progress.evidence.count
    is_cut = total > len(rows.shown)
    return {
        "total": total,
        "address": reverse("evidence", args=[rows.run.public_id]) if is_cut else "",
    }


@dataclass(frozen=True)
class Use:
    """What the report of a `run` makes of its records, by label: the first number that cites each
    of them, and those that give an `earlier` value; with the claims of all.
    """

    run: str
    numbers: Mapping[str, int]
    earlier: Container[str]
    claims: Mapping[str, str]


def evidence_rows(rows: RunRows) -> list[dict[str, Any]]:
    """Return a context for each record that the page of a run shows."""
    claims = {row.label: row.claim for row in rows.evidence}
    use = Use(rows.run.public_id, rows.numbers, rows.earlier, claims)
    return [claim_context(row, rows.site_names, use) for row in rows.shown]


def claim_context(row: Evidence, site_names: Mapping[str, str], use: Use) -> dict[str, Any]:
    """Return an evidence record, the quotes that contain its claim first. `site_names` are those of
    its pages, by address.

    `row` must be annotated with `last_verdict`.
    """
    quotes = sorted(row.quotes.all(), key=lambda source: row.claim not in source.quote)
    said = row.last_verdict
    return {
        "id": row.label,
        "claim": "" if says_itself(row.claim, quotes[:1]) else row.claim,
        "quotes": [
            quote_context(source, row.claim, site_names.get(source.url)) for source in quotes
        ],
        "support": support_line(quotes),
        "caveats": [
            str(words.CAVEATS[flag]) for flag in row.uncertainty if words.CAVEATS.get(flag)
        ],
        "earlier": row.round == 0,
        "number": (number := use.numbers.get(row.label)),
        "address": reverse("citation", args=[use.run, number]) if number else "",
        "is_superseded": row.label in use.earlier,
        "contradicts": [use.claims[label] for label in row.contradicts if label in use.claims],
        "review": str(words.VERDICT[said].word) if said else "",
    }


def statement_context(said: CitedText, run: Run) -> dict[str, str]:
    """Return a statement of the report with a link to its place there."""
    return {
        "text": said.text,
        "label": said.label,
        "heading": said.heading or gettext("Short answer"),
        "address": f"{address_of(run, 'run')}#{anchor_of(*said.markers[0])}",
    }


def says_itself(claim: str, quotes: Sequence[EvidenceSource]) -> bool:
    """Return whether the claim only repeats its quote."""
    return all(source.quote == claim for source in quotes) or (
        len(quotes) == 1 and claim in quotes[0].quote
    )


def quote_context(row: EvidenceSource, claim: str, site_name: str | None) -> dict[str, Any]:
    return {
        "pieces": quote_pieces(row.quote, claim, whole=False),
        "title": row.title or row.domain,
        "section": "" if row.section == row.title else row.section,
        "site": words.site_of(row.url, site_name),
        "place": words.readable_url(row.url),
        "day": describe_date(row),
    }


def describe_date(row: EvidenceSource) -> str:
    """Return the publication date of a page, or the date it was fetched if that is unknown; of a
    document of the asker's "" then, as the day on which it was read tells nothing of it.
    """
    read = "" if row.url.startswith("file:") else describe_reading(row.fetched_at)
    return describe_published(row.published, row.fetched_at) or read


def describe_published(published: str | None, read: datetime) -> str:
    """Return the date that a page gives as its own; '' if it gives none. One that lies after the
    day of reading is no date of publication.
    """
    if not published:
        return ""
    told = {"date": words.format_partial_date(published)}
    if is_dated_later(published, read):
        return gettext("gives %(date)s as its date, after it was read") % told
    return gettext("published %(date)s") % told


def day_of(published: str | None) -> str:
    """Return a year, month or day without its time; '' for what isn't written as a date."""
    day = (published or "")[: len("2026-01-31")]
    return day if DATE.match(day) else ""


def is_dated_later(published: str | None, read: datetime) -> bool:
    """Return whether a page gives a date after the day on which it was read, in any time zone."""
    day, latest = day_of(published), (read + timedelta(days=1)).date().isoformat()
    return day > latest[: len(day)]


def describe_reading(read: datetime) -> str:
    return gettext("read %(date)s") % {"date": words.format_day(read)}


def support_line(quotes: Iterable[EvidenceSource]) -> str:
    """Return a phrase that counts the independent sources of a claim: "quoted from 2 sites"."""
    return gettext("quoted from %(sources)s") % {"sources": count_sources(quotes)}


def describe_cited(urls: Collection[str], quotes: Iterable[EvidenceSource]) -> str:
    """Return how many pages a report cites, and on how many sites, as its own line counts them:
    "6 pages from 4 sites, of which 1 copies another".
    """
    shown = list(quotes)
    if not shown or not words.count_sites(urls):
        return words.describe_pages(urls)
    return gettext("%(pages)s from %(sites)s") % {
        "pages": words.count_noun(len(urls), "page"),
        "sites": count_sources(shown),
    }


def count_sources(quotes: Iterable[EvidenceSource]) -> str:
    """Return a phrase that counts sources, sites and documents separately, and says how many of
    them only have the text of another one: "2 sites, of which 1 copies another".
    """
    quoted = [(row.url, row.independence_key) for row in quotes]
    keys = {key: url.startswith("file:") for url, key in quoted}
    sites = {independence_key(url): url.startswith("file:") for url, _ in quoted}
    copies = len(sites) - len(keys)
    counted = sites if copies > 0 else keys
    documents = sum(counted.values())
    told = words.describe_support(len(counted) - documents, documents)
    if copies < 1:
        return told
    return ngettext(
        "%(sources)s, of which %(n)s copies another",
        "%(sources)s, of which %(n)s copy others",
        copies,
    ) % {"sources": told, "n": words.format_number(copies)}


def refused_quote_context(row: RefusedQuote) -> dict[str, Any]:
    return {
        "id": f"{row.round}-{row.unit}-{row.ordinal}",
        "claim": row.claim,
        "reason": worded(row.reason),
        "place": words.readable_url(row.url),
    }


class EvidenceList:
    """The records of a run with their quotes, and what the report makes of them."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self._rows = RunRows(run)
        self.earlier = self._rows.earlier
        self.cited = self._rows.cited_labels
        self.numbers = self._rows.numbers

    @cached_property
    def in_order(self) -> Sequence[Evidence]:
        """Return the records by sub-question: those that the report cites in the order of their
        numbers, then the newest.
        """
        found = list(self._rows.evidence[::-1])
        prefetch_related_objects(found, "quotes")
        places = {label: n for n, label in enumerate(self.parts)}
        last = len(self.numbers) + 1
        return sorted(
            found,
            key=lambda row: (
                places.get(self.part_of(row), len(places)),
                self.numbers.get(row.label, last),
            ),
        )

    @cached_property
    def parts(self) -> Mapping[str, str]:
        """Return the names of the sub-questions, by label."""
        asked = {row.label: row.text for row in self._rows.aspects}
        names = name_parts(list(asked.values()), self.run.plan)
        return {label: capitalize_heading(names[text]) for label, text in asked.items()}

    @cached_property
    def refused(self) -> Sequence[RefusedQuote]:
        return list(self.run.refused_quotes.order_by("-round", "-unit", "-ordinal"))

    @cached_property
    def claims(self) -> Mapping[str, str]:
        return {row.label: row.claim for row in self._rows.evidence}

    @cached_property
    def sources(self) -> Mapping[str, tuple[str | None, str]]:
        """Return the name that each page gives its site, and the kind of source, by address."""
        read = self.run.source_pages.order_by().values_list("url", "site", "title", "kind")
        return {url: (site if site != title else None, kind) for url, site, title, kind in read}

    @cached_property
    def uses(self) -> Mapping[str, Mapping[str, str]]:
        """Return where the report cites each record: anchors by the headings of its sections."""
        report, found = self._rows.report, dict[str, dict[str, str]]()
        citations = {entry["marker"]: entry for entry in (report.citations if report else ())}
        for said in cited_texts(report.markdown if report else ""):
            heading = said.heading or gettext("Short answer")
            for number, place in said.markers:
                for label in labels_at(citations[number], place) if number in citations else ():
                    found.setdefault(label, {}).setdefault(heading, anchor_of(number, place))
        return found

    @property
    def alone(self) -> Mapping[CitedText, frozenset[str]]:
        return self._rows.alone

    def part_of(self, row: Evidence) -> str:
        return row.aspect_label or ""

    def voices(self, row: Evidence) -> int:
        """Return how many independent sources say a claim."""
        return len({quote.independence_key for quote in row.quotes.all()})

    def is_verbatim(self, row: Evidence) -> bool:
        """Return whether a quote contains the claim word for word."""
        return any(row.claim in quote.quote for quote in row.quotes.all())

    def verdict(self, row: Evidence) -> words.State | None:
        said: str | None = getattr(row, "last_verdict", None)
        return words.VERDICT[said] if said else None


def listed_claim(row: Evidence, rows: EvidenceList) -> dict[str, Any]:
    """Return a claim with its quotes, the one that contains it first."""
    quotes = sorted(row.quotes.all(), key=lambda quote: row.claim not in quote.quote)
    number, run = rows.numbers.get(row.label), rows.run.public_id
    part = rows.parts.get(rows.part_of(row))
    flags = [text for flag in row.uncertainty if (text := str(words.CAVEATS.get(flag, "")))]
    return {
        "id": row.label,
        "claim": row.claim,
        "says_itself": says_itself(row.claim, quotes[:1]),
        "quotes": [_quote(quote, row.claim, rows) for quote in quotes],
        "support": support_line(quotes) if len(quotes) > 1 else "",
        "uses": [
            (
                gettext("its section") if heading == part else heading,
                f"{reverse('run', args=[run])}#{anchor}",
            )
            for heading, anchor in rows.uses.get(row.label, {}).items()
        ],
        "number": number,
        "address": reverse("citation", args=[run, number]) if number else "",
        "is_unused": bool(rows.cited) and not number,
        "is_superseded": row.label in rows.earlier,
        "contradicts": [rows.claims[each] for each in row.contradicts if each in rows.claims],
        "is_earlier": row.round == 0,
        "flags": flags,
        "review": rows.verdict(row),
    }


def _quote(row: EvidenceSource, claim: str, rows: EvidenceList) -> dict[str, Any]:
    site, kind = rows.sources.get(row.url, (None, "unknown"))
    is_copy = row.independence_key != independence_key(row.url)
    return {
        "pieces": quote_pieces(row.quote, claim),
        "title": row.title or row.domain,
        "section": "" if row.section == row.title else row.section,
        "site": words.site_of(row.url, site),
        "place": words.readable_url(row.url),
        "day": describe_date(row),
        "kind": "" if kind == "unknown" else str(words.KIND[kind]),
        "copies": row.independence_key if is_copy else "",
    }
