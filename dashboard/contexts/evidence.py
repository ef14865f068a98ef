"""The evidence: claims with their quotes, how many there are, and what was refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.urls import reverse

from dashboard import words
from dashboard.run_rows import RunRows
from research.models import Evidence, EvidenceSource, RefusedQuote


def count(rows: RunRows) -> dict[str, Any]:
    counts = rows.progress.evidence
    return {"total": counts.count, "sources": counts.sources}


def more(rows: RunRows) -> dict[str, Any]:
    """How many claims are on the page, and how many are not."""
    shown = len(rows.newest)
    return {"shown": shown, "left_out": rows.progress.evidence.count - shown}


def rest(rows: RunRows) -> dict[str, Any]:
    """Where all claims are listed, once the page has no room for them."""
    total = rows.progress.evidence.count
    is_cut = total > len(rows.newest)
    return {
        "total": total,
        "address": reverse("evidence", args=[rows.run.public_id]) if is_cut else "",
    }


def claim(row: Evidence) -> dict[str, Any]:
    """`row` comes with its `last_verdict`."""
    quotes = list(row.quotes.all())
    said = row.last_verdict  # type: ignore[attr-defined]
    return {
        "id": row.label,
        "claim": "" if says_itself(row.claim, quotes) else row.claim,
        "quotes": [quote(source) for source in quotes],
        "support": support(quotes),
        "caveats": [words.CAVEATS[flag] for flag in row.uncertainty if words.CAVEATS.get(flag)],
        "earlier": row.round == 0,
        "contradicts": ", ".join(row.contradicts),
        "review": words.VERDICT[said].word if said else "",
    }


def says_itself(claim: str, quotes: Sequence[EvidenceSource]) -> bool:
    """Whether the claim would only repeat what stands in its one quote."""
    return all(source.quote == claim for source in quotes) or (
        len(quotes) == 1 and claim in quotes[0].quote
    )


def quote(row: EvidenceSource) -> dict[str, Any]:
    return {
        "text": row.quote,
        "title": row.title or row.domain,
        "section": "" if row.section == row.title else row.section,
        "place": words.place(row.url),
        "day": dated(row),
    }


def dated(row: EvidenceSource) -> str:
    """When the page is from, else when it was read."""
    if row.published:
        return f"of {words.published(row.published)}"
    return f"read {words.day(row.fetched_at)}"


def support(quotes: Iterable[EvidenceSource]) -> str:
    """Independent sources, sites and documents told apart."""
    keys = {row.independence_key: row.url.startswith("file:") for row in quotes}
    documents = sum(keys.values())
    return words.support(len(keys) - documents, documents)


def refused(row: RefusedQuote) -> dict[str, Any]:
    return {
        "id": f"{row.round}-{row.unit}-{row.ordinal}",
        "claim": row.claim,
        "reason": row.reason,
        "place": words.place(row.url),
    }
