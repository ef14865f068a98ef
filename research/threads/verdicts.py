"""What reviewers' verdicts change: reports become stale, and the evidence gate is re-evaluated.

A digest of the evidence and verdicts that a report is based on detects stale reports. Accepting
evidence confirms the report, so only rejections and flags are included. Verdicts on unchanged
evidence are carried over to a later run of the thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from research.engine.assessment.criteria import evidence_criteria
from research.engine.assessment.gates import gate_feedback
from research.engine.evidence.ledger import SUPPORTS
from research.engine.journal import digest_of
from research.engine.limits import Limits
from research.engine.records import Criterion
from research.models import Evidence, EvidenceSource, GateResult, Report, Run, Verdict

DOUBTS = frozenset({Verdict.Kind.REJECT.value, Verdict.Kind.FLAG.value})
NOTE = "Said of an earlier version."
Keys = Mapping[int, Collection[str]]
"""Independence keys by the record's primary key."""


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


def carry_verdicts(run_id: int) -> None:
    """Copy the last verdict on each record that is unchanged, quotes included.

    Call it in the transaction that ends the run: its report was written with these verdicts, so
    they must not make it stale. The number of queries is constant.
    """
    run = Run.objects.select_related("parent").get(pk=run_id)
    if run.parent is None:
        return
    said = Verdict.objects.filter(evidence__run=run.parent).order_by("pk")
    last = {verdict.evidence_id: verdict for verdict in said}
    if not last:
        return
    labels = dict(Evidence.objects.filter(pk__in=last).values_list("label", "pk"))
    before = {(each.label, each.claim, each.quotes) for each in evidence_basis(run.parent)}
    now = {
        each.label
        for each in evidence_basis(run)
        if (each.label, each.claim, each.quotes) in before
    }
    unsaid = Evidence.objects.filter(run=run, label__in=now & labels.keys(), verdicts=None)
    Verdict.objects.bulk_create(_again(last[labels[row.label]], row) for row in unsaid)
    digest = evidence_digest(evidence_basis(run))
    Report.objects.filter(run=run).update(evidence_digest=digest)


def _again(verdict: Verdict, row: Evidence) -> Verdict:
    note = verdict.note if verdict.note.startswith(NOTE) else f"{NOTE} {verdict.note}".strip()
    return Verdict(evidence=row, actor_id=verdict.actor_id, verdict=verdict.verdict, note=note)


def after_review(
    recorded: GateResult, evidence: Sequence[Evidence], keys: Keys, bounds: Limits
) -> GateResult:
    """Return the gate re-evaluated without rejected records, or `recorded` if there are none.

    The result is unsaved. `evidence` is all of the run's, annotated with `last_verdict`.
    """
    kept = [row for row in evidence if not is_rejected(row)]
    if len(kept) == len(evidence):
        return recorded
    answers = [row for row in kept if row.relevance >= SUPPORTS]
    criteria = evidence_criteria(
        records=len(kept),
        answering=sum(row.aspect_label is not None for row in answers),
        sources=len({key for row in answers for key in keys.get(row.pk, ())}),
        limits=bounds,
    )
    return GateResult(
        run=recorded.run,
        round=recorded.round,
        gate=recorded.gate,
        decision=_decision(recorded, criteria),
        criteria=[asdict(each) for each in criteria],
        feedback=[gate_feedback(each) for each in criteria if not each.met],
        at=recorded.at,
    )


def is_rejected(row: Evidence) -> bool:
    return row.last_verdict == Verdict.Kind.REJECT


def _decision(recorded: GateResult, criteria: Sequence[Criterion]) -> str:
    """Return the decision; criteria recorded as unavailable stay unavailable."""
    if all(each.met for each in criteria):
        return "pass"
    return "not_to_be_had" if recorded.decision == "not_to_be_had" else "retry"
