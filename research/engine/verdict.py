"""After each round: assess, evaluate the gates, score, carry the gaps, go on or stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from research.engine import gates, quality, stages, wording
from research.engine.ahead import begin_ahead, settle_ahead
from research.engine.aside import aside
from research.engine.assessment import Assessment
from research.engine.effort import TRIED
from research.engine.extractive.coverage import Coverage, covered
from research.engine.extractive.judging import judge, without_second_sources
from research.engine.gaps import carry_gaps, has_untried_critical
from research.engine.ledger import ANSWERING, SUPPORTS
from research.engine.marks import answered
from research.engine.records import (
    Aspect,
    AspectState,
    Evidence,
    GateName,
    GateResult,
    Stage,
    StopReason,
)
from research.engine.retrying import unchanged
from research.engine.run import Run
from research.engine.steering import ask_person, in_order, take_commands
from research.engine.stopping import Continue, Decision, Situation, Stop, decide
from research.engine.tasks.assess import assess
from research.engine.topics import (
    DISPUTED,
    Topic,
    choose,
    lacking_topics,
    next_topics,
    unsearched,
    unsearched_first,
)
from research.engine.verification import weak_claims
from research.engine.wrapup import foresee, mark

UNSURE = frozenset(
    {
        StopReason.MAX_ROUNDS,
        StopReason.STUCK,
        StopReason.NO_NOVELTY,
        StopReason.DIMINISHING_QUALITY,
    }
)

CHAINED = "each page rests on itself"
NO_WAY_LEFT = "no other way to search is left"
UNJUDGED = "the model's judgement could not be used"


async def close_round(run: Run) -> Decision:
    """Judge the round and decide; the next round's topics are ready when it goes on."""
    run.doing("Judging what was found")
    if run.failing:
        assessment = unchanged(run, run.assessment or judge(run.ledger, run.limits))
    else:
        await begin_ahead(run)
        assessment = await assess(run, f"round/{run.ledger.round.number}/assess")
    decision = await settle(run, assessment)
    await settle_ahead(run, decision)
    return decision


async def settle(run: Run, assessment: Assessment) -> Decision:
    """Gaps, gates, score and the stop rule, on the ledger and what was made of it."""
    _reopen(run, assessment)
    coverage = None
    if run.follows_names:
        coverage = await aside(run.ledger.pages.values(), covered, run.ledger)
    run.is_chained = coverage is not None and coverage.is_chain
    if run.is_chained:
        assessment = without_second_sources(assessment)
    news = carry_gaps(run, assessment)
    wishes = await take_commands(run, f"round/{run.ledger.round.number}")
    results = await _judged(run, assessment)
    situation = await _situation(run, results, news or wishes.news, wishes.reason, coverage)
    decision = decide(situation, run.config)
    if isinstance(decision, Continue):
        decision = foresee(run)
    else:
        decision = await _sure(run, decision, situation)
        run.candidates = in_order(run, await _wanted(run, assessment, results))
    _close(run, decision, results, apart=coverage.apart if situation.bridge and coverage else ())
    return decision


async def close_verification(
    run: Run, stop: Stop, claims: Sequence[Evidence], known: Mapping[str, frozenset[str]]
) -> Decision:
    """Write down what the round brought for each claim; no model judges it. It ends as it was
    to, unless a person said something meanwhile. `known` are the sources that each sub-question
    had before.
    """
    assert run.assessment is not None, "verification follows a judged round"
    ledger, confirmed, missing = run.ledger, 0, 0
    for claim in claims:
        if ledger.book.records[claim.id].keys > claim.keys:
            confirmed += 1
        elif claim.aspect_id and not ledger.keys_of(claim.aspect_id) > known[claim.aspect_id]:
            missing += 1
            ledger.set_aspect(claim.aspect_id, searches_without_news=TRIED)
    ledger.effort.verified.update(claim.id for claim in claims)
    _reopen(run, run.assessment, known)
    wishes = await take_commands(run, f"round/{ledger.round.number}/verification")
    results = await _judged(run, run.assessment)
    now = await _situation(run, results, wishes.news, wishes.reason)
    decision = decide(now, run.config) if wishes.news or wishes.reason else stop
    if isinstance(decision, Continue):
        decision = foresee(run)
    await settle_ahead(run, decision)
    _close(run, decision, results, wording.verified(len(claims), confirmed, missing))
    return decision


async def close_rewriting(run: Run, assessment: Assessment, stop: Stop) -> GateResult:
    """Gates and score of a ledger that no research follows; gives the evidence gate."""
    run.change(stage=Stage.REPORT)
    results = _evaluate(run, assessment, await _now(run))
    _score(run, assessment, results)
    _tell_gates(run, results)
    mark(run, await run.journal.elapsed(f"round/{run.ledger.round.number}"))
    _close(run, stop, results)
    return results["evidence"]


