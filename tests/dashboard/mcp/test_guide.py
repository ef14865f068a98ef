"""The guide of the MCP server says what the server does."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from mcp import Client

from dashboard.api.auth import Caller
from dashboard.mcp.server import build_server
from dashboard.mcp.tools import LONGEST_WAIT_SECONDS
from research.services import api_tokens
from tests.dashboard.mcp.test_http import post
from tests.support.installation import ROOT

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


@pytest.mark.django_db(transaction=True)
def test_the_curl_command_lists_the_tools(admin: AbstractUser) -> None:
    [command] = [text for language, text in BLOCK.findall(GUIDE) if language == "sh"]
    words = shlex.split(command.replace("TOKEN", api_tokens.create_token(admin, "curl")[1]))
    given = [words[at + 1] for at, word in enumerate(words) if word == "-H"]
    headers = dict(each.split(": ", 1) for each in given)
    answer = post(body=json.loads(words[words.index("-d") + 1]), **headers)
    assert answer.status_code == 200 and "start_research" in answer.text
