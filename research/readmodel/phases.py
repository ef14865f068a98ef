"""Phase of a run and progress within its stage, derived from its committed rows."""

from __future__ import annotations

from enum import StrEnum

from research.engine.assessment.stages import GATE_OF
from research.engine.records import ENDED, WAITING, Stage, Status
from research.models import GateResult
from research.models.runs import Mode
from research.readmodel.run_rows import Committed


class Phase(StrEnum):
    """Phases of a run; `waiting` means waiting for the user."""

    QUEUED = "queued"
    PLANNING = "planning"
    WAITING = "waiting"
    RESEARCHING = "researching"
    VERIFYING = "verifying"
    EVALUATING = "evaluating"
    WRITING = "writing"
    ENDED = "ended"


_OF_STATUS = {
    Status.QUEUED: Phase.QUEUED,
    Status.INTAKE: Phase.PLANNING,
    Status.WRITING: Phase.WRITING,
    **dict.fromkeys(WAITING, Phase.WAITING),
    **dict.fromkeys(ENDED, Phase.ENDED),
}


def run_phase(rows: Committed) -> Phase:
    """Return the phase; a round whose units have all ended is being evaluated."""
    if found := _OF_STATUS.get(Status(rows.run.status)):
        return found
    if units_done(rows) == 1:
        return Phase.EVALUATING
    return Phase.VERIFYING if rows.run.stage == Stage.VERIFICATION else Phase.RESEARCHING


def stage_progress(rows: Committed) -> float:
    """Return the run's progress within its stage, 0-1.

    It is the share of the gate's threshold reached at its last evaluation, plus half of the rest
    in proportion to the round's finished units. The fixed mode counts levels instead; the report is
    at one half once sentences are written.
    """
    run = rows.run
    if run.status in ENDED:
        return 1.0
    if run.stage == Stage.REPORT:
        return 0.5 if run.draft else 0.0
    if run.status != Status.RESEARCHING or not run.round:
        return 0.0
    if run.mode == Mode.FIXED:
        return round((run.round - 1 + units_done(rows)) / rows.config.deep_research_depth, 2)
    met = _gate_share(rows)
    return round(met + (1 - met) * units_done(rows) / 2, 2)


def units_done(rows: Committed) -> float:
    """Return the share of the open round's units that have ended; 0 if there is none."""
    number = rows.run.round
    here = [unit.status for unit in rows.units if unit.round == number]
    is_open = any(row.number == number and not row.closed for row in rows.rounds)
    return sum(status is not None for status in here) / len(here) if here and is_open else 0.0


def _gate_share(rows: Committed) -> float:
    gate = GATE_OF[Stage(rows.run.stage)]
    judged = [row for row in rows.gates if row.gate == gate]
    return _share(max(judged, key=lambda row: row.round)) if judged else 0.0


def _share(result: GateResult) -> float:
    """Return the share of the gate's threshold, or of its criteria's minima if it has none."""
    if result.score is None:
        return 0.0
    return min(1.0, result.score / result.threshold) if result.threshold else result.score
