"""The services: who may do what to a run, and when."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.core.exceptions import PermissionDenied
from django.db import connections

from research.engine.config import ResearchConfig
from research.engine.records import Status
from research.engine.threads.user_commands import INSTRUCTION_LENGTH, MOST_INSTRUCTIONS
from research.models import Command, Evidence, PageText, Run, RunPage, Thread, Verdict
from research.readmodel.progress import load_progress
from research.services import ServiceError, deleting, people, reviews, runs
from research.worker import leases, notify
from research.worker.commands import ABOUT_TOPIC, ALLOWED, Kind

TELL: dict[Kind, Callable[[Any, Run], Command]] = {
    Kind.ANSWER: lambda actor, run: runs.answer_questions(actor, run, ["Soft", ""]),
    Kind.SKIP: runs.skip_questions,
    Kind.SAME_TOPIC: runs.keep_topic,
    Kind.NEW_TOPIC: runs.start_anew,
    Kind.APPROVE: runs.approve_plan,
    Kind.REVISE: lambda actor, run: runs.send_back(actor, run, "Shorter"),
    Kind.STOP: runs.stop_and_report,
    Kind.CANCEL: runs.request_cancel,
    Kind.PAUSE: runs.pause_run,
    Kind.RESUME: runs.resume_run,
    Kind.ADD_TOPIC: lambda actor, run: runs.add_topic(actor, run, "Salt"),
    Kind.DROP_TOPIC: lambda actor, run: runs.drop_topic(actor, run, "Salt"),
    Kind.DIG_DEEPER: runs.dig_deeper,
    Kind.INSTRUCT: lambda actor, run: runs.instruct(actor, run, "Only since 2023"),
    Kind.DROP_INSTRUCTION: lambda actor, run: runs.drop_instruction(actor, run, "Only since 2023"),
    Kind.PLAN_BY_CODE: runs.plan_by_code,
    Kind.FINISH_BY_CODE: runs.finish_by_code,
    Kind.RETRY: runs.retry_run,
}


def stand(run: Run, status: str, kind: Kind | None = None) -> Run:
    """In that state, with the question to ask that a command of this kind answers."""
    asks = "Another topic?" if kind in ABOUT_TOPIC else ""
    Run.objects.filter(pk=run.pk).update(status=status, asks=asks, analyst="a-model")
    run.refresh_from_db()
    return run


# --- asking ------------------------------------------------------------------------------


def test_a_question_is_stored_with_everything_that_is_frozen(ada: AbstractUser) -> None:
    config = ResearchConfig(max_searches=7, deep_research_mode="fixed")
    run = runs.ask_question(ada, "  Why? ", config=config, sources={"search": ["samples"]})
    run.refresh_from_db()
    assert (run.question, run.status, run.mode, run.agreed) == ("Why?", "queued", "fixed", False)
    assert ResearchConfig.model_validate(run.config) == config
    assert run.sources == {"search": ["samples"]}
    assert (run.owner, run.thread.owner, run.thread.title) == (ada, ada, "Why?")
    assert run.engine_version


def test_the_installation_s_defaults_are_frozen_where_nothing_is_said(run: Run) -> None:
    assert ResearchConfig.model_validate(run.config) == settings.RESEARCH_DEFAULTS


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("", "The question is empty."),
        ("  \n ", "The question is empty."),
        ("x" * 2_001, "The question has 2,001 characters; the maximum is 2,000."),
    ],
)
def test_a_question_that_is_none_is_refused(
    ada: AbstractUser, question: str, sentence: str
) -> None:
    with pytest.raises(ServiceError, match=sentence):
        runs.ask_question(ada, question)
    assert not Run.objects.exists() and not Thread.objects.exists()


def test_the_same_key_gives_the_same_run(ada: AbstractUser, bob: AbstractUser) -> None:
    first = runs.ask_question(ada, "Why?", idempotency_key="k")
    assert runs.ask_question(ada, "Why?", idempotency_key="k") == first
    assert runs.ask_question(bob, "Why?", idempotency_key="k") != first
    assert runs.ask_question(ada, "Why?") != runs.ask_question(ada, "Why?")


@pytest.mark.parametrize(
    "other",
    [
        {"question": "How?"},
        {"agreed": True},
        {"config": ResearchConfig(research_depth="thorough")},
        {"sources": {"search": ["samples"]}},
    ],
)
def test_the_same_key_with_anything_else_is_another_run(
    ada: AbstractUser, other: dict[str, Any]
) -> None:
    """A browser's way back shows the form as it was sent, with its key."""
    first = runs.ask_question(ada, "Why?", idempotency_key="k")
    assert runs.ask_question(ada, **{"question": "Why?", "idempotency_key": "k", **other}) != first


