"""The limits and minima of a run, by its question's complexity and breadth."""

from __future__ import annotations

from dataclasses import dataclass, replace

from research.engine.config import ResearchConfig
from research.engine.knobs import Triple
from research.engine.records import Complexity

NARROWEST = 2
"""Queries of a node of the tree, however deep it lies."""

USUAL_PARTS = 6
"""Sub-questions up to which the limits of a standard run follow from complexity alone."""
MOST_PARTS = 14
THOROUGH_FROM = 3
"""Sub-questions from which a thorough run has a section for each, drafted alone."""
THOROUGH_PAGES = 6
"""Pages that a thorough run reads for a sub-question in a round."""
WIDE_ROUNDS = 3
FEW_PAGES, READ_TOGETHER = 3, 5
"""In a broad run, pages of a unit that another one may take over, and of all that one call reads
then.
"""
"""Rounds of a run that looks for all of its many sub-questions in each."""
LONG_PAGE_WORDS = 800
WORDS = {"simple": (300, 400), "ordinary": (600, 900), "complex": (900, 1500)}
WORDS_AT_ONCE = (40, 300)
"""Words of the answer to a follow-up question from earlier findings."""
QUICK_WORDS, LEAST_THOROUGH, MOST_THOROUGH = (150, 390), (900, 1500), (4000, 6000)
WORDS_OF_A_PART = (250, 450)
STANDARD_PART, MOST_STANDARD = (100, 170), (1300, 2000)
"""Words of a standard report for each of many sub-questions, and of one as a whole."""


@dataclass(frozen=True)
class Limits:
    """Limits of a run: `rounds` is the soft end, `tool_calls` are a unit's searches and fetches.

    A topic's pages beyond `pages_per_topic` are read only if they promise much; `results`
    multiplies the hits kept of a search. No quality rule ends the run before `least_rounds`;
    `directions` are searches that the assessment may name in addition to gaps. `notes` multiplies
    the findings shown to the assessment, `long_page` the claims kept of a long page. `words` are
    the least and most of the report without its summary, `sections` the number of drafts that it is
    written in (1: as a whole).
    """

    topics_per_round: int
    rounds: int
    tool_calls: int
    pages_per_round: int
    evidence_records: int
    independent_sites: int
    sources_per_aspect: int
    pages_per_topic: int
    results: int = 1
    least_rounds: int = 0
    directions: int = 2
    notes: int = 1
    long_page: int = 1
    words: tuple[int, int] = WORDS["ordinary"]
    sections: int = 1

    def readings(self, units: int) -> int:
        """Return the calls that it takes to read the pages of so many units."""
        if self.notes < 2 or self.pages_per_topic > FEW_PAGES:
            return units
        return -(-units * self.pages_per_topic // READ_TOGETHER)


def limits_for(config: ResearchConfig, complexity: Complexity, parts: int = 0) -> Limits:
    """Return the column of the table in `docs/how-it-decides.md` for this complexity, widened for a
    plan of many `parts` (sub-questions); 0 leaves breadth out of account.
    """
    narrow = _limits_by_complexity(config, complexity)
    if not parts:
        return narrow
    depth = config.research_depth
    words = wanted_words(depth, complexity, parts)
    if depth == "thorough" and parts >= THOROUGH_FROM:
        rounds = max(config.adaptive_min_depth, min(narrow.rounds, WIDE_ROUNDS))
        return _thorough_limits(replace(narrow, words=words, rounds=rounds), parts)
    wide = {"quick": narrow.topics_per_round, "standard": USUAL_PARTS}.get(depth, parts)
    if parts <= wide:
        return replace(narrow, words=words)
    return replace(
        narrow,
        words=words,
        topics_per_round=max(narrow.topics_per_round, parts),
        rounds=max(config.adaptive_min_depth, min(narrow.rounds, WIDE_ROUNDS)),
        notes=_notes(parts),
    )


def _thorough_limits(narrow: Limits, parts: int) -> Limits:
    """Return limits for one section per part, with enough sources to fill it."""
    return replace(
        narrow,
        topics_per_round=max(narrow.topics_per_round, parts),
        tool_calls=max(narrow.tool_calls, THOROUGH_PAGES + 2),
        evidence_records=max(narrow.evidence_records, 3 * parts),
        independent_sites=max(narrow.independent_sites, parts),
        pages_per_topic=THOROUGH_PAGES,
        results=2,
        least_rounds=min(2, narrow.rounds),
        directions=parts,
        notes=_notes(parts),
        long_page=2,
        sections=parts,
    )


def _notes(parts: int) -> int:
    return max(1, -(-parts // 3))


def wanted_words(depth: str, complexity: Complexity, parts: int) -> tuple[int, int]:
    """Return the report's length in words, by depth and the number of sub-questions."""
    if depth == "quick":
        return QUICK_WORDS
    if depth == "standard" and parts <= USUAL_PARTS:
        return WORDS[complexity.value]
    shares, floors, bounds = (
        (STANDARD_PART, WORDS[complexity.value], MOST_STANDARD)
        if depth == "standard"
        else (WORDS_OF_A_PART, LEAST_THOROUGH, MOST_THOROUGH)
    )
    least, most = (
        min(bound, max(floor, share * parts))
        for share, floor, bound in zip(shares, floors, bounds, strict=True)
    )
    return least, most


def _limits_by_complexity(config: ResearchConfig, complexity: Complexity) -> Limits:
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
        evidence_records=_or_default(config.min_evidence_records, pick((2, 5, 8))),
        independent_sites=_or_default(config.min_source_domains, pick((1, 3, 3))),
        sources_per_aspect=pick(config.min_sources_per_aspect),
        pages_per_topic=pick(config.min_sources_per_aspect) + 1,
        words=WORDS[kinds[column].value],
    )


def tree_breadths(config: ResearchConfig) -> tuple[int, ...]:
    """Return the queries of each node of the fixed mode's tree, level by level (rule B2)."""
    found = [config.deep_research_breadth]
    while len(found) < config.deep_research_depth:
        found.append(max(NARROWEST, found[-1] // 2))
    return tuple(found)


def _or_default(value: int | None, default: int) -> int:
    return default if value is None else value
