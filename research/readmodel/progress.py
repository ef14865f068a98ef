"""The progress payload: the single source for page, socket, command line and API.

Composed of small parts, all from committed rows, with a constant number of queries. Nothing here
is inferred from text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Sum

from research.engine.config import ResearchConfig
from research.engine.limits import Limits
from research.engine.records import Status, Usage
from research.models import Aspect, Collection, Command, Evidence, Gap, Round, Run, Unit
from research.models.runs import Mode
from research.queue.admission import place_of
from research.readmodel.phases import run_phase, stage_progress
from research.readmodel.progress_parts import (
    ActionPart,
    AspectPart,
    BudgetPart,
    CommandPart,
    ControlPart,
    DraftedPart,
    EvidencePart,
    GapPart,
    GatePart,
    LevelPart,
    LimitsPart,
    Progress,
    QualityPart,
    RoundPart,
    RunPart,
    UnitPart,
    UnitsPart,
    VerdictPart,
)
from research.readmodel.run_rows import Committed, Quote, marked_row
from research.threads.verdicts import after_review, is_rejected
from research.worker.commands import possible_commands


def load_progress(run: Run) -> Progress:
    """Return the progress payload of a run as committed now."""
    return build_payload(Committed(Run.objects.get(pk=run.pk)))


def build_payload(rows: Committed) -> Progress:
    run = rows.run
    return Progress(
        run=_run(rows),
        verdict=VerdictPart(
            text=run.verdict, termination_reason=run.termination_reason, asks=run.asks
        ),
        action=_action(run),
        draft=[DraftedPart(**sentence) for sentence in run.draft],
        control=_control(run, rows.commands),
        quality=_quality(run, rows.config, rows.rounds),
        aspects=_aspects(rows.aspects, rows.evidence, rows.quotes),
        gaps=[_gap(gap) for gap in rows.gaps],
        units=_units(rows.units, rows.rounds),
        gate=evidence_gate(rows),
        evidence=_evidence(rows.evidence, rows.quotes),
        usage=_usage(run),
        failures=_usage(run)["failures"],
        budget=_budget(_usage(run), rows.config),
        limits=_limits(rows.config, rows.bounds),
        level=_level(run, rows.config, rows.units),
    )


def how_far(now: Progress) -> str:
    """`round 2 of up to 5`, in the fixed mode `level 1 of 2, 3 of 4 queries done`."""
    level = now.level
    if level is None:
        return f"round {now.run.round} of up to {now.run.rounds_at_most}"
    done = f", {level.breadth_done} of {level.breadth_total} queries done"
    return f"level {level.depth} of {level.depth_total}{done if level.breadth_total else ''}"


def evidence_gate(rows: Committed) -> GatePart:
    """Return the gate as last evaluated, without evidence that a reviewer has rejected since."""
    recorded = [row for row in rows.gates if row.gate == "evidence"]
    if not recorded:
        return GatePart(status="none", round=None, reason=[], criteria=[], rejected=0)
    now = after_review(recorded[-1], rows.evidence, _keys(rows.quotes), rows.bounds)
    return GatePart.model_validate(
        {
            "status": now.decision,
            "round": now.round,
            "reason": now.feedback,
            "criteria": now.criteria,
            "rejected": sum(map(is_rejected, rows.evidence)),
        }
    )


def _run(rows: Committed) -> RunPart:
    run = rows.run
    fixed = run.mode == Mode.FIXED
    most = rows.config.deep_research_depth if fixed else rows.bounds.rounds
    made = {
        "id": run.public_id,
        "phase": run_phase(rows),
        "stage_progress": stage_progress(rows),
        "rounds_at_most": max(run.round, most),
    }
    named = {name: getattr(run, name) for name in RunPart.model_fields if name not in made}
    return RunPart.model_validate({**made, **named})


def _action(run: Run) -> ActionPart | None:
    if not run.action or run.action_at is None or run.ended:
        return None
    return ActionPart(text=run.action, since=run.action_at)


def _control(run: Run, commands: Iterable[Command]) -> ControlPart:
    told = [
        CommandPart(
            kind=row.kind,
            topic=row.payload.get("topic"),
            text=row.payload.get("text"),
            at=row.created_at,
            taken=row.taken_at_place is not None,
        )
        for row in commands
    ]
    pending = {part.kind for part in told if not part.taken}
    possible = possible_commands(
        run.status, run.mode, run.asks, has_model=run.has_model, told=pending
    )
    return ControlPart(possible=[kind.value for kind in possible], told=told)


def _quality(run: Run, config: ResearchConfig, rounds: Sequence[Round]) -> QualityPart:
    judged = [row for row in rounds if row.score is not None]
    return QualityPart(
        score=run.quality_score,
        threshold=config.adaptive_quality_threshold,
        dimensions=judged[-1].dimensions if judged else {},
        history=[
            RoundPart(
                number=row.number, score=row.score, novelty=row.novelty, decision=row.decision
            )
            for row in rounds
        ],
    )


def _aspects(
    aspects: Iterable[Aspect], evidence: Iterable[Evidence], quotes: Iterable[Quote]
) -> list[AspectPart]:
    """Return the sub-questions with the evidence that answers them, best first.

    A row's labels include evidence found for another sub-question, and exclude what is barely
    relevant.
    """
    keys, found = _keys(quotes), {one.label: one for one in evidence}
    return [
        _aspect(aspect, [found[each] for each in aspect.evidence_labels if each in found], keys)
        for aspect in aspects
    ]


def _keys(quotes: Iterable[Quote]) -> dict[int, set[str]]:
    """Return the independence keys of each evidence record, by its primary key."""
    keys: dict[int, set[str]] = defaultdict(set)
    for evidence_id, key, _ in quotes:
        keys[evidence_id].add(key)
    return keys


def _aspect(aspect: Aspect, found: Sequence[Evidence], keys: dict[int, set[str]]) -> AspectPart:
    shown = marked_row(aspect, set().union(*(keys[one.pk] for one in found)))
    return AspectPart(
        id=aspect.label,
        text=aspect.text,
        state=aspect.state,
        mark=shown.mark,
        raised_by=aspect.raised_by,
        best_claim=found[0].claim if found else None,
        evidence=len(found),
        sources=shown.sources,
        open_points=shown.open_points,
        dropped=aspect.dropped,
    )


def _gap(gap: Gap) -> GapPart:
    return GapPart(
        id=gap.label,
        text=gap.text,
        aspect=gap.aspect_label,
        critical=gap.critical,
        opened_round=gap.opened_round,
        closed_round=gap.closed_round,
    )


def _units(units: Sequence[Unit], rounds: Iterable[Round]) -> UnitsPart:
    running = [unit for unit in units if unit.status is None]
    return UnitsPart(
        dispatched=len(units),
        skipped=sum(len(row.skipped) for row in rounds),
        current_queries=[query for unit in running for query in unit.queries],
        completed_queries=sum(len(unit.queries) for unit in units if unit.status),
        items=[
            UnitPart(**{name: getattr(unit, name) for name in UnitPart.model_fields})
            for unit in units
        ],
    )


def _level(run: Run, config: ResearchConfig, units: Iterable[Unit]) -> LevelPart | None:
    if run.mode != Mode.FIXED:
        return None
    here = [unit for unit in units if unit.round == run.round]
    return LevelPart(
        depth=run.round,
        depth_total=config.deep_research_depth,
        breadth_done=sum(unit.status is not None for unit in here),
        breadth_total=len(here),
    )


def _evidence(evidence: Sequence[Evidence], quotes: Sequence[Quote]) -> EvidencePart:
    return EvidencePart(
        count=len(evidence),
        sources=len({key for _, key, _ in quotes}),
        domains=list(dict.fromkeys(domain for *_, domain in quotes)),
    )


def _usage(run: Run) -> dict[str, Any]:
    return {**vars(Usage()), **run.usage}


def _budget(usage: dict[str, Any], config: ResearchConfig) -> list[BudgetPart]:
    tokens = usage["prompt_tokens"] + usage["completion_tokens"]
    meters = (
        ("time", "seconds", usage["seconds"], config.max_seconds),
        ("calls", "calls", usage["llm_calls"], config.max_llm_calls),
        ("tokens", "tokens", tokens, config.max_tokens),
        ("cost", "US dollars", usage["cost_usd"], config.max_cost_usd),
        ("searches", "searches", usage["searches"], config.max_searches),
        ("fetches", "pages", usage["fetches"], config.max_fetches),
    )
    return [
        BudgetPart(name=name, unit=unit, used=used, limit=limit)
        for name, unit, used, limit in meters
    ]


def _limits(config: ResearchConfig, bounds: Limits) -> LimitsPart:
    return LimitsPart(
        **vars(bounds),
        quality_threshold=config.adaptive_quality_threshold,
        novelty_threshold=config.min_novelty_threshold,
        improvement_threshold=config.min_improvement_threshold,
        duplicate_threshold=config.duplicate_topic_similarity_threshold,
    )


@dataclass(frozen=True)
class Waiting:
    """`ahead` counts queued runs with an earlier turn; `read` of `files` documents are indexed."""

    ahead: int
    read: int = 0
    files: int = 0


def why_waiting(run: Run) -> Waiting | None:
    """Return what a queued run waits for; None for other runs."""
    if run.status != Status.QUEUED:
        return None
    if (place := place_of(run)) is not None:
        return Waiting(place.position - 1)
    wanted = [each["id"] for each in run.sources.get("collections", ())]
    rows = Collection.objects.filter(public_id__in=wanted, done__lt=F("total"))
    counts = rows.aggregate(read=Sum("done"), files=Sum("total"))
    return Waiting(0, counts["read"] or 0, counts["files"] or 0)
