"""The committed rows of a run, loaded on first access, and how far they answer its question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from research.engine.assessment.answer_status import (
    AspectStatus,
    Trust,
    overall_status,
    status_from_state,
)
from research.engine.config import ResearchConfig
from research.engine.limits import Limits, limits_for
from research.engine.records import AnswerSupport, AspectState, Complexity
from research.models import (
    Aspect,
    Command,
    Evidence,
    EvidenceSource,
    Gap,
    GateResult,
    Round,
    Run,
    Unit,
)
from research.queue.admission import Place, place_of

Quote = tuple[int, str, str]
"""(evidence, independence key, domain)"""


class Committed:
    """The rows of `run`, in their order; the number of queries is constant."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def config(self) -> ResearchConfig:
        return ResearchConfig.model_validate(self.run.config)

    @cached_property
    def bounds(self) -> Limits:
        plan = self.run.plan or {}
        is_wide = bool((plan.get("estimate") or {}).get("words"))
        parts = len(plan["aspects"]) if is_wide else 0
        return limits_for(self.config, Complexity(self.run.complexity), parts)

    @cached_property
    def place(self) -> Place | None:
        """Return the run's place in the queue, None if it doesn't wait for a worker."""
        return place_of(self.run)

    @cached_property
    def rounds(self) -> Sequence[Round]:
        return list(self.run.rounds.all())

    @cached_property
    def units(self) -> Sequence[Unit]:
        return list(self.run.units.all())

    @cached_property
    def gates(self) -> Sequence[GateResult]:
        return list(self.run.gates.all())

    @cached_property
    def aspects(self) -> Sequence[Aspect]:
        return list(self.run.aspects.all())

    @cached_property
    def judged_by_model(self) -> bool:
        return is_judged_by_model(self.run, self.aspects)

    @cached_property
    def gaps(self) -> Sequence[Gap]:
        return list(self.run.gaps.all())

    @cached_property
    def commands(self) -> Sequence[Command]:
        return list(self.run.commands.all())

    @cached_property
    def evidence(self) -> Sequence[Evidence]:
        """Return the evidence, annotated with `last_verdict`."""
        return list(self.run.evidence.with_review())

    @cached_property
    def quotes(self) -> Sequence[Quote]:
        """Return the counted columns of every quote."""
        rows = EvidenceSource.objects.filter(evidence__run=self.run)
        rows = rows.order_by("evidence", "position")
        return list(rows.values_list("evidence_id", "independence_key", "domain"))


def marked_row(row: Aspect, keys: Collection[str]) -> AspectStatus:
    """Return the answer status; `keys` are the independence keys behind the row's evidence."""
    told = row.standing
    standing = None
    if told:
        stored, probability = tuple(told["sources"]), told.get("probability")
        lacks_kind = told.get("lacks_kind", False)
        standing = AnswerSupport(
            stored, told["agree"], probability=probability, lacks_kind=lacks_kind
        )
    found = status_from_state(AspectState(row.state), standing, len(keys))
    return replace(found, open_points=row.open_points)


def statuses_of(rows: Iterable[Aspect]) -> list[AspectStatus]:
    """Return the answer status of each sub-question that was not dropped."""
    return [marked_row(row, row.evidence_labels) for row in rows if not row.dropped]


def is_judged_by_model(run: Run, rows: Iterable[Aspect]) -> bool:
    """Return whether a model judged any answer: not in a run without one, nor where code had to
    take its place for every sub-question.
    """
    asked = [row.standing for row in rows if not row.dropped]
    by_code = [told for told in asked if told and told.get("probability") is not None]
    return run.has_model and (not asked or len(by_code) < len(asked))


def trust_of(rows: Iterable[Aspect]) -> Trust:
    """Return how far a question is answered, from the rows of its sub-questions."""
    asked = [row for row in rows if not row.dropped]
    return overall_status(statuses_of(asked), found=any(row.evidence_labels for row in asked))
