"""What follows a report, through services, worker and rows."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test.utils import CaptureQueriesContext

from research.engine.config import ResearchConfig
from research.engine.loop import run_research as the_loop
from research.models import Evidence, Run, Snapshot, Verdict
from research.services import ServiceError, deleting, reviews, runs, threads
from research.services.threads import REASONS
from research.threads.seeds import snapshot_run
from research.threads.verdicts import is_stale
from research.worker import leases
from research.worker.replay import replay_run
from research.worker.run_executor import Outcome, Timing, advance_run
from tests.engine.scripted import CHAIN, DESIGNED, LIT, LIT_TOO, SIMPLE, TRAINED, World, harbour
from tests.research.killing import Killed, killed_at
from tests.support.run_schema import resource

pytestmark = pytest.mark.django_db(transaction=True)

QUICK = Timing(lease_seconds=15, heartbeat_seconds=0.05, poll_seconds=0.02)


def advanced(run: Run, world: World, die_at: int | None = None) -> Outcome:
    engine = killed_at(die_at, the_loop)
    return asyncio.run(advance_run(run.pk, lambda _: world.tools(), timing=QUICK, engine=engine))


def asked(actor: AbstractUser, world: World, question: str = SIMPLE.question, **knobs: Any) -> Run:
    run = runs.ask_question(actor, question, agreed=True, config=ResearchConfig(**knobs))
    return ended(run, world)


def ended(run: Run, world: World) -> Run:
    assert advanced(run, world) == "done"
    run.refresh_from_db()
    return run


def reject(actor: AbstractUser, run: Run, words: str) -> Evidence:
    found = run.evidence.filter(quotes__quote__contains=words).distinct().first()
    assert found is not None, f"no evidence says {words!r}"
    reviews.record_verdict(actor, found, "reject")
    return found


def counts(run: Run) -> dict[str, float]:
    gate = run.gates.filter(gate="evidence").order_by("round").last()
    assert gate is not None
    return {each["name"]: each["value"] for each in gate.criteria}


def quotes_of(run: Run) -> set[str]:
    return set(run.evidence.values_list("quotes__quote", flat=True))


def both(script: Any) -> tuple[World, World]:
    return harbour(), harbour(script)


# --- revised after a review -----------------------------------------------------------------


@pytest.mark.requirement("F4")
@pytest.mark.parametrize("world", both(SIMPLE), ids=["extractive", "model"])
def test_a_revised_report_holds_nothing_of_what_was_rejected(
    ada: AbstractUser, world: World
) -> None:
    """F4: afterwards no rejected id or quote remains, and the gate's counts have dropped."""
    run = asked(ada, world)
    before = resource(run)
    gone = reject(ada, run, LIT)
    quotes = set(gone.quotes.values_list("quote", flat=True))
    searched, fetched = len(world.web.searched), world.web.fetched.total()
    revised = ended(threads.revise_report(ada, run), world)
    after = resource(revised)
    assert revised.status == "completed"
    assert (revised.kind, revised.parent, revised.origin) == ("revise", run, run)
    shown = " ".join(before["report_markdown"].replace("**", "").split())
    for quote in quotes:
        assert all(" ".join(part.split()) in shown for part in re.split(r"\.\s+", quote))
        assert quote not in json.dumps(after | {"pages": []})
    assert gone.label not in {record["id"] for record in after["evidence"]}
    assert all(gone.label not in cited["evidence_ids"] for cited in after["citations"])
    assert counts(revised)["evidence records"] < counts(run)["evidence records"]
    assert "Revised after a review" in revised.termination_text
    assert len(world.web.searched) == searched
    assert world.web.fetched.total() == fetched
    assert resource(run)["report_markdown"] == before["report_markdown"]


def test_a_revision_says_that_the_evidence_gate_fails(ada: AbstractUser) -> None:
    world = harbour(SIMPLE)
    run = asked(ada, world)
    for record in run.evidence.all():
        reviews.record_verdict(ada, record, "reject")
    revised = ended(threads.revise_report(ada, run), world)
    assert revised.termination_reason == "nothing_found"
    assert "Too little evidence is left: evidence records: 0 of" in revised.termination_text
    report = revised.reports.get()
    assert report.markdown == ""
    assert {each.state for each in revised.aspects.all()} == {"not_found"}
    assert [gap.closed_round for gap in revised.gaps.all()].count(None) == revised.gaps.count()


