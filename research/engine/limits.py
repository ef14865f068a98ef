"""The limits and minima of a run, by its question's complexity."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.config import ResearchConfig
from research.engine.knobs import Triple
from research.engine.records import Complexity

NARROWEST = 2
"""Queries of a node of the tree, however deep it lies."""


@dataclass(frozen=True)
class Limits:
    """Counts: `rounds` is the soft end, `tool_calls` are a unit's searches and fetches."""

    topics_per_round: int
    rounds: int
    tool_calls: int
    pages_per_round: int
    evidence_records: int
    independent_sources: int
    sources_per_aspect: int


def limits(config: ResearchConfig, complexity: Complexity) -> Limits:
    """The column of the table in `docs/architecture.md` for this complexity."""
    kinds = list(Complexity)
    column = {
        "quick": 0,
        "standard": kinds.index(complexity),
        "thorough": min(kinds.index(complexity) + 1, len(kinds) - 1),
    }[config.research_depth]

    def pick(triple: Triple) -> int:
        return triple[column]

    return Limits(
        topics_per_round=pick(config.topics_per_round),
        rounds=max(
            config.adaptive_min_depth,
            min(pick(config.adaptive_soft_depth), config.adaptive_max_depth),
        ),
        tool_calls=pick(config.unit_tool_calls),
        pages_per_round=config.max_pages_per_round or pick((4, 8, 12)),
        evidence_records=_or(config.min_evidence_records, pick((2, 5, 8))),
        independent_sources=_or(config.min_source_domains, pick((1, 3, 3))),
        sources_per_aspect=pick(config.min_sources_per_aspect),
    )


def breadths(config: ResearchConfig) -> tuple[int, ...]:
    """The queries of each node of the fixed mode's tree, level by level (rule B2)."""
    found = [config.deep_research_breadth]
    while len(found) < config.deep_research_depth:
        found.append(max(NARROWEST, found[-1] // 2))
    return tuple(found)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value
