"""Replays of finished runs under other thresholds: of one run, and stored ones of many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from asgiref.sync import async_to_sync
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, QuerySet

from research.engine.journal import EarlierFormError
from research.engine.records import StopReason
from research.models import Run, WhatIf
from research.models.runs import REWRITES, Mode
from research.runtime.program import ENGINE_VERSION
from research.services.errors import ServiceError
from research.services.people import require_access
from research.worker.replay import Cost, Replay, replay_run

THRESHOLDS = (4.0, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0, 9.0)
NOT_REPLAYABLE = "Only a finished run that did research can be replayed."


@dataclass(frozen=True)
class ThresholdEffect:
    """Effect of a threshold over all runs whose replay was complete.

    Shares are 0-1 of what these runs took: `cost_saved` is None if a price is unknown or nothing
    was paid. Negative shares are more than the runs took. `left_out` counts the runs whose journal
    ended first, and those of earlier versions.
    """

    threshold: float
    runs: int
    left_out: int
    cost_saved: float | None
    calls_saved: float
    evidence_lost: float


def can_replay(run: Run) -> bool:
    searched = run.kind not in REWRITES and not run.answered_at_once
    return run.status == "completed" and run.mode == Mode.ADAPTIVE and searched


def replay_with(actor: AbstractUser, run: Run, changes: dict[str, str]) -> Replay:
    """Replay a run with some knobs changed; raise `ServiceError`, or `ConfigError` for a knob."""
    require_access(actor, run)
    if not can_replay(run):
        raise ServiceError(NOT_REPLAYABLE)
    try:
        replay: Replay = async_to_sync(replay_run)(run, changes)
    except EarlierFormError as error:
        raise ServiceError(str(error)) from None
    return replay


# --- many runs -------------------------------------------------------------------------------


def replayable_runs() -> QuerySet[Run]:
    """Return the runs that can be replayed, newest first."""
    done = Run.objects.filter(status="completed", mode=Mode.ADAPTIVE)
    done = done.exclude(termination_reason=StopReason.KNOWN_BEFORE)
    return done.exclude(kind__in=REWRITES).order_by("-created_at", "-pk")


def missing_runs(last: int) -> list[Run]:
    """Return those of the newest `last` runs that lack a stored replay of this engine version."""
    newest = replayable_runs().values_list("pk", flat=True)[:last]
    current = Count("what_if", filter=Q(what_if__engine_version=ENGINE_VERSION))
    runs = replayable_runs().filter(pk__in=list(newest)).annotate(stored=current)
    return list(runs.filter(stored__lt=len(THRESHOLDS)))


def store_replays(
    actor: AbstractUser | None,
    last: int,
    seconds: float = float("inf"),
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Replay the newest `last` runs under each threshold and store the outcomes.

    Return how many runs are left after `seconds`. `actor` None is the command line; else staff.
    """
    if actor is not None and not actor.is_staff:
        raise PermissionDenied("Replays of all runs are for admins.")
    waiting, until = missing_runs(last), clock() + seconds
    while waiting and clock() < until:
        _store_run(waiting.pop(0))
    return len(waiting)


def _store_run(run: Run) -> None:
    rows = [_row_of(run, each, _replay_threshold(run, each)) for each in THRESHOLDS]
    WhatIf.objects.filter(run=run).delete()
    WhatIf.objects.bulk_create(rows)


def _replay_threshold(run: Run, threshold: float) -> Replay:
    """Return the replay; one that ends where it begins for a run of an earlier version."""
    changes = {"ADAPTIVE_QUALITY_THRESHOLD": str(threshold)}
    try:
        replay: Replay = async_to_sync(replay_run)(run, changes)
    except EarlierFormError:
        return Replay(run.public_id, changes, journal_ends="form")
    return replay


def _row_of(run: Run, threshold: float, replay: Replay) -> WhatIf:
    return WhatIf(
        run=run,
        threshold=threshold,
        engine_version=ENGINE_VERSION,
        is_complete=replay.journal_ends is None,
        rounds=len(replay.rounds),
        run_rounds=run.round,
        calls=count_calls(replay.used),
        run_calls=count_calls(replay.run_used),
        cost_usd=replay.used.cost_usd,
        run_cost_usd=replay.run_used.cost_usd,
        evidence_lost=len(replay.evidence_lost),
        run_evidence=replay.run_evidence,
    )


def count_calls(cost: Cost) -> int:
    """Return all outside calls: model, searches and fetches."""
    return cost.llm_calls + cost.searches + cost.fetches


def threshold_effects(last: int) -> list[ThresholdEffect]:
    """Return the effect of each threshold over the stored replays of the newest `last` runs."""
    newest = list(replayable_runs().values_list("pk", flat=True)[:last])
    rows = WhatIf.objects.filter(run__in=newest, engine_version=ENGINE_VERSION)
    of_threshold: dict[float, list[WhatIf]] = {}
    for row in rows:
        of_threshold.setdefault(row.threshold, []).append(row)
    return [_effect(threshold, of_threshold[threshold]) for threshold in sorted(of_threshold)]


def _effect(threshold: float, rows: Sequence[WhatIf]) -> ThresholdEffect:
    counted = [row for row in rows if row.is_complete]
    paid = [(row.cost_usd, row.run_cost_usd) for row in counted]
    known = [(ours, theirs) for ours, theirs in paid if ours is not None and theirs is not None]
    costs_known = len(known) == len(paid) and sum(theirs for _, theirs in known) > 0
    return ThresholdEffect(
        threshold=threshold,
        runs=len(counted),
        left_out=len(rows) - len(counted),
        cost_saved=_saved(known) if costs_known else None,
        calls_saved=_saved((row.calls, row.run_calls) for row in counted),
        evidence_lost=_share(
            sum(row.evidence_lost for row in counted), sum(row.run_evidence for row in counted)
        ),
    )


def _saved(pairs: Iterable[tuple[float, float]]) -> float:
    """Return the share saved, from pairs of what was used and what had been used before."""
    listed = list(pairs)
    before = sum(theirs for _, theirs in listed)
    return _share(before - sum(ours for ours, _ in listed), before)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
