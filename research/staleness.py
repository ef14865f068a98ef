"""Which evidence and verdicts a report rests on, as one digest.

Accepting evidence confirms what the report says, so only rejecting and flagging count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from research.engine.journal import digest
from research.models import Evidence, EvidenceSource, Report, Run, Verdict

DOUBTS = frozenset({Verdict.Kind.REJECT.value, Verdict.Kind.FLAG.value})


@dataclass(frozen=True)
class Basis:
    """One record as a report rests on it; quotes are (address, quote)."""

    label: str
    claim: str
    quotes: tuple[tuple[str, str], ...]
    doubt: str | None = None


def evidence_digest(records: Iterable[Basis]) -> str:
    """The same for the same evidence in whatever order."""
    return digest(sorted([b.label, b.claim, list(b.quotes), b.doubt or ""] for b in records))


def is_stale(report: Report) -> bool:
    """Whether evidence or doubts have changed since this report was written."""
    return report.evidence_digest != evidence_digest(basis(report.run))


def basis(run: Run) -> list[Basis]:
    """A run's present evidence with its reviewers' doubts, in two queries."""
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
