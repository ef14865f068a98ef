"""After each round: assess, evaluate the gates, score, carry the gaps, go on or stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from research.engine.analyst import analyst_of
from research.engine.assessment import gates, score, stages
from research.engine.assessment.answer_status import (
    count_answered,
    is_answered_by_code,
    stated_score,
    supporting,
)
from research.engine.assessment.assessment import Assessment
from research.engine.assessment.effort import TRIED
from research.engine.assessment.gaps import carry_gaps, has_untried_critical
from research.engine.assessment.stop_rule import Continue, Decision, Situation, Stop
from research.engine.budget.wind_down import another_round_fits, record_spend
from research.engine.evidence.ledger import ANSWERING
from research.engine.offline.judging import judge_ledger, without_second_sources
from research.engine.offline.passages.coverage import Coverage, measure_coverage
from research.engine.records import (
    Aspect,
    AspectState,
    Evidence,
    GateName,
    GateResult,
    Stage,
    StopReason,
)
from research.engine.report import messages
from research.engine.report.speculative_draft import begin_ahead, settle_ahead
from research.engine.rounds.merge import unchanged_assessment
from research.engine.rounds.topics import (
    DISPUTED,
    Topic,
    choose_topics,
    lacking_topics,
    unsearched_aspects,
    unsearched_first,
)
from research.engine.rounds.verification import weak_claims
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.threads.user_commands import (
    CommandOutcome,
    ask_person,
    extend_rounds,
    in_order,
    take_commands,
)

UNSURE = frozenset(
    {
        StopReason.MAX_ROUNDS,
        StopReason.STUCK,
        StopReason.NO_NOVELTY,
        StopReason.DIMINISHING_QUALITY,
    }
)

CHAINED = "each page rests on itself"
DIRECT = "one page that answers is enough"
NO_WAY_LEFT = "no other way to search is left"
UNJUDGED = "the model's judgement could not be used"
MARKED_BY_CODE = "code gave the marks"


async def close_round(run: Run) -> Decision:
    """Judge the round and decide; the next round's topics are ready when it goes on."""
    run.report_action("Judging what was found")
    if run.failing:
        assessment = unchanged_assessment(
            run, run.assessment or judge_ledger(run.ledger, run.limits)
        )
    else:
        await begin_ahead(run)
        assessment = await analyst_of(run).assess_ledger(f"round/{run.ledger.round.number}/assess")
    decision = await settle_round(run, assessment)
    await settle_ahead(run, decision)
    return decision


async def settle_round(run: Run, assessment: Assessment) -> Decision:
    """Update gaps, gates and score from the ledger and its assessment, and apply the stop rule."""
    _reopen_unanswered(run, assessment)
    coverage = None
    if run.follows_names:
        coverage = await run_in_thread_if_long(
            run.ledger.pages.values(), measure_coverage, run.ledger
        )
    run.is_chained = coverage is not None and coverage.is_chain
    if run.is_chained:
        assessment = without_second_sources(assessment)
    news = carry_gaps(run, assessment)
    wishes = await take_commands(run, f"round/{run.ledger.round.number}")
    assessment, wishes = await _assess_instructed(run, assessment, wishes)
    results = await _judge_round(run, assessment)
    situation = await _read_situation(run, results, news or wishes.news, wishes.reason, coverage)
    decision = run.rules.decide_stop(situation, run.config)
    if isinstance(decision, Continue):
        decision = another_round_fits(run)
    else:
        decision, assessment = await _confirm_stop(run, decision, situation, assessment)
        run.candidates = in_order(run, await _next_topics(run, assessment, results))
    _record_decision(
        run, decision, results, apart=coverage.apart if situation.bridge and coverage else ()
    )
    return decision


