"""The analyst with a model. Each task that fails is done by the offline analyst and counted."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from research.engine.analyst.offline import OfflineAnalyst
from research.engine.assessment.assessment import Assessment
from research.engine.llm_tasks import assess, draft, follow_up, intake, read, tree
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.offline.follow_up import Turn
from research.engine.offline.planning import Understood
from research.engine.ports import Page
from research.engine.records import Aspect
from research.engine.report.draft import Draft
from research.engine.rounds.findings import Asked, Reading
from research.engine.run import Run

P = ParamSpec("P")
T = TypeVar("T")
Method = Callable[Concatenate["ModelAnalyst", P], Coroutine[Any, Any, T]]


def offline_if_failed(task: str) -> Callable[[Method[P, T]], Method[P, T]]:
    """Decorate a method of the model's analyst to fall back to the offline one on
    `TaskFailedError`.
    """

    def decorate(method: Method[P, T]) -> Method[P, T]:
        @wraps(method)
        async def guarded(self: ModelAnalyst, /, *args: P.args, **kwargs: P.kwargs) -> T:
            try:
                return await method(self, *args, **kwargs)
            except TaskFailedError as failed:
                self.run.fell_back(task, failed.cause)
                by_rules: Callable[P, Coroutine[Any, Any, T]] = getattr(
                    self.offline, method.__name__
                )
                return await by_rules(*args, **kwargs)

        return guarded

    return decorate


class ModelAnalyst:
    """See `Analyst`."""

    works_ahead = repairs_drafts = drafts_sections = True

    def __init__(self, run: Run) -> None:
        self.run = run
        self.offline = OfflineAnalyst(run)

    @offline_if_failed("intake")
    async def understand_question(
        self, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
    ) -> Understood:
        """Return the model's plan; the fixed mode starts from the question as it is worded."""
        if self.run.is_fixed:
            return await self.offline.understand_question(place, clarifications, comment)
        return await intake.understand_question(self.run, place, clarifications, comment)

    @offline_if_failed("follow_up")
    async def understand_follow_up(
        self, place: str, before: follow_up.EarlierTurns, said: str
    ) -> Turn:
        return await follow_up.understand_follow_up(self.run, place, before, said)

    async def read_pages(
        self, place: str, asked: Asked, pages: Sequence[Page], aspects: Sequence[Aspect]
    ) -> Reading:
        """Return what the model found; pages that it fails on are read by rules."""
        if not pages:
            return Reading()
        return await read.read_unit_pages(self.run, place, asked, pages, aspects)

    @offline_if_failed("assess")
    async def assess_ledger(self, place: str) -> Assessment:
        return await assess.assess_ledger(self.run, place)

    @offline_if_failed("draft")
    async def write_draft(self) -> Draft:
        return await draft.write_draft(self.run)

    @offline_if_failed("tree_queries")
    async def generate_queries(
        self, place: str, parent: str, breadth: int, taken: set[str]
    ) -> list[tree.Query]:
        return await tree.generate_queries(self.run, place, parent, breadth, taken)

    @offline_if_failed("tree_extract")
    async def extract_learnings(
        self, place: str, goal: str, pages: Sequence[Page]
    ) -> tuple[Reading, list[str]]:
        if not pages:
            return await self.offline.extract_learnings(place, goal, pages)
        return await tree.extract_learnings(self.run, place, goal, pages)