@pytest.mark.django_db(transaction=True)
def test_the_same_key_sent_at_once_gives_one_run(ada: AbstractUser) -> None:
    made: list[int] = []
    ready = threading.Barrier(4)

    def ask() -> None:
        ready.wait()
        made.append(runs.ask_question(ada, "Why?", idempotency_key="k").pk)
        connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert len(set(made)) == Run.objects.count() == Thread.objects.count() == 1


def test_public_ids_are_opaque_and_differ(ada: AbstractUser) -> None:
    ids = {runs.ask_question(ada, "Why?").public_id for _ in range(20)}
    assert len(ids) == 20
    assert all(len(each) == 12 and each.isalnum() and each.islower() for each in ids)


def test_people_see_their_own_runs_and_staff_all(
    run: Run, ada: AbstractUser, bob: AbstractUser, staff: AbstractUser
) -> None:
    assert list(runs.visible_to(ada)) == [run]
    assert list(runs.visible_to(staff)) == [run]
    assert not runs.visible_to(bob).exists()
    assert not runs.visible_to(AnonymousUser()).exists()


# --- commands ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("status", Status)
def test_a_command_is_taken_only_in_the_states_it_belongs_to(
    run: Run, ada: AbstractUser, kind: Kind, status: Status
) -> None:
    stand(run, status.value, kind)
    if status in ALLOWED[kind]:
        assert TELL[kind](ada, run).kind == kind
        assert run.commands.count() == 1
    else:
        with pytest.raises(ServiceError):
            TELL[kind](ada, run)
        assert not run.commands.exists()
        assert Run.objects.get(pk=run.pk).sequence == 0


@pytest.mark.parametrize("kind", Kind)
def test_another_s_run_takes_no_command(
    run: Run, bob: AbstractUser, staff: AbstractUser, kind: Kind
) -> None:
    stand(run, min(ALLOWED[kind]).value, kind)
    with pytest.raises(PermissionDenied):
        TELL[kind](bob, run)
    assert TELL[kind](staff, run).actor == staff


def test_payloads_are_what_the_engine_takes(run: Run, ada: AbstractUser) -> None:
    stand(run, "awaiting_approval")
    assert runs.approve_plan(ada, run, ["How hot?", " How long? "]).payload == {
        "aspects": ["How hot?", "How long?"]
    }
    assert runs.approve_plan(
        ada,
        stand(runs.ask_question(ada, "How?"), "awaiting_approval"),
        terms={"scope": " All  of it "},
    ).payload == {"scope": "All of it"}
    other = stand(runs.ask_question(ada, "Why?"), "awaiting_clarification")
    assert runs.answer_questions(ada, other, ["Soft", ""]).payload == {"answers": ["Soft", ""]}


@pytest.mark.parametrize("aspects", [[], ["How hot?", " "], ["x"] * 21])
def test_a_plan_that_is_none_is_not_approved(
    run: Run, ada: AbstractUser, aspects: list[str]
) -> None:
    stand(run, "awaiting_approval")
    with pytest.raises(ServiceError):
        runs.approve_plan(ada, run, aspects)


def test_a_wait_takes_one_answer(run: Run, ada: AbstractUser) -> None:
    stand(run, "awaiting_approval")
    runs.approve_plan(ada, run)
    for again in (TELL[Kind.APPROVE], TELL[Kind.REVISE]):
        with pytest.raises(ServiceError, match="answered already"):
            again(ada, run)
    assert run.commands.count() == 1


def test_stop_pressed_twice_is_one_stop(run: Run, ada: AbstractUser) -> None:
    stand(run, "researching")
    assert runs.stop_and_report(ada, run) == runs.stop_and_report(ada, run)


def test_topics_may_be_added_one_after_another(run: Run, ada: AbstractUser) -> None:
    stand(run, "researching")
    assert runs.add_topic(ada, run, "Salt") != runs.add_topic(ada, run, "Salt")


