"""What a run of a thread takes over from an earlier one, frozen when it was asked for.

A seed is input like the question: it is stored beside the run and never changes, so that a
resume and a replay start from the same ledger. Ids go on where the earlier run's ended.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from research.engine.quotes import plain
from research.engine.records import (
    Aspect,
    Dimensions,
    Evidence,
    Gap,
    Plan,
    Quoted,
    Source,
    StopReason,
)
from research.engine.tools import Page

SeedKind = Literal["follow_up", "deeper", "revise", "reshape"]
Form = Literal["full", "shorter", "longer", "table", "reader"]


@dataclass(frozen=True)
class Shape:
    """How a report is to be written; `reader` says for whom, where the form is "reader"."""

    form: Form = "full"
    reader: str = ""


@dataclass(frozen=True)
class IdsUsed:
    """The highest numbers that the earlier run gave: none of them is given again."""

    aspects: int = 0
    evidence: int = 0
    gaps: int = 0


@dataclass(frozen=True)
class Seed:
    """The earlier run's ledger and what is wanted of it.

    `pages` come without their texts, which the store has by their hash. `rejected` are the
    passages that a reviewer refused, in this run or an earlier one: they never come in again,
    and `left_out` counts the records that went with them now. `wanted` are the ids of the
    sub-questions to dig for. `dimensions` are a model's last marks, `ended` says why it ended.
    """

    kind: SeedKind
    question: str
    plan: Plan
    aspects: tuple[Aspect, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    sources: tuple[Source, ...] = ()
    gaps: tuple[Gap, ...] = ()
    pages: tuple[Page, ...] = ()
    queries: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    rejected: tuple[Quoted, ...] = ()
    left_out: int = 0
    ids_used: IdsUsed = field(default_factory=IdsUsed)
    dimensions: Dimensions | None = None
    ended: StopReason | None = None
    wanted: tuple[str, ...] = ()
    shape: Shape = field(default_factory=Shape)

    @property
    def rewrites(self) -> bool:
        """Whether a report is written anew from the ledger, with nothing searched or fetched."""
        return self.kind in {"revise", "reshape"}


def reviewed(seed: Seed, rejected: Collection[str]) -> Seed:
    """The seed without the records of these ids, and without their passages in any other.

    A record that rests on nothing else goes as well.
    """
    refused = [q for record in seed.evidence if record.id in rejected for q in record.sources]
    refused += seed.rejected
    left = [_without(record, refused) for record in seed.evidence if record.id not in rejected]
    kept = {record.id for record in left if record.sources}
    evidence = tuple(
        replace(record, contradicts=tuple(i for i in record.contradicts if i in kept))
        for record in left
        if record.sources
    )
    left_out = len(seed.evidence) - len(evidence)
    return replace(seed, evidence=evidence, rejected=tuple(refused), left_out=left_out)


def is_rejected(quoted: Quoted, rejected: Sequence[Quoted]) -> bool:
    """Whether a quote overlaps a refused passage of its page, or holds its words on another."""
    return any(_overlap(quoted, other) or _holds(quoted, other) for other in rejected)


def _without(record: Evidence, refused: Sequence[Quoted]) -> Evidence:
    kept = tuple(source for source in record.sources if not is_rejected(source, refused))
    return replace(record, sources=kept)


def _overlap(one: Quoted, other: Quoted) -> bool:
    same_text = one.text_sha256 == other.text_sha256
    return same_text and one.start < other.end and other.start < one.end


def _holds(one: Quoted, other: Quoted) -> bool:
    return plain(other.quote).casefold() in plain(one.quote).casefold()
