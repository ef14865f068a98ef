"""Digest of the evidence and verdicts that a report is based on, to detect stale reports.

Accepting evidence confirms the report, so only rejections and flags are included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from research.engine.journal import digest_of
from research.models import Evidence, EvidenceSource, Report, Run, Verdict

DOUBTS = frozenset({Verdict.Kind.REJECT.value, Verdict.Kind.FLAG.value})


@dataclass(frozen=True)
class Basis:
    """An evidence record as far as a report depends on it; quotes are (address, quote)."""

    label: str
    claim: str
    quotes: tuple[tuple[str, str], ...]
    doubt: str | None = None


def evidence_digest(records: Iterable[Basis]) -> str:
    """Return a digest that doesn't depend on the order of the records."""
    return digest_of(sorted([b.label, b.claim, list(b.quotes), b.doubt or ""] for b in records))


def is_stale(report: Report) -> bool:
    """Return whether evidence, rejections or flags have changed since the report was written."""
    return report.evidence_digest != evidence_digest(evidence_basis(report.run))


def evidence_basis(run: Run) -> list[Basis]:
    """Return a run's current evidence with its reviewers' doubts, in two queries."""
    quotes: dict[int, list[tuple[str, str]]] = {}
    rows = EvidenceSource.objects.filter(evidence__run=run).order_by("evidence", "position")
    for evidence_id, url, quote in rows.values_list("evidence_id", "url", "quote"):
        quotes.setdefault(evidence_id, []).append((url, quote))
    return [
        Basis(
            evidence.label,
            evidence.claim,
            tuple(quotes.get(evidence.pk, ())),
            evidence.last_verdict if evidence.last_verdict in DOUBTS else None,
        )
        for evidence in Evidence.objects.filter(run=run).with_review()
    ]
