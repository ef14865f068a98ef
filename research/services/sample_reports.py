"""Finished runs over the sample library, shipped as data and copied into a user's account."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractUser
from django.core import serializers
from django.db import IntegrityError, models, transaction

import research
from research.models import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    GateResult,
    JournalEntry,
    PageText,
    Problem,
    RefusedQuote,
    Report,
    Round,
    Run,
    RunPage,
    Source,
    Thread,
    Unit,
)
from research.services.errors import ServiceError

FOLDER = Path(research.__file__).parent / "samples" / "reports"
REASON = "Sample report"
REPORTS = Report._meta.label_lower
ROWS: tuple[type[models.Model], ...] = (
    Aspect, Evidence, Gap, GateResult, JournalEntry, Problem, RefusedQuote, Report, Round, RunPage,
    Source, Unit,
)  # fmt: skip
"""The tables whose rows belong to one run."""

Rows = list[dict[str, Any]]


def has_report(slug: str) -> bool:
    return _file_of(slug).is_file()


@cache
def describe_sample(slug: str) -> str:
    """Return the number of pages cited and their sites of a sample report; '' if there is none."""
    if not has_report(slug):
        return ""
    reports = [row["fields"] for row in _read_rows(slug) if row["model"] == REPORTS]
    addresses = [entry["url"] for entry in reports[-1]["citations"]]
    sites = {urlsplit(address).hostname for address in addresses}
    return f"{len(addresses)} pages from {len(sites)} sites"


def open_sample(actor: AbstractUser, slug: str) -> Run:
    """Return the user's copy of a sample run, and create it on first use.

    Raise `ServiceError` if there is no such sample.
    """
    if not has_report(slug):
        raise ServiceError("There is no such sample report.")
    key = f"sample-report/{slug}"
    same = Run.objects.filter(owner=actor, idempotency_key=key)
    try:
        return same.first() or _copy_run(actor, _read_rows(slug), key)
    except IntegrityError:
        return same.get()


def store_sample(run: Run, slug: str) -> Path:
    """Write a run's rows to the file that `open_sample` reads, and return its path."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(list(_dump_rows(run)), ensure_ascii=False, separators=(",", ":"), default=str)
    _file_of(slug).write_bytes(gzip.compress(text.encode(), mtime=0))
    return _file_of(slug)


def _file_of(slug: str) -> Path:
    return FOLDER / f"{slug}.json.gz"


def _read_rows(slug: str) -> Rows:
    rows: Rows = json.loads(gzip.decompress(_file_of(slug).read_bytes()))
    return rows


def _dump_rows(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the run, then everything that belongs to it; what is referred to comes first."""
    yield from _dump(Run.objects.filter(pk=run.pk))
    yield from _dump(PageText.objects.filter(uses__run=run).distinct())
    for model in ROWS:
        yield from _dump(model._default_manager.filter(run=run))
    yield from _dump(EvidenceSource.objects.filter(evidence__run=run))


def _dump(rows: models.QuerySet[Any]) -> Rows:
    # Python objects become JSON's by the encoder of Django's own JSON serializer.
    dumped: Rows = json.loads(serializers.serialize("json", rows.order_by("pk")))
    return dumped


@transaction.atomic
def _copy_run(actor: AbstractUser, rows: Rows, key: str) -> Run:
    """Create the rows with new keys. Columns that no longer exist are ignored."""
    first, *others = (
        entry.object for entry in serializers.deserialize("python", rows, ignorenonexistent=True)
    )
    run = _new_run(actor, first, key)
    evidence: dict[int, Evidence] = {}
    for row in others:
        if isinstance(row, PageText):
            PageText.objects.get_or_create(pk=row.pk, defaults=_columns(row))
            continue
        old, row.pk = row.pk, None
        if isinstance(row, EvidenceSource):
            row.evidence = evidence[row.evidence_id]
        else:
            row.run = run
        row.save(force_insert=True)
        if isinstance(row, Evidence):
            evidence[old] = row
    return run


def _new_run(actor: AbstractUser, run: Run, key: str) -> Run:
    thread = Thread.objects.create(owner=actor, title=run.question[:200])
    run.pk, run.public_id = None, Run._meta.get_field("public_id").get_default()
    run.owner, run.thread = actor, thread
    run.idempotency_key, run.reason = key, REASON
    run.save(force_insert=True)
    return run


def _columns(row: models.Model) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
