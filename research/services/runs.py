"""Everything that a person or a client may do to a run: the only way to change one.

Each command is stored and makes the run claimable in one transaction; the engine takes it
at its next boundary. Raises `ServiceError` with a sentence for the person where a run is
not in a state for it, `PermissionDenied` where it is another's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AbstractUser, AnonymousUser
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from research import installation, notify
from research.commands import ALLOWED, ANSWERS, OF_ADAPTIVE_MODE, REPEATABLE, Kind, possible
from research.engine.config import ResearchConfig
from research.engine.intake import TERMS as PLAN_TERMS
from research.engine.journal import digest
from research.leases import Lease, claim, is_held
from research.models import Command, Run, Thread
from research.outcomes import cancelled_columns, mark_cancel_taken, try_again
from research.services import sites
from research.services.access import require
from research.services.errors import ServiceError
from research.versions import ENGINE_VERSION, prompt_digests

QUESTION_LENGTH = 2_000
TEXT_LENGTH = 2_000
TOPICS = 20

NOT_NOW = {
    Kind.ANSWER: "This run asks nothing at the moment.",
    Kind.SKIP: "This run asks nothing at the moment.",
    Kind.SAME_TOPIC: "This run doesn't ask about its topic.",
    Kind.NEW_TOPIC: "This run doesn't ask about its topic.",
    Kind.APPROVE: "This run has no plan that waits for approval.",
    Kind.REVISE: "This run has no plan that waits for approval.",
    Kind.STOP: "There is no research to stop.",
    Kind.CANCEL: "This run has ended.",
    Kind.PAUSE: "Only a run that is researching can be paused.",
    Kind.RESUME: "This run is not paused.",
    Kind.ADD_TOPIC: "Topics can be added while a run is researching.",
    Kind.DROP_TOPIC: "Topics can be dropped while a run is researching.",
    Kind.DIG_DEEPER: "Only a run that is researching can dig deeper.",
    Kind.RETRY: "Only a run that was put aside can be tried again.",
}
FIXED_SIZE = "The fixed mode searches a tree of a fixed size; it can be paused or stopped."
MOST_ROUNDS = 10


# --- asking and finding ------------------------------------------------------------------


def ask(
    actor: AbstractUser,
    question: str,
    *,
    agreed: bool = False,
    config: ResearchConfig | None = None,
    sources: Mapping[str, Any] | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Store a question as a run that any worker may take.

    `config` None means the installation's defaults. The same, sent again by the same person with
    the same key, is the same run; a form that is kept and filled in anew asks anew.
    Raises `ServiceError` for a question that is empty or too long.
    """
    text = _text(question, "The question", QUESTION_LENGTH)
    if idempotency_key is None:
        return _create(actor, text, agreed, config, sources, None)
    frozen = config.model_dump(mode="json") if config else None
    asked = digest([text, agreed, frozen, dict(sources or {})])
    key = f"{idempotency_key}/{asked[:32]}"
    same = Run.objects.filter(owner=actor, idempotency_key=key)
    try:
        return same.first() or _create(actor, text, agreed, config, sources, key)
    except IntegrityError:
        return same.get()


def ask_and_claim(
    actor: AbstractUser,
    question: str,
    owner: str,
    *,
    agreed: bool = False,
    config: ResearchConfig | None = None,
    sources: Mapping[str, Any] | None = None,
) -> tuple[Run, Lease]:
    """As `ask`, leased to `owner` from birth: no other worker ever sees it free."""
    with transaction.atomic():
        run = ask(actor, question, agreed=agreed, config=config, sources=sources)
        lease = claim(run.pk, owner)
    assert lease is not None, "a run that nobody else can see yet is free"
    run.refresh_from_db()
    return run, lease


def visible_to(user: AbstractBaseUser | AnonymousUser) -> QuerySet[Run]:
    """A person's own runs, newest first; staff see all."""
    return Run.objects.visible_to(user)


def _create(
    actor: AbstractUser,
    question: str,
    agreed: bool,
    config: ResearchConfig | None,
    sources: Mapping[str, Any] | None,
    idempotency_key: str | None,
) -> Run:
    frozen = sites.without(config or installation.current().defaults, actor)
    with transaction.atomic():
        run = Run.objects.create(
            owner=actor,
            thread=Thread.objects.create(owner=actor, title=question[:200]),
            question=question,
            agreed=agreed,
            today=timezone.localdate(),
            mode=frozen.deep_research_mode,
            config=frozen.model_dump(mode="json"),
            sources=dict(sources or {}),
            engine_version=ENGINE_VERSION,
            prompt_digests=prompt_digests(),
            idempotency_key=idempotency_key,
        )
        notify.wake_after_commit()
    return run


# --- commands ----------------------------------------------------------------------------


def answer(actor: AbstractUser, run: Run, answers: Sequence[str]) -> Command:
    """Answer the clarifying questions, in their order; '' leaves one out."""
    texts = [_text(each, "An answer", TEXT_LENGTH, empty=True) for each in answers]
    return _tell(actor, run, Kind.ANSWER, answers=texts)


def skip_questions(actor: AbstractUser, run: Run) -> Command:
    return _tell(actor, run, Kind.SKIP)