@pytest.mark.requirement("F6")
def test_an_instruction_is_one_line_given_once_and_not_too_often(
    run: Run, ada: AbstractUser
) -> None:
    stand(run, "researching")
    first = runs.instruct(ada, run, " Only \n since 2023 ")
    assert first.payload == {"text": "Only since 2023"}
    assert runs.instruct(ada, run, "Only since 2023") == first
    for number in range(1, MOST_INSTRUCTIONS):
        runs.instruct(ada, run, f"Instruction {number}")
    with pytest.raises(ServiceError, match=f"at most {MOST_INSTRUCTIONS} instructions"):
        runs.instruct(ada, run, "One more")


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (" \n", "An instruction is empty."),
        ("x" * (INSTRUCTION_LENGTH + 1), "An instruction has 301 characters; the maximum is 300."),
        ("a\x00b", "An instruction has a NUL character, which can't be stored."),
    ],
)
def test_what_is_no_instruction_is_refused(
    run: Run, ada: AbstractUser, text: str, refusal: str
) -> None:
    stand(run, "researching")
    with pytest.raises(ServiceError) as refused:
        runs.instruct(ada, run, text)
    assert str(refused.value) == refusal and not run.commands.exists()


@pytest.mark.requirement("F6")
@pytest.mark.parametrize(
    ("columns", "refusal"),
    [
        ({"analyst": "extractive"}, "Without a model no instruction can be followed"),
        ({"mode": "fixed"}, "tree of a fixed size"),
    ],
)
def test_an_instruction_that_nobody_could_follow_is_refused(
    run: Run, ada: AbstractUser, columns: dict[str, str], refusal: str
) -> None:
    stand(run, "researching")
    assert "instruct" in load_progress(run).control.possible
    Run.objects.filter(pk=run.pk).update(**columns)
    with pytest.raises(ServiceError, match=refusal):
        runs.instruct(ada, run, "Only since 2023")
    assert "instruct" not in load_progress(Run.objects.get(pk=run.pk)).control.possible


@pytest.mark.django_db(transaction=True)
def test_a_command_bumps_the_sequence_tells_and_wakes(run: Run, ada: AbstractUser) -> None:
    told: list[tuple[str, int]] = []
    woken: list[bool] = []

    def tell(public_id: str, sequence: int) -> None:
        told.append((public_id, sequence))

    def wake() -> None:
        woken.append(True)

    notify.on_committed.append(tell)
    notify.on_wake.append(wake)
    try:
        runs.pause_run(ada, stand(run, "researching"))
    finally:
        notify.on_committed.remove(tell)
        notify.on_wake.remove(wake)
    assert told == [(run.public_id, 1)]
    assert woken == [True]


def test_a_run_that_nobody_works_on_is_cancelled_at_once(run: Run, ada: AbstractUser) -> None:
    stand(run, "awaiting_approval")
    assert runs.request_cancel(ada, run).kind == "cancel"
    run.refresh_from_db()
    assert (run.status, run.termination_reason) == ("cancelled", "cancelled")
    assert run.finished_at
    assert leases.claim_run(run.pk, "me") is None


def test_a_run_at_work_is_cancelled_by_its_worker(run: Run, ada: AbstractUser) -> None:
    leases.claim_run(run.pk, "me")
    runs.request_cancel(ada, run)
    run.refresh_from_db()
    assert run.status == "queued"
    assert run.commands.get().taken_at_place is None


# --- deleting ----------------------------------------------------------------------------


def test_deleting_takes_what_nothing_else_uses(run: Run, ada: AbstractUser) -> None:
    other = runs.ask_question(ada, "Why?")
    own, shared = (PageText.objects.create(id=i, sha256=i, text=i) for i in ("own", "shared"))
    RunPage.objects.create(run=run, page=own, url="a", url_key="a")
    for each in (run, other):
        RunPage.objects.create(run=each, page=shared, url="b", url_key="b")
    deleting.delete_run(ada, stand(run, "completed"))
    assert list(Run.objects.all()) == [other]
    assert list(PageText.objects.all()) == [shared]
    assert list(Thread.objects.all()) == [other.thread]


