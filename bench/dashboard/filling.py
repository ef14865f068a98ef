"""A database with many runs: one real run, and copies made inside the database.

The product researches the first run over the sample library; evidence is added to it. Copies are
made table by table with `INSERT … SELECT`: every table that refers to a run is filled, including
tables that are added later.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.apps import apps
from django.contrib.auth.models import AbstractUser
from django.core.management import call_command
from django.db import connection, models, transaction

from research.models import Evidence, EvidenceSource, JournalEntry, Run, Thread, Verdict

QUESTION = "Impact of quantum computing on cryptocurrency security"
EVIDENCE_PER_RUN = 100
SITES = 400
COPY = "copy-"
STATES = (
    "CASE WHEN n % 20 = 0 THEN 'failed' WHEN n % 20 = 1 THEN 'cancelled' "
    "WHEN n % 200 = 2 THEN 'awaiting_approval' ELSE 'completed' END"
)
WORDS = ("harbour", "glacier", "ledger", "turbine", "orchard", "signal", "census", "railway")
LIGHT = {JournalEntry: {"request": "'{}'", "answer": "NULL"}}
"""Columns left empty in copies: lists don't read them, and they would take 60 GB."""


def first_run() -> Run:
    """Return the real run, with as much evidence as its copies will have."""
    with open("/dev/null", "w") as nowhere:  # the command prints its report
        call_command("research", QUESTION, search="samples", yes=True, stdout=nowhere)
    run = Run.objects.get()
    _widen(run)
    Verdict.objects.bulk_create(
        Verdict(evidence=row, actor=run.owner, verdict=Verdict.Kind.values[row.position % 3])
        for row in run.evidence.filter(position__gt=50)[:10]
    )
    return run


def _widen(run: Run) -> None:
    """Add or remove evidence, so that the run has exactly `EVIDENCE_PER_RUN` records."""
    run.evidence.filter(position__gt=EVIDENCE_PER_RUN).delete()
    rows = list(run.evidence.prefetch_related("quotes"))
    for number in range(len(rows) + 1, EVIDENCE_PER_RUN + 1):
        like = rows[number % len(rows)]
        quotes = list(like.quotes.all())
        new = Evidence.objects.create(
            **_values(like, label=f"E{number}", position=number, claim=f"{like.claim} ({number})")
        )
        for quote in quotes:
            EvidenceSource.objects.create(**_values(quote, evidence=new))
    run.evidence.filter(position=EVIDENCE_PER_RUN).update(contradicts=["E1"])


def _values(row: models.Model, **changed: object) -> dict[str, object]:
    names = (field.name for field in row._meta.concrete_fields if not field.primary_key)
    return {name: getattr(row, name) for name in names} | changed


def copies(like: Run, count: int) -> None:
    """Add `count` copies with different questions, each older than the one before."""
    with transaction.atomic():
        for statement in _statements(like, count):
            with connection.cursor() as cursor:
                cursor.execute(statement)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _statements(like: Run, count: int) -> Iterator[str]:
    public = f"'{COPY}' || n"
    yield _insert(Thread, {"public_id": public}, f"t.id = {like.thread_id}", count)
    words = " ".join(f"WHEN {place} THEN '{word}'" for place, word in enumerate(WORDS))
    question = f"t.question || ' ' || CASE n % {len(WORDS)} {words} END || ' ' || n"
    changed = {
        "public_id": public,
        "question": question,
        "status": STATES,
        "idempotency_key": "NULL",
        "created_at": _earlier("t.created_at"),
        "thread_id": f"(SELECT id FROM {Thread._meta.db_table} WHERE public_id = {public})",
    }
    yield _insert(Run, changed, f"t.id = {like.pk}", count)
    copied = f"SELECT id AS n FROM {Run._meta.db_table} WHERE public_id LIKE '{COPY}%'"
    for model in apps.get_app_config("research").get_models():
        names = {field.name for field in model._meta.concrete_fields}
        if "run" in names:
            changed = {"run_id": "n", **LIGHT.get(model, {})}
            yield _insert(model, changed, f"t.run_id = {like.pk}", copied)
    yield _quotes(like)
    yield _verdicts(like.owner)


def _insert(
    model: type[models.Model], changed: dict[str, str], where: str, numbers: int | str
) -> str:
    """Return SQL that copies the rows `t` matching the condition `where`, once for each `n`."""
    columns = [each.column for each in model._meta.concrete_fields if not each.primary_key]
    chosen = ", ".join(changed.get(column, _quoted("t", column)) for column in columns)
    named = ", ".join(f'"{column}"' for column in columns)
    table = model._meta.db_table
    source = numbers if isinstance(numbers, str) else _numbers(numbers)
    return (
        f"INSERT INTO {table} ({named}) SELECT {chosen} FROM {table} t, ({source}) s WHERE {where}"
    )


def _quotes(like: Run) -> str:
    """Return SQL that copies the quotes; evidence of a copy finds its original by label."""
    table, evidence = EvidenceSource._meta.db_table, Evidence._meta.db_table
    fields = [each.column for each in EvidenceSource._meta.concrete_fields if not each.primary_key]
    site = f"'site-' || (e.id % {SITES}) || '.example'"
    changed = {"evidence_id": "e.id", "domain": site, "independence_key": site}
    chosen = ", ".join(changed.get(column, _quoted("t", column)) for column in fields)
    named = ", ".join(f'"{column}"' for column in fields)
    return (
        f"INSERT INTO {table} ({named}) SELECT {chosen} FROM {table} t "
        f"JOIN {evidence} p ON p.id = t.evidence_id AND p.run_id = {like.pk} "
        f"JOIN {evidence} e ON e.label = p.label AND e.run_id != {like.pk}"
    )


def _verdicts(actor: AbstractUser) -> str:
    table, evidence = Verdict._meta.db_table, Evidence._meta.db_table
    return (
        f"INSERT INTO {table} (evidence_id, actor_id, verdict, note, created_at) "
        f"SELECT e.id, {actor.pk}, CASE e.id % 3 WHEN 0 THEN 'accept' WHEN 1 THEN 'reject' "
        f"ELSE 'flag' END, '', CURRENT_TIMESTAMP FROM {evidence} e WHERE e.id % 31 = 0"
    )


def _quoted(table: str, column: str) -> str:
    return f'{table}."{column}"'


def _numbers(count: int) -> str:
    if connection.vendor == "postgresql":
        return f"SELECT generate_series(1, {count}) AS n"
    return (
        "WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL "
        f"SELECT n + 1 FROM counted WHERE n < {count}) SELECT n FROM counted"
    )


def _earlier(column: str) -> str:
    """Return SQL for a timestamp column, n minutes earlier."""
    if connection.vendor == "postgresql":
        return f"{column} - n * interval '1 minute'"
    return f"datetime({column}, '-' || n || ' minutes')"
