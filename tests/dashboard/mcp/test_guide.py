"""The guide of the MCP server says what the server does."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from mcp import Client

from dashboard.api.auth import Caller
from dashboard.mcp.server import LONGEST_WAIT_SECONDS, build_server
from tests.dashboard.mcp.test_transports import serving
from tests.support.installation import ROOT, Installation

pytest_plugins = ["tests.support.fixtures"]

GUIDE = (ROOT / "docs" / "mcp.md").read_text()
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.django_db
def test_every_tool_and_resource_is_in_the_guide(admin: AbstractUser) -> None:
    async def find_caller(context: Any) -> Caller:
        return Caller(admin)

    async def listed() -> tuple[set[str], set[str]]:
        async with Client(build_server(find_caller)) as client:
            tools = (await client.list_tools()).tools
            templates = (await client.list_resource_templates()).resource_templates
            return {tool.name for tool in tools}, {each.uri_template for each in templates}

    tools, templates = asyncio.run(listed())
    assert set(ROW.findall(GUIDE)) == tools
    assert all(each.replace("{run}", "RUN") in GUIDE for each in templates)
    assert f"at most {LONGEST_WAIT_SECONDS} seconds" in GUIDE


def test_the_configurations_are_json() -> None:
    found = [json.loads(text) for language, text in BLOCK.findall(GUIDE) if language == "json"]
    servers = [each["mcpServers"]["plumbline"] for each in found]
    assert servers[0] == {"command": "plumbline", "args": ["mcp"]}
    assert servers[1]["url"].endswith("/mcp")


@pytest.mark.subprocess
def test_the_curl_command_lists_the_tools(bare_installation: Installation) -> None:
    [command] = [text for language, text in BLOCK.findall(GUIDE) if language == "sh"]
    with serving(bare_installation) as (address, token):
        there = command.replace("http://127.0.0.1:8000/mcp", address)
        listed = run_shell(there.replace("TOKEN", token))
        refused = run_shell(f"{there.rstrip()} -w '%{{http_code}}'")
    [event] = re.findall(r"^(?:data: )?({.*})$", listed, re.MULTILINE)
    tools = {tool["name"] for tool in json.loads(event)["result"]["tools"]}
    assert tools == set(ROW.findall(GUIDE))
    assert refused.endswith("401")


def run_shell(command: str) -> str:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