def test_a_revision_takes_one_model_call_and_replays(ada: AbstractUser) -> None:
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question)
    reject(ada, run, TRAINED)
    calls = len(world.model.requests)
    revised = ended(threads.revise_report(ada, run), world)
    assert [request.task for request in world.model.requests[calls:]] == ["draft"]
    assert revised.usage["fetches"] == revised.usage["searches"] == 0
    replayed = asyncio.run(replay_run(revised, {}))
    assert replayed.identical and replayed.divergences == []


def test_what_stands_keeps_its_ids_and_the_report_is_not_stale(ada: AbstractUser) -> None:
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question)
    gone = reject(ada, run, TRAINED)
    assert is_stale(run.reports.get())
    revised = ended(threads.revise_report(ada, run), world)
    assert not is_stale(revised.reports.get())
    kept = {row.label: row.claim for row in run.evidence.exclude(pk=gone.pk)}
    for row in revised.evidence.all():
        assert kept[row.label] == row.claim
        assert row.round == 0


def test_what_a_reviewer_said_of_the_rest_still_stands(
    ada: AbstractUser, bob: AbstractUser
) -> None:
    """A revision does not ask for the same review again, and is not stale for a flag it knew."""
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question)
    first, second, third, *others = run.evidence.all()
    assert others
    reviews.record_verdict(ada, first, "flag")
    reviews.record_verdict(ada, first, "accept", "Seen in the archive.")
    reviews.record_verdict(ada, second, "flag")
    reviews.record_verdict(ada, third, "reject")
    revised = ended(threads.revise_report(ada, run), world)
    said = {row.label: row.last_verdict for row in revised.evidence.with_review()}
    assert said[first.label] == "accept" and said[second.label] == "flag"
    assert all(said[row.label] is None for row in others if row.label in said)
    copied = Verdict.objects.get(evidence__run=revised, evidence__label=first.label)
    assert (copied.actor, copied.note) == (
        ada,
        "Said of an earlier version. Seen in the archive.",
    )
    assert not is_stale(revised.reports.get())
    again = ended(threads.reshape_report(ada, revised, "table"), world)
    noted = Verdict.objects.get(evidence__run=again, evidence__label=first.label)
    assert noted.note == copied.note


def test_a_revision_needs_something_rejected(ada: AbstractUser, bob: AbstractUser) -> None:
    run = asked(ada, harbour())
    with pytest.raises(ServiceError, match="No evidence of this report was rejected"):
        threads.revise_report(ada, run)
    with pytest.raises(PermissionDenied):
        threads.revise_report(bob, run)


def test_asked_twice_it_is_the_same_revision(ada: AbstractUser) -> None:
    run = asked(ada, harbour())
    reject(ada, run, LIT)
    assert threads.revise_report(ada, run) == threads.revise_report(ada, run)


def test_a_revision_without_other_quotes_is_another(ada: AbstractUser) -> None:
    run = asked(ada, harbour())
    first = reject(ada, run, LIT)
    without_first = threads.revise_report(ada, run)
    reviews.record_verdict(ada, first, "accept")
    second = run.evidence.exclude(pk=first.pk).first()
    assert second is not None
    reviews.record_verdict(ada, second, "reject")
    without_second = threads.revise_report(ada, run)
    assert without_second != without_first
    assert threads.revise_report(ada, run) == without_second


# --- in another shape -----------------------------------------------------------------------


@pytest.mark.requirement("F12")
def test_code_alone_makes_a_report_shorter_or_a_table(ada: AbstractUser) -> None:
    """F12, with no model: the same evidence, nothing searched."""
    world = harbour()
    run = asked(ada, world, SIMPLE.question)
    long = run.reports.get().markdown
    shorter = ended(threads.reshape_report(ada, run, "shorter"), world).reports.get()
    table = ended(threads.reshape_report(ada, run, "table"), world)
    assert len(shorter.markdown) < len(long)
    assert shorter.citations
    assert "| Sub-question | Answer | Support |" in table.reports.get().markdown
    assert table.reason == "As a table"
    assert quotes_of(table) == quotes_of(run)


