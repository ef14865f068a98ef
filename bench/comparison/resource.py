"""A run's records as the object that `manage.py research --json` prints, as far as it is scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from research.engine import (
    Evidence,
    GateResult,
    Record,
    Report,
    Round,
    RunState,
    Source,
    Status,
    Usage,
    key_of,
)


def run_resource(records: Iterable[Record]) -> dict[str, Any]:
    """Return the last state of each record, by the contract's names."""
    last = list({key_of(record): record for record in records}.values())
    head = next((r for r in last if isinstance(r, RunState)), RunState(Status.INTAKE))
    report = next((r for r in last if isinstance(r, Report)), Report(""))
    usage = next((r for r in last if isinstance(r, Usage)), Usage())
    return {
        "status": head.status.value,
        "complexity": head.complexity.value,
        "termination_reason": head.termination_reason and head.termination_reason.value,
        "rounds": [asdict(r) for r in last if isinstance(r, Round) and r.closed],
        "gates": [asdict(r) | {"at": r.at.isoformat()} for r in last if isinstance(r, GateResult)],
        "evidence": [_evidence(r) for r in last if isinstance(r, Evidence)],
        "sources": [asdict(r) for r in last if isinstance(r, Source)],
        "report_markdown": report.markdown,
        "citations": [asdict(citation) for citation in report.citations],
        "short_answer": report.short_answer,
        "checks": asdict(report.checks),
        "usage": asdict(usage),
    }


def _evidence(record: Evidence) -> dict[str, Any]:
    sources = [asdict(s) | {"fetched_at": s.fetched_at.isoformat()} for s in record.sources]
    return asdict(record) | {"sources": sources}
