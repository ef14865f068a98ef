"""Creates runs and stores users' commands; nothing else may change a run on a user's behalf.

Each command is stored, and makes the run claimable, in one transaction; the engine processes it
at its next boundary. Raises `ServiceError` with a sentence for the user if the run's state doesn't
allow it, `PermissionDenied` if the run belongs to another user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.engine.journal import digest_of
from research.engine.records import Status
from research.engine.threads.start import PLAN_TERMS
from research.engine.threads.user_commands import INSTRUCTION_LENGTH, MOST_INSTRUCTIONS
from research.models import Command, Run, Thread
from research.models.runs import Priority
from research.queue.admission import next_free_place, next_turn, queued_runs
from research.runtime import installation
from research.runtime.program import ENGINE_VERSION, prompt_digests
from research.services import sites
from research.services.errors import InvalidValueError, ServiceError, clean_text
from research.services.people import require_access
from research.worker import notify
from research.worker.commands import (
    ALLOWED,
    ANSWERS,
    INSTRUCTING,
    NOT_NOW,
    REPEATABLE,
    Kind,
    possible_commands,
    why_impossible,
)
from research.worker.fail_or_cancel import (
    cancelled_columns,
    mark_cancel_taken,
    try_again,
    withdraw_pause,
)
from research.worker.leases import Lease, claim_run, is_held

QUESTION_LENGTH = TEXT_LENGTH = 2_000
TOPICS = 20
DEPTHS: tuple[str, ...] = get_args(ResearchConfig.model_fields["research_depth"].annotation)
TOO_MANY_INSTRUCTIONS = f"A run takes at most {MOST_INSTRUCTIONS} instructions."
MOST_ROUNDS = 10
KEY_USED = "This idempotency key was used for a different question or other settings."
REPEATABLE_STATUSES = frozenset({Status.FAILED, Status.CANCELLED})

FULL = (
    "The queue is full: {waiting:,} questions wait, {own:,} of them yours. Please ask again after "
    "{when:%-d %B, %H:%M}, or cancel one that waits."
)


# --- asking and finding ------------------------------------------------------------------


def ask_question(
    actor: AbstractUser,
    question: str,
    *,
    agreed: bool = False,
    config: ResearchConfig | None = None,
    sources: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
    priority: Priority = Priority.INTERACTIVE,
    reuses_key: bool = True,
    version_of: Run | None = None,
    reason: str = "",
) -> Run:
    """Create a run that any worker may claim; scheduled ones wait for interactive ones.

    It begins a thread, or joins that of `version_of`, an earlier run of the same question.

    `config` None means the installation's defaults. Idempotent: the same request by the same user
    with the same `idempotency_key` returns the same run. With other contents it creates another
    one, or is refused unless `reuses_key`. Raise `ServiceError` for that, for a question that is
    empty or too long, and if the queue is full.
    """
    text = clean_text(question, "The question", QUESTION_LENGTH, "question")

    def create(key: str | None) -> Run:
        return _create(actor, text, agreed, config, sources, key, priority, version_of, reason)

    if idempotency_key is None:
        return create(None)
    frozen = config.model_dump(mode="json") if config else None
    asked = digest_of([text, agreed, frozen, dict(sources or {})])
    key = f"{idempotency_key}/{asked[:32]}"
    same = Run.objects.filter(owner=actor, idempotency_key=key)
    others = Run.objects.filter(owner=actor, idempotency_key__startswith=f"{idempotency_key}/")
    if not reuses_key and others.exclude(idempotency_key=key).exists():
        raise ServiceError(KEY_USED)
    try:
        return same.first() or create(key)
    except IntegrityError:
        return same.get()


def ask_again(actor: AbstractUser, run: Run) -> Run:
    """Ask the question of a failed or cancelled run again, with the same settings and sources."""
    require_access(actor, run)
    if run.status not in REPEATABLE_STATUSES:
        raise ServiceError("Only a run that failed or was cancelled can be asked again.")
    config = ResearchConfig.model_validate(run.config)
    return ask_question(actor, run.question, agreed=run.agreed, config=config, sources=run.sources)


def ask_and_claim(
    actor: AbstractUser,
    question: str,
    owner: str,
    *,
    agreed: bool = False,
    config: ResearchConfig | None = None,
    sources: Mapping[str, Any] | None = None,
) -> tuple[Run, Lease]:
    """Like `ask_question`, but leased to `owner` on creation: no other worker can claim it."""
    with transaction.atomic():
        run = ask_question(actor, question, agreed=agreed, config=config, sources=sources)
        lease = claim_run(run.pk, owner)
    assert lease is not None, "a run that nobody else can see yet is free"
    run.refresh_from_db()
    return run, lease


def visible_to(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """Return a user's own runs, newest first; staff see all."""
    return Run.objects.visible_to(user)


