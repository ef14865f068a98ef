"""A run's rows as the seed of another run of its thread; the number of queries never grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from research.commands import Kind
from research.engine.records import (
    Aspect,
    AspectState,
    Dimensions,
    Evidence,
    Fields,
    Gap,
    Plan,
    Quoted,
    Source,
    StopReason,
)
from research.engine.seed import IdsUsed, Seed, SeedKind, reviewed
from research.engine.tools import Page
from research.models import Evidence as EvidenceRow
from research.models import EvidenceSource, RunPage, Snapshot
from research.models import Run as RunRow

SEED: TypeAdapter[Seed] = TypeAdapter(Seed)
PLAN: TypeAdapter[Plan] = TypeAdapter(Plan)
PAGE: TypeAdapter[Page] = TypeAdapter(Page)
READ = frozenset({"read", "cited"})


def seed_of(run: RunRow) -> Seed | None:
    """What a run was asked to start from; None for a question of its own."""
    row = Snapshot.objects.filter(run=run).first()
    return SEED.validate_python(row.content) if row else None


def snapshot(run: RunRow, kind: SeedKind) -> Seed:
    """The ledger of a run that has ended, as its reviewers left it.

    Raises `ValueError` where the run ended before it had a plan.
    """
    if run.plan is None:
        raise ValueError("a run without a plan has no ledger")
    before = None if run.commands.filter(kind=Kind.NEW_TOPIC).exists() else seed_of(run)
    aspects = [_aspect(row) for row in run.aspects.all()]
    rows = list(run.evidence.with_review().prefetch_related("quotes"))
    gaps = [_gap(row) for row in run.gaps.all()]
    sources = [_source(row) for row in run.source_pages.all()]
    units = list(run.units.order_by("round", "number"))
    judged = run.rounds.filter(closed=True).exclude(run__analyst="extractive")
    last = judged.order_by("number").last()
    evidence = [_evidence(row, _also(row, aspects)) for row in rows]
    seed = Seed(
        kind=kind,
        question=run.understood_as or run.question,
        plan=PLAN.validate_python(run.plan),
        aspects=tuple(aspects),
        evidence=tuple(evidence),
        sources=tuple(sources),
        gaps=tuple(gaps),
        pages=tuple(_pages(run, sources, before)),
        queries=_all(before and before.queries, (q for unit in units for q in unit.queries)),
        topics=_all(before and before.topics, (unit.topic for unit in units)),
        rejected=before.rejected if before else (),
        ids_used=_ids_used(before, aspects, evidence, gaps),
        dimensions=Dimensions(**last.dimensions) if last else None,
        ended=StopReason(run.termination_reason) if run.termination_reason else None,
    )
    return reviewed(seed, [row.label for row in rows if row.last_verdict == "reject"])


def store(run: RunRow, parent: RunRow, seed: Seed) -> None:
    """Freeze the seed for a run, and give it the pages of the earlier one; in a transaction."""
    Snapshot.objects.create(run=run, content=SEED.dump_python(seed, mode="json"))
    pages = RunPage.objects.filter(run=parent).values("page_id", "url", "url_key")
    RunPage.objects.bulk_create(RunPage(run=run, **page) for page in pages)


def _all(earlier: Iterable[str] | None, later: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*(earlier or ()), *later)))


def _pages(run: RunRow, sources: Sequence[Source], before: Seed | None) -> Iterable[Page]:
    """The pages that were read, without their texts; each address once."""
    read = {source.url for source in sources if source.status in READ}
    fetched = run.journal.filter(kind="fetch", status="done").order_by("pk")
    found = {page.url: page for page in (before.pages if before else ())}
    for answer in fetched.values_list("answer", flat=True):
        if answer["url"] in read:
            found[answer["url"]] = PAGE.validate_python({**answer, "text": ""})
    return found.values()


def _ids_used(
    before: Seed | None,
    aspects: Iterable[Aspect],
    evidence: Iterable[Evidence],
    gaps: Iterable[Gap],
) -> IdsUsed:
    used = before.ids_used if before else IdsUsed()
    return IdsUsed(
        _highest(used.aspects, aspects),
        _highest(used.evidence, evidence),
        _highest(used.gaps, gaps),
    )


def _highest(used: int, records: Iterable[Aspect | Evidence | Gap]) -> int:
    return max([used, *(int(record.id[1:]) for record in records)])


# --- rows as records ------------------------------------------------------------------------


def _aspect(row: Any) -> Aspect:
    return Aspect(
        row.label, row.text, row.query, row.raised_by, row.round, AspectState(row.state),
        tuple(row.evidence_labels), row.searches_without_news, row.dropped,
    )  # fmt: skip


def _also(row: EvidenceRow, aspects: Iterable[Aspect]) -> tuple[str, ...]:
    """The further sub-questions that rest on a record."""
    return tuple(a.id for a in aspects if row.label in a.evidence_ids and a.id != row.aspect_label)


def _evidence(row: EvidenceRow, also: tuple[str, ...]) -> Evidence:
    return Evidence(
        id=row.label,
        claim=row.claim,
        aspect_id=row.aspect_label,
        round=row.round,
        sources=tuple(_quoted(quote) for quote in row.quotes.all()),
        relevance=row.relevance,
        key=row.key,
        confidence=row.confidence,
        uncertainty=tuple(row.uncertainty),
        contradicts=tuple(row.contradicts),
        fields=Fields(**{name: tuple(values) for name, values in row.fields.items()}),
        also_answers=also,
    )


def _quoted(row: EvidenceSource) -> Quoted:
    return Quoted(**{name: getattr(row, name) for name in Quoted.__dataclass_fields__})


def _source(row: Any) -> Source:
    """What an earlier report cited is a page that was read; this one's citations are its own."""
    named = {name: getattr(row, name) for name in Source.__dataclass_fields__}
    source = Source(**named)
    return replace(source, status="read") if source.status == "cited" else source


def _gap(row: Any) -> Gap:
    return Gap(
        row.label, row.text, row.aspect_label, row.critical, row.opened_round, row.query,
        row.closed_round, tuple(row.closed_by),
    )  # fmt: skip
