"""Questions and plans that the client puts to its user, through the official client."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from mcp import Client
from mcp.types import ElicitRequestFormParams, ElicitResult

from dashboard.api.auth import Caller
from dashboard.mcp.eliciting import form_of
from dashboard.mcp.results import describe_run
from dashboard.mcp.server import build_server
from research.models import ApiToken, Run
from research.runtime.db_threads import query_async
from research.services import api_tokens
from tests.dashboard.conftest import make_run

pytestmark = pytest.mark.django_db(transaction=True)

PLAN = {
    "brief": "Age of oaks.",
    "aspects": [{"text": "How old?"}, {"text": "Which is oldest?"}],
    "estimate": {"cost_usd": [0.1, 0.4]},
}
both_versions = pytest.mark.parametrize("mode", ["auto", "legacy"])


def wait(
    user: AbstractUser,
    run: Run,
    reply: ElicitResult | None,
    mode: str,
    token: ApiToken | None = None,
    **arguments: Any,
) -> tuple[dict[str, Any], list[ElicitRequestFormParams]]:
    """Call `wait` with a client whose user gives one reply, or that can't ask if there is none."""
    shown: list[ElicitRequestFormParams] = []

    async def find_caller(context: Any) -> Caller:
        return Caller(user, token)

    async def ask(context: Any, params: Any) -> ElicitResult:
        shown.append(params)
        assert reply is not None
        return reply

    async def call() -> dict[str, Any]:
        asking = ask if reply else None
        server = build_server(find_caller)
        async with Client(server, mode=mode, elicitation_callback=asking) as client:
            asked = {"run": run.public_id, "seconds": 20, **arguments}
            answer = await client.call_tool("wait", asked)
            assert not answer.is_error, answer.content
            return dict(answer.structured_content or {})

    return asyncio.run(call()), shown


@pytest.fixture
def planned(admin: AbstractUser) -> Run:
    return make_run(admin, "awaiting_approval", plan=PLAN)


def accept(**content: Any) -> ElicitResult:
    return ElicitResult(action="accept", content=content)


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """End a wait at once: no worker takes the stored command."""
    monkeypatch.setattr("dashboard.mcp.server.wait_for_run", _state_now)


async def _state_now(run: Run, seconds: float, report: Any) -> Any:
    return await query_async(describe_run, run)


@pytest.mark.requirement("F22")
@both_versions
def test_a_plan_is_shown_and_approved(admin: AbstractUser, planned: Run, mode: str) -> None:
    state, [shown] = wait(admin, planned, accept(approve=True), mode)
    assert state["next_tool"] == "wait"
    assert [command.kind for command in planned.commands.all()] == ["approve"]
    assert "2. Which is oldest?" in shown.message and "$0.10 to $0.40" in shown.message
    assert set(shown.requested_schema["properties"]) == {"approve", "comment"}


@both_versions
def test_a_comment_sends_the_plan_back(admin: AbstractUser, planned: Run, mode: str) -> None:
    wait(admin, planned, accept(approve=False, comment="Only Europe"), mode)
    [command] = planned.commands.all()
    assert (command.kind, command.payload) == ("revise", {"comment": "Only Europe"})


@pytest.mark.requirement("F22")
@both_versions
@pytest.mark.parametrize(
    "reply",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        accept(approve=False),
        accept(comment=["no", "text"]),
    ],
)
def test_without_a_decision_the_tools_remain(
    admin: AbstractUser, planned: Run, mode: str, reply: ElicitResult
) -> None:
    state, shown = wait(admin, planned, reply, mode)
    assert state["next_tool"] == "approve" and len(shown) == 1
    assert not planned.commands.exists()


@pytest.mark.requirement("F22")
@both_versions
def test_questions_are_answered_in_their_order(admin: AbstractUser, mode: str) -> None:
    questions = ["Which oak?", "Where?"]
    run = make_run(admin, "awaiting_clarification", plan={"questions": questions, "aspects": []})
    _, [shown] = wait(admin, run, accept(answer_2="In Europe"), mode)
    assert [each["title"] for each in shown.requested_schema["properties"].values()] == questions
    [command] = run.commands.all()
    assert (command.kind, command.payload) == ("answer", {"answers": ["", "In Europe"]})


def test_empty_answers_skip_the_questions(admin: AbstractUser) -> None:
    plan = {"questions": ["Which oak?"], "aspects": []}
    run = make_run(admin, "awaiting_clarification", plan=plan)
    wait(admin, run, accept(), "auto")
    assert [command.kind for command in run.commands.all()] == ["skip"]


@both_versions
@pytest.mark.parametrize("silent", ["no capability", "not wanted", "read only"])
def test_nobody_is_asked_where_it_is_impossible_or_unwanted(
    admin: AbstractUser, planned: Run, mode: str, silent: str
) -> None:
    reply = None if silent == "no capability" else accept(approve=True)
    token = api_tokens.create_token(admin, "Reader", ["read"])[0] if silent == "read only" else None
    state, shown = wait(admin, planned, reply, mode, token, ask_user=silent != "not wanted")
    assert state["next_tool"] == "approve" and not shown
    assert not planned.commands.exists()


def test_an_answer_to_another_plan_is_not_taken(admin: AbstractUser, planned: Run) -> None:
    before = form_of(describe_run(planned))
    planned.plan = {**PLAN, "aspects": [{"text": "How tall?"}]}
    planned.save()
    after = form_of(describe_run(planned))
    assert before and after and before.key != after.key
