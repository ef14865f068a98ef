"""The analyst's assessment of a round."""

from __future__ import annotations

from dataclasses import dataclass

from research.engine.records import Dimensions


@dataclass(frozen=True)
class MissingInfo:
    """A gap as an analyst names it; `aspect_id` None asks for a new sub-question.

    `gap_id` is the open gap that it is, which takes its text if it `is_reworded`; a gap without one
    is new.
    """

    text: str
    query: str
    aspect_id: str | None
    critical: bool
    raised_by: str = "plan"
    gap_id: str | None = None
    is_reworded: bool = False


@dataclass(frozen=True)
class Assessment:
    """An analyst's assessment of one round. Marks are 1-10, None if unjudged.

    As many as `most_directions` are searched for in the next round. `by_model` says that a model
    told what is missing, `is_marked_by_code` that the marks are none of its own nevertheless.
    """

    dimensions: Dimensions
    overall: float | None
    reasoning: str
    unanswered: frozenset[str]
    gaps: tuple[MissingInfo, ...]
    directions: tuple[str, ...]
    ready: bool
    by_model: bool
    most_directions: int = 2
    is_marked_by_code: bool = False