def keep_topic(actor: AbstractUser, run: Run) -> Command:
    """A follow-up question belongs to its thread: what was found stays known."""
    return _tell(actor, run, Kind.SAME_TOPIC)


def start_anew(actor: AbstractUser, run: Run) -> Command:
    """A follow-up question is another topic: nothing of the earlier run is used."""
    return _tell(actor, run, Kind.NEW_TOPIC)


def approve(
    actor: AbstractUser,
    run: Run,
    aspects: Sequence[str] | None = None,
    terms: Mapping[str, str] | None = None,
) -> Command:
    """Approve the plan, with other sub-questions where `aspects` is given and other `terms`
    (of `PLAN_TERMS`) where they are; an empty term is one that doesn't matter.
    """
    given = terms or {}
    said = {name: " ".join(given[name].split()) for name in PLAN_TERMS if name in given}
    if any(len(text) > TEXT_LENGTH for text in said.values()):
        raise ServiceError(f"{TEXT_LENGTH:,} characters are the most for a term of the plan.")
    if aspects is None:
        return _tell(actor, run, Kind.APPROVE, **said)
    texts = [_text(each, "A sub-question", TEXT_LENGTH) for each in aspects]
    if not 0 < len(texts) <= TOPICS:
        raise ServiceError(f"A plan has from 1 to {TOPICS} sub-questions.")
    return _tell(actor, run, Kind.APPROVE, aspects=texts, **said)


def send_back(actor: AbstractUser, run: Run, comment: str) -> Command:
    """Have the plan made anew with this comment in mind."""
    return _tell(actor, run, Kind.REVISE, comment=_text(comment, "The comment", TEXT_LENGTH))


def stop_and_report(actor: AbstractUser, run: Run) -> Command:
    """End the research and write the report from what was found."""
    return _tell(actor, run, Kind.STOP)


def pause(actor: AbstractUser, run: Run) -> Command:
    return _tell(actor, run, Kind.PAUSE)


def resume(actor: AbstractUser, run: Run) -> Command:
    return _tell(actor, run, Kind.RESUME)


def add_topic(actor: AbstractUser, run: Run, topic: str) -> Command:
    return _tell(actor, run, Kind.ADD_TOPIC, topic=_text(topic, "A topic", TEXT_LENGTH))


def drop_topic(actor: AbstractUser, run: Run, topic: str) -> Command:
    return _tell(actor, run, Kind.DROP_TOPIC, topic=_text(topic, "A topic", TEXT_LENGTH))


def dig_deeper(actor: AbstractUser, run: Run, rounds: int = 2) -> Command:
    """Go on for so many more rounds, whatever the rules of quality say; budgets still hold."""
    if not 0 < rounds <= MOST_ROUNDS:
        raise ServiceError(f"From 1 to {MOST_ROUNDS} more rounds can be asked for.")
    return _tell(actor, run, Kind.DIG_DEEPER, rounds=rounds)


def cancel(actor: AbstractUser, run: Run) -> Command:
    """End the run without a report: at once, or as soon as its worker hears of it."""
    return _tell(actor, run, Kind.CANCEL)


def retry(actor: AbstractUser, run: Run) -> Command:
    """Have a stalled run taken up again where its journal ends."""
    return _tell(actor, run, Kind.RETRY)


def _tell(actor: AbstractUser, run: Run, kind: Kind, **payload: Any) -> Command:
    """Store one command; told twice what counts once, it gives the first."""
    require(actor, run)
    with transaction.atomic():
        now = locked(run)
        if now.status not in ALLOWED[kind]:
            raise ServiceError(NOT_NOW[kind])
        if kind not in possible(now.status, now.mode, now.asks):
            raise ServiceError(FIXED_SIZE if kind in OF_ADAPTIVE_MODE else NOT_NOW[kind])
        waiting = Command.objects.filter(run=now, taken_at_place=None)
        if any(kind in kinds and waiting.filter(kind__in=kinds) for kinds in ANSWERS):
            raise ServiceError("This was answered already; the run goes on in a moment.")
        told = None if kind in REPEATABLE else waiting.filter(kind=kind).first()
        if told is None:
            told = Command.objects.create(run=now, actor=actor, kind=kind, payload=payload)
        if kind is Kind.CANCEL and not is_held(now):
            _cancel_at_once(now)
        if kind is Kind.RETRY:
            try_again(now.pk)
        notify.sequence_after_commit(now.pk)
        notify.wake_after_commit()
    return told


def locked(run: Run) -> Run:
    """The run as it is now; its row stays locked to the end of the transaction."""
    if not Run.objects.filter(pk=run.pk).update(sequence=F("sequence") + 1):
        raise ServiceError("This run was deleted.")
    return Run.objects.get(pk=run.pk)


def _cancel_at_once(run: Run) -> None:
    """Nobody has the run: it ends here, and a worker that was thought dead is kept out."""
    Run.objects.filter(pk=run.pk).update(**cancelled_columns())
    mark_cancel_taken(run.pk)


def _text(value: str, what: str, limit: int, *, empty: bool = False) -> str:
    text = value.strip()
    if not text and not empty:
        raise ServiceError(f"{what} is empty.")
    if len(text) > limit:
        raise ServiceError(f"{what} has {len(text):,} characters; {limit:,} is the most.")
    return text
