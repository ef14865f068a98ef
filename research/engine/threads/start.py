"""Start of a run: from its question, or from an earlier run of its thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from research.engine.analyst import analyst_of
from research.engine.budget.estimate import estimate_plan, find_crowding
from research.engine.config import ResearchConfig
from research.engine.journal.forms import Form
from research.engine.llm_tasks.follow_up import EarlierTurns
from research.engine.offline.follow_up import Turn
from research.engine.offline.planning import Understood, query_of
from research.engine.records import Complexity, Estimate, Plan, PlannedAspect, Status
from research.engine.rounds.topics import DEEPER, Topic
from research.engine.run import Run
from research.engine.text.language import language_of
from research.engine.text.similarity import find_twin
from research.engine.text.tokens import normalise_space
from research.engine.threads.load_seed import (
    reopen_aspect,
    take_over,
    take_over_chosen,
    take_over_for,
)
from research.engine.threads.seed import Seed
from research.engine.threads.user_commands import NOT_FOLLOWED, TOLD, is_followed

NEW_TOPIC = "new_topic"
SAME_TOPIC = "same_topic"
SHIFT = "This looks like another topic than “{question}”. Start anew, or keep what was found?"
STARTED_ANEW = "topic"
"""Place of the decision to start anew that nobody was asked about."""
MORE_ROUNDS = 2
CLAIMS = 3


async def begin_run(run: Run) -> None:
    """The agreed plan, a ledger for it, and the first round's topics; none where earlier findings
    answer a follow-up question. Raises `ParkedError`.
    """
    seed = run.question.seed
    if seed is not None and seed.kind == "deeper":
        await _dig_deeper(run, seed)
    elif seed is not None and (turn := await _understand_turn(run, seed)).same_topic:
        if run.form >= Form.EDITED:
            run.instructions = seed.instructions
        if turn.answered_by:
            await _answer_at_once(run, seed, turn)
            return
        await take_over_for(run, seed, await agree_on_plan(run, await take_in(run)))
        run.candidates = run.planned_topics()
    else:
        run.start(await agree_on_plan(run, await take_in(run)))


# --- a follow-up question -------------------------------------------------------------------


async def _understand_turn(run: Run, seed: Seed) -> Turn:
    """Return the turn: whether findings may be kept, in which case the question is reworded, and
    which of them answer it.

    A change of topic is clarified with the person before anything is dropped or kept, unless the
    seed says that nobody is asked.
    """
    run.update_state(status=Status.INTAKE)
    run.report_action("Reading the question")
    may_answer = seed.at_once and not run.is_fixed and run.form >= Form.EDITED
    findings = [record for record in seed.evidence if may_answer and not record.is_dictated]
    before = EarlierTurns(seed.question, _seed_summary(seed), findings, seed.answer)
    turn = await analyst_of(run).understand_follow_up("follow_up", before, run.question.text)
    same = turn.same_topic or await _keeps_topic(run, seed)
    run.question = replace(run.question, text=turn.question)
    run.update_state(understood_as=turn.question)
    return replace(turn, same_topic=same)


async def _answer_at_once(run: Run, seed: Seed, turn: Turn) -> None:
    """The question alone as the plan, and a ledger of the findings that answer it."""
    run.answers_at_once = True
    text = run.question.text
    plan = Plan(
        brief=text,
        complexity=Complexity.SIMPLE,
        language=language_of(text, seed.plan.language),
        aspects=(PlannedAspect(text, query_of(text)),),
        instructions=run.instructions,
    )
    run.journal.emit(plan)
    await take_over_chosen(run, seed, plan, turn.answered_by)


async def _keeps_topic(run: Run, seed: Seed) -> bool:
    """Return whether the person keeps the findings although the topic changes."""
    if not seed.asks_about_topic:
        await run.journal.decide_once(STARTED_ANEW, _start_anew)
        return False
    run.update_state(
        status=Status.AWAITING_CLARIFICATION, asks=SHIFT.format(question=seed.question)
    )
    said = await run.journal.wait_for_person("topic", frozenset({NEW_TOPIC, SAME_TOPIC}))
    run.update_state(status=Status.INTAKE, asks="")
    return bool(said["kind"] == SAME_TOPIC)


async def _start_anew() -> dict[str, str]:
    return {"kind": NEW_TOPIC}


def _seed_summary(seed: Seed) -> str:
    """Return the understood question and findings, most important first."""
    key = [record.claim for record in seed.evidence if record.key]
    return " ".join((seed.plan.brief, *(aspect.text for aspect in seed.aspects), *key))


# --- deeper on open gaps --------------------------------------------------------------------


async def _dig_deeper(run: Run, seed: Seed) -> None:
    """The same plan and ledger; the first round looks for the chosen sub-questions alone."""
    run.update_state(status=Status.INTAKE)
    told = seed.instructions if run.form >= Form.EDITED else seed.plan.instructions
    run.journal.emit(replace(seed.plan, instructions=told))
    await take_over(run, seed)
    run.tried = set(run.ledger.pages)
    wanted = [aspect_id for aspect_id in seed.wanted if aspect_id in run.ledger.aspects]
    for aspect_id in wanted:
        reopen_aspect(run, aspect_id)
    run.candidates = [_reopen_topic(run, aspect_id) for aspect_id in wanted]
    run.wished = MORE_ROUNDS


def _reopen_topic(run: Run, aspect_id: str) -> Topic:
    """New ways to search first. The earlier ones may be gone again: their results were never
    read to the end, and pages that were read are not chosen twice.
    """
    ledger = run.ledger
    aspect = ledger.aspects[aspect_id]
    claims = [query_of(claim) for claim in ledger.claims_on(aspect_id, CLAIMS)]
    gaps = [gap.query for gap in ledger.open_gaps() if gap.aspect_id == aspect_id]
    ways = dict.fromkeys(
        filter(
            None, (*gaps, query_of(aspect.text), f"{aspect.query} details", *claims, aspect.query)
        )
    )
    threshold = run.config.duplicate_topic_similarity_threshold
    known = {way for way in ways if find_twin(way, ledger.queries, threshold)}
    for way in known:
        while double := find_twin(way, ledger.queries, threshold):
            del ledger.queries[double.twin]
    new_first = tuple(sorted(ways, key=lambda way: way in known))
    return Topic(aspect.text, new_first, aspect_id, reason=DEEPER)


ANSWERS = frozenset({"answer", "skip"})
VERDICTS = frozenset({"approve", "revise"})
BESIDE = TOLD | {"plan_by_code"}
"""Commands that are taken with a verdict: the last one came when there was no call to break off."""
PLAN_TERMS = ("scope", "evidence_strategy", "output_format")
"""What a plan says beside its sub-questions: a person may word it anew."""
CONSENT = "searches_private_words"


async def take_in(run: Run) -> Understood:
    """Return the understood question, after clarification if it is unclear."""
    run.update_state(status=Status.INTAKE)
    run.report_action("Reading the question")
    understood = await analyst_of(run).understand_question("intake/1")
    if understood.questions and not run.question.agreed:
        run.update_state(status=Status.AWAITING_CLARIFICATION)
        run.journal.emit(_propose_plan(run, understood))
        command = await run.journal.wait_for_person("clarification", ANSWERS)
        answers = tuple(a for a in command.get("answers", ()) if a.strip())
        run.update_state(status=Status.INTAKE)
        if answers:
            run.report_action("Reading your answers")
            understood = await analyst_of(run).understand_question(
                "intake/2", clarifications=answers
            )
        understood = replace(understood, questions=())
    return understood


async def agree_on_plan(run: Run, understood: Understood) -> Plan:
    """Return the plan as the person approved it, edited or sent back as often as they like; one
    that costs little enough starts unasked. What they tell the run and the depth that they choose
    meanwhile hold for all that follows.
    """
    plan, turn = _propose_plan(run, understood), 1
    run.update_state(complexity=plan.complexity, language=plan.language)
    is_asked = not (run.question.agreed or _may_start(run, plan))
    if not (is_asked or run.is_fixed) and run.form >= Form.COMPUTED:
        _take_instructions(run, await run.journal.commands("plan", BESIDE))
        plan = replace(plan, instructions=run.instructions)
    while is_asked:
        run.journal.emit(plan)
        run.update_state(status=Status.AWAITING_APPROVAL)
        command = await run.journal.wait_for_person(f"approval/{turn}", VERDICTS, BESIDE)
        _take_instructions(run, command.get("beside", ()))
        if "depth" in command:
            run.config = run.config.model_copy(update={"research_depth": command["depth"]})
        if command["kind"] == "approve":
            plan = _estimate(run, _edit_plan(plan, command))
            break
        run.update_state(status=Status.INTAKE)
        run.report_action("Changing the plan")
        turn += 1
        comment = str(command.get("comment", ""))
        understood = await analyst_of(run).understand_question(
            f"intake/revision/{turn}", comment=comment
        )
        plan = _propose_plan(run, understood)
    run.journal.emit(plan)
    return plan


def _take_instructions(run: Run, told: Iterable[Mapping[str, Any]]) -> None:
    """Follow what the run was told before research begins, without what was dropped."""
    seed = run.question.seed
    earlier = seed.instructions if seed and run.form < Form.EDITED else ()
    for each in (command for command in told if command["kind"] in TOLD):
        text = normalise_space(str(each["text"]))
        if each["kind"] == "drop_instruction":
            if text not in run.instructions:
                run.trouble(f"your instruction “{text}”", NOT_FOLLOWED)
            run.instructions = tuple(kept for kept in run.instructions if kept != text)
        elif is_followed(run, text, (*earlier, *run.instructions)):
            run.instructions = (*run.instructions, text)


def _may_start(run: Run, plan: Plan) -> bool:
    """Return whether the plan's highest cost is known and low enough to start without approval."""
    allowed = run.config.ask_above_usd
    price = plan.estimate.cost_usd if plan.estimate else None
    return allowed is not None and price is not None and price[1] <= allowed