@pytest.mark.requirement("F12")
def test_longer_or_for_a_reader_needs_a_model(ada: AbstractUser) -> None:
    run = asked(ada, harbour())
    for form, reader in (("longer", ""), ("reader", "a manager")):
        with pytest.raises(ServiceError, match="Without a model"):
            threads.reshape_report(ada, run, form, reader)
    with pytest.raises(ServiceError, match="can be written again"):
        threads.reshape_report(ada, run, "sideways")


@pytest.mark.requirement("F12")
def test_a_model_reshapes_in_one_call(ada: AbstractUser, settings: Any) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question)
    calls = len(world.model.requests)
    made = ended(threads.reshape_report(ada, run, "reader", "a manager"), world)
    [request] = world.model.requests[calls:]
    assert request.task == "draft"
    assert "a manager" in request.prompt
    assert made.reason == "For a manager"
    assert made.quality_score == run.quality_score
    assert made.usage["llm_calls"] == 1
    replayed = asyncio.run(replay_run(made, {}))
    assert replayed.identical and replayed.divergences == []


@pytest.mark.parametrize("form", [form for form in REASONS if form != "reader"])
def test_every_shape_says_what_the_report_was_made_of(
    ada: AbstractUser, settings: Any, form: str
) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world = harbour(SIMPLE)
    made = ended(threads.reshape_report(ada, asked(ada, world), form), world)
    assert (made.status, made.reason) == ("completed", REASONS[form])
    assert " from what was found, " in made.verdict


def test_a_report_without_the_model_is_written_by_it_later(
    ada: AbstractUser, settings: Any
) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.raw["draft"] = lambda text: "no"
    run = asked(ada, world)
    assert run.status == "completed" and "draft" in run.usage["fallbacks"]
    failed = ended(threads.reshape_report(ada, run, "full"), world)
    assert failed.status == "failed" and not failed.reports.exists()
    del world.model.raw["draft"]
    written = ended(threads.reshape_report(ada, run, "full"), world)
    assert written.status == "completed" and not written.usage["fallbacks"]
    assert written.reports.get().markdown != run.reports.get().markdown
    settings.RESEARCH_MODEL = ""
    with pytest.raises(ServiceError, match="Without a model"):
        threads.reshape_report(ada, run, "full")


def test_a_shape_that_takes_a_model_fails_with_it(ada: AbstractUser, settings: Any) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world = harbour(SIMPLE)
    run = asked(ada, world)
    assert world.model is not None
    world.model.raw["draft"] = lambda text: "no"
    longer = ended(threads.reshape_report(ada, run, "longer"), world)
    assert longer.status == "failed"
    assert longer.verdict.startswith("Not written: the model gave no usable answer")
    assert not longer.reports.exists()
    shorter = ended(threads.reshape_report(ada, run, "shorter"), world)
    assert shorter.status == "completed"


def test_a_revised_memo_falls_back_to_quotes(ada: AbstractUser, settings: Any) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["intake"] = lambda answer: {**answer, "form": "memo"}
    world.model.raw["draft"] = lambda text: "no"
    run = asked(ada, world)
    reject(ada, run, LIT)
    revised = ended(threads.revise_report(ada, run), world)
    assert (run.status, revised.status) == ("completed", "completed")


def test_what_the_model_called_open_stays_open_in_another_shape(ada: AbstractUser) -> None:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["assess"] = lambda answer: {
        **answer,
        "unanswered": ["A1", "A2", "A3"],
    }
    run = asked(ada, world, CHAIN.question, adaptive_max_depth=1)
    table = ended(threads.reshape_report(ada, run, "table"), world)
    states = list(run.aspects.values_list("label", "state"))
    assert list(table.aspects.values_list("label", "state")) == states


# --- deeper on open gaps --------------------------------------------------------------------


def test_digging_deeper_goes_on_where_the_run_stopped(ada: AbstractUser) -> None:
    """Ids go on, known pages are not fetched again, only what is new costs anything."""
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question, adaptive_max_depth=1)
    open_ones = [row.label for row in run.aspects.all() if row.state == "not_found"]
    assert open_ones, "the first round leaves something open"
    fetched = set(world.web.fetched)
    Run.objects.filter(pk=run.pk).update(
        config=ResearchConfig(adaptive_max_depth=5).model_dump(mode="json")
    )
    run.refresh_from_db()
    deeper = ended(threads.dig_deeper(ada, run, open_ones), world)
    assert max(world.web.fetched.values()) == 1
    assert set(world.web.fetched) > fetched
    known = set(run.evidence.values_list("label", "claim"))
    now = set(deeper.evidence.values_list("label", "claim"))
    assert known < now
    new = {int(label[1:]) for label, _ in now - known}
    assert min(new) > max(int(label[1:]) for label, _ in known)
    assert deeper.usage["fetches"] == len(set(world.web.fetched) - fetched)
    states = {row.label: row.state for row in deeper.aspects.all()}
    assert any(states[label] != "not_found" for label in open_ones)
    replayed = asyncio.run(replay_run(deeper, {}))
    assert replayed.identical and replayed.divergences == []


