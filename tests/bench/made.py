"""Figures made by hand, with only what a test cares about."""

from __future__ import annotations

from bench.comparison.depths import Measured
from bench.comparison.figures import Figures
from bench.world.score import Cost, Score


def figures(
    rounds: int = 1,
    calls: int = 4,
    recall: float | None = 1.0,
    by_round: tuple[float, ...] = (1.0,),
    complete: int | None = 1,
    kind: str = "medium",
    reason: str = "quality_met",
) -> Figures:
    cost = Cost({"read": calls}, 1000 * calls, 100 * calls, rounds, rounds, 0, 0, 1.0)
    score = Score(
        question="q", kind=kind, reason=reason, rounds=rounds,
        evidence_recall=recall, report_recall=recall, citation_precision=1.0, claim_precision=1.0,
        cited_sentences=2, cited_in_vain=0, recall_by_round=by_round, complete_round=complete,
        contradiction_precision=None, contradiction_recall=None, false_claims_returned=0,
        false_claims_reported=0, injected_reported=0, cost=cost,
    )  # fmt: skip
    return Figures(
        score=score, cost=cost, usd=0.01 * calls, wall_seconds=1.0, cpu_seconds=0.1,
        speculative=0, quotes=3, quotes_right=3, statements=2, statements_cited=2,
        key_claims=1, key_claims_cited=1, judged=rounds, gates=(), status="completed",
    )  # fmt: skip


def measured(
    name: str,
    by_round: tuple[float, ...],
    complete: int | None,
    stopped: int,
    covered: int | None = None,
) -> Measured:
    """A question whose forced run finds `by_round`, two calls a round; the engine's own run
    stops after `stopped` rounds of it.
    """
    depths = tuple(
        figures(depth, 2 + 2 * depth, by_round[depth - 1], by_round[:depth], complete)
        for depth in range(1, len(by_round) + 1)
    )
    tree = (figures(1, 6, by_round[0], by_round[:1]), figures(2, 18, by_round[1], by_round[:2]))
    return Measured(name, "medium", depths[stopped - 1], depths, tree, covered, True)
