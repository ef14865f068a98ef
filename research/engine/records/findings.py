"""Findings of a run: sub-questions, evidence with its quotes, sources, gaps."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from research.engine.ports import SourceKind
from research.engine.records.states import AspectState, SourceStatus, Uncertainty

ANSWERS_FROM, NOTHING_BELOW = 0.7, 0.3
"""Probabilities from which passages count as an answer, and below which nothing seems to answer."""


@dataclass(frozen=True)
class AnswerSupport:
    """Offline assessment of a sub-question: the passages that may answer it, best first.

    `probability` (0-1) is that they contain the answer, `passages` are the ids of their evidence,
    `sources` the independent sources behind them. Runs from before probabilities were estimated
    have None: their `sources` are those that answered directly, `agree` means that each contains
    the very thing that was asked for, and `differing` gave another date or amount. `lacks_kind`
    says that passages on the subject have no size, date or name, which is asked for.
    """

    sources: tuple[str, ...]
    agree: bool
    differing: tuple[str, ...] = ()
    probability: float | None = None
    passages: tuple[str, ...] = ()
    lacks_kind: bool = False

    @property
    def is_answer(self) -> bool:
        """Return whether the passages are likely enough to answer."""
        return self.probability is not None and self.probability >= ANSWERS_FROM

    @property
    def is_nothing(self) -> bool:
        """Return whether no passage seems to answer."""
        return self.probability is not None and self.probability < NOTHING_BELOW

    @property
    def is_off_topic(self) -> bool:
        """Return whether no passage seems to be on the subject."""
        return self.is_nothing and not self.lacks_kind


@dataclass(frozen=True)
class Aspect:
    """A sub-question. Key: `id` (A1, A2, … in canonical order).

    `raised_by` is a URL, "plan" or "user". `dropped` ones were removed by a person. `standing` is
    None if a model read the pages. `open_points` counts what the report lists as open on it.
    """

    id: str
    text: str
    query: str
    raised_by: str
    round: int
    state: AspectState = AspectState.OPEN
    evidence_ids: tuple[str, ...] = ()
    searches_without_news: int = 0
    dropped: bool = False
    standing: AnswerSupport | None = None
    open_points: int = 0


@dataclass(frozen=True)
class QuoteSource:
    """A verbatim quote in a stored page: `text[start:end] == quote`, in characters."""

    url: str
    title: str
    domain: str
    independence_key: str
    quote: str
    start: int
    end: int
    text_sha256: str
    fetched_at: datetime
    section: str = ""
    published: str | None = None

    @property
    def day(self) -> str:
        """Return when the page was published, without a time; "" if that is unknown."""
        return (self.published or "")[: len("2026-03-01")]


@dataclass(frozen=True)
class Fields:
    """Names, dates, numbers and definitions of a claim, by code."""

    names: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evidence:
    """One atomic claim with its quotes and confidence. Key: `id` (E1, E2, … in canonical order).

    `aspect_id` is the sub-question that it was found for, `also_answers` lists further ones. With
    `dates_clauses` the date of a figure is that of its clause.
    """

    id: str
    claim: str
    aspect_id: str | None
    round: int
    sources: tuple[QuoteSource, ...]
    relevance: float
    key: bool = False
    confidence: float = 0.5
    uncertainty: tuple[Uncertainty, ...] = ()
    contradicts: tuple[str, ...] = ()
    fields: Fields = field(default_factory=Fields)
    also_answers: tuple[str, ...] = ()
    dates_clauses: bool = True

    @property
    def answers(self) -> tuple[str, ...]:
        """All sub-questions that it answers."""
        return (*filter(None, (self.aspect_id,)), *self.also_answers)

    @property
    def is_dictated(self) -> bool:
        """Return whether it may only be quoted: no statement, prompt or query is made from it."""
        return "dictated" in self.uncertainty

    @cached_property
    def keys(self) -> frozenset[str]:
        """Return the independent sources behind the claim."""
        return frozenset(source.independence_key for source in self.sources)


@dataclass(frozen=True)
class Source:
    """A page that a search named. Key: `url`. `site` is the name that it gives its site, as it may
    be shown.
    """

    url: str
    title: str
    domain: str
    round: int
    kind: SourceKind = "unknown"
    published: str | None = None
    relevance: float | None = None
    status: SourceStatus = "not_read"
    reason: str | None = None
    site: str = ""


@dataclass(frozen=True)
class Gap:
    """Something still missing. Key: `id` (G1, G2, …)."""

    id: str
    text: str
    aspect_id: str | None
    critical: bool
    opened_round: int
    query: str = ""
    closed_round: int | None = None
    closed_by: tuple[str, ...] = ()

    @property
    def open(self) -> bool:
        return self.closed_round is None


@dataclass(frozen=True)
class OpenPoint:
    """What a report leaves open on a sub-question, and words that a page which tells it may use.

    One that is told `in_part` stays open whatever words the report has in common with it.
    """

    aspect_id: str
    text: str
    words: str = ""
    in_part: bool = False


@dataclass(frozen=True)
class RefusedQuote:
    """A finding whose quote or claim failed its check. Key: (round, unit, ordinal)."""

    round: int
    unit: int
    ordinal: int
    claim: str
    url: str
    reason: str
