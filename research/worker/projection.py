"""Projection of engine records to database rows: upserts that skip unchanged rows.

The journal is the source of truth; rows are derived from it. Records that a resumed run emits
again are suppressed until it goes live, so that rows never return to an earlier state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

from django.db import models
from django.utils import timezone
from pydantic_core import to_jsonable_python

from research.engine import records
from research.engine.records import ENDED, Record, Status
from research.llm.settings import ModelSettings
from research.models import (
    Aspect,
    Evidence,
    EvidenceSource,
    Gap,
    GateResult,
    Problem,
    RefusedQuote,
    Report,
    Round,
    Run,
    Source,
    Unit,
)
from research.models.base import EngineRow, key_digest
from research.notifications.outbox import announce_status
from research.runtime.verifier import store_qualification
from research.threads.verdicts import Basis, carry_verdicts, evidence_digest
from research.worker.leases import Lease
from research.worker.writer import Work, Writer

Values = dict[str, Any]
Key = tuple[object, ...]


def _position(label: str) -> int:
    digits = re.search(r"(?<!\d)\d+$", label)
    return int(digits.group()) if digits else 0


@dataclass(frozen=True)
class Table:
    """Mapping of one kind of record to rows; columns are named like fields unless `renamed`."""

    model: type[EngineRow]
    key: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        left_out = {"id", "run", "evidence", "created_at"}
        return [f.name for f in self.model._meta.concrete_fields if f.name not in left_out]

    def values(self, record: object) -> Values:
        return {name: self._value(record, name) for name in self.columns}

    def _value(self, record: object, column: str) -> Any:
        derive = self.derived.get(column)
        raw = derive(record) if derive else getattr(record, self.renamed.get(column, column))
        return _stored(self.model, column, raw)


def _stored(model: type[models.Model], column: str, value: Any) -> Any:
    """Convert a value to the form in which the database returns it."""
    if isinstance(model._meta.get_field(column), models.JSONField):
        return to_jsonable_python(value)
    return value.value if isinstance(value, Enum) else value


LABELLED = {"label": "id", "aspect_label": "aspect_id", "evidence_labels": "evidence_ids"}
POSITION = {"position": lambda record: _position(record.id)}
ADDRESS = {"url_key": lambda record: key_digest(record.url)}

TABLES: dict[type[Any], Table] = {
    records.Aspect: Table(Aspect, ("label",), LABELLED, POSITION),
    records.Evidence: Table(Evidence, ("label",), LABELLED, POSITION),
    records.Source: Table(Source, ("url_key",), derived=ADDRESS),
    records.Gap: Table(Gap, ("label",), LABELLED, POSITION),
    records.Unit: Table(Unit, ("round", "number"), LABELLED),
    records.Round: Table(Round, ("number",)),
    records.GateResult: Table(GateResult, ("round", "gate")),
    records.RefusedQuote: Table(RefusedQuote, ("round", "unit", "ordinal")),
    records.Problem: Table(
        Problem, ("key",), derived={"key": lambda problem: problem_key(problem)}
    ),
}
QUOTES = Table(EvidenceSource, ("position",), derived={"position": lambda quoted: 0})

RUN_STATE = tuple(records.RunState.__dataclass_fields__)


def problem_key(problem: records.Problem) -> str:
    return key_digest(problem.where, problem.message)


class Projection:
    """Receives the records of one execution of a run; call `load` first.

    `receive` is synchronous and cheap: it compares with what was last written and queues the
    difference for the writer. `verifier` is the model whose qualification is stored.
    """

    def __init__(self, lease: Lease, writer: Writer) -> None:
        self.lease = lease
        self.writer = writer
        self._written: dict[Key, Values] = {}
        self._run: Values = {}
        self._report: tuple[int, Values] = (0, {})
        self.verifier: ModelSettings | None = None

    async def load(self) -> None:
        """Read the existing rows."""
        await self.writer.call(self._load)

    # --- one record ----------------------------------------------------------------------

    def receive(self, record: Record) -> None:
        table = TABLES.get(type(record))
        if table is not None:
            self._row(table, record)
        elif isinstance(record, records.Report):
            self._report_version(record)
        elif isinstance(record, records.Qualification):
            self._qualification(record)
        else:
            self._columns(_run_columns(record))

    def _qualification(self, record: records.Qualification) -> None:
        """A qualification belongs to the installation's model, not to the run that made it."""
        if self.verifier is not None:
            store = partial(store_qualification, self.verifier, record)
            self.writer.post(Work(self.lease, then=store, visible=False))

    def _columns(self, columns: Values) -> None:
        changed = {n: v for n, v in columns.items() if self._run.get(n) != v}
        if not changed:
            return
        self._run |= changed
        if "action" in changed:
            changed["action_at"] = timezone.now()
        ends = changed.get("status") in ENDED
        if ends:
            changed["finished_at"] = timezone.now()
        then = None
        if "status" in changed:
            then = partial(_status_changed, self.lease.run_id, changed["status"], ends)
        self.writer.post(Work(self.lease, columns=changed, then=then))

    def _row(self, table: Table, record: Any) -> None:
        values = table.values(record)
        quotes = _quotes(record) if table.model is Evidence else []
        key = _row_key(table, values)
        new = {**values, "quotes": quotes} if quotes else values
        known = self._written.get(key)
        if known == new:
            return
        self._written[key] = new
        row = table.model(run_id=self.lease.run_id, **values)
        children = tuple(EvidenceSource(evidence=row, **quote) for quote in quotes)
        shrunk = partial(_drop_quotes, row, len(quotes)) if known and quotes else None
        self.writer.post(Work(self.lease, (row, *children), key=key, then=shrunk))

    def _report_version(self, record: records.Report) -> None:
        values = _report_values(record)
        number, latest = self._report
        if values == latest:
            return
        self._report = (number + 1, values)
        row = Report(
            run_id=self.lease.run_id,
            number=number + 1,
            evidence_digest=evidence_digest(self._basis()),
            **values,
        )
        self.writer.post(Work(self.lease, (row,)))

    def _basis(self) -> Iterable[Basis]:
        for (model, *_), values in self._written.items():
            if model is Evidence:
                quotes = tuple((q["url"], q["quote"]) for q in values.get("quotes", ()))
                yield Basis(values["label"], values["claim"], quotes)

    # --- what is written -----------------------------------------------------------------

    def _load(self) -> None:
        run_id = self.lease.run_id
        self._run = Run.objects.values(
            *RUN_STATE, "plan", "usage", "evaluation", "action", "draft"
        ).get(pk=run_id)
        for table in TABLES.values():
            rows = table.model._default_manager.filter(run_id=run_id)
            for values in rows.values(*table.columns):
                self._written[_row_key(table, values)] = values
        quotes = EvidenceSource.objects.filter(evidence__run_id=run_id)
        for row in quotes.order_by("position").values("evidence__label", *QUOTES.columns):
            evidence = self._written[Evidence, row.pop("evidence__label")]
            evidence.setdefault("quotes", []).append(row)
        last = Report.objects.filter(run_id=run_id).order_by("number").last()
        if last is not None:
            self._report = (last.number, {name: getattr(last, name) for name in REPORT})


