"""Gates, caps and stop rules of the engine: how to remove each, and when it has to act."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bench.comparison.ablation import Ablated, Ablation, Setting, ablate
from bench.comparison.running import EXTRACTIVE, Bench
from bench.comparison.variant import Variant
from bench.world.hostile import HONEST, TYING
from research.engine import (
    Continue,
    Decision,
    GateName,
    ResearchConfig,
    Rules,
    Situation,
    Stop,
    StopReason,
    stop_reasons,
)
from research.engine import StopReason as R

EAGER, TIRELESS = "oracle-always-stop", "oracle-always-continue"
OVERRATING, IMPROVING, REPEATING = "oracle-overrating", "oracle-improving", "oracle-repeating"
MALFORMED, MISSING = "oracle-malformed", "one thing missing"
READY = "gate 3, ready for the report"
ONE_A_ROUND = {"topics_per_round": (1, 1, 1)}
FEW = {"min_evidence_records": 1, "min_source_domains": 1}
FEW_PAGES = {"max_pages_per_round": 6}
STRICT = {"adaptive_quality_threshold": 10.0}
NOT_CRITICAL = Setting(OVERRATING, STRICT, MISSING)
"""Something is missing that is called not critical: early ends wait for critical gaps."""
DEEPER = Setting(commands=("dig_deeper",))
ENDLESS = Setting(TIRELESS, {"adaptive_max_depth": 10, "adaptive_soft_depth": (10, 10, 10)})


async def ablate_all(bench: Bench) -> list[Ablated]:
    return await ablate(bench, ABLATIONS)


# --- how a rule is taken out ------------------------------------------------------------------


def without_reason(reason: StopReason) -> Variant:
    def rule(now: Situation, config: ResearchConfig) -> Decision:
        other = next((r for r in stop_reasons(now, config) if r is not reason), None)
        return Stop(other) if other else Continue()

    return Variant("another stop rule", rules=Rules(decide_stop=rule))


def seeing(**changes: object) -> Variant:
    """Return the stop rule, told something else than what is so."""

    def rule(now: Situation, config: ResearchConfig) -> Decision:
        reason = next(stop_reasons(replace(now, **changes), config), None)  # type: ignore[arg-type]
        return Stop(reason) if reason else Continue()

    return Variant("another stop rule", rules=Rules(decide_stop=rule))


def without(**rules: Any) -> Variant:
    """Return an engine that applies these rules instead of the default ones."""
    return Variant(", ".join(rules), rules=Rules(**rules))


def open_gate(name: GateName) -> Variant:
    """Return a gate whose criteria ask for nothing."""
    return without(open_gates=frozenset({name}))


def limit(rule: str, knob: str, tight: object, model: str = HONEST, **more: Any) -> Ablation:
    """Return a limit so tight that it acts, against the same run with the ordinary one."""
    ordinary = ResearchConfig.model_fields[knob].default
    return Ablation(rule, (Setting(model, {knob: tight, **more}),), loosened={knob: ordinary})


def stop(reason: StopReason, *settings: Setting) -> Ablation:
    return Ablation(f"stop: {reason}", settings, without_reason(reason))


# --- the gates ------------------------------------------------------------------------------------

GATES = (
    Ablation("gate 1, overview", (Setting(supply="lone pages"),), open_gate("overview")),
    Ablation(
        "gate 2, deep research",
        (Setting(supply="copied"), Setting(EAGER, {**ONE_A_ROUND, **FEW})),
        open_gate("deep_research"),
    ),
    Ablation(
        "evidence gate",
        (Setting(EAGER), Setting(EAGER, ONE_A_ROUND), Setting(supply="one site")),
        open_gate("evidence"),
    ),
    Ablation(
        "what a gate lacks is looked for",
        (Setting(EAGER, ONE_A_ROUND),),
        without(seeks_what_gates_lack=False),
    ),
    Ablation(
        "not to be had",
        (Setting(OVERRATING, {"gate_deep_pass_score": 1.0}, MISSING),),
        without(gives_up_aspects=False),
    ),
    Ablation(READY, (Setting(), Setting(EAGER), Setting(TIRELESS)), open_gate("report_ready")),
    Ablation("draft gate", (Setting(TIRELESS),), without(reopens_after_draft=False)),
    Ablation(
        "verification",
        (Setting(knobs=FEW_PAGES),),
        without(verifies_claims=False),
    ),
)

# --- the score, and what holds a stop up ----------------------------------------------------------

SCORE = (
    Ablation(
        "score's cap",
        (Setting(OVERRATING, {"adaptive_quality_threshold": 9.0}), Setting(EAGER)),
        without(score_cap=lambda *_: (10.0, "")),
    ),
    Ablation(
        "score below the threshold while the evidence gate fails",
        (Setting(EAGER, {"min_evidence_records": 12}),),
        without(holds_score_down=False),
    ),
    Ablation(
        "near-copies are one source",
        (Setting(supply="copied"),),
        without(near_copy_share=2.0),
    ),
    Ablation("critical gaps hold", (Setting(), Setting(TYING)), seeing(critical_gaps=0)),
    Ablation("news holds", (Setting(),), seeing(had_news=False)),
    Ablation("bridges hold", (Setting(EXTRACTIVE),), seeing(bridge=False)),
    Ablation(
        "minimum depth",
        (Setting(knobs={"adaptive_min_depth": 3}),),
        loosened={"adaptive_min_depth": 1},
    ),
    Ablation("a person's wish to dig deeper", (DEEPER,), seeing(wished=0)),
)

# --- the stop rule, in its order ------------------------------------------------------------------

STOPS = (
    Ablation(f"stop: {R.CANCELLED}", (Setting(commands=("cancel",)),), seeing(command=None)),
    Ablation(f"stop: {R.USER_STOPPED}", (Setting(commands=("stop",)),), seeing(command=None)),
    limit(f"stop: {R.BUDGET_TIME}", "max_seconds", 0.3),
    limit(f"stop: {R.BUDGET_CALLS}", "max_llm_calls", 6),
    limit(f"stop: {R.BUDGET_TOKENS}", "max_tokens", 36_000),
    limit(f"stop: {R.BUDGET_COST}", "max_cost_usd", 0.06),
    limit(f"stop: {R.BUDGET_SEARCHES}", "max_searches", 3),
    limit(f"stop: {R.BUDGET_FETCHES}", "max_fetches", 4),
    limit(f"stop: {R.MAX_UNITS}", "max_research_units", 3),
    stop(R.MAX_ROUNDS, Setting(TIRELESS), Setting(knobs=ONE_A_ROUND)),
    stop(R.PAGES_UNREADABLE, Setting(supply="unreadable")),
    stop(R.NOTHING_FOUND, Setting()),
    stop(R.QUALITY_MET, Setting(), Setting(OVERRATING)),
    stop(R.NO_GAPS, Setting(knobs={"adaptive_quality_threshold": 10.0, **FEW_PAGES})),
    stop(R.STUCK, Setting(supply=MISSING), Setting(IMPROVING, supply=MISSING)),
    stop(R.NO_NOVELTY, NOT_CRITICAL),
    stop(
        R.DIMINISHING_QUALITY, replace(NOT_CRITICAL, knobs={**STRICT, "min_novelty_threshold": 0.0})
    ),
    Ablation(
        "early ends switched on",
        (NOT_CRITICAL,),
        loosened={"enable_early_termination": False},
    ),
    limit(f"stop: {R.TREE_COMPLETE}", "deep_research_depth", 1, deep_research_mode="fixed"),
)

# --- the caps -----------------------------------------------------------------------------------

CAPS = (
    limit("cap: rounds before the soft end", "adaptive_soft_depth", (1, 1, 1)),
    limit("cap: rounds", "adaptive_max_depth", 1),
    limit("cap: topics of a round", "topics_per_round", (1, 1, 1)),
    limit("cap: pages of a round", "max_pages_per_round", 2),
    limit("cap: tool calls of a topic", "unit_tool_calls", (2, 2, 2)),
    limit("cap: searches of a topic", "researcher_search_budget", 1, model=TIRELESS),
    limit("cap: results of a search", "max_search_results_for_agent", 1),
    limit("cap: claims of a page", "max_evidence_claims_per_research_unit", 1),
    limit("cap: sources of a claim", "max_source_urls_per_claim", 1),
    limit("cap: findings in a prompt", "supervisor_notes_max_bullets", 2),
    limit("cap: attempts of a model task", "max_model_attempts", 1, model=MALFORMED),
    Ablation("cap: sub-questions", (ENDLESS,), without(most_aspects=99)),
    Ablation(
        "near-duplicate topics refused",
        (Setting(REPEATING), Setting(REPEATING, supply="lone pages")),
        without(refuses_repeated_topics=False),
    ),
    Ablation(
        "a round that does not fit is not begun",
        (Setting(knobs={"max_llm_calls": 11}), Setting(TIRELESS, {"max_llm_calls": 12})),
        without(foresees_next_round=False),
    ),
    Ablation(
        "one last broad search",
        (Setting(TIRELESS, {"max_llm_calls": 12}),),
        without(searches_broadly_last=False),
    ),
    Ablation(
        "the report's share of the budgets",
        (Setting(knobs={"max_llm_calls": 8}),),
        without(reserves_report=False),
    ),
)

ABLATIONS: tuple[Ablation, ...] = (*GATES, *SCORE, *STOPS, *CAPS)
