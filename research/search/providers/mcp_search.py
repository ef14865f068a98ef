"""A tool of an MCP server as a search; settings name server, tool and the paths of results.

The server is reached at an address (streamable HTTP) or started by a command (standard input and
output). Each search opens a session of its own, so that a failed one leaves nothing behind. Paths
are written as for `json_search`.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.fetch.network import USER_AGENT
from research.fetch.rate_limit import RateLimiter
from research.search.providers.base import Provider, ProviderSettings, Setting
from research.search.providers.client import RetryPolicy, read_entries
from research.search.providers.entries import Result
from research.search.providers.json_search import Paths, value_at
from research.search.providers.refusals import (
    Named,
    parse_json_body,
    search_refusal,
    unreadable_answer,
)

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

URL = Setting(
    "MCP_SEARCH_URL",
    "Address of an MCP server (streamable HTTP) with a tool that searches.",
    "url",
    label="Address of an MCP server that searches",
)
COMMAND = Setting(
    "MCP_SEARCH_COMMAND",
    "Command that starts such a server on standard input and output; used instead of an address.",
    "text",
)
KEY = Setting("MCP_SEARCH_AUTHORIZATION", "Its Authorization header, if it needs one.", "key")
TOOL = Setting("MCP_SEARCH_TOOL", "Name of its tool; search if not set.", "text", default="search")
ARGUMENT = Setting(
    "MCP_SEARCH_ARGUMENT", "The tool's argument for the query; query if not set.", "text",
    default="query",
)  # fmt: skip
RESULTS = Setting(
    "MCP_SEARCH_RESULTS", "Path of its list of results; results if not set.", "text",
    default="results",
)  # fmt: skip
TITLE = Setting(
    "MCP_SEARCH_TITLE", "Path of a result's title; title if not set.", "text", default="title"
)
LINK = Setting(
    "MCP_SEARCH_LINK", "Path of a result's address; url if not set.", "text", default="url"
)
TEXT = Setting(
    "MCP_SEARCH_TEXT", "Path of a result's text; content if not set.", "text", default="content"
)
NAMED = Named("MCP search", URL.name, KEY.name)

SECONDS_TO_START = 20.0
"""Added to the time limit of a search if a command has to start first."""
NO_COMMAND = f"{COMMAND.name} can't be run as a command."
NOT_STARTED = f"Its server could not be started: check {COMMAND.name}."
TOOL_FAILED = "Its tool answered with an error instead of results."

OpenClient = Callable[[], AbstractAsyncContextManager["Client"]]


@dataclass(frozen=True)
class ToolCall:
    """The tool that searches, and its argument for the query."""

    tool: str = TOOL.default
    argument: str = ARGUMENT.default


class McpSearch:
    """The `Search` tool over a tool of an MCP server; `open_client` yields a connected client."""

    def __init__(
        self, open_client: OpenClient, call: ToolCall, paths: Paths, manners: RetryPolicy
    ) -> None:
        self._open_client = open_client
        self._call = call
        self._paths = paths
        self._manners = manners
        interval = 1 / manners.per_second if manners.per_second else 0.0
        self._pace = RateLimiter(manners.at_once, interval, manners.shared)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the tool's results.

        Raise `SearchFailedError`, after retries where they can help.
        """
        for attempt in range(1, self._manners.tries + 1):
            try:
                result = await self._ask(request.query)
                break
            except SearchFailedError as failure:
                if failure.permanent or attempt == self._manners.tries:
                    raise
            await asyncio.sleep(self._manners.backoff_seconds * 2 ** (attempt - 1))
        results = value_at(_value_of(result), self._paths.results)
        if not isinstance(results, list):
            raise SearchFailedError(
                f"Its answer has no list of results at {RESULTS.name}={self._paths.results}.",
                permanent=True,
            )
        entries = [self._entry(each) for each in results[: request.limit]]
        return read_entries(NAMED, "mcp_search", Result, entries)

    async def _ask(self, query: str) -> CallToolResult:
        try:
            async with (
                self._pace.turn(),
                asyncio.timeout(self._manners.timeout_seconds),
                self._open_client() as client,
            ):
                result = await client.call_tool(self._call.tool, {self._call.argument: query})
        except TimeoutError:
            raise SearchFailedError("It did not answer in time.") from None
        # The SDK raises groups of whatever its transport raises: none may end a run.
        except Exception as error:
            raise _failure_of(error, self._call.tool) from error
        if result.is_error:
            raise SearchFailedError(TOOL_FAILED)
        return result

    def _entry(self, result: Any) -> dict[str, Any]:
        return {
            "url": value_at(result, self._paths.link),
            "title": value_at(result, self._paths.title),
            "snippet": value_at(result, self._paths.text),
        }