def test_a_rejected_passage_does_not_come_back(ada: AbstractUser) -> None:
    """Its page is found again by a later question of the thread, and read again."""
    world = harbour(SIMPLE)
    run = asked(ada, world)
    gone = reject(ada, run, LIT_TOO)
    quotes = set(gone.quotes.values_list("quote", flat=True))
    revised = ended(threads.revise_report(ada, run), world)
    followed = threads.follow_up(ada, revised, "When was the Harrow Point lighthouse first lit?")
    followed = ended(followed, world)
    assert not quotes & quotes_of(followed)
    reasons = set(followed.refused_quotes.values_list("reason", flat=True))
    assert "a reviewer rejected this passage" in reasons


@pytest.mark.requirement("F6")
def test_what_a_run_was_told_holds_for_its_other_versions_and_follow_ups(
    ada: AbstractUser, settings: Any
) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world, told = harbour(CHAIN), "Only sources since 2023"
    run = asked(ada, world, CHAIN.question)
    run.rounds.filter(number=1).update(instructions=[told])
    reader = ended(threads.reshape_report(ada, run, "reader", "a manager"), world)
    again = ended(threads.reshape_report(ada, reader, "shorter"), world)
    deeper = ended(threads.dig_deeper(ada, run, ["A1"]), world)
    for made in (reader, again, deeper):
        assert f"Instructions during the research: “{told}”" in made.reports.get().markdown
    drafts = made_for(world, "draft")
    asked_before = len(drafts)
    assert f"- {told}" in drafts[-1]
    next_one = ended(threads.follow_up(ada, run, SIMPLE.question), world)
    later = made_for(world, "draft")[asked_before:]
    assert later and all(f"- {told}" in prompt for prompt in later)
    assert f"- {told}" in made_for(world, "intake")[-1]
    assert next_one.plan and next_one.plan["instructions"] == [told]
    replayed = asyncio.run(replay_run(next_one, {}))
    assert replayed.identical and replayed.divergences == []
    assert snapshot_run(next_one, "follow_up").instructions == (told,)


@pytest.mark.requirement("F6")
def test_an_instruction_of_the_earlier_question_can_be_dropped(
    ada: AbstractUser, settings: Any
) -> None:
    settings.RESEARCH_MODEL = "scripted-model"
    world, told, kept = harbour(CHAIN), "Only sources since 2023", "For laymen"
    run = asked(ada, world, CHAIN.question)
    run.rounds.filter(number=1).update(instructions=[told, kept])
    run.agreed = False
    followed = threads.follow_up(ada, run, SIMPLE.question)
    assert advanced(followed, world) == "parked"
    followed.refresh_from_db()
    assert followed.plan and followed.plan["instructions"] == [told, kept]
    runs.drop_instruction(ada, followed, f" {told}\n")
    runs.approve_plan(ada, followed)
    drafted = len(made_for(world, "draft"))
    followed = ended(followed, world)
    later = made_for(world, "draft")[drafted:]
    assert later and not any(told in prompt for prompt in later)
    assert all(f"- {kept}" in prompt for prompt in later)
    assert snapshot_run(followed, "deeper").instructions == (kept,)
    deeper = threads.dig_deeper(ada, followed, [followed.aspects.earliest("pk").label])
    Run.objects.filter(pk=deeper.pk).update(status="researching", analyst="a-model")
    runs.drop_instruction(ada, deeper, kept)
    deeper = ended(deeper, world)
    assert deeper.problems.filter(message="Dropped after round 1.").exists()
    assert f"- {kept}" not in made_for(world, "draft")[-1]
    assert snapshot_run(deeper, "follow_up").instructions == ()