async def close_level(run: Run, last: bool) -> StopReason | None:
    """Judge a level of the fixed mode by the ledger alone; the gates don't act.

    The reason to end: a command, a spent budget, or that the tree is complete.
    """
    assessment = judge(run.ledger, run.limits)
    wishes = await take_commands(run, f"round/{run.ledger.round.number}")
    results = _evaluate(run, assessment, await _now(run))
    _score(run, assessment, results)
    _tell_gates(run, results)
    now = await _situation(run, results, news=False, command=wishes.reason)
    reason = now.command or now.spent or (StopReason.TREE_COMPLETE if last else None)
    _close(run, Stop(reason) if reason else Continue(), results)
    return reason


def _reopen(
    run: Run, assessment: Assessment, known: Mapping[str, frozenset[str]] | None = None
) -> None:
    """A sub-question that the model calls unanswered is open, whatever was found for it; with
    `known`, unless it has further sources since.
    """
    for aspect in list(run.ledger.aspects.values()):
        if known is not None and run.ledger.keys_of(aspect.id) > known[aspect.id]:
            continue
        if assessment.by_model and aspect.id in assessment.unanswered:
            run.ledger.set_aspect(aspect.id, state=AspectState.OPEN)


async def _judged(run: Run, assessment: Assessment) -> dict[GateName, GateResult]:
    """Gates, score and the next topics. Where no way to search is left, Gates 1 and 2 ask in
    vain; the evidence gate holds all the same.
    """
    at = await _now(run)
    results = _evaluate(run, assessment, at, CHAINED if run.is_chained else "")
    run.candidates = in_order(run, await _wanted(run, assessment, results))
    if results["evidence"].decision != "retry" and not _fresh(run, run.candidates):
        results = _evaluate(run, assessment, at, NO_WAY_LEFT)
    _score(run, assessment, results, _held(run, assessment, results))
    _tell_gates(run, results)
    return results


def _held(run: Run, assessment: Assessment, results: dict[GateName, GateResult]) -> tuple[str, ...]:
    """Why a score stays below the threshold, whatever the marks: a sub-question was never
    searched, or a model was to judge and code did, and not everything holds.
    """
    ledger, needed = run.ledger, run.limits.sources_per_aspect
    missed = len(_unsearched(run))
    whole = results["evidence"].decision == "pass" and all(
        aspect.state in ANSWERING and len(ledger.keys_of(aspect.id)) >= needed
        for aspect in ledger.aspects.values()
    )
    unjudged = run.has_model and not assessment.by_model and not whole
    reasons = (f"{missed} not searched" if missed else "", UNJUDGED if unjudged else "")
    return tuple(filter(None, reasons))


async def _now(run: Run) -> datetime:
    place = f"round/{run.ledger.round.number}/gates"
    return datetime.fromisoformat(await run.journal.now(place))


def _evaluate(
    run: Run, assessment: Assessment, at: datetime, given_up: str = ""
) -> dict[GateName, GateResult]:
    ledger, ready = run.ledger, assessment.ready
    number = ledger.round.number
    return gates.evaluate(ledger, run.limits, run.config, number, ready, at, given_up)


def _tell_gates(run: Run, results: dict[GateName, GateResult]) -> None:
    for result in results.values():
        run.ledger.gates.append(result)
        run.journal.emit(result)


def _score(
    run: Run,
    assessment: Assessment,
    results: dict[GateName, GateResult],
    held: tuple[str, ...] = (),
) -> None:
    config = run.config
    scored = quality.score(
        run.ledger,
        assessment.dimensions,
        config.weights,
        run.limits.sources_per_aspect,
        config.adaptive_quality_threshold,
        results["evidence"].decision != "retry",
        held,
    )
    run.assessment = assessment
    if not run.failing:
        run.earned.append(scored.earned)
    run.ledger.update_round(
        dimensions=assessment.dimensions,
        score=scored.score,
        model_score=scored.model_score,
        model_overall=assessment.overall,
        cap=scored.cap,
        cap_reason=scored.cap_reason,
        reasoning=assessment.reasoning,
        answered=answered(run.ledger),
    )
    run.change(quality_score=scored.score)


# --- the decision ---------------------------------------------------------------------------


async def _wanted(
    run: Run, assessment: Assessment, results: dict[GateName, GateResult]
) -> Sequence[Topic]:
    """The next topics: those of a failed round, sub-questions that were never searched, then what
    the assessment names; where a model
    names nothing that is new, and a gate asks for more or the least depth is not reached, what
    the ledger lacks (rules A7, C6).
    """
    wanted = await aside(run.ledger.pages.values(), next_topics, run.ledger, assessment)
    retried = {topic.text for topic in run.retries}
    wanted = [*run.retries, *(topic for topic in wanted if topic.text not in retried)]
    early = run.ledger.round.number < run.config.adaptive_min_depth
    wanted = unsearched_first(wanted, _unsearched(run))
    asked = assessment.by_model and (early or gates.ask(results))
    if not asked or _fresh(run, wanted):
        return wanted
    return [*wanted, *lacking_topics(run.ledger, run.limits)]


