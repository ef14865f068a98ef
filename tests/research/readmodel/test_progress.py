"""The two shapes in which a run is handed out, from the same rows."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from django.contrib.auth.models import AbstractUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rich.console import Console

from research.engine import records
from research.engine.config import ResearchConfig
from research.models import Run
from research.readmodel.progress import load_progress
from research.readmodel.progress_parts import LevelPart
from research.readmodel.run_json import run_resource
from research.runtime.terminal import render_progress
from research.services import reviews, runs
from research.worker import leases
from research.worker.projection import Projection
from research.worker.run_executor import advance_run
from research.worker.writer import Writer
from tests.research.scripts import World, evidence, page_at, research
from tests.support.run_schema import SCHEMA, VALIDATOR, validate_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def finished(run: Run) -> Run:
    asyncio.run(advance_run(run.pk, World().tools, engine=research))
    return run


def test_the_schema_is_a_schema() -> None:
    VALIDATOR.check_schema(SCHEMA)


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
    lease = leases.claim_run(run.pk, "test")
    assert lease
    return lease


@pytest.mark.parametrize("read", [load_progress, run_resource], ids=["progress", "resource"])
def test_the_number_of_queries_does_not_grow_with_the_run(
    finished: Run, read: Callable[[Run], object]
) -> None:
    with CaptureQueriesContext(connection) as small:
        read(finished)
    asyncio.run(_grow(finished))
    with CaptureQueriesContext(connection) as large:
        read(finished)
    assert len(large) == len(small) <= 15


@pytest.mark.requirement("D4")
def test_a_run_that_has_only_been_asked_has_both_shapes(run: Run) -> None:
    validate_run(run_resource(run))
    shown = load_progress(run)
    assert (shown.run.status, shown.run.round, shown.gate.status) == ("queued", 0, "none")
    assert (shown.action, shown.quality.score, shown.evidence.count) == (None, None, 0)


@pytest.mark.requirement("A11", "B7", "C23", "D4")
def test_progress_says_where_a_run_stands(finished: Run) -> None:
    shown = load_progress(finished)
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


async def _found(run: Run, *found: records.Record) -> None:
    async with Writer() as writer:
        lease = await writer.call(_reopened, run)
        rows = Projection(lease, writer)
        await rows.load()
        for record in found:
            rows.receive(record)
        await writer.flush(lease)


ANSWERED = records.Aspect("A2", "How long?", "q", "plan", 1, records.AspectState.ANSWERED, ("E1",))


def test_a_sub_question_shows_what_answers_it_whatever_it_was_found_for(finished: Run) -> None:
    hardly = evidence(2, page_at("https://other.example/"), aspect_id="A2", relevance=0.2)
    asyncio.run(_found(finished, ANSWERED, hardly))
    shown = load_progress(finished).aspects[1]
    assert (shown.evidence, shown.sources) == (1, 3)
    assert shown.best_claim == "Eggs are scrambled over low heat."


@pytest.mark.parametrize(
    "standing, mark, sources, said",
    [
        (None, "answered", 3, "✓ answered, 3 sites"),
        (records.AnswerSupport(("a", "b"), True), "answered", 2, "✓ answered, 2 sites"),
        (records.AnswerSupport(("a",), True), "one_source", 1, "◐ one site"),
        (records.AnswerSupport(("a", "b"), False), "passages", 2, "◐ passages from 2 sites"),
        (records.AnswerSupport((), False), "close", 3, "○ passages come close"),
        (records.AnswerSupport(("a",), False, probability=0.7), "answered", 1, "✓ answered"),
        (
            records.AnswerSupport(("a",), False, probability=0.6),
            "close",
            1,
            "○ passages come close",
        ),
    ],
)
def test_progress_terminal_and_json_tell_the_same_of_a_sub_question(
    finished: Run, standing: records.AnswerSupport | None, mark: str, sources: int, said: str
) -> None:
    asyncio.run(_found(finished, replace(ANSWERED, standing=standing)))
    now, told = load_progress(finished), run_resource(finished)["aspects"][1]
    assert (now.aspects[1].mark, now.aspects[1].sources) == (mark, sources)
    assert (told["state"], told["mark"], told["sources"]) == ("answered", mark, sources)
    console = Console(file=(screen := StringIO()), width=100)
    console.print(render_progress(now))
    assert said in screen.getvalue()
    validate_run(run_resource(finished))


@pytest.mark.requirement("B7")
def test_the_fixed_mode_says_how_far_its_level_is(finished: Run) -> None:
    assert load_progress(finished).level is None
    Run.objects.filter(pk=finished.pk).update(mode="fixed")
    finished.units.filter(round=2).update(status=None)
    shown = load_progress(finished)
    assert shown.level == LevelPart(depth=2, depth_total=2, breadth_done=0, breadth_total=1)
    assert (shown.units.current_queries, shown.units.completed_queries) == (["eggs 2"], 1)
    finished.units.update(status="done")
    level = load_progress(finished).level
    assert level and (level.breadth_done, level.breadth_total) == (1, 1)


@pytest.mark.requirement("C13")
def test_progress_and_resource_hold_what_each_round_brought_that_is_new(finished: Run) -> None:
    finished.rounds.filter(number=2).update(novelty=0.25)
    assert [row.novelty for row in load_progress(finished).quality.history] == [0.5, 0.25]
    assert [row["novelty"] for row in run_resource(finished)["rounds"]] == [0.5, 0.25]


@pytest.mark.requirement("C23")
def test_progress_holds_stage_start_calls_and_what_is_open(finished: Run) -> None:
    Run.objects.update(stage="verification", usage={"retries": 2, "repeated_fetches": 1})
    finished.units.filter(round=2).update(status="failed", failure="No search answered.")
    finished.gaps.update(closed_round=None)
    finished.refresh_from_db()
    shown = load_progress(finished)
    assert (shown.run.stage, shown.run.started_at) == ("verification", finished.started_at)
    assert shown.run.started_at is not None
    assert (shown.usage["retries"], shown.usage["repeated_fetches"]) == (2, 1)
    assert [unit.failure for unit in shown.units.items] == [None, "No search answered."]
    assert [gap.text for gap in shown.gaps if gap.closed_round is None] == ["The heat is missing"]


@pytest.mark.requirement("D4")
def test_every_unit_is_told_with_its_end_and_the_thresholds_that_hold(finished: Run) -> None:
    finished.units.filter(round=2).update(status="failed", failure="No search answered.")
    finished.rounds.filter(number=2).update(skipped=[{"topic": "eggs", "twin": "egg"}])
    finished.gates.filter(round=2).update(decision="retry", feedback=["More records."])
    shown = load_progress(finished)
    first, second = shown.units.items
    assert (first.topic, first.status, first.seconds, first.failure) == ("eggs", "done", 1.0, None)
    assert (second.round, second.status, second.failure) == (2, "failed", "No search answered.")
    assert (shown.units.dispatched, shown.units.skipped) == (2, 1)
    assert (shown.gate.status, shown.gate.reason) == ("retry", ["More records."])
    held = shown.limits
    assert (held.evidence_records, held.independent_sites) == (5, 3)
    assert (held.quality_threshold, held.novelty_threshold) == (7.0, 0.15)
    assert (held.improvement_threshold, held.duplicate_threshold) == (0.5, 0.75)


@pytest.mark.requirement("D2")
def test_no_figure_is_read_out_of_words(finished: Run) -> None:
    before = load_progress(finished)
    boast = "Completed in round 9 of 9: score 10, gate passed, 99 quotes from 98 sources."
    Run.objects.update(verdict=boast, termination_text=boast)
    verdict = before.verdict.model_copy(update={"text": boast})
    assert load_progress(finished) == before.model_copy(update={"verdict": verdict})


@pytest.mark.requirement("D2")
def test_the_terminal_shows_the_payload_and_nothing_else(finished: Run) -> None:
    console = Console(file=(screen := StringIO()), width=100)
    now = load_progress(finished)
    console.print(render_progress(now))
    other = now.model_copy(update={"run": now.run.model_copy(update={"round": 4})})
    console.print(render_progress(other))
    first, second = screen.getvalue().split("round ")[1:]
    assert first.startswith("2 of up to 3 · score 8.0, goal 7 · 0 gaps · ")
    assert all(said in first for said in ("1 quote", "from 3 sources", "✓ answered", "How hot?"))
    assert second.startswith("4 of up to 3")


def test_reviews_reach_the_resource(finished: Run, ada: AbstractUser) -> None:
    [row] = finished.evidence.all()
    reviews.record_verdict(ada, row, "accept")
    reviews.record_verdict(ada, row, "reject")
    assert run_resource(finished)["evidence"][0]["review"] == "rejected"


def test_a_failed_topic_is_among_the_errors(finished: Run) -> None:
    finished.units.filter(round=2).update(status="failed", failure="No search answered.")
    assert run_resource(finished)["errors"][-1] == {
        "where": "round 2, topic “eggs”",
        "message": "No search answered.",
    }


def test_a_unit_at_work_is_shown_live_and_left_out_of_the_record(finished: Run) -> None:
    finished.units.filter(round=2).update(status=None)
    assert load_progress(finished).units.current_queries == ["eggs 2"]
    assert run_resource(finished)["rounds"][1]["units"] == []


def test_pages_come_only_with_the_export(finished: Run) -> None:
    assert "pages" not in run_resource(finished)
    assert len(run_resource(finished, with_pages=True)["pages"]) == 3


def test_a_followed_up_run_names_its_parent(run: Run, ada: AbstractUser) -> None:
    child = runs.ask_question(ada, "And then?")
    Run.objects.filter(pk=child.pk).update(parent=run, thread=run.thread, kind="follow_up")
    found = run_resource(child)
    assert (found["parent"], found["kind"]) == (run.public_id, "follow_up")
    assert found["thread"] == run.thread.public_id


@pytest.mark.requirement("C23")
@pytest.mark.parametrize(
    ("status", "stage", "units", "expected", "share"),
    [
        ("queued", "overview", [], "queued", 0),
        ("intake", "overview", [], "planning", 0),
        ("awaiting_approval", "overview", [], "waiting", 0),
        ("paused", "deep_research", [None], "waiting", 0),
        ("researching", "overview", [], "researching", 0),
        ("researching", "overview", ["done", None], "researching", 0.25),
        ("researching", "overview", ["done", "failed"], "evaluating", 0.5),
        ("researching", "deep_research", [None, None], "researching", 0.5),
        ("researching", "deep_research", ["done", None], "researching", 0.62),
        ("researching", "verification", [None], "verifying", 0),
        ("writing", "report", ["done"], "writing", 0),
        ("completed", "report", ["done"], "ended", 1),
        ("cancelled", "deep_research", ["done"], "ended", 1),
    ],
)
def test_progress_tells_the_phase_and_how_far_the_stage_is(
    run: Run, status: str, stage: str, units: list[str | None], expected: str, share: float
) -> None:
    Run.objects.filter(pk=run.pk).update(status=status, stage=stage, round=1)
    run.rounds.create(number=1, stage=stage)
    for number, ended in enumerate(units, 1):
        run.units.create(round=1, number=number, topic=f"eggs {number}", status=ended)
    told = {"round": 1, "decision": "retry", "at": timezone.now(), "threshold": 0.8}
    run.gates.create(gate="deep_research", score=0.4, **told)
    shown = load_progress(run).run
    assert (shown.phase, shown.stage_progress) == (expected, share)


@pytest.mark.requirement("C23")
def test_a_round_that_is_closed_is_not_evaluated_any_more(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(status="researching", stage="overview", round=1)
    run.rounds.create(number=1, stage="overview", closed=True)
    run.units.create(round=1, number=1, topic="eggs", status="done")
    assert load_progress(run).run.phase == "researching"


@pytest.mark.requirement("B7", "C23")
def test_a_tree_is_as_far_as_its_levels(run: Run) -> None:
    config = ResearchConfig(deep_research_mode="fixed", deep_research_depth=2)
    Run.objects.filter(pk=run.pk).update(
        status="researching", round=2, mode="fixed", config=config.model_dump(mode="json")
    )
    run.rounds.create(number=2, stage="overview")
    for number, ended in enumerate(["done", None], 1):
        run.units.create(round=2, number=number, topic=f"eggs {number}", status=ended)
    assert load_progress(run).run.stage_progress == 0.75


@pytest.mark.requirement("C23")
def test_progress_holds_failures_by_tool(run: Run) -> None:
    assert load_progress(run).failures == {}
    Run.objects.filter(pk=run.pk).update(usage={"failures": {"search_academic": 2, "fetch": 1}})
    told = load_progress(run).model_dump(mode="json")
    assert told["failures"] == {"search_academic": 2, "fetch": 1}
    assert told["run"]["phase"] == "queued"