def made_for(world: World, task: str) -> list[str]:
    """Return the prompts of a task."""
    assert world.model is not None
    return [request.prompt for request in world.model.requests if request.task == task]


def test_the_budget_of_a_deeper_run_is_its_own(ada: AbstractUser) -> None:
    run = asked(ada, harbour(SIMPLE), max_cost_usd=0.5)
    deeper = threads.dig_deeper(ada, run, ["A1"], cost_usd=0.25)
    assert deeper.config["max_cost_usd"] == 0.25
    dearer = threads.dig_deeper(ada, run, ["A1"], cost_usd=5)
    assert dearer != deeper and dearer.config["max_cost_usd"] == 5
    with pytest.raises(ServiceError, match="no sub-question A99"):
        threads.dig_deeper(ada, run, ["A99"])
    with pytest.raises(ServiceError, match="budget"):
        threads.dig_deeper(ada, run, ["A1"], cost_usd=-1)


@pytest.mark.parametrize("die_at", range(1, 12, 2))
def test_a_deeper_run_killed_anywhere_goes_on(ada: AbstractUser, die_at: int) -> None:
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question, adaptive_max_depth=1)
    wanted = [row.label for row in run.aspects.all() if row.state == "not_found"]
    deeper = threads.dig_deeper(ada, run, wanted)
    with pytest.raises(Killed):
        advanced(deeper, world, die_at=die_at)
    Run.objects.filter(pk=deeper.pk).update(
        lease_until=leases.database_now() - timedelta(seconds=1)
    )
    deeper = ended(deeper, world)
    assert deeper.status == "completed"
    assert max(world.web.fetched.values()) <= 2
    replayed = asyncio.run(replay_run(deeper, {}))
    assert replayed.identical


# --- follow-up questions --------------------------------------------------------------------

AND_WHO = "And who designed the Harrow Point lighthouse?"


@pytest.mark.requirement("D13")
@pytest.mark.parametrize("world", both(CHAIN), ids=["extractive", "model"])
def test_a_follow_up_keeps_what_was_found(ada: AbstractUser, world: World) -> None:
    """D13, same topic: the brief is written anew, and known pages are not fetched again."""
    run = asked(ada, world, CHAIN.question)
    followed = ended(threads.follow_up(ada, run, AND_WHO), world)
    assert followed.status == "completed"
    assert (followed.thread, followed.kind, followed.origin) == (run.thread, "follow_up", None)
    assert followed.question == AND_WHO
    assert followed.understood_as
    assert max(world.web.fetched.values()) == 1
    assert DESIGNED in json.dumps(resource(followed))
    replayed = asyncio.run(replay_run(followed, {}))
    assert replayed.identical and replayed.divergences == []


def test_a_second_follow_up_knows_what_the_thread_found_and_told(
    ada: AbstractUser,
) -> None:
    """The first one kept what answers it alone; each author is shown what was told before."""
    world = harbour(CHAIN)
    run = asked(ada, world, CHAIN.question)
    told = run.reports.get().markdown.replace("\n## Sources\n", "\nThe oldest.\n\n## Sources\n")
    run.reports.update(markdown=told)
    first = ended(threads.follow_up(ada, run, AND_WHO, depth="standard"), world)
    lost = {*labels_on(run, "")} - {*labels_on(first, "")}
    second = ended(threads.follow_up(ada, first, "And where was she trained?"), world)
    kept = Snapshot.objects.get(run=second).content
    assert lost and lost <= {each["id"] for each in kept["evidence"]}
    assert {each["id"] for each in kept["evidence"]} >= {*labels_on(first, "")}
    assert first.reports.get().short_answer.partition(" [")[0] in kept["report"]
    assert kept["report"].endswith("The oldest."), "where a long thread is cut, this goes first"
    assert "## Sources" not in kept["report"] and "[1]" not in kept["report"]
    replayed = asyncio.run(replay_run(second, {}))
    assert replayed.identical and replayed.divergences == []


def test_a_version_of_a_follow_up_keeps_what_it_was_understood_as(ada: AbstractUser) -> None:
    world = harbour()
    run = asked(ada, world)
    followed = ended(threads.follow_up(ada, run, "And who designed it?"), world)
    assert "Harrow Point" in followed.understood_as
    table = ended(threads.reshape_report(ada, followed, "table"), world)
    assert (table.question, table.origin) == (followed.question, followed)
    assert table.understood_as == followed.understood_as
    assert table.reports.get().markdown.startswith(f"# {followed.understood_as}")