def _unsearched(run: Run) -> list[Aspect]:
    return unsearched(run.ledger, run.config.duplicate_topic_similarity_threshold)


def _fresh(run: Run, topics: Sequence[Topic]) -> Sequence[Topic]:
    threshold = run.config.duplicate_topic_similarity_threshold
    return choose(topics, run.ledger, len(topics), threshold).topics


async def _situation(
    run: Run,
    results: dict[GateName, GateResult],
    news: bool,
    command: StopReason | None,
    coverage: Coverage | None = None,
) -> Situation:
    ledger, number = run.ledger, run.ledger.round.number
    seconds = await run.journal.elapsed(f"round/{number}")
    mark(run, seconds)
    fresh = _fresh(run, run.candidates)
    return Situation(
        rounds=number,
        soft_end=run.limits.rounds,
        scores=tuple(run.earned),
        novelties=tuple(r.novelty or 0.0 for r in ledger.rounds if r.number not in run.failed),
        supporting=sum(r.relevance >= SUPPORTS for r in ledger.evidence),
        open_gaps=len(ledger.open_gaps()),
        critical_gaps=sum(gap.critical for gap in ledger.open_gaps()),
        gates_open=gates.ask(results),
        had_news=news,
        topics_left=len(fresh),
        units=len(ledger.topics),
        failing=run.failing,
        failed=len(run.failed),
        wished=run.wished,
        bridge=bool(coverage and not coverage.is_enough) and any(topic.lead for topic in fresh),
        untried_critical=has_untried_critical(run),
        unsearched=len(_unsearched(run)),
        complexity=ledger.complexity,
        command=command,
        spent=run.last or run.journal.meter.spent(seconds, run.has_model),
    )


async def _sure(run: Run, stop: Stop, now: Situation) -> Decision:
    """Where more is missing than the run can find by itself, a person may say whether to go on."""
    asking = run.config.ask_when_unsure and not run.question.agreed
    if not asking or stop.reason not in UNSURE or not (now.gates_open or now.open_gaps):
        return stop
    number = run.ledger.round.number
    question = wording.unsure(stop.reason, run.ledger, run.config, run.earned)
    wishes = await ask_person(run, f"enough/round/{number}", question)
    if wishes.reason is StopReason.CANCELLED:
        return Stop(StopReason.CANCELLED)
    return stop if wishes.reason or not wishes.news else Continue()


def _close(
    run: Run,
    decision: Decision,
    results: dict[GateName, GateResult],
    note: str = "",
    apart: Sequence[str] = (),
) -> None:
    ledger = run.ledger
    run.change(stage=_next_stage(run, decision, results))
    if isinstance(decision, Stop):
        ended = wording.stopped(decision.reason, ledger, run.config, run.earned)
        sentence = f"{note} {ended}".strip()
        run.log("%s after round %d: %s", decision.reason, ledger.round.number, _figures(run))
    else:
        fresh = choose(
            run.candidates,
            ledger,
            run.limits.topics_per_round,
            run.config.duplicate_topic_similarity_threshold,
        )
        ahead = wording.going_on(ledger, [t.text for t in fresh.topics], apart)
        sentence = f"{note} {ahead}".strip()
    gaps = tuple(gap.text for gap in ledger.open_gaps())
    ledger.update_round(gaps=gaps, decision=sentence, closed=True)
    run.change(verdict=sentence)
    run.tell_usage()


def _next_stage(run: Run, decision: Decision, results: dict[GateName, GateResult]) -> Stage:
    """The stage of what follows: more research, verification, or the report."""
    stage, goes_on = run.state.stage, isinstance(decision, Continue)
    if goes_on and not _settles_claims(run):
        stage = stages.after(stage, "more_research")
        return stages.after_gates(stage, results, at_most=Stage.DEEP_RESEARCH)
    verifies = goes_on or weak_claims(run, decision)
    most = Stage.VERIFICATION if verifies else Stage.REPORT
    return stages.after_gates(stage, results, at_most=most)


def _settles_claims(run: Run) -> bool:
    """Whether the next round only looks for which of two claims is right."""
    fresh = _fresh(run, run.candidates)[: run.limits.topics_per_round]
    return {topic.reason for topic in fresh} == {DISPUTED}


def _figures(run: Run) -> str:
    last, config = run.ledger.round, run.config
    return (
        f"score {last.score} of {config.adaptive_quality_threshold:g}, "
        f"novelty {last.novelty} of {config.min_novelty_threshold:g}"
    )