def test_a_run_at_work_is_not_deleted(run: Run, ada: AbstractUser, bob: AbstractUser) -> None:
    with pytest.raises(PermissionDenied):
        deleting.delete_run(bob, run)
    leases.claim_run(run.pk, "me")
    with pytest.raises(ServiceError, match="cancel it first"):
        deleting.delete_run(ada, run)


@pytest.mark.parametrize("status", ["queued", "awaiting_approval", "researching", "paused"])
def test_a_run_that_has_not_ended_is_not_deleted(run: Run, ada: AbstractUser, status: str) -> None:
    with pytest.raises(ServiceError, match="cancel it first"):
        deleting.delete_run(ada, stand(run, status))
    runs.request_cancel(ada, run)
    deleting.delete_run(ada, run)
    assert not Run.objects.exists()


def test_a_run_that_its_worker_is_finishing_is_not_deleted(run: Run, ada: AbstractUser) -> None:
    leases.claim_run(run.pk, "me")
    with pytest.raises(ServiceError, match="try again in a moment"):
        deleting.delete_run(ada, stand(run, "completed"))


def test_a_run_that_a_later_one_is_made_from_waits_for_its_end(run: Run, ada: AbstractUser) -> None:
    later = Run.objects.create(owner=ada, thread=run.thread, parent=run, today=run.today)
    with pytest.raises(ServiceError, match="A later run builds on this one"):
        deleting.delete_run(ada, stand(run, "completed"))
    stand(later, "failed")
    deleting.delete_run(ada, run)
    later.refresh_from_db()
    assert (later.parent, later.thread) == (None, run.thread)


def test_staff_delete_anybody_s(run: Run, staff: AbstractUser) -> None:
    deleting.delete_run(staff, stand(run, "failed"))
    assert not Run.objects.exists()


def test_a_command_for_a_deleted_run_says_so(run: Run, ada: AbstractUser) -> None:
    gone = Run.objects.get(pk=run.pk)
    deleting.delete_run(ada, stand(run, "cancelled"))
    with pytest.raises(ServiceError, match="deleted"):
        runs.request_cancel(ada, gone)


def test_a_person_who_leaves_takes_their_runs_along(run: Run, ada: AbstractUser) -> None:
    runs.pause_run(ada, stand(run, "researching"))
    ada.delete()
    assert not Run.objects.exists()


# --- reviews and people ------------------------------------------------------------------


@pytest.fixture
def evidence(run: Run) -> Evidence:
    return Evidence.objects.create(
        run=run, label="E1", position=1, claim="Eggs", round=1, relevance=1
    )


def test_the_last_verdict_counts_and_all_are_kept(
    run: Run, evidence: Evidence, ada: AbstractUser
) -> None:
    for verdict in ("accept", "flag", "reject"):
        reviews.record_verdict(ada, evidence, verdict, " so ")
    assert Evidence.objects.with_review().get().last_verdict == "reject"
    assert Verdict.objects.filter(note="so").count() == 3
    assert Run.objects.get(pk=run.pk).sequence == 3


def test_only_owner_and_staff_review(
    evidence: Evidence, bob: AbstractUser, staff: AbstractUser
) -> None:
    with pytest.raises(PermissionDenied):
        reviews.record_verdict(bob, evidence, "accept")
    assert reviews.record_verdict(staff, evidence, "accept").actor == staff


@pytest.mark.parametrize(("verdict", "note"), [("maybe", ""), ("accept", "x" * 2_001)])
def test_a_verdict_that_is_none_is_refused(
    evidence: Evidence, ada: AbstractUser, verdict: str, note: str
) -> None:
    with pytest.raises(ServiceError):
        reviews.record_verdict(ada, evidence, verdict, note)


def test_the_local_admin_is_made_once_and_has_no_password(db: None) -> None:
    admin = people.local_admin()
    assert people.local_admin() == admin
    assert admin.is_superuser and admin.is_staff and not admin.has_usable_password()


@pytest.mark.parametrize("kind", [Kind.ANSWER, Kind.SKIP])
def test_a_run_that_asks_about_its_topic_takes_no_other_answer(
    run: Run, ada: AbstractUser, kind: Kind
) -> None:
    stand(run, "awaiting_clarification", Kind.NEW_TOPIC)
    with pytest.raises(ServiceError):
        TELL[kind](ada, run)