CHEESE = "Which county does Cheddar cheese come from?"


@pytest.mark.requirement("D13")
def test_another_topic_is_asked_about_and_starts_anew(ada: AbstractUser) -> None:
    """D13, topic shift: nothing is dropped unasked."""
    world = harbour()
    run = asked(ada, world)
    followed = threads.follow_up(ada, run, CHEESE)
    assert advanced(followed, world) == "parked"
    followed.refresh_from_db()
    assert followed.status == "awaiting_clarification"
    assert followed.asks.startswith("This looks like another topic")
    with pytest.raises(ServiceError):
        runs.answer_questions(ada, followed, ["x"])
    runs.start_anew(ada, followed)
    with pytest.raises(ServiceError):
        runs.keep_topic(ada, followed)
    followed = ended(followed, world)
    assert followed.asks == ""
    assert not quotes_of(followed) & quotes_of(run)
    assert any("Somerset" in quote for quote in quotes_of(followed))
    shorter = ended(threads.reshape_report(ada, followed, "shorter"), world)
    urls = {page["url"] for page in shorter.snapshot.content["pages"]}
    assert urls and all(followed.journal.filter(place=f"fetch/{url}").exists() for url in urls)


@pytest.mark.requirement("D13")
def test_another_topic_starts_anew_by_itself_where_nobody_is_asked(ada: AbstractUser) -> None:
    world = harbour()
    run = asked(ada, world)
    Run.objects.filter(pk=run.pk).update(agreed=False)
    run.refresh_from_db()
    followed = ended(threads.follow_up(ada, run, CHEESE, asks_back=False), world)
    assert followed.status == "completed" and followed.agreed
    assert not followed.commands.exists()
    assert not quotes_of(followed) & quotes_of(run)
    replayed = asyncio.run(replay_run(followed, {}))
    assert replayed.identical and replayed.divergences == []
    deeper = threads.dig_deeper(ada, followed, [followed.aspects.first().label])
    urls = {page["url"] for page in deeper.snapshot.content["pages"]}
    assert urls and all(followed.journal.filter(place=f"fetch/{url}").exists() for url in urls)


def knowing(*answering: str) -> World:
    """Return a world whose model names these findings as the answer to a follow-up question."""
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["follow_up"] = lambda answer: {**answer, "answered_by": list(answering)}
    return world


def labels_on(run: Run, words: str) -> list[str]:
    found = run.evidence.filter(quotes__quote__contains=words).distinct().order_by("pk")
    return list(found.values_list("label", flat=True))


@pytest.fixture
def at_once(ada: AbstractUser) -> tuple[World, Run, Run]:
    """A world, a run of it, and its follow-up that the findings on the designer answer."""
    world = knowing()
    run = asked(ada, world, CHAIN.question)
    answering = labels_on(run, "Edda Marlow")
    assert answering and world.model is not None
    world.model.twists["follow_up"] = lambda answer: {**answer, "answered_by": answering}
    return world, run, ended(threads.follow_up(ada, run, AND_WHO), world)


@pytest.mark.requirement("D13")
def test_what_the_thread_knows_is_answered_at_once(at_once: tuple[World, Run, Run]) -> None:
    _, run, followed = at_once
    assert (followed.status, followed.termination_reason) == ("completed", "known_before")
    assert (followed.usage["searches"], followed.usage["fetches"]) == (0, 0)
    kept = {*followed.evidence.values_list("label", flat=True)}
    assert kept and kept < {*run.evidence.values_list("label", flat=True)}
    cited = {label for each in resource(followed)["citations"] for label in each["evidence_ids"]}
    assert cited and cited <= kept
    assert "Edda Marlow" in followed.reports.get().short_answer
    replayed = asyncio.run(replay_run(followed, {}))
    assert replayed.identical and replayed.divergences == []


@pytest.mark.requirement("D13")
@pytest.mark.parametrize("given", [{"depth": "quick"}, {"config": ResearchConfig()}])
def test_with_a_depth_or_settings_it_is_researched(
    ada: AbstractUser, at_once: tuple[World, Run, Run], given: dict[str, Any]
) -> None:
    world, run, _ = at_once
    followed = ended(threads.follow_up(ada, run, "And who designed it?", **given), world)
    assert followed.status == "completed" and followed.termination_reason != "known_before"
    assert followed.usage["searches"]