def _create(
    actor: AbstractUser,
    question: str,
    agreed: bool,
    config: ResearchConfig | None,
    sources: Mapping[str, Any] | None,
    idempotency_key: str | None,
    priority: Priority,
    version_of: Run | None,
    reason: str,
) -> Run:
    refuse_when_full(actor)
    frozen = sites.exclude_blocked_sites(
        config or installation.current_installation().defaults, actor
    )
    with transaction.atomic():
        if version_of is None:
            thread = Thread.objects.create(owner=actor, title=question[:200])
        else:
            thread = version_of.thread
        run = Run.objects.create(
            owner=actor,
            thread=thread,
            origin=version_of and (version_of.origin or version_of),
            reason=reason,
            question=question,
            agreed=agreed,
            today=timezone.localdate(),
            mode=frozen.deep_research_mode,
            config=frozen.model_dump(mode="json"),
            sources=dict(sources or {}),
            engine_version=ENGINE_VERSION,
            prompt_digests=dict(prompt_digests()),
            priority=priority,
            turn=next_turn(actor, priority),
            idempotency_key=idempotency_key,
        )
        notify.wake_after_commit()
    return run


# --- commands ----------------------------------------------------------------------------


def answer_questions(actor: AbstractUser, run: Run, answers: Sequence[str]) -> Command:
    """Answer the clarifying questions, in their order; '' skips one."""
    texts = [clean_text(each, "An answer", TEXT_LENGTH, "answers", empty=True) for each in answers]
    return _store_command(actor, run, Kind.ANSWER, answers=texts)


def skip_questions(actor: AbstractUser, run: Run) -> Command:
    return _store_command(actor, run, Kind.SKIP)


def keep_topic(actor: AbstractUser, run: Run) -> Command:
    """Confirm that a follow-up question continues its thread's topic: findings are kept."""
    return _store_command(actor, run, Kind.SAME_TOPIC)


def start_anew(actor: AbstractUser, run: Run) -> Command:
    """Confirm that a follow-up question is a new topic: the earlier run is ignored."""
    return _store_command(actor, run, Kind.NEW_TOPIC)


def approve_plan(
    actor: AbstractUser,
    run: Run,
    aspects: Sequence[str] | None = None,
    terms: Mapping[str, str] | None = None,
    searches_private_words: bool | None = None,
    depth: str | None = None,
) -> Command:
    """Approve the plan, optionally with other sub-questions (`aspects`) and other `terms`
    (keys in `PLAN_TERMS`); an empty term doesn't matter. `searches_private_words` says whether
    words of documents may be sent to web searches, `depth` how thorough the report is to be.
    """
    given = terms or {}
    said: dict[str, Any] = {
        name: " ".join(given[name].split()) for name in PLAN_TERMS if name in given
    }
    if any(len(text) > TEXT_LENGTH for text in said.values()):
        told = f"A term of the plan has at most {TEXT_LENGTH:,} characters."
        raise InvalidValueError(told, "terms")
    if searches_private_words is not None:
        said["searches_private_words"] = searches_private_words
    said |= _chosen_depth(depth)
    if aspects is None:
        return _store_command(actor, run, Kind.APPROVE, **said)
    texts = [clean_text(each, "A sub-question", TEXT_LENGTH, "sub_questions") for each in aspects]
    if not 0 < len(texts) <= TOPICS:
        raise InvalidValueError(f"A plan has from 1 to {TOPICS} sub-questions.", "sub_questions")
    return _store_command(actor, run, Kind.APPROVE, aspects=texts, **said)


