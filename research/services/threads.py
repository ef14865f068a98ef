"""What follows a report: another version of it, more research on it, or the next question.

Each is a new run of the thread that starts from a snapshot of the earlier one's ledger; the
earlier run stays as it is. Raises `ServiceError` with a sentence for the person where the
run is not in a state for it, `PermissionDenied` where it is another's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from research import installation, notify, snapshots
from research.engine.config import ResearchConfig
from research.engine.journal import digest
from research.engine.knobs import ConfigError
from research.engine.seed import Form, Seed, SeedKind, Shape
from research.engine.shaping import BY_CODE
from research.models import Run
from research.models.runs import Kind
from research.services import sites
from research.services.access import require
from research.services.errors import ServiceError
from research.versions import ENGINE_VERSION, prompt_digests

TURN_LENGTH = 2_000
READER_LENGTH = 100

NOT_ENDED = "This run has not ended yet."
NO_PLAN = "This run ended before it had a plan; ask the question again instead."
NO_REPORT = "This run has no report."
NOTHING_REJECTED = "No evidence of this report was rejected."
NEEDS_A_MODEL = (
    "Without a model a report can be made shorter or a table. Longer, or for another reader, "
    "takes a model; an admin can name one under Setup."
)
REASONS: dict[Form, str] = {
    "shorter": "Shorter",
    "longer": "Longer",
    "table": "As a table",
    "reader": "For {reader}",
}


def revise(actor: AbstractUser, run: Run) -> Run:
    """A new version of the report without the evidence that was rejected."""
    seed = _snapshot(actor, run, "revise")
    _need_report(run)
    if not seed.left_out:
        raise ServiceError(NOTHING_REJECTED)
    return _create(actor, run, seed, reason="Revised after a review")


def reshape(actor: AbstractUser, run: Run, form: str, reader: str = "") -> Run:
    """A new version in another shape, from the same evidence; `reader` in a few words."""
    if form not in REASONS:
        raise ServiceError("A report can be made shorter, longer, a table, or for a reader.")
    for_whom = _text(reader, "The reader", READER_LENGTH) if form == "reader" else ""
    if form not in BY_CODE and not installation.current()["RESEARCH_MODEL"]:
        raise ServiceError(NEEDS_A_MODEL)
    seed = _snapshot(actor, run, "reshape")
    _need_report(run)
    seed = replace(seed, shape=Shape(form, for_whom))  # type: ignore[arg-type]
    return _create(actor, run, seed, reason=REASONS[form].format(reader=for_whom))  # type: ignore[index]


def dig_deeper(
    actor: AbstractUser, run: Run, aspects: Sequence[str], cost_usd: float | None = None
) -> Run:
    """Research these sub-questions (by their labels) further; all that was found is kept.

    The budgets are the earlier run's anew; `cost_usd` is the most that this run may cost.
    """
    seed = _snapshot(actor, run, "deeper")
    known = {aspect.id for aspect in seed.aspects if not aspect.dropped}
    wanted = tuple(dict.fromkeys(label for label in aspects if label in known))
    if not wanted:
        raise ServiceError("Choose at least one question to dig deeper on.")
    changes: dict[str, Any] = {"deep_research_mode": "adaptive"}
    if cost_usd is not None:
        changes["max_cost_usd"] = cost_usd
    told = f"Dug deeper on {len(wanted)} {'question' if len(wanted) == 1 else 'questions'}"
    return _create(actor, run, replace(seed, wanted=wanted), reason=told, changes=changes)


def follow_up(actor: AbstractUser, run: Run, said: str) -> Run:
    """The thread's next question: what was found stays known where the topic is the same."""
    text = _text(said, "The question", TURN_LENGTH)
    seed = _snapshot(actor, run, "follow_up")
    return _create(actor, run, seed, question=text, reason="Follow-up question")


def _snapshot(actor: AbstractUser, run: Run, kind: SeedKind) -> Seed:
    require(actor, run)
    if not run.ended:
        raise ServiceError(NOT_ENDED)
    if run.plan is None:
        raise ServiceError(NO_PLAN)
    return snapshots.snapshot(run, kind)


def _need_report(run: Run) -> None:
    if not run.reports.exclude(markdown="").exists():
        raise ServiceError(NO_REPORT)


def _create(
    actor: AbstractUser,
    run: Run,
    seed: Seed,
    *,
    reason: str,
    question: str = "",
    changes: dict[str, Any] | None = None,
) -> Run:
    """The new run, claimable at once. Asked for twice while it is at work, it is the same."""
    frozen = sites.without(_config(run, changes or {}), run.owner)
    children = Run.objects.filter(parent=run)
    ended = sum(child.ended for child in children.only("status"))
    without = sorted(repr(quoted) for quoted in seed.rejected)
    asked = digest([seed.kind, question, seed.wanted, repr(seed.shape), without, changes, ended])
    key = f"{run.public_id}/{asked[:32]}"
    try:
        with transaction.atomic():
            new = Run.objects.create(
                owner=run.owner,
                thread=run.thread,
                parent=run,
                origin=None if question else run.origin or run,
                kind=Kind(seed.kind),
                reason=reason,
                question=question or run.question,
                agreed=run.agreed if question else True,
                today=timezone.localdate(),
                mode=frozen.deep_research_mode,
                config=frozen.model_dump(mode="json"),
                sources=run.sources,
                engine_version=ENGINE_VERSION,
                prompt_digests=prompt_digests(),
                idempotency_key=key,
            )
            snapshots.store(new, run, seed)
            notify.wake_after_commit()
    except IntegrityError:
        return Run.objects.get(owner=run.owner, idempotency_key=key)
    return new


def _config(run: Run, changes: dict[str, Any]) -> ResearchConfig:
    try:
        return ResearchConfig.model_validate({**run.config, **changes})
    except (ConfigError, ValueError) as error:
        raise ServiceError(f"This budget can't be used: {error}") from None


def _text(value: str, what: str, limit: int) -> str:
    text = " ".join(value.split())
    if not text:
        raise ServiceError(f"{what} is empty.")
    if len(text) > limit:
        raise ServiceError(f"{what} has {len(text):,} characters; {limit:,} is the most.")
    return text
