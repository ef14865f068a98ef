from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import get_args

import pytest

from research.engine import records
from research.engine.records import Record, RunState, Status
from research.models import Evidence, EvidenceSource, Run
from research.threads.verdicts import is_stale
from research.worker import leases
from research.worker.leases import Lease
from research.worker.projection import TABLES, Projection
from research.worker.writer import Writer
from tests.research.scripts import ASPECT, GAP, GATE, evidence, page_at

pytestmark = pytest.mark.django_db(transaction=True)

PAGES = tuple(page_at(f"https://eggs{n}.example/page") for n in range(3))
ALL: tuple[Record, ...] = (
    RunState(Status.RESEARCHING, round=1, quality_score=6.5),
    records.Plan("Eggs", records.Complexity.SIMPLE, "en", ()),
    records.Action("Reading"),
    records.Usage(llm_calls=2, llm_calls_by_task={"intake": 2}, cost_usd=None),
    ASPECT,
    GAP,
    GATE,
    evidence(1, PAGES[0], fields=records.Fields(names=("Egg",)), uncertainty=("hedged",)),
    evidence(2, PAGES[0], PAGES[1]),
    records.Source(PAGES[0].url, "Eggs", "eggs0.example", 1, relevance=0.1 + 0.2),
    records.Unit(1, 1, "eggs", "A1", ("eggs",)),
    records.Round(
        1, records.Stage.OVERVIEW, ("eggs",), (records.Skipped("egg", "eggs", 0.8),), score=6.5
    ),
    records.RefusedQuote(1, 1, 1, "Eggs fly.", PAGES[0].url, "Not on the page."),
    records.Problem("search", "One provider did not answer."),
    records.Report("Eggs [1]", (records.Citation(1, ("E1",), PAGES[0].url),)),
)


@pytest.fixture
def lease(run: Run) -> Lease:
    taken = leases.claim_run(run.pk, "test")
    assert taken
    return taken


def project(lease: Lease, *emitted: Record) -> None:
    asyncio.run(_project(lease, emitted))


async def _project(lease: Lease, emitted: Iterable[Record]) -> None:
    async with Writer() as writer:
        rows = Projection(lease, writer)
        await rows.load()
        for record in emitted:
            rows.receive(record)
        await writer.flush(lease)


def sequence(run: Run) -> int:
    return Run.objects.get(pk=run.pk).sequence


def test_every_kind_of_record_has_a_place() -> None:
    to_the_run = {
        records.RunState,
        records.Plan,
        records.Usage,
        records.Evaluation,
        records.Action,
        records.Drafted,
        records.Qualification,
        records.Report,
    }
    assert set(get_args(Record)) == set(TABLES) | to_the_run


@pytest.mark.requirement("A10", "C23")
@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
def test_no_field_of_a_record_is_lost(kind: type[Record]) -> None:
    """Quotes have rows of their own; the sub-questions' rows say what a claim answers, and the form
    of the run how its dates are read.
    """
    table = TABLES[kind]
    apart = {"sources", "also_answers", "dates_clauses"} if kind is records.Evidence else set()
    kept = {table.renamed.get(column, column) for column in table.columns}
    assert {field.name for field in fields(kind)} - apart <= kept


def test_unchanged_records_write_nothing_and_bump_nothing(
    run: Run, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(lease, *ALL)
    assert sequence(run) > 0
    before = sequence(run)
    posted: list[object] = []
    monkeypatch.setattr(Writer, "post", lambda self, work: posted.append(work))
    project(lease, *ALL)
    assert posted == []
    assert sequence(run) == before


def test_a_changed_record_updates_its_row(run: Run, lease: Lease) -> None:
    project(lease, ASPECT)
    project(lease, replace(ASPECT, state=records.AspectState.DISPUTED, evidence_ids=("E1",)))
    [row] = run.aspects.all()
    assert (row.state, row.evidence_labels) == ("disputed", ["E1"])


def test_quotes_keep_their_order_and_leave_with_their_source(run: Run, lease: Lease) -> None:
    project(lease, evidence(1, *PAGES))
    first = Evidence.objects.get()
    assert [quote.domain for quote in first.quotes.all()] == [page.domain for page in PAGES]
    project(lease, evidence(1, *reversed(PAGES)), evidence(1, PAGES[2]))
    assert [quote.domain for quote in first.quotes.all()] == [PAGES[2].domain]
    assert Evidence.objects.get().pk == first.pk


def test_many_changes_at_once_leave_the_last(run: Run, lease: Lease) -> None:
    project(lease, *(evidence(1, *PAGES[:n], confidence=n / 4) for n in (1, 2, 3, 2)))
    assert EvidenceSource.objects.count() == 2
    assert Evidence.objects.get().confidence == 0.5


def test_evidence_stands_in_the_order_of_its_numbers(run: Run, lease: Lease) -> None:
    project(lease, *(evidence(n, PAGES[0]) for n in (10, 2, 1)))
    assert [row.label for row in run.evidence.all()] == ["E1", "E2", "E10"]


def test_an_action_said_again_keeps_its_age(run: Run, lease: Lease) -> None:
    project(lease, records.Action("Reading"))
    since = Run.objects.get(pk=run.pk).action_at
    project(lease, records.Action("Reading"))
    assert since is not None
    assert Run.objects.get(pk=run.pk).action_at == since


def test_an_unchecked_draft_stands_while_the_report_is_written(run: Run, lease: Lease) -> None:
    writing = RunState(Status.WRITING)
    one, two = records.DraftedSentence("Eggs set."), records.DraftedSentence("Slowly.", "How?")
    project(lease, writing, records.Drafted((one,)), records.Drafted((one, two)))
    project(lease, writing)
    assert Run.objects.get(pk=run.pk).draft == [
        {"text": "Eggs set.", "about": ""},
        {"text": "Slowly.", "about": "How?"},
    ]
    project(lease, RunState(Status.COMPLETED))
    assert Run.objects.get(pk=run.pk).draft == []


def test_a_report_is_a_new_version_only_where_it_differs(run: Run, lease: Lease) -> None:
    first, second = records.Report("One"), records.Report("Two")
    project(lease, first, first)
    project(lease, first, second)
    project(lease, second)
    assert [(r.number, r.markdown) for r in run.reports.all()] == [(1, "One"), (2, "Two")]


def test_a_report_goes_stale_with_its_evidence(run: Run, lease: Lease) -> None:
    project(lease, evidence(1, *PAGES), evidence(2, PAGES[0]), records.Report("One"))
    report = run.reports.get()
    assert not is_stale(report)
    project(lease, evidence(2, PAGES[0], claim="Something else."))
    assert is_stale(report)


def test_a_run_that_ends_gets_its_time(run: Run, lease: Lease) -> None:
    project(lease, RunState(Status.WRITING))
    assert Run.objects.get(pk=run.pk).finished_at is None
    project(lease, RunState(Status.COMPLETED))
    assert Run.objects.get(pk=run.pk).finished_at is not None
