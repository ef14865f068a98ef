"""Whole runs with approval over each transport, with the official client and real processes."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx
import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitResult

from tests.support.installation import ROOT, Installation

pytestmark = pytest.mark.subprocess
pytest_plugins = ["tests.support.fixtures"]

QUESTION = "How to make scrambled eggs?"
MOST_WAITS = 20


async def approve_by_form(context: Any, params: Any) -> ElicitResult:
    assert QUESTION in params.message
    return ElicitResult(action="accept", content={"approve": True})


async def research(client: Client, *, approves: bool = True) -> dict[str, Any]:
    """Take a question through approval to its end; return what was seen on the way.

    The plan is approved by a tool, else by the form that the client shows within `wait`.
    """
    heard: list[str] = []

    async def hear(step: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async def say(tool: str, **arguments: Any) -> dict[str, Any]:
        answer = await client.call_tool(tool, arguments, progress_callback=hear)
        assert not answer.is_error, answer.content
        return dict(answer.structured_content or {})

    async def wait(status: str, **arguments: Any) -> dict[str, Any]:
        """Call `wait` as often as a client must: each call ends after some time, done or not."""
        for _ in range(MOST_WAITS):
            state = await say("wait", run=run, **arguments)
            if state["ended"] or state["status"] == status:
                return state
        raise AssertionError(f"The run never was {status}.")

    run = (await say("start_research", question=QUESTION, sources="samples"))["run"]
    planned = await wait("awaiting_approval", ask_user=False)
    if approves:
        await say("approve", run=run)
    ended = await wait("completed")
    report = await say("read_report", run=run)
    cited = report["citations"][0]["evidence"][0]
    quote = await say("quote_in_context", run=run, evidence=cited)
    resource = await client.read_resource(f"plumbline://runs/{run}/report")
    return {
        "planned": planned,
        "ended": ended,
        "report": report,
        "quote": quote,
        "resource": resource.contents[0].text,  # type: ignore[union-attr]
        "heard": heard,
    }


def check(seen: dict[str, Any]) -> None:
    assert seen["planned"]["next_tool"] == "approve"
    assert seen["planned"]["plan"]["sub_questions"] == [QUESTION]
    assert (seen["ended"]["status"], seen["ended"]["next_tool"]) == ("completed", "read_report")
    assert seen["report"]["markdown"].startswith(f"# {QUESTION}")
    assert seen["report"]["markdown"] == seen["resource"]
    assert seen["quote"]["verbatim"] and seen["quote"]["text_after"]
    assert any(message.startswith("round 1 of up to 2") for message in seen["heard"])


@pytest.mark.requirement("F21")
def test_a_whole_run_over_standard_input_and_output(bare_installation: Installation) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp"],
        env=bare_installation.environment,
        cwd=str(ROOT),
    )

    async def run() -> dict[str, Any]:
        async with Client(server) as client:
            check(await research(client))
        async with Client(server, elicitation_callback=approve_by_form) as client:
            check(await research(client, approves=False))
        async with Client(server, mode="legacy", elicitation_callback=approve_by_form) as client:
            return await research(client, approves=False)

    check(asyncio.run(run()))


MAKE_TOKEN = """
from research.services import api_tokens, people
print(api_tokens.create_token(people.local_admin(), "Agent")[1])
"""


@contextmanager
def serving(installation: Installation) -> Iterator[tuple[str, str]]:
    """Yield the address of `/mcp` on a running server, and a token."""
    token = installation.manage("shell", "--no-imports", "-c", MAKE_TOKEN).stdout.strip()
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    process = installation.start("serve", "--port", str(port), stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None and process.stdout.readline()
        yield f"http://127.0.0.1:{port}/mcp", token
    finally:
        process.kill()
        process.communicate(timeout=10)


@asynccontextmanager
async def connected(address: str, token: str, mode: str, ask: Any = None) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(address, http_client=http), mode=mode, elicitation_callback=ask
        ) as client,
    ):
        yield client


@pytest.mark.requirement("F21")
def test_a_whole_run_over_http_and_its_report_in_the_next_protocol_version(
    bare_installation: Installation,
) -> None:
    async def run(address: str, token: str) -> tuple[dict[str, Any], dict[str, Any]]:
        async with connected(address, token, "legacy") as client:
            assert client.protocol_version == "2025-11-25"
            seen = await research(client)
        async with connected(address, token, "auto") as client:
            assert client.protocol_version == "2026-07-28"
            answer = await client.call_tool("read_report", {"run": seen["ended"]["run"]})
        async with connected(address, token, "auto", approve_by_form) as client:
            check(await research(client, approves=False))
        return seen, dict(answer.structured_content or {})

    with serving(bare_installation) as (address, token):
        seen, again = asyncio.run(run(address, token))
        assert httpx.post(address, json={}).status_code == 401
    check(seen)
    assert again == seen["report"]
