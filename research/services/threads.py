"""Follow-ups to a report: another version of it, deeper research, or the next question.

Each is a new run of the thread that starts from a snapshot of the earlier run's ledger; the
earlier run is unchanged. Raises `ServiceError` with a sentence for the user if the run's state
doesn't allow it, `PermissionDenied` if the run belongs to another user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.engine.journal import digest_of
from research.engine.knobs import ConfigError
from research.engine.report.report_format import BY_CODE
from research.engine.threads.seed import ReportForm, ReportFormat, Seed, SeedKind
from research.models import Run
from research.models.runs import WRITTEN_BY_MODEL, Kind
from research.queue.admission import next_turn
from research.runtime import installation
from research.runtime.program import ENGINE_VERSION, prompt_digests
from research.services import sites
from research.services.errors import InvalidValueError, ServiceError, clean_text
from research.services.people import require_access
from research.services.runs import refuse_when_full
from research.threads import seeds
from research.worker import notify

TURN_LENGTH = 2_000
READER_LENGTH = 100

NOT_ENDED = "This run has not ended yet."
NO_PLAN = "This run ended before it had a plan; ask the question again instead."
NO_REPORT = "This run has no report."
NOT_AT_ONCE = "This run was researched; dig deeper or ask a follow-up question instead."
NOTHING_REJECTED = "No evidence of this report was rejected."
NEEDS_A_MODEL = (
    "Without a model a report can be made shorter or a table. Every other version takes a model; "
    "an admin can name one under Setup."
)
REASONS: dict[ReportForm, str] = {
    "full": WRITTEN_BY_MODEL,
    "shorter": "Shorter",
    "longer": "Longer",
    "table": "As a table",
    "reader": "For {reader}",
    "memo": "As a memo",
    "faq": "As questions and answers",
    "review": "As a review of literature",
}


def revise_report(actor: AbstractUser, run: Run) -> Run:
    """Create a new version of the report without the rejected evidence."""
    seed = _snapshot(actor, run, "revise")
    _need_report(run)
    if not seed.left_out:
        raise ServiceError(NOTHING_REJECTED)
    return _create(actor, run, seed, reason="Revised after a review")


def reshape_report(actor: AbstractUser, run: Run, form: str, reader: str = "") -> Run:
    """Create a new version in another format from the same evidence, written for `reader`; a full
    one is written by the model where code had to put the report together.
    """
    if form not in REASONS:
        raise InvalidValueError(
            "A report can be written again in full, shorter, longer, as a table, a memo, questions "
            "and answers, a review of literature, or for a reader.",
            "form",
        )
    for_whom = _clean_line(reader, "reader", READER_LENGTH) if form == "reader" else ""
    if form not in BY_CODE and not installation.current_installation()["RESEARCH_MODEL"]:
        raise ServiceError(NEEDS_A_MODEL)
    seed = _snapshot(actor, run, "reshape")
    _need_report(run)
    seed = replace(seed, shape=ReportFormat(form, for_whom))
    return _create(actor, run, seed, reason=REASONS[form].format(reader=for_whom))


def dig_deeper(
    actor: AbstractUser, run: Run, aspects: Sequence[str], cost_usd: float | None = None
) -> Run:
    """Research these sub-questions (by label) further, keeping all findings.

    The budgets are those of the earlier run, unspent; `cost_usd` limits the new run's cost.
    """
    seed = _snapshot(actor, run, "deeper")
    known = {aspect.id for aspect in seed.aspects if not aspect.dropped}
    wanted = tuple(dict.fromkeys(aspects))
    unknown = [label for label in wanted if label not in known]
    if unknown:
        raise InvalidValueError(f"There is no sub-question {unknown[0]}.", "sub_questions")
    if not wanted:
        raise InvalidValueError("Choose at least one question to dig deeper on.", "sub_questions")
    changes: dict[str, Any] = {"deep_research_mode": "adaptive"}
    if cost_usd is not None:
        changes["max_cost_usd"] = cost_usd
    told = f"Dug deeper on {len(wanted)} {'question' if len(wanted) == 1 else 'questions'}"
    return _create(actor, run, replace(seed, wanted=wanted), reason=told, changes=changes)


def follow_up(
    actor: AbstractUser,
    run: Run,
    said: str,
    cost_usd: float | None = None,
    *,
    depth: str = "",
    config: ResearchConfig | None = None,
    sources: Mapping[str, Any] | None = None,
    asks_back: bool = True,
    idempotency_key: str | None = None,
) -> Run:
    """Ask the thread's next question; findings are kept if the topic is the same.

    What the earlier findings answer is answered from them, without a search, unless settings,
    sources or a `depth` are given; those not given are the earlier run's. `cost_usd` limits the new
    run's cost. Without `asks_back` the run waits for nobody: another topic starts anew, and the
    plan needs no approval. The same `idempotency_key` returns the same run.
    """
    text = _clean_line(said, "question", TURN_LENGTH)
    is_plain = not depth and config is None and sources is None
    _need_plan(actor, run)
    seed = seeds.snapshot_follow_up(run)
    seed = replace(seed, asks_about_topic=asks_back, at_once=is_plain)
    changes = config.model_dump(mode="json") if config else {}
    changes |= {"research_depth": depth} if depth else {}
    if cost_usd is not None:
        changes["max_cost_usd"] = cost_usd
    return _create(
        actor,
        run,
        seed,
        question=text,
        reason="Follow-up question",
        changes=changes,
        sources=sources,
        agreed=run.agreed or not asks_back,
        idempotency_key=idempotency_key,
    )


def research_further(actor: AbstractUser, run: Run, cost_usd: float | None = None) -> Run:
    """Create a new version of a follow-up that was answered at once, for which it is researched.

    Settings and sources are those of the run; `cost_usd` limits the new run's cost.
    """
    _need_plan(actor, run)
    if not run.answered_at_once:
        raise ServiceError(NOT_AT_ONCE)
    seed = replace(seeds.snapshot_follow_up(run), asks_about_topic=False)
    changes = {} if cost_usd is None else {"max_cost_usd": cost_usd}
    return _create(actor, run, seed, reason="Researched further", changes=changes)


def _snapshot(actor: AbstractUser, run: Run, kind: SeedKind) -> Seed:
    _need_plan(actor, run)
    return seeds.snapshot_run(run, kind)


def _need_plan(actor: AbstractUser, run: Run) -> None:
    require_access(actor, run)
    if not run.ended:
        raise ServiceError(NOT_ENDED)
    if run.plan is None:
        raise ServiceError(NO_PLAN)


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
    sources: Mapping[str, Any] | None = None,
    agreed: bool = True,
    idempotency_key: str | None = None,
) -> Run:
    """Create the run, claimable at once; a repetition while it is active returns the same."""
    frozen = sites.exclude_blocked_sites(_config(run, changes or {}), run.owner)
    children = Run.objects.filter(parent=run)
    ended = sum(child.ended for child in children.only("status"))
    without = sorted(repr(quoted) for quoted in seed.rejected)
    chosen = None if sources is None else dict(sources)
    told = [seed.kind, question, seed.wanted, repr(seed.shape), without, changes, ended]
    asked = digest_of([*told, chosen, agreed])
    key = idempotency_key or f"{run.public_id}/{asked[:32]}"
    if not Run.objects.filter(owner=run.owner, idempotency_key=key).exists():
        refuse_when_full(run.owner)
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
                agreed=agreed,
                today=timezone.localdate(),
                mode=frozen.deep_research_mode,
                config=frozen.model_dump(mode="json"),
                sources=run.sources if chosen is None else chosen,
                engine_version=ENGINE_VERSION,
                prompt_digests=dict(prompt_digests()),
                turn=next_turn(run.owner),
                idempotency_key=key,
            )
            seeds.store_seed(new, run, seed)
            notify.wake_after_commit()
    except IntegrityError:
        return Run.objects.get(owner=run.owner, idempotency_key=key)
    return new


def _config(run: Run, changes: dict[str, Any]) -> ResearchConfig:
    try:
        return ResearchConfig.model_validate({**run.config, **changes})
    except (ConfigError, ValueError) as error:
        told = f"This budget can't be used: {error}"
        raise InvalidValueError(told, "max_cost_usd") from None


def _clean_line(value: str, name: str, limit: int) -> str:
    return clean_text(" ".join(value.split()), f"The {name}", limit, name)
