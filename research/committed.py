"""What is committed of a run: each kind of row is read once, when it is first asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from research.engine.config import ResearchConfig
from research.engine.limits import Limits, limits
from research.engine.records import Complexity
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

Quote = tuple[int, str, str]
"""(evidence, independence key, domain)"""


class Committed:
    """The rows of `run`, in their order; the number of queries does not grow with them."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def config(self) -> ResearchConfig:
        return ResearchConfig.model_validate(self.run.config)

    @cached_property
    def bounds(self) -> Limits:
        return limits(self.config, Complexity(self.run.complexity))

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
    def gaps(self) -> Sequence[Gap]:
        return list(self.run.gaps.all())

    @cached_property
    def commands(self) -> Sequence[Command]:
        return list(self.run.commands.all())

    @cached_property
    def evidence(self) -> Sequence[Evidence]:
        """With `last_verdict`."""
        return list(self.run.evidence.with_review())

    @cached_property
    def quotes(self) -> Sequence[Quote]:
        """Of every quote only what is counted."""
        rows = EvidenceSource.objects.filter(evidence__run=self.run)
        rows = rows.order_by("evidence", "position")
        return list(rows.values_list("evidence_id", "independence_key", "domain"))
