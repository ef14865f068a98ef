"""Criteria of each gate: named values of the ledger, each with a minimum.

A criterion becomes unavailable, with its reason, if two searches in a row brought it nothing new:
it still falls short, but no longer keeps the run going. Rules C2-C4 and D3 of
`docs/requirements.md`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from research.engine.assessment.effort import TRIED
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import (
    ANSWERING,
    CORROBORATED,
    SUPPORTS,
    Ledger,
    key_claims,
    unchecked_claims,
)
from research.engine.limits import Limits
from research.engine.records import Aspect, Criterion
from research.engine.text.relevance import page_relevance

RELEVANT_SHARE = 0.6
VERIFIED_AT_ONCE = 3
IN_VAIN = "two searches in a row brought nothing new"
ALL_NAMED = "the searches know of no others"
VERIFIED = "further sources were looked for"
ONE_WORK = "it is one collection that says each thing once"


def overview_criteria(
    ledger: Ledger, config: ResearchConfig, gives_up: bool = True
) -> tuple[Criterion, ...]:
    """Gate 1: enough sources, chosen pages that are relevant, every sub-question touched.

    With `gives_up`, a sub-question that was searched twice without news is unavailable.
    """
    effort = ledger.effort
    read = [s for s in ledger.sources.values() if s.status in {"read", "cited"}]
    relevant = [s for s in read if (s.relevance or 0) >= config.gate_overview_relevance]
    named_all = effort.named_all and len(ledger.sources) >= CORROBORATED
    untouched = [a for a in ledger.aspects.values() if not _is_touched(ledger, a, config)]
    touched = len(ledger.aspects) - len(untouched)
    return (
        _mark_unavailable(
            effort.sources >= TRIED or named_all,
            Criterion("sources found", len(ledger.sources), config.gate_overview_min_sources),
            ALL_NAMED if named_all else IN_VAIN,
        ),
        _mark_unavailable(
            effort.relevant >= TRIED,
            Criterion(
                "share of pages read that are relevant",
                share_of(len(relevant), len(read)),
                RELEVANT_SHARE,
                goal=1,
            ),
        ),
        _mark_unavailable(
            gives_up and _in_vain(untouched),
            Criterion(
                "share of sub-questions with a relevant page",
                share_of(touched, len(ledger.aspects)),
                1,
            ),
        ),
    )


def _is_touched(ledger: Ledger, aspect: Aspect, config: ResearchConfig) -> bool:
    if aspect.state in ANSWERING:
        return True
    least = config.gate_overview_relevance
    return any(page_relevance(aspect.text, p.title, p.text) >= least for p in ledger.pages.values())


def deep_research(ledger: Ledger, limits: Limits, gives_up: bool = True) -> tuple[Criterion, ...]:
    """Gate 2: every sub-question answered from enough sources, key claims cross-checked.

    Once everything is answered, up to three sub-questions that lack a second source are left to
    the verification stage, which costs less than another round.
    """
    aspects = list(ledger.aspects.values())
    few = [a for a in aspects if len(ledger.keys_of(a.id)) < limits.sources_per_aspect]
    unanswered = ledger.open_aspects()
    left = few if not unanswered and len(few) <= VERIFIED_AT_ONCE else []
    return (
        _mark_unavailable(
            gives_up and _in_vain(few),
            Criterion(
                "share of sub-questions with enough independent sites or left to verification",
                share_of(len(aspects) - len(few) + len(left), len(aspects)),
                1,
            ),
        ),
        *_cross_checked(ledger, limits),
        _mark_unavailable(
            gives_up and _in_vain(unanswered),
            Criterion(
                "share of sub-questions answered",
                share_of(len(aspects) - len(unanswered), len(aspects)),
                1,
            ),
        ),
    )


def _cross_checked(ledger: Ledger, limits: Limits) -> tuple[Criterion, ...]:
    """Return the criterion of cross-checked claims: claims with one source and disputed ones fail
    it.

    Verification takes a few of them, and a gate waits until no more than these are left.
    """
    keys, left = len(key_claims(ledger)), unchecked_claims(ledger, limits)
    dry = {a.id for a in ledger.aspects.values() if a.searches_without_news >= TRIED}
    waiting = [claim for claim in left if not ledger.effort.is_given_up(claim, dry)]
    why = VERIFIED
    if ledger.is_one_work:
        waiting, why = [claim for claim in waiting if claim.contradicts], ONE_WORK
    checked = keys - len(left)
    taken = min(len(left), VERIFIED_AT_ONCE)
    return (
        _mark_unavailable(
            not waiting,
            Criterion("share of key claims cross-checked", share_of(checked, keys), 0, goal=1),
            why,
        ),
        _mark_unavailable(
            len(waiting) <= VERIFIED_AT_ONCE and keys > 0,
            Criterion(
                "share of key claims cross-checked or left to verification",
                share_of(checked + taken, keys),
                1,
            ),
            why,
        ),
    )


def evidence_gate_criteria(ledger: Ledger, limits: Limits) -> tuple[Criterion, ...]:
    """Return the evidence gate (D3): records, records that answer a sub-question, sites."""
    answering = [r for r in ledger.evidence if r.aspect_id and r.relevance >= SUPPORTS]
    sources = ledger.independent_sites()
    return evidence_criteria(len(ledger.evidence), len(answering), len(sources), limits)


def evidence_criteria(
    records: int, answering: int, sources: int, limits: Limits
) -> tuple[Criterion, ...]:
    return (
        Criterion("evidence records", records, limits.evidence_records),
        Criterion("records that answer a sub-question", answering, limits.evidence_records),
        Criterion("independent sites", sources, limits.independent_sites),
    )


def report_ready(
    ledger: Ledger, evidence_gate: tuple[Criterion, ...], ready: bool
) -> tuple[Criterion, ...]:
    """Evaluate Gate 3: the evidence gate, no critical gap open, and the assessment says ready."""
    critical = [gap for gap in ledger.open_gaps() if gap.critical]
    return (
        Criterion("evidence gate passed", float(all(c.met for c in evidence_gate)), 1),
        Criterion("no critical gap open", float(not critical), 1),
        Criterion("assessment says ready", float(ready), 1),
    )


def given_up(criteria: Iterable[Criterion], reason: str) -> tuple[Criterion, ...]:
    """Return the criteria, of which none that is short can be had any more, for one reason."""
    return tuple(_mark_unavailable(not c.unavailable, c, reason) for c in criteria)


def is_exhausted(ledger: Ledger, limits: Limits) -> bool:
    """Return whether every sub-question without enough sources was searched twice without news."""
    return _in_vain(
        a for a in ledger.aspects.values() if len(ledger.keys_of(a.id)) < limits.sources_per_aspect
    )


def _in_vain(lacking: Iterable[Aspect]) -> bool:
    counts = [aspect.searches_without_news for aspect in lacking]
    return bool(counts) and min(counts) >= TRIED


def _mark_unavailable(is_given_up: bool, criterion: Criterion, reason: str = IN_VAIN) -> Criterion:
    """Return the criterion, marked unavailable if it falls short and no more can be found."""
    if is_given_up and criterion.share < 1:
        return replace(criterion, unavailable=reason)
    return criterion


def share_of(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
