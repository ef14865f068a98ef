"""Elicitation: questions and plans put to the user by the client, where the client can do that.

From protocol version 2026-07-28 on a tool returns its question and is called again with the answer,
which needs no connection in between. Before, the question is a request within the call, for which
the transport must have a way back: standard input and output have one, `/mcp` has not.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.server.elicitation import AcceptedElicitation, render_elicitation_schema
from mcp.server.mcpserver import Context
from mcp.types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult
from mcp.types.version import is_version_at_least
from pydantic import BaseModel, Field, ValidationError, create_model

from dashboard.mcp.results import PlanState, RunState
from research.services import runs

RETURNED_SINCE = "2026-07-28"
"""Version from which on a tool returns its questions."""
LEAST_SECONDS = 15
"""Time below which a question within a call isn't begun: the next call asks it."""

Command = Callable[..., Any]


class PlanDecision(BaseModel):
    approve: bool = Field(title="Approve the plan", description="Research costs from here.")
    comment: str = Field(
        default="", title="Or say what to change", description="Sends the plan back."
    )


@dataclass(frozen=True)
class Form:
    """A question to the user; `command` turns the reply into a command, None for no decision."""

    key: str
    message: str
    schema: type[BaseModel]
    command: Callable[[Any], Command | None]


def form_of(state: RunState) -> Form | None:
    """Return what a run needs from its user, if it can be put as a form."""
    if state.next_tool == "approve" and state.plan is not None:
        message = _plan_text(state.question, state.plan)
        return Form(_key("approve", state.run, message), message, PlanDecision, _decide)
    if state.next_tool == "answer" and state.questions:
        message = f"Questions before the research: {state.question}"
        key = _key("answer", state.run, "\n".join(state.questions))
        return Form(key, message, _answers_model(state.questions), _answer)
    return None


def can_elicit(ctx: Context) -> bool:
    """Return whether the client shows forms and can be asked on this connection."""
    declared = ctx.client_capabilities.elicitation if ctx.client_capabilities else None
    # a bare `elicitation: {}` means forms, from before there were other modes
    forms = declared is not None and (declared.form is not None or declared.url is None)
    return forms and (_returns_questions(ctx) or ctx.session.can_send_request)


class Elicitation:
    """The questions of one tool call; each answer that came with the call is used once."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._answers = dict(ctx.input_responses or {})

    async def ask(self, form: Form, seconds: float) -> Command | InputRequiredResult | None:
        """Return the user's command, a question to return from the tool, or None for no answer."""
        if not _returns_questions(self._ctx):
            return await self._ask_within_the_call(form, seconds)
        answer = self._answers.pop(form.key, None)
        if answer is None:
            asked = ElicitRequestFormParams(
                message=form.message, requested_schema=render_elicitation_schema(form.schema)
            )
            return InputRequiredResult(input_requests={form.key: ElicitRequest(params=asked)})
        if not isinstance(answer, ElicitResult) or answer.action != "accept":
            return None
        try:
            return form.command(form.schema.model_validate(answer.content))
        except ValidationError:
            return None

    async def _ask_within_the_call(self, form: Form, seconds: float) -> Command | None:
        if seconds < LEAST_SECONDS:
            return None
        try:
            async with asyncio.timeout(seconds):
                answer = await self._ctx.elicit(form.message, form.schema)
        except (TimeoutError, MCPError, ValueError):
            return None
        return form.command(answer.data) if isinstance(answer, AcceptedElicitation) else None


def _returns_questions(ctx: Context) -> bool:
    version = ctx.protocol_version
    return version is not None and is_version_at_least(version, RETURNED_SINCE)


def _decide(decision: PlanDecision) -> Command | None:
    comment = decision.comment.strip()
    if comment:
        return partial(runs.send_back, comment=comment)
    return runs.approve_plan if decision.approve else None


def _answer(given: BaseModel) -> Command:
    answers = [value.strip() for value in given.model_dump().values()]
    return partial(runs.answer_questions, answers=answers) if any(answers) else runs.skip_questions


def _answers_model(questions: list[str]) -> type[BaseModel]:
    fields: dict[str, Any] = {
        f"answer_{number}": (str, Field(default="", title=question))
        for number, question in enumerate(questions, start=1)
    }
    return create_model("Answers", **fields)


def _plan_text(question: str, plan: PlanState) -> str:
    lines = [f"Plan for: {question}"]
    lines += [plan.brief] if plan.brief else []
    lines += [f"{number}. {text}" for number, text in enumerate(plan.sub_questions, start=1)]
    cost = (plan.estimate or {}).get("cost_usd")
    if cost:
        lines.append(f"Estimated cost: ${cost[0]:.2f} to ${cost[1]:.2f}")
    return "\n".join(lines)


def _key(tool: str, run: str, text: str) -> str:
    """Return a key that changes with the question, so that no answer is taken for another one."""
    return f"{tool}-{run}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
