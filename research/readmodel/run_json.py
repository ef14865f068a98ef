"""A run as one JSON object, for `research --json`, the API and the export.

Its format is a contract, `tests/run.schema.json`. The number of queries is constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from research.engine.records import Checks, Dimensions, Fields, Usage
from research.models import (
    Aspect,
    Command,
    Evidence,
    EvidenceSource,
    Gap,
    GateResult,
    Problem,
    Report,
    Round,
    Run,
    Source,
    Unit,
)
from research.readmodel.run_rows import marked_row

REVIEW = {None: "unreviewed", "accept": "accepted", "reject": "rejected", "flag": "flagged"}
HEAD = (
    "kind",
    "reason",
    "question",
    "understood_as",
    "language",
    "status",
    "stage",
    "mode",
    "complexity",
    "analyst",
    "config",
    "termination_reason",
    "termination_text",
    "quality_score",
    "asks",
)
QUOTE = (
    "url",
    "title",
    "domain",
    "independence_key",
    "quote",
    "start",
    "end",
    "text_sha256",
    "section",
    "published",
)


def run_resource(run: Run, *, with_pages: bool = False) -> dict[str, Any]:
    """Return the run as committed now; `with_pages` adds the stored texts of its pages."""
    run = Run.objects.select_related("thread", "parent").get(pk=run.pk)
    aspects = list(run.aspects.all())
    texts = {aspect.label: aspect.text for aspect in aspects}
    units = list(run.units.exclude(status=None))
    evidence = list(run.evidence.with_review().prefetch_related("quotes"))
    report = run.reports.order_by("number").last()
    resource = {
        **_head(run),
        "aspects": [_aspect(aspect, evidence) for aspect in aspects],
        "rounds": [_round(row, units) for row in run.rounds.all()],
        "gates": [gate_object(row) for row in run.gates.all()],
        "evidence": [evidence_object(row, texts) for row in evidence],
        "sources": [source_object(row) for row in run.source_pages.all()],
        "gaps": [_gap(row, texts) for row in run.gaps.all()],
        "commands": [command_object(row) for row in run.commands.all()],
        **_report(report),
        "usage": asdict(Usage()) | run.usage,
        "evaluation": run.evaluation,
        "errors": [*_problems(run.problems.all()), *_failures(units)],
    }
    return resource | {"pages": _pages(run)} if with_pages else resource


def _head(run: Run) -> dict[str, Any]:
    return {
        "id": run.public_id,
        "thread": run.thread.public_id,
        "parent": run.parent.public_id if run.parent else None,
        **{name: getattr(run, name) for name in HEAD},
        "created_at": _time(run.created_at),
        "finished_at": _time(run.finished_at),
    }


def _aspect(row: Aspect, evidence: Iterable[Evidence]) -> dict[str, Any]:
    """Return a sub-question; `mark` and `sources` are the displayed form of `state`."""
    answering = set(row.evidence_labels)
    quotes = [q for each in evidence if each.label in answering for q in each.quotes.all()]
    shown = marked_row(row, {quote.independence_key for quote in quotes})
    return {
        "id": row.label,
        "text": row.text,
        "state": row.state,
        "mark": shown.mark,
        "sources": shown.sources,
        "open_points": shown.open_points,
        "raised_by": row.raised_by or None,
        "evidence_ids": row.evidence_labels,
        "dropped": row.dropped,
    }


def _round(row: Round, units: Iterable[Unit]) -> dict[str, Any]:
    return {
        "number": row.number,
        "stage": row.stage,
        "score": row.score,
        "model_score": row.model_score,
        "model_overall": row.model_overall,
        "dimensions": asdict(Dimensions()) | row.dimensions,
        "novelty": row.novelty,
        "topics": row.topics,
        "skipped_topics": row.skipped,
        "instructions": row.instructions,
        "units": [_unit(unit) for unit in units if unit.round == row.number],
        "gaps": row.gaps,
        "decision": row.decision,
    }


def _unit(row: Unit) -> dict[str, Any]:
    return {
        "topic": row.topic,
        "status": row.status,
        "seconds": row.seconds,
        "failure": row.failure,
    }


def gate_object(row: GateResult) -> dict[str, Any]:
    """Return one gate's result; `met` is computed from each criterion's figures."""
    return {
        "round": row.round,
        "gate": row.gate,
        "decision": row.decision,
        "score": row.score,
        "threshold": row.threshold,
        "criteria": [each | {"met": each["value"] >= each["minimum"]} for each in row.criteria],
        "feedback": row.feedback,
        "at": _time(row.at),
    }


def evidence_object(row: Evidence, aspects: dict[str, str]) -> dict[str, Any]:
    """Return an evidence record; `aspects` are the texts of the sub-questions by label."""
    return {
        "id": row.label,
        "claim": row.claim,
        "key": row.key,
        "aspect": aspects.get(row.aspect_label or ""),
        "confidence": row.confidence,
        "uncertainty": row.uncertainty,
        "review": REVIEW[row.last_verdict],
        "contradicts": row.contradicts,
        "fields": asdict(Fields()) | row.fields,
        "sources": [_quote(quote) for quote in row.quotes.all()],
    }


def _quote(row: EvidenceSource) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in QUOTE},
        "fetched_at": _time(row.fetched_at),
    }


def source_object(row: Source) -> dict[str, Any]:
    """Return a page that was found, and what became of it."""
    return {
        "url": row.url,
        "title": row.title,
        "domain": row.domain,
        "kind": row.kind,
        "date": row.published,
        "relevance": row.relevance,
        "status": row.status,
        "reason": row.reason,
    }


def _gap(row: Gap, aspects: dict[str, str]) -> dict[str, Any]:
    return {
        "id": row.label,
        "text": row.text,
        "aspect": aspects.get(row.aspect_label or ""),
        "critical": row.critical,
        "opened_round": row.opened_round,
        "closed_round": row.closed_round,
        "closed_by": row.closed_by,
    }


def command_object(row: Command) -> dict[str, Any]:
    """Return a user's command; `taken` once the engine has processed it."""
    return {
        "kind": row.kind,
        "topic": row.payload.get("topic"),
        "text": row.payload.get("text"),
        "at": _time(row.created_at),
        "taken": row.taken_at_place is not None,
    }


def _report(row: Report | None) -> dict[str, Any]:
    return {
        "report_markdown": row.markdown if row else "",
        "citations": row.citations if row else [],
        "checks": asdict(Checks()) | (row.checks if row else {}),
        "short_answer": row.short_answer if row else "",
        "report_version": row.number if row else None,
    }


def _problems(rows: Iterable[Problem]) -> list[dict[str, str]]:
    return [{"where": row.where, "message": row.message} for row in rows]


def _failures(units: Iterable[Unit]) -> list[dict[str, str]]:
    """Return the topics that yielded nothing because of an error."""
    return [
        {"where": f"round {unit.round}, topic “{unit.topic}”", "message": unit.failure}
        for unit in units
        if unit.failure
    ]


def _pages(run: Run) -> list[dict[str, Any]]:
    return [
        {"text_sha256": use.page.sha256, "url": use.url, "text": use.page.text}
        for use in run.pages.select_related("page").order_by("url")
    ]


def _time(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat()
