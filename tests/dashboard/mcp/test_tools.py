"""The tools through the official client, in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from mcp import Client, MCPError

from dashboard.api.auth import Caller
from dashboard.command_line.local_documents import LocalDocuments
from dashboard.mcp.server import LONGEST_WAIT_SECONDS, build_server
from research.models import ApiToken, PageText, Run
from research.runtime import tool_factory
from research.services import api_tokens, runs
from tests.dashboard.conftest import PAGE, QUOTE, add_evidence, add_report, make_run

pytestmark = pytest.mark.django_db(transaction=True)

Say = Callable[..., Awaitable[dict[str, Any]]]
QUESTION = "How to make scrambled eggs?"


class Refused(Exception):
    """A tool answered with an error."""


@asynccontextmanager
async def connected(user: AbstractUser, token: ApiToken | None = None) -> AsyncIterator[Say]:
    """Yield a function that calls a tool as this user."""

    async def find_caller(context: Any) -> Caller:
        return Caller(user, token)

    async with Client(build_server(find_caller)) as client:

        async def say(tool: str, **arguments: Any) -> dict[str, Any]:
            answer = await client.call_tool(tool, arguments)
            if answer.is_error:
                raise Refused(answer.content[0].text)
            return dict(answer.structured_content)

        say.client = client  # type: ignore[attr-defined]
        yield say


def test_both_protocol_versions_list_the_tools(admin: AbstractUser) -> None:
    async def names(mode: str) -> tuple[str, set[str]]:
        async def find_caller(context: Any) -> Caller:
            return Caller(admin)

        async with Client(build_server(find_caller), mode=mode) as client:
            listed = await client.list_tools()
            return client.protocol_version, {tool.name for tool in listed.tools}

    modern, before = asyncio.run(names("auto")), asyncio.run(names("legacy"))
    assert (modern[0], before[0]) == ("2026-07-28", "2025-11-25")
    assert modern[1] == before[1] >= {"start_research", "wait", "read_report"}


def test_wait_returns_a_working_run_when_the_time_is_over(admin: AbstractUser) -> None:
    async def research() -> dict[str, Any]:
        async with connected(admin) as say:
            run = (await say("start_research", question=QUESTION))["run"]
            return await say("wait", run=run, seconds=0)

    state = asyncio.run(research())
    assert (state["status"], state["ended"], state["next_tool"]) == ("queued", False, "wait")


def test_wait_is_limited(admin: AbstractUser) -> None:
    async def research() -> None:
        async with connected(admin) as say:
            with pytest.raises(Refused, match="45"):
                await say("wait", run="any", seconds=LONGEST_WAIT_SECONDS + 1)

    asyncio.run(research())


def test_the_same_idempotency_key_starts_one_run(admin: AbstractUser) -> None:
    async def research() -> list[str]:
        async with connected(admin) as say:
            asked = {"question": QUESTION, "idempotency_key": "once"}
            return [(await say("start_research", **asked))["run"] for _ in range(2)]

    first, second = asyncio.run(research())
    assert first == second and Run.objects.count() == 1


def test_arguments_are_frozen_in_the_run(admin: AbstractUser) -> None:
    async def research() -> None:
        async with connected(admin) as say:
            asked = {"depth": "quick", "sources": "samples", "max_cost_usd": 1.5}
            await say("start_research", question=QUESTION, approve_first=False, **asked)

    asyncio.run(research())
    run = Run.objects.get()
    assert run.agreed and run.sources["search"] == ["samples"]
    assert (run.config["research_depth"], run.config["max_cost_usd"]) == ("quick", 1.5)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("start_research", {"question": " "}, "The question is empty."),
        ("start_research", {"question": "Why?", "sources": "web"}, "'web' cannot be searched here"),
        ("start_research", {"question": "Why?", "collections": ["Bee"]}, "no collection Bee"),
        ("read_report", {"run": "unknown"}, "There is no run unknown."),
        ("approve", {"run": "{run}"}, "no plan that waits for approval"),
        ("approve", {"run": "{run}", "comment": "x", "sub_questions": ["y"]}, "not both"),
        ("steer", {"run": "{run}", "action": "resume"}, "This run is not paused."),
        ("quote_in_context", {"run": "{run}", "evidence": "E9"}, "no quote 0 of evidence E9"),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_reason(
    admin: AbstractUser, tool: str, arguments: dict[str, Any], reason: str, settings: Any
) -> None:
    settings.NETWORK_PROBE = "none"
    run = make_run(admin)
    named = {
        name: run.public_id if value == "{run}" else value for name, value in arguments.items()
    }

    async def research() -> None:
        async with connected(admin) as say:
            with pytest.raises(Refused) as refused:
                await say(tool, **named)
            assert reason in str(refused.value)

    asyncio.run(research())


def test_runs_of_others_do_not_exist(admin: AbstractUser) -> None:
    run = make_run(admin)
    other = get_user_model()._default_manager.create_user("bob")

    async def research() -> None:
        async with connected(other) as say:
            for tool in ("wait", "read_report", "read_evidence"):
                with pytest.raises(Refused, match="There is no run"):
                    await say(tool, run=run.public_id)
            with pytest.raises(MCPError, match="There is no run"):
                await say.client.read_resource(f"plumbline://runs/{run.public_id}/report")
            assert (await say("list_runs"))["runs"] == []

    asyncio.run(research())


def test_steering_is_stored_as_a_command(admin: AbstractUser) -> None:
    run = make_run(admin, "researching", analyst="a-model")

    async def research() -> None:
        async with connected(admin) as say:
            await say("steer", run=run.public_id, action="instruct", text="Only since 2023")
            await say("steer", run=run.public_id, action="add_topic", topic="Cost")
            await say("steer", run=run.public_id, action="dig_deeper", rounds=3)

    asyncio.run(research())
    told = [(command.kind, command.payload) for command in run.commands.order_by("pk")]
    assert told == [
        ("instruct", {"text": "Only since 2023"}),
        ("add_topic", {"topic": "Cost"}),
        ("dig_deeper", {"rounds": 3}),
    ]


def test_questions_are_answered_or_skipped(admin: AbstractUser) -> None:
    plan = {"questions": ["Which oak?"], "aspects": []}
    asking = [make_run(admin, "awaiting_clarification", plan=plan) for _ in range(2)]

    async def research() -> None:
        async with connected(admin) as say:
            state = await say("wait", run=asking[0].public_id)
            assert (state["next_tool"], state["questions"]) == ("answer", ["Which oak?"])
            await say("answer", run=asking[0].public_id, answers=["Red oak"])
            await say("answer", run=asking[1].public_id, answers=[])

    asyncio.run(research())
    assert [run.commands.get().kind for run in asking] == ["answer", "skip"]


def test_a_quote_is_shown_apart_from_the_text_around_it(admin: AbstractUser) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "Oaks grow old. [1]")

    async def research() -> tuple[dict[str, Any], dict[str, Any]]:
        async with connected(admin) as say:
            asked = {"run": run.public_id, "evidence": "E1"}
            shown = await say("quote_in_context", **asked)
            await asyncio.to_thread(PageText.objects.update, text="Something else.")
            return shown, await say("quote_in_context", **asked)

    shown, changed = asyncio.run(research())
    assert shown["text_before"] + shown["quote"]["quote"] + shown["text_after"] == PAGE
    assert shown["quote"]["quote"] == QUOTE and shown["verbatim"]
    assert not changed["verbatim"]


def test_evidence_comes_in_pages(admin: AbstractUser) -> None:
    run = make_run(admin, "completed")
    for number in (1, 2, 3):
        add_evidence(run, number)

    async def research() -> list[dict[str, Any]]:
        async with connected(admin) as say:
            pages = [await say("read_evidence", run=run.public_id, limit=2)]
            offset = pages[0]["next_offset"]
            return [*pages, await say("read_evidence", run=run.public_id, limit=2, offset=offset)]

    first, second = asyncio.run(research())
    assert [each["id"] for each in first["evidence"] + second["evidence"]] == ["E1", "E2", "E3"]
    assert (first["total"], first["next_offset"], second["next_offset"]) == (3, 2, None)


def test_resources_are_the_report_and_the_whole_run(admin: AbstractUser) -> None:
    run = make_run(admin, "completed")
    add_evidence(run, 1)
    add_report(run, "Oaks grow old. [1]")

    async def research() -> list[Any]:
        async with connected(admin) as say:
            address = f"plumbline://runs/{run.public_id}"
            found = [await say.client.read_resource(f"{address}{end}") for end in ("/report", "")]
            return [each.contents[0] for each in found]

    report, whole = asyncio.run(research())
    assert (report.mime_type, report.text) == ("text/markdown", "Oaks grow old. [1]")
    assert whole.mime_type == "application/json" and run.public_id in whole.text


def test_a_stored_approval_is_waited_for(admin: AbstractUser) -> None:
    run = make_run(admin, "awaiting_approval", plan={"brief": "", "aspects": [{"text": "Age"}]})
    runs.approve_plan(admin, run)

    async def research() -> dict[str, Any]:
        async with connected(admin) as say:
            return await say("wait", run=run.public_id, seconds=0)

    assert asyncio.run(research())["next_tool"] == "wait"


@pytest.mark.requirement("F23")
@pytest.mark.subprocess
def test_documents_are_searched_without_a_run(
    admin: AbstractUser, settings: Any, tmp_path: Path
) -> None:
    settings.STATE_DIR = tmp_path / "state"
    trees = {"Oaks": "An oak lives for 600 years.", "Yews": "A yew lives for 1,000 years."}
    documents = LocalDocuments()
    for name, text in trees.items():
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\n## Age\n\n{text}")
        documents.add([tmp_path / f"{name}.md"], name)
    other = get_user_model()._default_manager.create_user("bob")

    async def search() -> list[dict[str, Any]]:
        async with connected(admin) as say, connected(other) as say_as_other:
            found = [
                await say("search_documents", query="lives years"),
                await say("search_documents", query="lives years", collections=["Yews"]),
                await say("search_documents", query="lives years", limit=1),
                await say("search_documents", query="volcano"),
                await say_as_other("search_documents", query="lives years"),
            ]
            with pytest.raises(Refused, match="no collection Bees"):
                await say("search_documents", query="lives", collections=["Bees"])
            await tool_factory.close_tools()
            return found

    every, yews, first, nothing, strange = asyncio.run(search())
    assert every["collections"] == ["Oaks", "Yews"]
    assert {row["title"] for row in every["passages"]} == {"Oaks", "Yews"}
    [yew] = yews["passages"]
    assert trees["Yews"] in yew["quote"] and yew["url"].endswith("Yews.md")
    assert (yew["title"], yew["section"]) == ("Yews", "Age")
    assert len(first["passages"]) == 1
    assert nothing["passages"] == []
    assert strange == {"collections": [], "passages": []}
    assert not Run.objects.exists()


def test_a_token_limits_the_budget_of_the_runs_that_it_starts(admin: AbstractUser) -> None:
    token, _ = api_tokens.create_token(admin, "Agent", max_cost_usd=0.5)

    async def research() -> None:
        async with connected(admin, token) as say:
            await say("start_research", question=QUESTION, max_cost_usd=3)

    asyncio.run(research())
    assert Run.objects.get().config["max_cost_usd"] == 0.5


def test_a_token_that_may_only_read_changes_nothing(admin: AbstractUser) -> None:
    token, _ = api_tokens.create_token(admin, "Reader", ["read"])
    run = make_run(admin, "researching")

    async def research() -> None:
        async with connected(admin, token) as say:
            assert (await say("wait", run=run.public_id, seconds=0))["status"] == "researching"
            for asked in (
                {"tool": "start_research", "question": QUESTION},
                {"tool": "steer", "run": run.public_id, "action": "stop"},
            ):
                with pytest.raises(Refused, match="lacks the scope 'write'"):
                    await say(**asked)

    asyncio.run(research())
    assert Run.objects.count() == 1 and not run.commands.exists()
