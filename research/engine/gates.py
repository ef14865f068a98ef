"""The gates: formulas over the ledger, no model. Each says what it looked at and what failed.

A stage is left only through its gate; after every round the gates are evaluated in order on
one ledger, so several stages may be passed at once. Scores are 0-1 and are stored with their
criteria. Rules C1-C6 and D3 of `docs/requirements.md`.
"""

from __future__ import annotations

from datetime import datetime

from research.engine.config import ResearchConfig
from research.engine.ledger import ANSWERING, SUPPORTS, Ledger
from research.engine.limits import Limits
from research.engine.records import (
    Aspect,
    Criterion,
    Evidence,
    GateDecision,
    GateName,
    GateResult,
)
from research.engine.relevance import relevance

ASKED: tuple[GateName, ...] = ("overview", "deep_research", "evidence")
"""The gates that the rules of quality wait for."""

TRIED = 2
CORROBORATED = 2
VERIFIED_AT_ONCE = 3


def evaluate(
    ledger: Ledger,
    limits: Limits,
    config: ResearchConfig,
    round_number: int,
    ready: bool,
    at: datetime,
    chained: bool = False,
) -> dict[GateName, GateResult]:
    """All gates of one round but the draft's, in order.

    `chained` says that the question is covered by pages of which one names the other: each
    rests on its own, so that further sources for the whole are not to be had.
    """
    exhausted = chained or _exhausted(ledger, limits)
    evidence = _evidence(ledger, limits)
    criteria: dict[GateName, tuple[tuple[Criterion, ...], float | None]] = {
        "overview": (_overview(ledger, config), config.gate_overview_pass_score),
        "deep_research": (_deep_research(ledger, limits), config.gate_deep_pass_score),
        "evidence": (evidence, None),
        "report_ready": (_report_ready(ledger, evidence, ready), None),
    }
    return {
        gate: _result(gate, round_number, looked_at, threshold, exhausted, at)
        for gate, (looked_at, threshold) in criteria.items()
    }


def ask_for_more(ledger: Ledger, limits: Limits, config: ResearchConfig) -> bool:
    """Whether the evidence gate or Gates 1 and 2 are not passed as the ledger stands."""
    standing = evaluate(ledger, limits, config, ledger.round.number, True, datetime.min)
    return any(standing[gate].decision != "pass" for gate in ASKED)


def _result(
    gate: GateName,
    round_number: int,
    criteria: tuple[Criterion, ...],
    threshold: float | None,
    exhausted: bool,
    at: datetime,
) -> GateResult:
    shares = [min(1.0, c.value / c.minimum) if c.minimum else 1.0 for c in criteria]
    value = round(sum(shares) / len(shares), 4)
    passed = value >= threshold if threshold is not None else all(c.met for c in criteria)
    decision: GateDecision = "pass" if passed else "not_to_be_had" if exhausted else "retry"
    failed = tuple(feedback(c) for c in criteria if not c.met) if not passed else ()
    return GateResult(round_number, gate, decision, value, threshold, criteria, failed, at)


def feedback(criterion: Criterion) -> str:
    """What a gate asks for where a criterion is not met."""
    return f"{criterion.name}: {criterion.value:g} of {criterion.minimum:g}"


def _overview(ledger: Ledger, config: ResearchConfig) -> tuple[Criterion, ...]:
    """Gate 1: enough sources, chosen pages that are relevant, every sub-question touched."""
    read = [s for s in ledger.sources.values() if s.status in {"read", "cited"}]
    relevant = [s for s in read if (s.relevance or 0) >= config.gate_overview_relevance]
    touched = [a for a in ledger.aspects.values() if _touched(ledger, a, config)]
    return (
        Criterion("sources found", len(ledger.sources), config.gate_overview_min_sources),
        Criterion("share of pages read that are relevant", _share(len(relevant), len(read)), 1),
        Criterion(
            "share of sub-questions with a relevant page",
            _share(len(touched), len(ledger.aspects)),
            1,
        ),
    )


def _touched(ledger: Ledger, aspect: Aspect, config: ResearchConfig) -> bool:
    if aspect.state in ANSWERING:
        return True
    least = config.gate_overview_relevance
    return any(relevance(aspect.text, p.title, p.text) >= least for p in ledger.pages.values())


def _deep_research(ledger: Ledger, limits: Limits) -> tuple[Criterion, ...]:
    """Gate 2: independent sources per sub-question, cross-checked claims, nothing unanswered."""
    aspects = list(ledger.aspects.values())
    enough = [a for a in aspects if len(ledger.keys_of(a.id)) >= limits.sources_per_aspect]
    keys = [record for record in ledger.evidence if record.key]
    checked = sum(_cross_checked(ledger, record, limits) for record in keys)
    checked = min(len(keys), checked + VERIFIED_AT_ONCE)
    shares = {
        "share of sub-questions with enough independent sources": (len(enough), len(aspects)),
        "share of key claims cross-checked or left to verification": (checked, len(keys)),
        "share of sub-questions answered": (ledger.answered(), len(aspects)),
    }
    return tuple(Criterion(name, _share(*parts), 1) for name, parts in shares.items())


def _cross_checked(ledger: Ledger, record: Evidence, limits: Limits) -> bool:
    """Corroborated as far as the question asks for it, disputed, or looked for a round longer."""
    wanted = min(CORROBORATED, limits.sources_per_aspect)
    tried = ledger.round.number > record.round
    return len(record.keys) >= wanted or bool(record.contradicts) or tried


def _evidence(ledger: Ledger, limits: Limits) -> tuple[Criterion, ...]:
    """The evidence gate (D3): records, records that answer a sub-question, sources."""
    answering = [r for r in ledger.evidence if r.aspect_id and r.relevance >= SUPPORTS]
    sources = ledger.independent_sources()
    return evidence_criteria(len(ledger.evidence), len(answering), len(sources), limits)


def evidence_criteria(
    records: int, answering: int, sources: int, limits: Limits
) -> tuple[Criterion, ...]:
    return (
        Criterion("evidence records", records, limits.evidence_records),
        Criterion("records that answer a sub-question", answering, limits.evidence_records),
        Criterion("independent sources", sources, limits.independent_sources),
    )


def _report_ready(
    ledger: Ledger, evidence: tuple[Criterion, ...], ready: bool
) -> tuple[Criterion, ...]:
    """Gate 3: the evidence gate, no critical gap open, and the assessment says ready."""
    critical = [gap for gap in ledger.open_gaps() if gap.critical]
    return (
        Criterion("evidence gate passed", float(all(c.met for c in evidence)), 1),
        Criterion("no critical gap open", float(not critical), 1),
        Criterion("assessment says ready", float(ready), 1),
    )


def _exhausted(ledger: Ledger, limits: Limits) -> bool:
    """Whether every sub-question that lacks sources was searched twice without news."""
    lacking = [
        a for a in ledger.aspects.values() if len(ledger.keys_of(a.id)) < limits.sources_per_aspect
    ]
    return bool(lacking) and all(a.searches_without_news >= TRIED for a in lacking)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
