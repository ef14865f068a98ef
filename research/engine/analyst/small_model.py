"""The analyst with a small model, which is asked one small thing at a time.

Rules do the rest, and a follow-up is understood by rules alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.analyst.model import ModelAnalyst
from research.engine.assessment.assessment import Assessment
from research.engine.llm_tasks import small_tasks
from research.engine.llm_tasks.follow_up import EarlierTurns
from research.engine.offline.follow_up import Turn
from research.engine.offline.planning import Understood
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.report.draft import Draft
from research.engine.rounds.findings import Asked, Reading


class SmallModelAnalyst(ModelAnalyst):
    """See `Analyst`."""

    works_ahead = repairs_drafts = drafts_sections = False

    async def understand_question(
        self, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
    ) -> Understood:
        if self.run.is_fixed:
            return await self.offline.understand_question(place, clarifications, comment)
        return await small_tasks.understand_question(self.run, place, clarifications, comment)

    async def understand_follow_up(self, place: str, before: EarlierTurns, said: str) -> Turn:
        return await self.offline.understand_follow_up(place, before, said)

    async def read_pages(
        self, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
    ) -> Reading:
        return await small_tasks.read_unit_pages(self.run, place, asked, pages, aspects)

    async def assess_ledger(self, place: str) -> Assessment:
        return await small_tasks.assess_ledger(self.run, place)

    async def write_draft(self) -> Draft:
        return await small_tasks.write_draft(self.run)
