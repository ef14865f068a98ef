"""Before the first round: understand, ask back, propose a plan, wait for approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from research.engine.analyst import analyst_of
from research.engine.budget.estimate import estimate_plan
from research.engine.llm_tasks.parsed_question import Understood
from research.engine.records import Plan, PlannedAspect, Status
from research.engine.run import Run
from research.engine.text.tokens import normalise_space

ANSWERS = frozenset({"answer", "skip"})
VERDICTS = frozenset({"approve", "revise"})
TERMS = ("scope", "evidence_strategy", "output_format")
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
    that costs little enough starts unasked.
    """
    plan, turn = _propose_plan(run, understood), 1
    run.update_state(complexity=plan.complexity, language=plan.language)
    is_asked = not (run.question.agreed or _may_start(run, plan))
    while is_asked:
        run.journal.emit(plan)
        run.update_state(status=Status.AWAITING_APPROVAL)
        command = await run.journal.wait_for_person(f"approval/{turn}", VERDICTS)
        if command["kind"] == "approve":
            plan = _edit_plan(plan, command)
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
    )
    rates, is_qualified = run.journal.meter.rates, run.qualification is not None
    parts = run.parts_of(plan)
    return replace(
        plan, estimate=estimate_plan(plan, run.config, run.has_model, rates, is_qualified, parts)
    )


def _edit_plan(plan: Plan, command: Mapping[str, Any]) -> Plan:
    """Return the plan with the person's sub-questions and terms; an unchanged one keeps
    its query.
    """
    queries = {aspect.text: aspect.query for aspect in plan.aspects}
    texts = [
        normalise_space(str(text)) for text in command.get("aspects") or () if str(text).strip()
    ]
    aspects = tuple(PlannedAspect(text, queries.get(text, text)) for text in texts)
    terms: dict[str, Any] = {n: normalise_space(str(command[n])) for n in TERMS if n in command}
    if CONSENT in command:
        terms[CONSENT] = bool(command[CONSENT])
    return replace(plan, aspects=aspects or plan.aspects, **terms)