def _value_of(result: CallToolResult) -> Any:
    """Return the structured result, else the text as JSON: a list if there are several texts."""
    if result.structured_content is not None:
        return result.structured_content
    texts = [block.text for block in result.content if block.type == "text"]
    values = [parse_json_body(text.encode("utf-8", "replace")) for text in texts]
    if not values or None in values:
        raise unreadable_answer(NAMED)
    return values[0] if len(values) == 1 else values


def _failure_of(error: Exception, tool: str) -> SearchFailedError:
    """Translate what the SDK raised; nothing of the server's text is shown."""
    import httpx2
    from mcp import MCPError

    for each in _leaves(error):
        if isinstance(each, SearchFailedError):
            return each
        if isinstance(each, MCPError):
            return SearchFailedError(f"It refused the call of {TOOL.name}={tool} ({each.code}).")
        if isinstance(each, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
            return SearchFailedError(f"{URL.name} is not the address of a server.", permanent=True)
        if isinstance(each, FileNotFoundError | PermissionError):
            return SearchFailedError(NOT_STARTED, permanent=True)
    return SearchFailedError("It did not answer.")


def _leaves(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in _leaves(each)]
    return [error]


def client_at(url: str, authorization: str) -> OpenClient:
    """Return a function that connects to an address; redirects to another origin are refused."""

    @asynccontextmanager
    async def open_client() -> AsyncIterator[Client]:
        # imported here: the SDK takes a second
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        answered = HTTPStatus.OK.value

        async def note_status(response: httpx2.Response) -> None:
            nonlocal answered
            if response.request.method == "POST":
                answered = response.status_code

        headers = {"User-Agent": USER_AGENT}
        if authorization:
            headers["Authorization"] = authorization
        # a search as a whole has a time limit
        options: Any = {"timeout": None, "event_hooks": {"response": [note_status]}}
        async with httpx2.AsyncClient(headers=headers, **options) as http:
            try:
                async with Client(streamable_http_client(url, http_client=http)) as client:
                    yield client
            except Exception:
                # the SDK's error doesn't name the status
                if answered >= HTTPStatus.BAD_REQUEST:
                    raise search_refusal(NAMED, answered, b"") from None
                raise

    return open_client


def client_of(command: str) -> OpenClient:
    """Return a function that starts a command, with none of this process's settings in its
    environment.
    """

    @asynccontextmanager
    async def open_client() -> AsyncIterator[Client]:
        from mcp import Client, StdioServerParameters
        from mcp.client.stdio import stdio_client

        try:
            program, *arguments = shlex.split(command)
        except ValueError:
            raise SearchFailedError(NO_COMMAND, permanent=True) from None
        server = StdioServerParameters(command=program, args=arguments)
        with open(os.devnull, "w") as unread:
            async with Client(stdio_client(server, errlog=unread)) as client:
                yield client

    return open_client


def _make_search(settings: ProviderSettings, client: httpx.AsyncClient) -> McpSearch:
    paths = Paths(*(settings[each] for each in (RESULTS, TITLE, LINK, TEXT)))
    call = ToolCall(settings[TOOL], settings[ARGUMENT])
    manners = RetryPolicy.of(settings, "mcp_search", 0.0)
    if not settings[COMMAND]:
        at_address = client_at(settings[URL], settings[KEY])
        return McpSearch(at_address, call, paths, manners)
    seconds = manners.timeout_seconds + SECONDS_TO_START
    manners = replace(manners, timeout_seconds=seconds)
    return McpSearch(client_of(settings[COMMAND]), call, paths, manners)


PROVIDER = Provider(
    label=NAMED.label,
    needs=URL,
    instead=COMMAND,
    options=(COMMAND, KEY, TOOL, ARGUMENT, RESULTS, TITLE, LINK, TEXT),
    make=_make_search,
)