def send_back(actor: AbstractUser, run: Run, comment: str, depth: str | None = None) -> Command:
    """Request a new plan that takes the comment into account, optionally of another depth."""
    text = clean_text(comment, "The comment", TEXT_LENGTH, "comment")
    return _store_command(actor, run, Kind.REVISE, comment=text, **_chosen_depth(depth))


def _chosen_depth(depth: str | None) -> dict[str, str]:
    if depth is not None and depth not in DEPTHS:
        raise InvalidValueError(f"A depth is one of {', '.join(DEPTHS)}.", "depth")
    return {} if depth is None else {"depth": depth}


def plan_again(actor: AbstractUser, run: Run) -> Command:
    """Request the plan once more; the question as comment adds no words to search for."""
    return send_back(actor, run, run.question[:TEXT_LENGTH])


def stop_and_report(actor: AbstractUser, run: Run) -> Command:
    """End the research and write the report from the findings so far."""
    return _store_command(actor, run, Kind.STOP)


def pause_run(actor: AbstractUser, run: Run) -> Command:
    return _store_command(actor, run, Kind.PAUSE)


def resume_run(actor: AbstractUser, run: Run) -> Command:
    """Continue a paused run; a pause that has not begun yet is taken back."""
    return _store_command(actor, run, Kind.RESUME)


def add_topic(actor: AbstractUser, run: Run, topic: str) -> Command:
    return _store_command(
        actor, run, Kind.ADD_TOPIC, topic=clean_text(topic, "A topic", TEXT_LENGTH, "topic")
    )


def drop_topic(actor: AbstractUser, run: Run, topic: str) -> Command:
    return _store_command(
        actor, run, Kind.DROP_TOPIC, topic=clean_text(topic, "A topic", TEXT_LENGTH, "topic")
    )


def withdraw_topic(actor: AbstractUser, run: Run, topic: str) -> None:
    """Take back what was said about a topic and is not taken by the engine yet."""
    require_access(actor, run)
    with transaction.atomic():
        now = lock_run(run)
        waiting = Command.objects.filter(run=now, taken_at_place=None, kind__in=REPEATABLE)
        said = [row.pk for row in waiting if row.payload["topic"] == topic]
        if not Command.objects.filter(pk__in=said, taken_at_place=None).delete()[0]:
            raise ServiceError("This change was already made and can’t be undone here.")
        notify.sequence_after_commit(now.pk)


def dig_deeper(actor: AbstractUser, run: Run, rounds: int = 2) -> Command:
    """Continue for `rounds` more rounds regardless of the quality rules; budgets still apply."""
    if not 0 < rounds <= MOST_ROUNDS:
        told = f"From 1 to {MOST_ROUNDS} more rounds can be requested."
        raise InvalidValueError(told, "rounds")
    return _store_command(actor, run, Kind.DIG_DEEPER, rounds=rounds)


def instruct(actor: AbstractUser, run: Run, text: str, kind: Kind = Kind.INSTRUCT) -> Command:
    """Tell a run, in the person's own words, what to look for or how to report it."""
    line = " ".join(text.split())
    told = clean_text(line, "An instruction", INSTRUCTION_LENGTH, "text")
    return _store_command(actor, run, kind, text=told)


def drop_instruction(actor: AbstractUser, run: Run, text: str) -> Command:
    """Let a run follow an instruction no longer, such as one of the run that it follows up."""
    return instruct(actor, run, text, Kind.DROP_INSTRUCTION)


