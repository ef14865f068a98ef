"""Before the first round: understand, ask back, propose a plan, wait for approval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from research.engine.estimate import estimate
from research.engine.records import Plan, PlannedAspect, Status
from research.engine.run import Run
from research.engine.tasks.intake import understand
from research.engine.tasks.understood import Understood
from research.engine.text import normalise

ANSWERS = frozenset({"answer", "skip"})
VERDICTS = frozenset({"approve", "revise"})
TERMS = ("scope", "evidence_strategy", "output_format")
"""What a plan says beside its sub-questions: a person may word it anew."""


async def take_in(run: Run) -> Understood:
    """The question understood; asks the person first where it is unclear."""
    run.change(status=Status.INTAKE)
    run.doing("Reading the question")
    understood = await understand(run, "intake/1")
    if understood.questions and not run.question.agreed:
        run.change(status=Status.AWAITING_CLARIFICATION)
        run.journal.emit(_plan(run, understood))
        command = await run.journal.person("clarification", ANSWERS)
        answers = tuple(a for a in command.get("answers", ()) if a.strip())
        run.change(status=Status.INTAKE)
        if answers:
            run.doing("Reading your answers")
            understood = await understand(run, "intake/2", clarifications=answers)
        understood = replace(understood, questions=())
    return understood


async def agree(run: Run, understood: Understood) -> Plan:
    """The plan as the person approved it, edited or sent back as often as they like; one that
    costs little enough starts unasked."""
    plan, turn = _plan(run, understood), 1
    run.change(complexity=plan.complexity, language=plan.language)
    is_asked = not (run.question.agreed or _may_start(run, plan))
    while is_asked:
        run.journal.emit(plan)
        run.change(status=Status.AWAITING_APPROVAL)
        command = await run.journal.person(f"approval/{turn}", VERDICTS)
        if command["kind"] == "approve":
            plan = _edited(plan, command)
            break
        run.change(status=Status.INTAKE)
        run.doing("Changing the plan")
        turn += 1
        comment = str(command.get("comment", ""))
        plan = _plan(run, await understand(run, f"intake/revision/{turn}", comment=comment))
    run.journal.emit(plan)
    return plan


def _may_start(run: Run, plan: Plan) -> bool:
    """Whether the most that a plan may cost is known, and within what nobody need be asked for."""
    allowed = run.config.ask_above_usd
    price = plan.estimate.cost_usd if plan.estimate else None
    return allowed is not None and price is not None and price[1] <= allowed


def _plan(run: Run, understood: Understood) -> Plan:
    plan = Plan(
        brief=understood.brief,
        complexity=understood.complexity,
        language=understood.language,
        aspects=understood.aspects,
        questions=understood.questions,
        scope=understood.scope,
        evidence_strategy=understood.evidence_strategy,
        output_format=understood.output_format,
    )
    return replace(
        plan, estimate=estimate(plan, run.config, run.has_model, run.journal.meter.rates)
    )


def _edited(plan: Plan, command: Mapping[str, Any]) -> Plan:
    """The plan with the person's sub-questions and terms; an unchanged one keeps its query."""
    queries = {aspect.text: aspect.query for aspect in plan.aspects}
    texts = [normalise(str(text)) for text in command.get("aspects") or () if str(text).strip()]
    aspects = tuple(PlannedAspect(text, queries.get(text, text)) for text in texts)
    terms: dict[str, Any] = {n: normalise(str(command[n])) for n in TERMS if n in command}
    return replace(plan, aspects=aspects or plan.aspects, **terms)
