"""Builds the seed of a follow-up run from a run's rows, with a constant number of queries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pydantic import TypeAdapter

from research.engine.ports import Page
from research.engine.records import (
    Aspect,
    AspectState,
    Complexity,
    Dimensions,
    Evidence,
    Fields,
    Gap,
    Plan,
    QuoteSource,
    Source,
    StopReason,
)
from research.engine.report.report_i18n import labels_for
from research.engine.threads.seed import IdsUsed, Seed, SeedKind, apply_review
from research.engine.threads.start import STARTED_ANEW
from research.engine.threads.user_commands import TOLD
from research.models import Evidence as EvidenceRow
from research.models import EvidenceSource, RunPage, Snapshot
from research.models import Run as RunRow
from research.models.base import key_digest
from research.worker.commands import Kind

SEED: TypeAdapter[Seed] = TypeAdapter(Seed)
PLAN: TypeAdapter[Plan] = TypeAdapter(Plan)
PAGE: TypeAdapter[Page] = TypeAdapter(Page)
READ = frozenset({"read", "cited"})
_MARKERS = re.compile(r"(?: ?\[\d{1,4}\])+")


def seed_of(run: RunRow) -> Seed | None:
    """Return the seed that a run started from; None for an initial question."""
    row = Snapshot.objects.filter(run=run).first()
    return SEED.validate_python(row.content) if row else None


def snapshot_run(run: RunRow, kind: SeedKind) -> Seed:
    """Return the ledger of an ended run, with its reviewers' verdicts applied.

    Raise `ValueError` if the run ended before it had a plan.
    """
    if run.plan is None:
        raise ValueError("a run without a plan has no ledger")
    before = None if _started_anew(run) else seed_of(run)
    asked = run.understood_as or run.question
    plan = PLAN.validate_python(run.plan)
    aspects = [_aspect(row) for row in run.aspects.all()]
    rows = list(run.evidence.with_review().prefetch_related("quotes"))
    gaps = [_gap(row) for row in run.gaps.all()]
    sources = [_source(row) for row in run.source_pages.all()]
    units = list(run.units.order_by("round", "number"))
    judged = run.rounds.filter(closed=True).exclude(run__analyst="extractive")
    last = judged.order_by("number").last()
    evidence = [_evidence(row, _also(row, aspects)) for row in rows]
    answer, report = _earlier_report(run)
    if before and kind == "follow_up":
        found, known = {r.id for r in evidence}, {source.url for source in sources}
        evidence += [record for record in before.evidence if record.id not in found]
        sources += [source for source in before.sources if source.url not in known]
        report = f"{report}\n\n{before.report}".strip()  # where it is cut, the oldest goes
    seed = Seed(
        kind=kind,
        question=asked,
        plan=plan,
        aspects=tuple(aspects),
        evidence=tuple(evidence),
        sources=tuple(sources),
        gaps=tuple(gaps),
        pages=tuple(_pages(run, sources, before)),
        queries=_all(before.queries if before else (), (q for unit in units for q in unit.queries)),
        topics=_all(before.topics if before else (), (unit.topic for unit in units)),
        instructions=_instructions(
            run, before if before and before.question == asked else None, plan
        ),
        rejected=before.rejected if before else (),
        ids_used=_ids_used(before, aspects, evidence, gaps),
        dimensions=Dimensions(**last.dimensions) if last else None,
        ended=StopReason(run.termination_reason) if run.termination_reason else None,
        answer=answer,
        report=report,
    )
    return apply_review(seed, *_judged(rows))


def snapshot_follow_up(run: RunRow) -> Seed:
    """Return the snapshot for a follow-up to a run: of one that was answered at once, with all
    findings of the run that it was answered from, unless that was deleted.
    """
    seed, searched = snapshot_run(run, "follow_up"), run
    while searched.answered_at_once and searched.parent:
        searched = searched.parent
    if searched == run:
        return seed
    found = snapshot_run(searched, "follow_up")
    since = tuple(quote for quote in seed.rejected if quote not in found.rejected)
    left = apply_review(replace(found, rejected=since), ())
    return replace(
        left,
        question=seed.question,
        answer=seed.answer,
        report=seed.report,
        instructions=seed.instructions,
        rejected=(*found.rejected, *since),
        ids_used=seed.ids_used,
    )


def labels_left_out(rows: Sequence[EvidenceRow], rejected: Collection[str] = ()) -> frozenset[str]:
    """Return the labels of the records that a review leaves out if these are rejected as well.

    `rows` have their quotes and `last_verdict`.
    """
    refused, accepted = _judged(rows)
    plan = Plan("", Complexity.SIMPLE, "", ())
    seed = Seed("revise", "", plan, evidence=tuple(_evidence(row, ()) for row in rows))
    left = apply_review(seed, {*refused, *rejected}, {*accepted}.difference(rejected))
    return frozenset(row.label for row in rows) - {record.id for record in left.evidence}


def _earlier_report(run: RunRow) -> tuple[str, str]:
    """Return the short answer of a run's report, and what it says up to its sources without title
    and markers.
    """
    report = run.reports.order_by("pk").last()
    if report is None:
        return "", ""
    _, _, told = report.markdown.partition("\n")
    told = told.partition(f"\n## {labels_for(run.language)['sources']}\n")[0]
    return report.short_answer, _MARKERS.sub("", told).strip()


def _judged(rows: Iterable[EvidenceRow]) -> tuple[list[str], list[str]]:
    """Return the labels of the records that reviewers rejected, and of those they accepted."""
    said = {row.label: row.last_verdict for row in rows}
    return (
        [label for label, verdict in said.items() if verdict == "reject"],
        [label for label, verdict in said.items() if verdict == "accept"],
    )


def _started_anew(run: RunRow) -> bool:
    """Return whether a follow-up dropped its seed, asked for or by itself."""
    decided = run.journal.filter(place_key=key_digest(STARTED_ANEW))
    return decided.exists() or run.commands.filter(kind=Kind.NEW_TOPIC).exists()


def store_seed(run: RunRow, parent: RunRow, seed: Seed) -> None:
    """Store the seed of a run and link the earlier run's pages to it; call in a transaction."""
    Snapshot.objects.create(run=run, content=SEED.dump_python(seed, mode="json"))
    pages = RunPage.objects.filter(run=parent).values("page_id", "url", "url_key")
    RunPage.objects.bulk_create(RunPage(run=run, **page) for page in pages)


