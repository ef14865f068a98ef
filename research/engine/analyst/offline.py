"""The analyst without a model: rules over the words of question and pages."""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.assessment.assessment import Assessment
from research.engine.llm_tasks.follow_up import EarlierTurns
from research.engine.llm_tasks.tree import Query, choose_queries
from research.engine.offline import drafting, judging
from research.engine.offline.follow_up import Turn, read_turn
from research.engine.offline.passages.reading import read_extractively
from research.engine.offline.planning import Understood, from_wording
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.report.draft import Draft
from research.engine.rounds.findings import Asked, Reading
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long


class OfflineAnalyst:
    """See `Analyst`; asks no model and makes no journaled call."""

    works_ahead = repairs_drafts = drafts_sections = False

    def __init__(self, run: Run) -> None:
        self.run = run

    async def understand_question(
        self, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
    ) -> Understood:
        run = self.run
        return from_wording(run.question.text, clarifications, comment, run.usual_language)

    async def understand_follow_up(self, place: str, before: EarlierTurns, said: str) -> Turn:
        return read_turn(before.question, before.summary, said)

    async def read_pages(
        self, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
    ) -> Reading:
        return await read_extractively(self.run, pages, aspects)

    async def assess_ledger(self, place: str) -> Assessment:
        ledger = self.run.ledger
        return await run_in_thread_if_long(
            ledger.pages.values(), judging.judge_ledger, ledger, self.run.limits
        )

    async def write_draft(self) -> Draft:
        return drafting.draft_offline(self.run.ledger)

    async def generate_queries(
        self, place: str, parent: str, breadth: int, taken: set[str]
    ) -> list[Query]:
        return choose_queries(self.run, parent, (), breadth, taken)

    async def extract_learnings(
        self, place: str, goal: str, pages: Sequence[Page]
    ) -> tuple[Reading, list[str]]:
        aspect = next(iter(self.run.ledger.aspects.values()))
        return await read_extractively(self.run, pages, [aspect]), []
