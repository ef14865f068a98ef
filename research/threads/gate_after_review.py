"""The evidence gate, re-evaluated without the records that a reviewer rejected.

The engine's recorded result is not changed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

from research.engine.assessment.criteria import evidence_criteria
from research.engine.assessment.gates import gate_feedback
from research.engine.evidence.ledger import SUPPORTS
from research.engine.limits import Limits
from research.engine.records import Criterion
from research.models import Evidence, GateResult, Verdict

Keys = Mapping[int, Collection[str]]
"""Independence keys by the record's primary key."""


def after_review(
    recorded: GateResult, evidence: Sequence[Evidence], keys: Keys, bounds: Limits
) -> GateResult:
    """Return the re-evaluated gate, unsaved, or `recorded` itself if nothing was rejected.

    `evidence` is all of the run's, annotated with `last_verdict`.
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
    return row.last_verdict == Verdict.Kind.REJECT  # type: ignore[attr-defined, no-any-return]


def _decision(recorded: GateResult, criteria: Sequence[Criterion]) -> str:
    """Return the decision; criteria recorded as unavailable stay unavailable."""
    if all(each.met for each in criteria):
        return "pass"
    return "not_to_be_had" if recorded.decision == "not_to_be_had" else "retry"