def _all(earlier: Iterable[str], later: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*earlier, *later)))


def _instructions(run: RunRow, before: Seed | None, plan: Plan) -> tuple[str, ...]:
    """Return what people told the runs of a question and haven't dropped since, oldest first."""
    later = (text for row in run.rounds.all() for text in row.instructions)
    told = _all(before.instructions if before else (), (*plan.instructions, *later))
    heard = run.commands.filter(kind__in=TOLD, taken_at_place__isnull=False).order_by("pk")
    last = {row.payload["text"]: row.kind for row in heard}
    return tuple(text for text in told if last.get(text) != Kind.DROP_INSTRUCTION)


def _pages(run: RunRow, sources: Sequence[Source], before: Seed | None) -> Iterable[Page]:
    """Return the pages that were read, without their texts, once per address."""
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
    """Return the other sub-questions that an evidence record answers."""
    return tuple(a.id for a in aspects if row.label in a.evidence_ids and a.id != row.aspect_label)


def _evidence(row: EvidenceRow, also: tuple[str, ...]) -> Evidence:
    return Evidence(
        id=row.label,
        claim=row.claim,
        aspect_id=row.aspect_label,
        round=row.round,
        sources=tuple(_quote_record(quote) for quote in row.quotes.all()),
        relevance=row.relevance,
        key=row.key,
        confidence=row.confidence,
        uncertainty=tuple(row.uncertainty),
        contradicts=tuple(row.contradicts),
        fields=Fields(**{name: tuple(values) for name, values in row.fields.items()}),
        also_answers=also,
    )


def _quote_record(row: EvidenceSource) -> QuoteSource:
    return QuoteSource(**{name: getattr(row, name) for name in QuoteSource.__dataclass_fields__})


def _source(row: Any) -> Source:
    """Return a source; "cited" becomes "read", since citations belong to the earlier report."""
    named = {name: getattr(row, name) for name in Source.__dataclass_fields__}
    source = Source(**named)
    return replace(source, status="read") if source.status == "cited" else source


def _gap(row: Any) -> Gap:
    return Gap(
        row.label, row.text, row.aspect_label, row.critical, row.opened_round, row.query,
        row.closed_round, tuple(row.closed_by),
    )  # fmt: skip