def plan_by_code(actor: AbstractUser, run: Run) -> Command:
    """Wait for the model's plan no longer: code makes one of the question as it is worded."""
    return _store_command(actor, run, Kind.PLAN_BY_CODE)


def finish_by_code(actor: AbstractUser, run: Run) -> Command:
    """Wait for the model no longer while a report is written: quotations take its place."""
    return _store_command(actor, run, Kind.FINISH_BY_CODE)


def request_cancel(actor: AbstractUser, run: Run) -> Command:
    """End the run without a report, immediately or as soon as its worker notices."""
    return _store_command(actor, run, Kind.CANCEL)


def retry_run(actor: AbstractUser, run: Run) -> Command:
    """Resume a stalled run where its journal ends."""
    return _store_command(actor, run, Kind.RETRY)


def _store_command(actor: AbstractUser, run: Run, kind: Kind, **payload: Any) -> Command:
    """Store a command; return the pending one if a repetition has no effect (idempotent)."""
    require_access(actor, run)
    with transaction.atomic():
        now = lock_run(run)
        if kind is Kind.RESUME and (withdrawn := withdraw_pause(actor, now)):
            return withdrawn
        if now.status not in ALLOWED[kind]:
            raise ServiceError(NOT_NOW[kind])
        if kind not in possible_commands(now.status, now.mode, now.asks, has_model=now.has_model):
            raise ServiceError(why_impossible(kind, now.mode, has_model=now.has_model))
        waiting = Command.objects.filter(run=now, taken_at_place=None)
        if any(kind in kinds and waiting.filter(kind__in=kinds) for kinds in ANSWERS):
            raise ServiceError("This was answered already; the run goes on in a moment.")
        told = None if kind in REPEATABLE else waiting.filter(kind=kind).first()
        if kind in INSTRUCTING:
            told = waiting.filter(kind=kind, payload=payload).first()
        given = Command.objects.filter(run=now, kind=Kind.INSTRUCT)
        if kind is Kind.INSTRUCT and told is None and given.count() >= MOST_INSTRUCTIONS:
            raise ServiceError(TOO_MANY_INSTRUCTIONS)
        if told is None:
            payload |= _change_depth(now, payload)
            told = Command.objects.create(run=now, actor=actor, kind=kind, payload=payload)
        if kind is Kind.CANCEL and not is_held(now):
            _cancel_at_once(now)
        if kind is Kind.RETRY:
            try_again(now.pk)
        notify.sequence_after_commit(now.pk)
        notify.command_after_commit(now.pk)
    return told


def _change_depth(run: Run, payload: Mapping[str, Any]) -> dict[str, str]:
    """Set the depth that a command names, and return the one that the run had before."""
    if "depth" not in payload:
        return {}
    config = {**run.config, "research_depth": payload["depth"]}
    Run.objects.filter(pk=run.pk).update(config=config)
    return {"depth_before": run.config["research_depth"]}


def lock_run(run: Run) -> Run:
    """Return the run's current row, locked until the end of the transaction."""
    if not Run.objects.filter(pk=run.pk).update(sequence=F("sequence") + 1):
        raise ServiceError("This run was deleted.")
    return Run.objects.get(pk=run.pk)


def _cancel_at_once(run: Run) -> None:
    """End a run that no worker has; the epoch fence keeps out a worker believed dead."""
    Run.objects.filter(pk=run.pk).update(**cancelled_columns())
    mark_cancel_taken(run.pk)


def refuse_when_full(owner: AbstractBaseUser) -> None:
    """Raise `ServiceError` with a date if the queue is full and the owner has their share of it."""
    limit, queued = settings.QUEUE_LIMIT, queued_runs()
    waiting = queued.count() if limit else 0
    if not limit or waiting < limit:
        return
    people = queued.order_by().values("owner").distinct().count()
    own = queued.filter(owner_id=owner.pk).count()
    if own and own >= limit // max(people, 1):
        when = timezone.localtime(next_free_place(waiting - limit + 1))
        raise ServiceError(FULL.format(waiting=waiting, own=own, when=when))
