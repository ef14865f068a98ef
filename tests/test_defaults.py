"""Each default that `docs/requirements.md` names stands in its row, and is the one in the code."""

from __future__ import annotations

import ast
import inspect
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from config import settings
from dashboard.command_line import remote
from dashboard.contexts import rounds
from research.engine import limits
from research.engine.assessment import criteria
from research.engine.config import ResearchConfig
from research.engine.evidence import ledger, quotes, store
from research.engine.llm_tasks import assess, draft, judge, read
from research.engine.llm_tasks.prompting import prompt_pages
from research.engine.records import Complexity, StopReason
from research.engine.report import report_gate
from research.engine.rounds import topics
from research.fetch.fetch import FetchSettings
from research.notifications import dispatcher
from research.search import fallback
from research.search.providers.client import RetryPolicy
from tests.test_requirements import listed

CONFIG = ResearchConfig()
SIMPLE, ORDINARY, COMPLEX = (limits.limits_for(CONFIG, each) for each in Complexity)
FETCH = FetchSettings()
TREE = limits.tree_breadths(CONFIG)
EVIDENCE_GATE = criteria.evidence_criteria(0, 0, 0, ORDINARY)


def setting(name: str) -> Any:
    """The default that is declared in the settings, whatever this machine's environment says."""
    source = Path(str(inspect.getsourcefile(settings))).read_text()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args and ast.unparse(node.args[0]) == repr(name):
            return ast.literal_eval(node.args[1])
    raise LookupError(name)


def by_complexity(name: str) -> tuple[int, ...]:
    return tuple(getattr(each, name) for each in (SIMPLE, ORDINARY, COMPLEX))


@dataclass(frozen=True)
class Default:
    """`says` is how the row names it, `value` what the code has, `expected` what it has to be."""

    row: str
    says: str
    value: object
    expected: object

    def __str__(self) -> str:
        return f"{self.row}: {self.says}"


