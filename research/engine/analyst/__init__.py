"""The analyst of a run: understands the question, reads pages, assesses the ledger and drafts.

`Analyst` is the interface, with three implementations: `OfflineAnalyst` works by rules,
`ModelAnalyst` asks a model, `SmallModelAnalyst` asks a small model one small thing at a time. A
task that a model fails on is done by rules and counted with its cause, so every run completes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from research.engine.analyst.model import ModelAnalyst
from research.engine.analyst.offline import OfflineAnalyst
from research.engine.analyst.small_model import SmallModelAnalyst
from research.engine.assessment.assessment import Assessment
from research.engine.llm_tasks.follow_up import EarlierTurns
from research.engine.llm_tasks.tree import Query
from research.engine.offline.follow_up import Turn
from research.engine.offline.planning import Understood
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.report.draft import Draft
from research.engine.rounds.findings import Asked, Reading
from research.engine.run import Run

__all__ = ["Analyst", "ModelAnalyst", "OfflineAnalyst", "SmallModelAnalyst", "analyst_of"]


def analyst_of(run: Run) -> Analyst:
    """Return the analyst that the run's model and its profile call for."""
    if not run.has_model:
        return OfflineAnalyst(run)
    if run.config.model_profile == "small":
        return SmallModelAnalyst(run)
    return ModelAnalyst(run)


class Analyst(Protocol):
    """Everything in a run that takes judgement. `place` is the journal key of a task's calls.

    `works_ahead` permits speculative searches and drafts, `repairs_drafts` one repair of faulty
    statements, `drafts_sections` drafting a long report section by section. Tasks don't raise
    `TaskFailedError`: if a model can't do one, the rules do it.
    """

    works_ahead: bool
    repairs_drafts: bool
    drafts_sections: bool

    async def understand_question(
        self, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
    ) -> Understood:
        """Return the plan, given answers to clarifications or a comment on the last plan."""

    async def understand_follow_up(self, place: str, before: EarlierTurns, said: str) -> Turn:
        """Return how the turn `said` continues the thread."""

    async def read_pages(
        self, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
    ) -> Reading:
        """Return findings and leads of one unit's pages."""

    async def assess_ledger(self, place: str) -> Assessment:
        """Return the assessment of the evidence after a round."""

    async def write_draft(self) -> Draft:
        """Return the unchecked report."""

    async def generate_queries(
        self, place: str, parent: str, breadth: int, taken: set[str]
    ) -> list[Query]:
        """Return `breadth` queries for a node of the fixed tree, none of them in `taken`."""

    async def extract_learnings(
        self, place: str, goal: str, pages: Sequence[Page]
    ) -> tuple[Reading, list[str]]:
        """Return findings of one query's pages in the fixed tree, and follow-up questions."""
