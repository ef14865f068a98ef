"""The stages of a run and what leads from one to the next: one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from research.engine.records import GateName, GateResult, Stage

Event = GateName | Literal["early_end", "draft_failed", "more_research"]

TRANSITIONS: dict[tuple[Stage, Event], Stage] = {
    (Stage.OVERVIEW, "overview"): Stage.DEEP_RESEARCH,
    (Stage.DEEP_RESEARCH, "deep_research"): Stage.VERIFICATION,
    (Stage.VERIFICATION, "report_ready"): Stage.REPORT,
    (Stage.OVERVIEW, "early_end"): Stage.REPORT,
    (Stage.DEEP_RESEARCH, "early_end"): Stage.REPORT,
    (Stage.VERIFICATION, "early_end"): Stage.REPORT,
    (Stage.VERIFICATION, "more_research"): Stage.DEEP_RESEARCH,
    (Stage.REPORT, "draft_failed"): Stage.DEEP_RESEARCH,
}
"""A gate's name stands for its being passed, or for nothing more being to be had.

Only rounds that look for other sources on weak claims, or settle disputed ones, are verification;
a round that works on anything else is research, also after one of them.
"""

GATE_OF: dict[Stage, GateName] = {
    Stage.OVERVIEW: "overview",
    Stage.DEEP_RESEARCH: "deep_research",
    Stage.VERIFICATION: "report_ready",
}


def after_gates(
    stage: Stage, results: Mapping[GateName, GateResult], *, at_most: Stage = Stage.REPORT
) -> Stage:
    """Return the furthest stage, up to `at_most`, whose gates in order all let the run through."""
    while stage is not at_most and stage in GATE_OF:
        gate = GATE_OF[stage]
        if gate not in results or results[gate].decision == "retry":
            return stage
        stage = TRANSITIONS[stage, gate]
    return stage


def next_stage(stage: Stage, event: Event) -> Stage:
    """Return the stage that an event leads to; an unrelated event changes nothing."""
    return TRANSITIONS.get((stage, event), stage)
