"""The two shapes in which a run is handed out, from the same rows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.test.utils import CaptureQueriesContext

from research import leases
from research.advancing import advance
from research.engine import records
from research.models import Run
from research.progress import progress
from research.projection import Projection
from research.resource import run_resource
from research.services import reviews, runs
from research.writer import Writer
from tests.research.scripts import World, evidence, page_at, research

pytestmark = pytest.mark.django_db(transaction=True)

SCHEMA = json.loads(Path(__file__).parent.with_name("run.schema.json").read_text())


@pytest.fixture
def finished(run: Run) -> Run:
    asyncio.run(advance(run.pk, World().tools, engine=research))
    return run


async def _grow(run: Run) -> None:
    """A hundred times the rows."""
    async with Writer() as writer:
        lease = await writer.call(_reopened, run)
        rows = Projection(lease, writer)
        await rows.load()
        for n in range(3, 100):
            rows.receive(records.Aspect(f"A{n}", f"Aspect {n}", "q", "plan", 1))
            rows.receive(evidence(n, page_at(f"https://host{n}.example/"), aspect_id=f"A{n}"))
            rows.receive(records.Unit(n, 1, "eggs", None, status="done"))
            rows.receive(records.Round(n, records.Stage.OVERVIEW))
        await writer.flush(lease)


def _reopened(run: Run) -> leases.Lease:
    Run.objects.filter(pk=run.pk).update(status="researching")
    lease = leases.claim(run.pk, "test")
    assert lease
    return lease


@pytest.mark.parametrize("read", [progress, run_resource], ids=["progress", "resource"])
def test_the_number_of_queries_does_not_grow_with_the_run(
    finished: Run, read: Callable[[Run], object]
) -> None:
    with CaptureQueriesContext(connection) as small:
        read(finished)
    asyncio.run(_grow(finished))
    with CaptureQueriesContext(connection) as large:
        read(finished)
    assert len(large) == len(small) <= 15


def test_a_run_that_has_only_been_asked_has_both_shapes(run: Run) -> None:
    jsonschema.validate(run_resource(run), SCHEMA, format_checker=jsonschema.FormatChecker())
    shown = progress(run)
    assert (shown.run.status, shown.run.round, shown.gate.status) == ("queued", 0, "none")
    assert (shown.action, shown.quality.score, shown.evidence.count) == (None, None, 0)


def test_progress_says_where_a_run_stands(finished: Run) -> None:
    shown = progress(finished)
    assert shown.run.id == finished.public_id
    assert (shown.run.round, shown.run.rounds_at_most) == (2, 3)
    assert shown.verdict.text == "Good enough."
    assert [row.score for row in shown.quality.history] == [7.0, 8.0]
    [aspect] = shown.aspects
    assert (aspect.state, aspect.evidence, aspect.sources) == ("answered", 1, 3)
    assert aspect.best_claim == "Eggs are scrambled over low heat."
    assert (shown.units.dispatched, shown.units.completed_queries) == (2, 2)
    assert shown.units.current_queries == []
    assert (shown.gate.status, shown.gate.round) == ("pass", 2)
    assert (shown.evidence.count, shown.evidence.sources) == (1, 3)
    assert shown.evidence.domains == ["eggs1.example", "eggs2.example", "eggs3.example"]
    used = {meter.name: (meter.used, meter.limit) for meter in shown.budget}
    assert used["searches"] == (2, 60)
    assert json.loads(shown.model_dump_json())["limits"]["rounds"] == 3


def test_reviews_reach_the_resource(finished: Run, ada: AbstractUser) -> None:
    [row] = finished.evidence.all()
    reviews.review(ada, row, "accept")
    reviews.review(ada, row, "reject")
    assert run_resource(finished)["evidence"][0]["review"] == "rejected"


def test_a_failed_topic_is_among_the_errors(finished: Run) -> None:
    finished.units.filter(round=2).update(status="failed", failure="No search answered.")
    assert run_resource(finished)["errors"][-1] == {
        "where": "round 2, topic “eggs”",
        "message": "No search answered.",
    }


def test_a_unit_at_work_is_shown_live_and_left_out_of_the_record(finished: Run) -> None:
    finished.units.filter(round=2).update(status=None)
    assert progress(finished).units.current_queries == ["eggs 2"]
    assert run_resource(finished)["rounds"][1]["units"] == []


def test_pages_come_only_with_the_export(finished: Run) -> None:
    assert "pages" not in run_resource(finished)
    assert len(run_resource(finished, with_pages=True)["pages"]) == 3


def test_a_followed_up_run_names_its_parent(run: Run, ada: AbstractUser) -> None:
    child = runs.ask(ada, "And then?")
    Run.objects.filter(pk=child.pk).update(parent=run, thread=run.thread, kind="follow_up")
    found = run_resource(child)
    assert (found["parent"], found["kind"]) == (run.public_id, "follow_up")
    assert found["thread"] == run.thread.public_id