TABLE = (
    # the loop that adapts
    Default("A2", "Four marks", len(CONFIG.weights), 4),
    Default("A2", "1–10", tuple(map(assess._clamp_mark, (0, 11))), (1, 10)),
    Default("A2", "25 % each", set(CONFIG.weights.values()), {0.25}),
    Default("A3", "reaches 7.0", CONFIG.adaptive_quality_threshold, 7.0),
    Default("A4", "beyond 5 rounds", CONFIG.adaptive_max_depth, 5),
    Default("A4", "after 2, ordinary ones after 3", CONFIG.adaptive_soft_depth[:2], (2, 3)),
    Default("A6", "less than 0.5", CONFIG.min_improvement_threshold, 0.5),
    Default("A7", "minimum depth of 1 round", CONFIG.adaptive_min_depth, 1),
    Default("A8", "top 3 gaps", topics.TOP_GAPS, 3),
    Default("A8", "top 2 directions", topics.TOP_DIRECTIONS, 2),
    Default("A9", "up to 3 times", CONFIG.max_model_attempts - 1, 3),
    Default("A10", "19 reasons", len(StopReason), 19),
    Default("A13", "`adaptive`, the default", CONFIG.deep_research_mode, "adaptive"),
    Default("A14", "breadth (4)", CONFIG.deep_research_breadth, 4),
    Default("A14", "units at once (4)", CONFIG.max_concurrent_research_units, 4),
    # the fixed mode
    Default("B1", "Breadth 4", CONFIG.deep_research_breadth, 4),
    Default("B1", "depth 2", CONFIG.deep_research_depth, 2),
    Default("B1", "5 query generations", 1 + TREE[0], 5),
    Default("B1", "12 searches", TREE[0] + TREE[0] * TREE[1], 12),
    Default("B1", "12 extractions", TREE[0] + TREE[0] * TREE[1], 12),
    Default("B2", "half the breadth", TREE, (4, 2)),
    Default("B2", "at least 2 queries", limits.NARROWEST, 2),
    Default("B5", "by default 4", CONFIG.max_concurrent_research_units, 4),
    Default("B6", "25,000 words", draft.CONTEXT_WORDS, 25_000),
    # stages and gates
    Default("C2", "3 sources", CONFIG.gate_overview_min_sources, 3),
    Default("C2", "60 % of the pages read", criteria.RELEVANT_SHARE, 0.6),
    Default("C2", "relevance of 0.6", CONFIG.gate_overview_relevance, 0.6),
    Default("C2", "0.8", CONFIG.gate_overview_pass_score, 0.8),
    Default("C3", "2 independent sources", CONFIG.min_sources_per_aspect[1:], (2, 2)),
    Default("C3", "1 in a simple question", CONFIG.min_sources_per_aspect[0], 1),
    Default("C3", "cross-checked", ledger.CORROBORATED, 2),
    Default("C3", "0.7", CONFIG.gate_deep_pass_score, 0.7),
    Default("C4", "below 90 % key claims", report_gate.KEY_CLAIMS, 0.9),
    Default("C4", "50 % sound statements", report_gate.STATEMENTS, 0.5),
    Default("C7", "fewer than 3", fallback.FEW, 3),
    Default("C8", "at most 40 findings", CONFIG.supervisor_notes_max_bullets, 40),
    Default("C8", "1,200 words", CONFIG.supervisor_notes_word_budget, 1200),
    Default("C10", "2, 3 or 5 rounds", by_complexity("rounds"), (2, 3, 5)),
    Default("C10", "2, 4 or 4 topics", by_complexity("topics_per_round"), (2, 4, 4)),
    Default("C12", "600 s", CONFIG.max_seconds, 600),
    Default("C12", "60 calls", CONFIG.max_llm_calls, 60),
    Default("C12", "400,000 tokens", CONFIG.max_tokens, 400_000),
    Default("C12", "60 searches", CONFIG.max_searches, 60),
    Default("C12", "120 pages", CONFIG.max_fetches, 120),
    Default("C12", "money if set", CONFIG.max_cost_usd, None),
    Default("C13", "last five rounds", rounds.TREND, 5),
    Default("C13", "less than 15 % new words", CONFIG.min_novelty_threshold, 0.15),
    Default("C15", "off by default", CONFIG.ask_when_unsure, False),
    Default("C16", "Searches get 3 tries", RetryPolicy().tries, 3),
    Default("C16", "model tasks 4", CONFIG.max_model_attempts, 4),
    Default("C17", "24 hours", CONFIG.page_max_age_hours, 24),
    Default("C18", "32 at once", (FETCH.at_once, setting("FETCH_AT_ONCE")), (32, 32)),
    Default(
        "C18", "2 a host", (FETCH.at_once_per_host, setting("FETCH_AT_ONCE_PER_HOST")), (2, 2)
    ),
    Default(
        "C18", "0.1 s apart",
        (FETCH.interval_seconds, setting("FETCH_INTERVAL_SECONDS")), (0.1, 0.1),
    ),
    Default("C21", "SEARCH_KIND", CONFIG.search_kind, ("web",)),
    # evidence and safety
    Default("D3", "records (5)", ORDINARY.evidence_records, 5),
    Default("D3", "those that answer (5)", EVIDENCE_GATE[1].minimum, 5),
    Default("D3", "independent sources (3", ORDINARY.independent_sites, 3),
    Default("D3", "2/5/8", by_complexity("evidence_records"), (2, 5, 8)),
    Default("D3", "1/3/3", by_complexity("independent_sites"), (1, 3, 3)),
    Default("D5", "1 − 0.5ⁿ over n", [store.confidence_of(n, ()) for n in (1, 2)], [0.5, 0.75]),
    Default("D5", "× 0.8 where flagged", store.UNCERTAIN, 0.8),
    Default("D6", "5 claims", CONFIG.max_evidence_claims_per_research_unit, 5),
    Default("D6", "at most 20", read.MOST_WISHED, 20),
    Default("D6", "twice as many", read.GENEROUS, 2),
    Default("D6", "5 sources of a claim", CONFIG.max_source_urls_per_claim, 5),
    Default("D7", "at most 4 at once", CONFIG.max_concurrent_research_units, 4),
    Default("D9", "cut to 8", CONFIG.max_search_results_for_agent, 8),
    Default("D10", "8,000 characters", prompt_pages.PAGE_CHARACTERS, 8_000),
    Default("D14", "4 attempts", CONFIG.max_model_attempts, 4),
    Default("D17", "(off)", CONFIG.enable_online_evals, False),
    Default("D17", "the answer (60 %)", judge.ANSWER_SHARE, 0.6),
    Default("D17", "the process (40 %)", round(1 - judge.ANSWER_SHARE, 2), 0.4),
    Default("D18", "at most 40 findings", CONFIG.supervisor_notes_max_bullets, 40),
    Default("D18", "1,200 words", CONFIG.supervisor_notes_word_budget, 1200),
    Default("D19", "rounds 2/3/5", by_complexity("rounds"), (2, 3, 5)),
    Default("D19", "tool calls 4/5/10", by_complexity("tool_calls"), (4, 5, 10)),
    Default("D19", "pages a round 4/8/12", by_complexity("pages_per_round"), (4, 8, 12)),
    Default("D19", "evidence 2/5/8", by_complexity("evidence_records"), (2, 5, 8)),
    Default("D19", "less or more", CONFIG.research_depth, "standard"),
    # rounds that are worth their price
    Default("E2", "≥ 0.75", CONFIG.duplicate_topic_similarity_threshold, 0.75),
    Default("E3", "newest 24 queries", assess.SEARCHES_SHOWN, 24),
    Default("E4", "4, 5 or 10", by_complexity("tool_calls"), (4, 5, 10)),
    Default("E5", "Three rounds and five tool calls", (ORDINARY.rounds, ORDINARY.tool_calls),
            (3, 5)),
    Default("E5", "2 and 4 simple", (SIMPLE.rounds, SIMPLE.tool_calls), (2, 4)),
    Default("E5", "5 and 10 complex", (COMPLEX.rounds, COMPLEX.tool_calls), (5, 10)),
    Default("E5", "at most five rounds", CONFIG.adaptive_max_depth, 5),
    Default("E6", "below 0.15", CONFIG.min_novelty_threshold, 0.15),
    Default("E7", "on where not set", CONFIG.enable_early_termination, True),
    # beyond
    Default("F1", "≤ 400 characters", quotes.MAX_QUOTE, 400),
    Default("F7", "600 s", CONFIG.max_seconds, 600),
    Default("F7", "60 model calls", CONFIG.max_llm_calls, 60),
    Default("F7", "400,000 tokens", CONFIG.max_tokens, 400_000),
    Default("F7", "money if set", CONFIG.max_cost_usd, None),
    Default("F7", "60 searches", CONFIG.max_searches, 60),
    Default("F7", "120 pages", CONFIG.max_fetches, 120),
    Default("F16", "11434, 8000, 8080 and 1234", setting("LOCAL_MODEL_PORTS"),
            (11434, 8000, 8080, 1234)),
    Default("F25", "1 to 60 s", (remote.RETRY_SECONDS[0], max(remote.RETRY_SECONDS)), (1, 60)),
    Default("F25", "five minutes", round(sum(remote.RETRY_SECONDS) / 60), 5),
    Default("F27", "nine times", dispatcher.MOST_TRIES, 9),
)  # fmt: skip

