"""What `/mcp` refuses before a tool is called."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx
import httpx2
import pytest
from django.contrib.auth.models import AbstractUser
from django.test import Client as Browser
from django.utils import timezone
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from config.asgi import application
from dashboard.api import rate_limits
from dashboard.mcp.http import METADATA_PATH, McpEndpoint
from research.models import ApiToken
from research.services import api_tokens

pytestmark = pytest.mark.django_db(transaction=True)

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def post(
    token: str = "", *, body: object = LIST, starts: bool = True, **headers: str
) -> httpx.Response:
    """Return the answer of an endpoint that is started, unless told otherwise."""
    sent = {**ACCEPT, **headers}
    if token:
        sent["Authorization"] = f"Bearer {token}"

    async def ask() -> httpx.Response:
        endpoint = McpEndpoint()
        if starts:
            await endpoint.start()
        try:
            transport = httpx.ASGITransport(app=endpoint)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                return await http.post("/mcp", json=body, headers=sent)
        finally:
            await endpoint.stop()

    return asyncio.run(ask())


@pytest.fixture
def token(admin: AbstractUser) -> str:
    return api_tokens.create_token(admin, "Agent")[1]


def test_a_token_lists_the_tools(token: str) -> None:
    answer = post(token)
    assert answer.status_code == 200 and "start_research" in answer.text


@pytest.mark.parametrize("given", ["", "plumbline_unknown"])
def test_without_a_valid_token_it_asks_for_one(db: None, given: str) -> None:
    answer = post(given)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/json"
    assert "valid token" in answer.json()["error"]["message"]


def test_an_expired_token_is_refused(token: str) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert post(token).status_code == 401


def test_requests_count_with_those_of_the_api(
    token: str, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2
    for function in (rate_limits.count, rate_limits.count_request):
        monkeypatch.setattr(function, "__defaults__", (lambda: 45.0,))
    api = Browser(headers={"Authorization": f"Bearer {token}"})
    first = post(token)
    assert first.status_code == 200
    assert (first.headers["ratelimit-limit"], first.headers["ratelimit-remaining"]) == ("2", "1")
    assert api.get("/api/v1/me").headers["RateLimit-Remaining"] == "0"
    refused = post(token)
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == refused.headers["ratelimit-reset"] == "15"
    assert refused.json()["error"]["message"] == "Too many requests; try again in 15 seconds."


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_client_is_told_why_it_was_refused(token: str, settings: Any, mode: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2

    async def call_often() -> None:
        endpoint = McpEndpoint()
        await endpoint.start()
        headers = {"Authorization": f"Bearer {token}"}
        transport = httpx2.ASGITransport(app=endpoint)
        try:
            async with (
                httpx2.AsyncClient(transport=transport, headers=headers) as http,
                Client(
                    streamable_http_client("http://localhost/mcp", http_client=http), mode=mode
                ) as agent,
            ):
                with pytest.raises(MCPError, match="Too many requests; try again in"):
                    for _ in range(3):
                        await agent.call_tool("list_runs", {})
        finally:
            await endpoint.stop()

    asyncio.run(call_often())


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost"}, 200),
        ({"host": "evil.example"}, 421),
    ],
)
def test_origin_and_host_are_checked(token: str, headers: dict[str, str], status: int) -> None:
    assert post(token, **headers).status_code == status


def test_it_says_so_until_it_is_started(token: str) -> None:
    assert post(token, starts=False).status_code == 503


def read_metadata(host: str = "localhost:8000") -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app=application)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{host}") as http:
            return await http.get(METADATA_PATH)

    return asyncio.run(ask())


def test_the_challenge_names_metadata_of_the_resource(db: None) -> None:
    told = post(host="localhost:8000").headers["www-authenticate"]
    address = "http://localhost:8000/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{address}"' in told and address.endswith(METADATA_PATH)


def test_the_metadata_name_no_authorization_server() -> None:
    answer = read_metadata()
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "resource": "http://localhost:8000/mcp",
        "resource_name": "Plumbline",
        "resource_documentation": "http://localhost:8000/tokens/",
        "bearer_methods_supported": ["header"],
        "scopes_supported": ["read", "write"],
    }


def test_behind_a_proxy_the_resource_is_at_its_https_address(settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["plumb.example"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://plumb.example"]
    assert read_metadata("plumb.example").json()["resource"] == "https://plumb.example/mcp"
    assert read_metadata("evil.example").status_code == 421