async def close_verification(
    run: Run, stop: Stop, claims: Sequence[Evidence], known: Mapping[str, frozenset[str]]
) -> Decision:
    """Record what verification brought for each claim, without an assessment.

    The run ends for its earlier reason, unless a person sent a command meanwhile. `known` are the
    sources that each sub-question had before.
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
    _reopen_unanswered(run, run.assessment, known)
    wishes = await take_commands(run, f"round/{ledger.round.number}/verification")
    assessment, wishes = await _assess_instructed(run, run.assessment, wishes)
    results = await _judge_round(run, assessment)
    now = await _read_situation(run, results, wishes.news, wishes.reason)
    decision = run.rules.decide_stop(now, run.config) if wishes.news or wishes.reason else stop
    if isinstance(decision, Continue):
        decision = another_round_fits(run)
    await settle_ahead(run, decision)
    _record_decision(
        run, decision, results, messages.verification_message(len(claims), confirmed, missing)
    )
    return decision


async def _assess_instructed(
    run: Run, assessment: Assessment, wishes: CommandOutcome
) -> tuple[Assessment, CommandOutcome]:
    """Assess the round again after a new instruction. Gaps that the instruction opens lead to
    another round; without any, it affects the report only.
    """
    if not wishes.is_instructed or wishes.reason or run.failing:
        return assessment, wishes
    place = f"round/{run.ledger.round.number}/assess/{run.ledger.times_instructed}"
    anew = await analyst_of(run).assess_ledger(place)
    if not anew.by_model:
        return assessment, wishes
    _reopen_unanswered(run, anew)
    news = carry_gaps(run, anew)
    if anew.gaps and not anew.ready:
        extend_rounds(run, 1)
        news = True
    return anew, replace(wishes, news=wishes.news or news)


async def close_rewriting(run: Run, assessment: Assessment, stop: Stop) -> GateResult:
    """Evaluate gates and score of a ledger without further research; return the evidence gate."""
    run.update_state(stage=Stage.REPORT)
    results = _evaluate_gates(run, assessment, await _gate_time(run))
    _score_round(run, assessment, results)
    _tell_gates(run, results)
    record_spend(run, await run.journal.elapsed(f"round/{run.ledger.round.number}"))
    _record_decision(run, stop, results)
    return results["evidence"]


async def close_level(run: Run, last: bool) -> StopReason | None:
    """Judge a level of the fixed mode by the ledger alone; the gates don't act.

    The reason to end: a command, a spent budget, or that the tree is complete.
    """
    assessment = judge_ledger(run.ledger, run.limits)
    wishes = await take_commands(run, f"round/{run.ledger.round.number}")
    results = _evaluate_gates(run, assessment, await _gate_time(run))
    _score_round(run, assessment, results)
    _tell_gates(run, results)
    now = await _read_situation(run, results, news=False, command=wishes.reason)
    reason = now.command or now.spent or (StopReason.TREE_COMPLETE if last else None)
    _record_decision(run, Stop(reason) if reason else Continue(), results)
    return reason


def _reopen_unanswered(
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


async def _judge_round(run: Run, assessment: Assessment) -> dict[GateName, GateResult]:
    """Evaluate gates, score and the next topics. If no way to search is left, Gates 1 and 2 are
    unavailable; the evidence gate still applies.
    """
    at = await _gate_time(run)
    results = _evaluate_gates(run, assessment, at, _given_up(run))
    run.candidates = in_order(run, await _next_topics(run, assessment, results))
    if results["evidence"].decision != "retry" and not _drop_searched_topics(run, run.candidates):
        results = _evaluate_gates(run, assessment, at, NO_WAY_LEFT)
    _score_round(run, assessment, results, _score_holds(run, assessment, results))
    _tell_gates(run, results)
    return results


def _given_up(run: Run) -> str:
    """Why no further source is asked for; "" if more may be found."""
    if run.is_chained:
        return CHAINED
    return DIRECT if is_answered_by_code(run.ledger) else ""


def _score_holds(
    run: Run, assessment: Assessment, results: dict[GateName, GateResult]
) -> tuple[str, ...]:
    """Return why the score stays below the threshold, whatever the marks: a sub-question was never
    searched, or code judged in a model's place and not everything is met.
    """
    if not run.rules.holds_score_down:
        return ()
    ledger, needed = run.ledger, run.limits.sources_per_aspect
    missed = len(_unsearched_aspects(run))
    whole = results["evidence"].decision == "pass" and all(
        aspect.state in ANSWERING and len(ledger.keys_of(aspect.id)) >= needed
        for aspect in ledger.aspects.values()
    )
    reasons = [f"{missed} not searched"] if missed else []
    if run.has_model and not whole:
        if not assessment.by_model:
            reasons.append(UNJUDGED)
        elif assessment.is_marked_by_code:
            reasons.append(MARKED_BY_CODE)
    return tuple(reasons)


async def _gate_time(run: Run) -> datetime:
    place = f"round/{run.ledger.round.number}/gates"
    return datetime.fromisoformat(await run.journal.now(place))


def _evaluate_gates(
    run: Run, assessment: Assessment, at: datetime, given_up: str = ""
) -> dict[GateName, GateResult]:
    ledger, ready = run.ledger, assessment.ready
    number = ledger.round.number
    return gates.evaluate_gates(
        ledger, run.limits, run.config, number, ready, at, given_up, run.rules
    )


def _tell_gates(run: Run, results: dict[GateName, GateResult]) -> None:
    for result in results.values():
        run.ledger.gates.append(result)
        run.journal.emit(result)


def _score_round(
    run: Run,
    assessment: Assessment,
    results: dict[GateName, GateResult],
    held: tuple[str, ...] = (),
) -> None:
    config, rules = run.config, run.rules
    value = stated_score(run.ledger)
    if value is not None and not assessment.by_model:
        scored = score.stated(value, held, config.adaptive_quality_threshold)
    else:
        enough = results["evidence"].decision != "retry"
        scored = score.score_round(
            run.ledger,
            assessment.dimensions,
            config.weights,
            run.limits.sources_per_aspect,
            config.adaptive_quality_threshold,
            enough or not rules.holds_score_down,
            held,
            rules.score_cap,
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
        answered=count_answered(run.ledger),
    )
    run.update_state(quality_score=scored.score)


# --- the decision ---------------------------------------------------------------------------


async def _next_topics(
    run: Run, assessment: Assessment, results: dict[GateName, GateResult]
) -> Sequence[Topic]:
    """Return the next topics: those of a failed round, unsearched sub-questions, then what the
    assessment names. If a model names nothing new, and a gate asks for more or the minimum depth
    is not reached, what the ledger lacks follows (rules A7, C6).
    """
    wanted = await run_in_thread_if_long(
        run.ledger.pages.values(), run.rules.next_topics, run.ledger, assessment
    )
    retried = {topic.text for topic in run.retries}
    wanted = [*run.retries, *(topic for topic in wanted if topic.text not in retried)]
    early = run.ledger.round.number < max(run.config.adaptive_min_depth, run.limits.least_rounds)
    wanted = unsearched_first(wanted, _unsearched_aspects(run))
    asked = assessment.by_model and (early or gates.has_open_request(results))
    asked = asked and run.rules.seeks_what_gates_lack
    if not asked or _drop_searched_topics(run, wanted):
        return wanted
    return [*wanted, *lacking_topics(run.ledger, run.limits)]


def _unsearched_aspects(run: Run) -> list[Aspect]:
    return unsearched_aspects(run.ledger, run.topic_threshold)


def _drop_searched_topics(run: Run, topics: Sequence[Topic]) -> Sequence[Topic]:
    return choose_topics(topics, run.ledger, len(topics), run.topic_threshold).topics


async def _read_situation(
    run: Run,
    results: dict[GateName, GateResult],
    news: bool,
    command: StopReason | None,
    coverage: Coverage | None = None,
) -> Situation:
    ledger, number = run.ledger, run.ledger.round.number
    seconds = await run.journal.elapsed(f"round/{number}")
    record_spend(run, seconds)
    fresh = _drop_searched_topics(run, run.candidates)
    assert run.assessment is not None, "a round is judged before its situation is read"
    held = _score_holds(run, run.assessment, results)
    return Situation(
        rounds=number,
        soft_end=run.limits.rounds,
        scores=tuple(run.earned),
        novelties=tuple(r.novelty or 0.0 for r in ledger.rounds if r.number not in run.failed),
        supporting=supporting(ledger),
        open_gaps=len(ledger.open_gaps()),
        critical_gaps=sum(gap.critical for gap in ledger.open_gaps()),
        gates_open=gates.has_open_request(results),
        had_news=news,
        topics_left=len(fresh),
        units=len(ledger.topics),
        failing=run.failing,
        failed=len(run.failed),
        wished=max(run.wished, run.limits.least_rounds),
        bridge=bool(coverage and not coverage.is_enough) and any(topic.lead for topic in fresh),
        untried_critical=has_untried_critical(run),
        unsearched=len(_unsearched_aspects(run)),
        is_held=bool(held),
        unanswered=_unanswered(run),
        complexity=ledger.complexity,
        command=command,
        spent=run.last or run.journal.meter.spent(seconds, run.has_model),
    )


def _unanswered(run: Run) -> int:
    """Return how many sub-questions of a broad run have no answer; 0 in quick and narrow runs."""
    is_quick = run.config.research_depth == "quick"
    if not run.has_model or is_quick or run.limits.notes < 2:
        return 0
    return sum(a.state not in ANSWERING for a in run.ledger.aspects.values() if not a.dropped)


async def _confirm_stop(
    run: Run, stop: Stop, now: Situation, assessment: Assessment
) -> tuple[Decision, Assessment]:
    """Ask the person whether to continue, if more is missing than the run can find by itself;
    what they answer may change the assessment.
    """
    asking = run.config.ask_when_unsure and not run.question.agreed
    if not asking or stop.reason not in UNSURE or not (now.gates_open or now.open_gaps):
        return stop, assessment
    number = run.ledger.round.number
    question = messages.unsure_message(stop.reason, run.ledger, run.config, run.earned)
    wishes = await ask_person(run, f"enough/round/{number}", question)
    if wishes.reason is StopReason.CANCELLED:
        return Stop(StopReason.CANCELLED), assessment
    assessment, wishes = await _assess_instructed(run, assessment, wishes)
    return (stop if wishes.reason or not wishes.news else Continue()), assessment


def _record_decision(
    run: Run,
    decision: Decision,
    results: dict[GateName, GateResult],
    note: str = "",
    apart: Sequence[str] = (),
) -> None:
    ledger = run.ledger
    run.update_state(stage=_next_stage(run, decision, results))
    if isinstance(decision, Stop):
        ended = messages.stop_message(decision.reason, ledger, run.config, run.earned)
        sentence = f"{note} {ended}".strip()
        run.log("%s after round %d: %s", decision.reason, ledger.round.number, _format_figures(run))
    else:
        most = run.limits.topics_per_round
        fresh = choose_topics(run.candidates, ledger, most, run.topic_threshold)
        ahead = messages.going_on(ledger, [t.text for t in fresh.topics], apart)
        sentence = f"{note} {ahead}".strip()
    gaps = tuple(gap.text for gap in ledger.open_gaps())
    ledger.update_round(gaps=gaps, decision=sentence, closed=True)
    run.update_state(verdict=sentence)
    run.tell_usage()


def _next_stage(run: Run, decision: Decision, results: dict[GateName, GateResult]) -> Stage:
    """Return the stage of what follows: more research, verification, or the report."""
    stage, goes_on = run.state.stage, isinstance(decision, Continue)
    if goes_on and not _settles_claims(run):
        stage = stages.next_stage(stage, "more_research")
        return stages.after_gates(stage, results, at_most=Stage.DEEP_RESEARCH)
    verifies = goes_on or weak_claims(run, decision)
    most = Stage.VERIFICATION if verifies else Stage.REPORT
    return stages.after_gates(stage, results, at_most=most)


def _settles_claims(run: Run) -> bool:
    """Return whether the next round only decides between contradicting claims."""
    fresh = _drop_searched_topics(run, run.candidates)[: run.limits.topics_per_round]
    return {topic.reason for topic in fresh} == {DISPUTED}


def _format_figures(run: Run) -> str:
    last, config = run.ledger.round, run.config
    return (
        f"score {last.score} of {config.adaptive_quality_threshold:g}, "
        f"novelty {last.novelty} of {config.min_novelty_threshold:g}"
    )
