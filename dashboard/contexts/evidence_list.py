"""The evidence of a run as its page lists it: by sub-question, with where the report uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from django.db.models import prefetch_related_objects
from django.urls import reverse
from django.utils.translation import gettext

from dashboard import words
from dashboard.contexts.evidence import describe_date, says_itself, support_line
from dashboard.contexts.quotes import quote_pieces
from dashboard.contexts.statements import anchor_of
from dashboard.markdown.statements import cited_texts
from dashboard.queries.run_rows import RunRows, labels_at
from dashboard.titles import name_parts
from research.engine.text.tokens import capitalize_heading
from research.fetch.sites import independence_key
from research.models import Evidence, EvidenceSource, RefusedQuote, Run


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
    flags = [text for flag in row.uncertainty if (text := str(words.CAVEATS.get(flag, "")))]
    return {
        "id": row.label,
        "claim": row.claim,
        "says_itself": says_itself(row.claim, quotes[:1]),
        "quotes": [_quote(quote, row.claim, rows) for quote in quotes],
        "support": support_line(quotes) if len(quotes) > 1 else "",
        "uses": [
            (heading, f"{reverse('run', args=[run])}#{anchor}")
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