NO_DEFAULTS = {
    "F17": "versions of interfaces",
    "F19": "a status of HTTP",
    "F20": "versions of interfaces",
    "F21": "versions of interfaces",
    "F24": "exit codes",
    "A18": "measured against the fixed mode",
    "B7": "an example of what is shown",
    "C23": "the scale of progress",
    "E10": "bars of speed",
}
"""Rows with figures that are no defaults."""


@pytest.mark.requirement(
    "A2", "A3", "A4", "A6", "A7", "A8", "A9", "A10", "A13", "A14", "B1", "B2", "B5", "B6", "C2",
    "C3", "C4", "C7", "C8", "C10", "C12", "C13", "C15", "C16", "C17", "C18", "C21", "D3", "D5",
    "D6", "D7", "D9", "D10", "D14", "D17", "D18", "D19", "E2", "E3", "E4", "E5", "E6", "E7", "F1",
    "F7", "F16", "F25", "F27",
)  # fmt: skip
@pytest.mark.parametrize("default", TABLE, ids=str)
def test_a_default_is_the_one_that_its_requirement_names(default: Default) -> None:
    assert default.value == default.expected
    assert default.says in listed()[default.row]


FIGURE = re.compile(
    r"(?<![A-Za-z.\d])\d[\d,./]*|\b(?:half|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
NO_FIGURES = {
    "A6": ("between two rounds",),
    "B1": ("1 report",),
    "C2": ("Gate 1",),
    "C3": ("Gate 2",),
    "C4": ("Gate 3",),
    "C13": ("From round 2 on",),
    "E7": ("three", "two rounds"),
    "F7": ("Six",),
}
"""Names and counts in rows of the table that no default stands behind."""


@pytest.mark.parametrize("row", sorted({default.row for default in TABLE}))
def test_every_figure_of_a_row_has_its_default_in_the_table(row: str) -> None:
    left, named = listed()[row], NO_FIGURES.get(row, ())
    assert [text for text in named if text not in left] == []
    told = [default.says for default in TABLE if default.row == row]
    for text in sorted([*told, *named], key=len, reverse=True):
        left = left.replace(text, "…")
    assert FIGURE.findall(left) == []


def test_every_requirement_with_a_figure_has_its_defaults_in_the_table() -> None:
    with_figures = {row for row, what in listed().items() if re.search(r"(?<![A-Z])\d", what)}
    assert with_figures - {default.row for default in TABLE} == set(NO_DEFAULTS)