@pytest.mark.requirement("D13")
def test_what_was_answered_at_once_can_be_researched(
    ada: AbstractUser, bob: AbstractUser, at_once: tuple[World, Run, Run]
) -> None:
    world, run, followed = at_once
    with pytest.raises(ServiceError, match="was researched"):
        threads.research_further(ada, run)
    with pytest.raises(PermissionDenied):
        threads.research_further(bob, followed)
    further = threads.research_further(ada, followed, cost_usd=0.5)
    assert threads.research_further(ada, followed, cost_usd=0.5) == further
    further = ended(further, world)
    assert (further.question, further.thread) == (AND_WHO, run.thread)
    assert (further.origin, further.kind) == (followed, "follow_up")
    assert further.status == "completed" and further.termination_reason != "known_before"
    assert further.config["max_cost_usd"] == 0.5 and further.usage["searches"]
    assert quotes_of(followed) & quotes_of(further), "what was found is kept"


@pytest.mark.requirement("D13")
def test_after_an_answer_at_once_all_findings_of_the_thread_are_there(
    ada: AbstractUser, at_once: tuple[World, Run, Run]
) -> None:
    """They are those of the run that searched, but for what was rejected since."""
    world, run, followed = at_once
    answering = labels_on(run, "Ruth Ansel")
    assert answering and not {*answering} & {*labels_on(followed, "")} and world.model is not None
    world.model.twists["follow_up"] = lambda answer: {**answer, "answered_by": answering}
    reject(ada, followed, DESIGNED)
    later = ended(threads.follow_up(ada, followed, "And who owned that place?"), world)
    assert later.termination_reason == "known_before" and labels_on(later, "") == answering
    kept = Snapshot.objects.get(run=later).content
    assert kept["question"] == followed.understood_as
    assert DESIGNED not in json.dumps(kept["evidence"])
    assert DESIGNED in json.dumps(kept["rejected"])


def test_another_topic_may_belong_to_the_thread(ada: AbstractUser) -> None:
    world = harbour()
    run = asked(ada, world)
    followed = threads.follow_up(ada, run, CHEESE)
    advanced(followed, world)
    runs.keep_topic(ada, followed)
    followed = ended(followed, world)
    assert followed.understood_as == CHEESE


def test_a_run_that_does_not_ask_about_its_topic_takes_no_answer(ada: AbstractUser) -> None:
    run = runs.ask_question(ada, SIMPLE.question)
    with pytest.raises(ServiceError, match="doesn't ask about its topic"):
        runs.start_anew(ada, run)


# --- together -------------------------------------------------------------------------------


def test_it_needs_an_ended_run(ada: AbstractUser) -> None:
    run = runs.ask_question(ada, SIMPLE.question)
    with pytest.raises(ServiceError, match="has not ended"):
        threads.follow_up(ada, run, AND_WHO)
    runs.request_cancel(ada, run)
    run.refresh_from_db()
    with pytest.raises(ServiceError, match="before it had a plan"):
        threads.follow_up(ada, run, AND_WHO)


def test_pages_outlive_the_run_that_fetched_them(ada: AbstractUser) -> None:
    world = harbour()
    run = asked(ada, world)
    shorter = ended(threads.reshape_report(ada, run, "shorter"), world)
    table = ended(threads.reshape_report(ada, run, "table"), world)
    deleting.delete_run(ada, run)
    found = resource(shorter)
    texts = {page["text_sha256"]: page["text"] for page in found["pages"]}
    for record in found["evidence"]:
        for source in record["sources"]:
            text = texts[source["text_sha256"]]
            assert text[source["start"] : source["end"]] == source["quote"]
    table.refresh_from_db()
    shorter.refresh_from_db()
    assert (shorter.origin, table.origin) == (None, shorter)


def test_queries_do_not_grow_with_the_run(ada: AbstractUser) -> None:
    small = asked(ada, harbour(SIMPLE))
    large = asked(ada, harbour())
    assert large.evidence.count() > small.evidence.count()
    taken = []
    for run in (small, large):
        with CaptureQueriesContext(connection) as queries:
            threads.reshape_report(ada, run, "table")
        taken.append(len(queries))
    assert taken[0] == taken[1]
