"""Input that a run of a thread takes over from an earlier one, frozen when it was requested.

A seed is stored with the run and never changes, so that a resume and a replay start from the same
ledger. Ids continue after the earlier run's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from research.engine.evidence.quotes import plain_quote
from research.engine.ports import Page
from research.engine.records import (
    Aspect,
    Dimensions,
    Evidence,
    Gap,
    Plan,
    QuoteSource,
    Source,
    StopReason,
)

SeedKind = Literal["follow_up", "deeper", "revise", "reshape"]
ReportForm = Literal["full", "shorter", "longer", "table", "reader", "memo", "faq", "review"]


@dataclass(frozen=True)
class ReportFormat:
    """The wanted format of a report; `reader` is its audience, which the form "reader" needs."""

    form: ReportForm = "full"
    reader: str = ""


@dataclass(frozen=True)
class IdsUsed:
    """The highest numbers that the earlier run gave: none of them is given again."""

    aspects: int = 0
    evidence: int = 0
    gaps: int = 0


@dataclass(frozen=True)
class Seed:
    """The earlier run's ledger and the requested continuation.

    `pages` come without their texts, which the store has by hash. `rejected` are the passages that
    a reviewer rejected, in this run or an earlier one: they are never accepted again, and
    `left_out` counts the records removed with them. `instructions` are what people told the runs
    of this question in their own words. `wanted` are the ids of the sub-questions to
    dig into. `dimensions` are a model's last marks, `ended` is the reason why the run ended.
    `asks_about_topic` False starts anew where a follow-up question changes the topic. `answer` is
    the short answer of the earlier report, `report` what that says, without its sources; with
    `at_once` a follow-up that the evidence answers is answered from it, without a search.
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
    instructions: tuple[str, ...] = ()
    rejected: tuple[QuoteSource, ...] = ()
    left_out: int = 0
    ids_used: IdsUsed = field(default_factory=IdsUsed)
    dimensions: Dimensions | None = None
    ended: StopReason | None = None
    wanted: tuple[str, ...] = ()
    asks_about_topic: bool = True
    answer: str = ""
    report: str = ""
    at_once: bool = False
    shape: ReportFormat = field(default_factory=ReportFormat)

    @property
    def rewrites(self) -> bool:
        """Return whether only the report is rewritten, without searching or fetching."""
        return self.kind in {"revise", "reshape"}


def apply_review(seed: Seed, rejected: Collection[str], accepted: Collection[str] = ()) -> Seed:
    """Return the seed without the rejected records, and without their passages in any other that
    wasn't accepted.

    A record that rests on nothing else goes as well.
    """
    refused = [q for record in seed.evidence if record.id in rejected for q in record.sources]
    refused += seed.rejected
    left = [
        record if record.id in accepted else _drop_refused(record, refused)
        for record in seed.evidence
        if record.id not in rejected
    ]
    kept = {record.id for record in left if record.sources}
    evidence = tuple(
        replace(record, contradicts=tuple(i for i in record.contradicts if i in kept))
        for record in left
        if record.sources
    )
    left_out = len(seed.evidence) - len(evidence)
    return replace(seed, evidence=evidence, rejected=tuple(refused), left_out=left_out)


def is_rejected(quoted: QuoteSource, rejected: Sequence[QuoteSource]) -> bool:
    """Return whether a quote overlaps a rejected passage of its page, or repeats its words on
    another.
    """
    return any(
        _is_overlapping(quoted, other) or _contains_quote(quoted, other) for other in rejected
    )


def _drop_refused(record: Evidence, refused: Sequence[QuoteSource]) -> Evidence:
    kept = tuple(source for source in record.sources if not is_rejected(source, refused))
    return replace(record, sources=kept)


def _is_overlapping(one: QuoteSource, other: QuoteSource) -> bool:
    same_text = one.text_sha256 == other.text_sha256
    return same_text and one.start < other.end and other.start < one.end


def _contains_quote(one: QuoteSource, other: QuoteSource) -> bool:
    return plain_quote(other.quote).casefold() in plain_quote(one.quote).casefold()