def _status_changed(run_id: int, status: str, ends: bool) -> None:
    """Store what follows from a new status, in its transaction."""
    if ends:
        carry_verdicts(run_id)
    announce_status(run_id, status)


REPORT = ("markdown", "short_answer", "citations", "checks")


def _report_values(record: records.Report) -> Values:
    return {name: _stored(Report, name, getattr(record, name)) for name in REPORT}


def _run_columns(record: Any) -> Values:
    match record:
        case records.RunState():
            columns = {name: _stored(Run, name, getattr(record, name)) for name in RUN_STATE}
            return columns if record.status is Status.WRITING else {**columns, "draft": []}
        case records.Plan():
            return {"plan": to_jsonable_python(record)}
        case records.Usage():
            return {"usage": to_jsonable_python(record)}
        case records.Evaluation():
            return {"evaluation": to_jsonable_python(record)}
        case records.Action():
            return {"action": record.text}
        case records.Drafted():
            return {"draft": to_jsonable_python(record.sentences)}
    raise TypeError(f"no table for {type(record).__name__}")


def _quotes(evidence: records.Evidence) -> list[Values]:
    return [
        {**QUOTES.values(source), "position": position}
        for position, source in enumerate(evidence.sources)
    ]


def _drop_quotes(evidence: Evidence, kept: int) -> None:
    EvidenceSource.objects.filter(evidence_id=evidence.pk, position__gte=kept).delete()


def _row_key(table: Table, values: Values) -> Key:
    return (table.model, *(values[name] for name in table.key))