def _propose_plan(run: Run, understood: Understood) -> Plan:
    plan = Plan(
        brief=understood.brief,
        complexity=understood.complexity,
        language=understood.language,
        aspects=understood.aspects,
        questions=understood.questions,
        scope=understood.scope,
        evidence_strategy=understood.evidence_strategy,
        output_format=understood.output_format,
        form=understood.form,
        reader=understood.reader,
        searches_private_words=run.config.search_private_words,
        title=understood.title,
    )
    return _estimate(run, plan)


def _estimate(run: Run, plan: Plan) -> Plan:
    """Return the plan with what it takes, and what a deeper one would if it has little room."""
    rates, is_qualified = run.journal.meter.rates, run.qualification is not None
    parts = run.parts_of(plan)

    def estimate(config: ResearchConfig) -> Estimate:
        return estimate_plan(plan, config, run.has_model, rates, is_qualified, parts)

    return replace(
        plan,
        estimate=estimate(run.config),
        crowded=find_crowding(plan, run.config, parts, estimate),
        instructions=run.instructions,
    )


def _edit_plan(plan: Plan, command: Mapping[str, Any]) -> Plan:
    """Return the plan with the person's sub-questions and terms; an unchanged one keeps its query
    and heading.
    """
    known = {aspect.text: aspect for aspect in plan.aspects}
    texts = [
        normalise_space(str(text)) for text in command.get("aspects") or () if str(text).strip()
    ]
    aspects = tuple(known.get(text, PlannedAspect(text, text)) for text in texts)
    terms: dict[str, Any] = {
        n: normalise_space(str(command[n])) for n in PLAN_TERMS if n in command
    }
    if CONSENT in command:
        terms[CONSENT] = bool(command[CONSENT])
    return replace(plan, aspects=aspects or plan.aspects, **terms)
