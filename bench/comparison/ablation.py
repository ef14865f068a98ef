"""What each gate, cap and stop rule is worth: the engine without it, on the same questions.

A rule that changes no outcome is dead weight, or the questions don't reach it. So each rule is
taken out under every analyst that could make it act, honest or not, and under limits so tight
that they do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from bench.comparison.figures import Figures
from bench.comparison.running import EXTRACTIVE, Bench
from bench.comparison.variant import AS_IT_IS, Variant, without_verification
from bench.world.hostile import HONEST
from research.engine import copies, gates, loop, quality, verdict
from research.engine.config import ResearchConfig
from research.engine.records import Criterion, StopReason
from research.engine.stopping import Continue, Decision, Situation, Stop, reasons

Knobs = Mapping[str, Any]
EAGER, TIRELESS, LYING = "oracle-always-stop", "oracle-always-continue", "oracle-false-claims"
STRICT: Knobs = {"adaptive_quality_threshold": 10.0}
FEW: Knobs = {"min_evidence_records": 1, "min_source_domains": 1}
LENIENT: Knobs = {**FEW, "gate_overview_pass_score": 0.0, "gate_deep_pass_score": 0.0}
PATIENT: Knobs = {"adaptive_max_depth": 10, "adaptive_soft_depth": (10, 10, 10)}


@dataclass(frozen=True)
class Setting:
    """Who answers, under which limits."""

    name: str
    model: str = HONEST
    knobs: Knobs = field(default_factory=dict)


ORDINARY = (
    Setting("oracle"),
    Setting("oracle, threshold 10", knobs=STRICT),
    Setting("always stops", EAGER),
    Setting("always stops, one record is enough", EAGER, FEW),
    Setting("always stops, lenient gates", EAGER, LENIENT),
    Setting("never satisfied", TIRELESS),
    Setting("never satisfied, ten rounds", TIRELESS, PATIENT),
    Setting("false claims", LYING),
    Setting("no model", EXTRACTIVE),
)


@dataclass(frozen=True)
class Ablation:
    """`without` is the engine that lacks the rule; `loosened` are knobs that do the same."""

    rule: str
    without: Variant = AS_IT_IS
    loosened: Knobs = field(default_factory=dict)
    settings: tuple[Setting, ...] = ORDINARY


@dataclass(frozen=True)
class Ablated:
    """One question with a rule and without it."""

    rule: str
    setting: str
    kept: Figures
    lost: Figures

    @property
    def changed(self) -> bool:
        return _outcome(self.kept) != _outcome(self.lost)


def _outcome(figures: Figures) -> tuple[object, ...]:
    """What a reader would notice: why it ended, when, what it found, what it says."""
    score = figures.score
    return (
        score.reason, score.rounds, score.evidence_recall, score.report_recall,
        figures.quotes, figures.statements, figures.status,
    )  # fmt: skip


async def ablate_all(bench: Bench) -> list[Ablated]:
    return await ablate(bench, ABLATIONS)


async def ablate(bench: Bench, ablations: Sequence[Ablation]) -> list[Ablated]:
    """Every question of the world with each rule and without it, in each of its settings."""
    found = []
    for question in bench.running.world.questions:
        known: dict[str, Figures] = {}
        for ablation in ablations:
            for setting in ablation.settings:
                if setting.name not in known:
                    ran = await bench.run(question, setting.knobs, model=setting.model)
                    known[setting.name] = ran.figures
                knobs = {**setting.knobs, **ablation.loosened}
                lost = await bench.run(
                    question, knobs, model=setting.model, variant=ablation.without
                )
                found.append(
                    Ablated(ablation.rule, setting.name, known[setting.name], lost.figures)
                )
    return found


# --- how a rule is taken out ------------------------------------------------------------------


def _without_reason(reason: StopReason) -> Variant:
    def rule(now: Situation, config: ResearchConfig) -> Decision:
        other = next((r for r in reasons(now, config) if r is not reason), None)
        return Stop(other) if other else Continue()

    return Variant(f"without {reason}", engine=lambda: patch.object(verdict, "decide", rule))


def _seeing(**changes: object) -> Variant:
    """The stop rule, told something else than what is so."""

    def rule(now: Situation, config: ResearchConfig) -> Decision:
        reason = next(reasons(replace(now, **changes), config), None)  # type: ignore[arg-type]
        return Stop(reason) if reason else Continue()

    return Variant(f"blind to {changes}", engine=lambda: patch.object(verdict, "decide", rule))


def _open_gate(name: str) -> Variant:
    """A gate whose criteria ask for nothing."""
    formula: Callable[..., tuple[Criterion, ...]] = getattr(gates, name)

    def nothing(*told: object) -> tuple[Criterion, ...]:
        return tuple(replace(criterion, minimum=0) for criterion in formula(*told))

    return Variant(f"without {name}", engine=lambda: patch.object(gates, name, nothing))


def _patched(where: object, name: str, value: object) -> Variant:
    def entered() -> AbstractContextManager[object]:
        return patch.object(where, name, value)

    return Variant(f"{name} replaced", engine=entered)


def _limit(rule: str, knob: str, tight: float) -> Ablation:
    """A limit so tight that it acts, against the same run with the ordinary one."""
    ordinary = ResearchConfig.model_fields[knob].default
    setting = Setting(f"{knob} {tight:g}", knobs={knob: tight})
    return Ablation(rule, loosened={knob: ordinary}, settings=(setting,))


ABLATIONS = (
    Ablation("gate 1, overview", _open_gate("_overview")),
    Ablation("gate 2, deep research", _open_gate("_deep_research")),
    Ablation("evidence gate", _open_gate("_evidence")),
    Ablation("draft gate", _patched(loop, "reopens", lambda *_: False)),
    Ablation("verification", Variant("unverified", engine=without_verification)),
    Ablation("score's cap", _patched(quality, "cap", lambda *_: (10.0, ""))),
    Ablation("score below the threshold while the evidence gate fails",
             _patched(quality, "BELOW_THRESHOLD", -10.0)),
    Ablation("near-copies are one source", _patched(copies, "COPIED", 2.0)),
    Ablation("critical gaps hold", _seeing(critical_gaps=0)),
    Ablation("bridges hold", _seeing(bridge=False)),
    Ablation("news holds", _seeing(had_news=False)),
    *(
        Ablation(f"stop: {reason}", _without_reason(reason))
        for reason in (
            StopReason.QUALITY_MET, StopReason.NO_GAPS, StopReason.NOTHING_FOUND,
            StopReason.STUCK, StopReason.NO_NOVELTY, StopReason.DIMINISHING_QUALITY,
            StopReason.MAX_ROUNDS,
        )
    ),
    Ablation("minimum depth", loosened={"adaptive_min_depth": 1},
             settings=(Setting("minimum depth 3", knobs={"adaptive_min_depth": 3}),)),
    Ablation("near-duplicate topics refused",
             loosened={"duplicate_topic_similarity_threshold": 1.0}),
    Ablation("claims of a unit", loosened={"max_evidence_claims_per_research_unit": 50}),
    _limit("sources of a claim", "max_source_urls_per_claim", 1),
    _limit("stop: max_units", "max_research_units", 3),
    _limit("stop: budget_calls", "max_llm_calls", 6),
    _limit("stop: budget_tokens", "max_tokens", 20_000),
    _limit("stop: budget_searches", "max_searches", 3),
    _limit("stop: budget_fetches", "max_fetches", 4),
    _limit("stop: budget_time", "max_seconds", 0.5),
)  # fmt: skip


# --- read off -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A rule's worth: runs whose outcome it changed, and what the changed ones lost by it.

    The differences are without − with, means over the changed runs.
    """

    rule: str
    runs: int
    changed: int
    where: str
    rounds: float
    recall: float
    calls: float


def rows(found: Sequence[Ablated]) -> Iterator[Row]:
    for rule in dict.fromkeys(each.rule for each in found):
        of_rule = [each for each in found if each.rule == rule]
        changed = [each for each in of_rule if each.changed]
        where = dict.fromkeys(each.setting for each in changed)
        yield Row(
            rule,
            len(of_rule),
            len(changed),
            ", ".join(where),
            _difference(changed, lambda f: f.score.rounds),
            _difference(changed, lambda f: f.score.report_recall or 0.0),
            _difference(changed, lambda f: f.cost.model_calls),
        )


def _difference(changed: Sequence[Ablated], figure: Callable[[Figures], float]) -> float:
    differences = [operator.sub(figure(each.lost), figure(each.kept)) for each in changed]
    return sum(differences) / len(differences) if differences else 0.0
