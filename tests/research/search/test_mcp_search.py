"""A tool of an MCP server as a search, over both transports with a real server."""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from research.engine.ports import SearchAnswer, SearchFailedError, SearchRequest
from research.search.fallback import FallbackSearch
from research.search.providers import ProviderSettings, configured_providers, open_provider
from research.search.providers.client import RetryPolicy
from research.search.providers.json_search import Paths
from research.search.providers.mcp_search import McpSearch, ToolCall, client_at, client_of
from tests.browser.serving import free_port
from tests.support.installation import ROOT
from tests.support.retrieval.mcp_server import Served, serving

REQUEST = SearchRequest("oak & age", limit=10)
PATIENT = RetryPolicy(timeout_seconds=20, tries=1)
QUICK = RetryPolicy(timeout_seconds=0.5, backoff_seconds=0.01, tries=2)
COMMAND = shlex.join(
    ["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.support.retrieval.mcp_server"]
)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving() as served:
        yield served


def search(
    url: str,
    tool: str = "search",
    *,
    argument: str = "query",
    paths: Paths | None = None,
    authorization: str = "",
    manners: RetryPolicy = PATIENT,
) -> SearchAnswer:
    tool_search = McpSearch(
        client_at(url, authorization), ToolCall(tool, argument), paths or Paths(), manners
    )
    return asyncio.run(tool_search.search(REQUEST))


def test_results_are_read_and_unreadable_ones_are_counted(served: Served) -> None:
    answer = search(served.url)
    [hit] = answer.hits
    assert (hit.url, hit.title) == ("https://trees.example/oak", "Oaks: oak & age")
    assert (hit.provider, hit.rank) == ("mcp_search", 1)
    assert answer.notes == ("MCP search: 1 of its 2 results could not be read and was left out.",)


def test_the_argument_and_the_paths_are_configurable(served: Served) -> None:
    answer = search(served.url, "listed", argument="words", paths=Paths(results="result"))
    assert [hit.url for hit in answer.hits] == [
        "https://trees.example/oak",
        "http://127.0.0.1:1/private",
    ]


def test_texts_that_are_json_are_results_as_well(served: Served) -> None:
    paths = Paths(".", "head.name", "at.0", "text")
    answer = search(served.url, "texts", paths=paths)
    assert [(hit.url, hit.title) for hit in answer.hits] == [("https://a.example/", "Yew")] * 2


def test_an_empty_list_is_an_answer(served: Served) -> None:
    assert search(served.url, "nothing") == SearchAnswer(())


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("prose", "could not be read"),
        ("listed", "no list of results|answered with an error"),
        ("fails", "answered with an error instead of results"),
        ("missing", "refused the call of MCP_SEARCH_TOOL=missing|answered with an error"),
    ],
)
def test_an_unusable_answer_is_a_failure_without_the_servers_words(
    served: Served, tool: str, reason: str
) -> None:
    with pytest.raises(SearchFailedError, match=reason) as failure:
        search(served.url, tool)
    assert "sesame" not in failure.value.reason


def test_a_tool_that_hangs_times_out(served: Served) -> None:
    with pytest.raises(SearchFailedError, match="did not answer in time"):
        search(served.url, "hangs", manners=replace(QUICK, tries=1, timeout_seconds=2))


def test_a_closed_port_is_tried_again_and_named() -> None:
    with pytest.raises(SearchFailedError, match="did not answer"):
        search(f"http://127.0.0.1:{free_port()}/mcp", manners=QUICK)


@pytest.mark.parametrize(
    ("status", "reason", "permanent"),
    [(401, "check MCP_SEARCH_AUTHORIZATION", True), (404, "404", True), (503, "503", False)],
)
def test_a_refused_request_is_named_by_its_status(
    served: Served, status: int, reason: str, permanent: bool
) -> None:
    served.refuses = status
    try:
        with pytest.raises(SearchFailedError, match=reason) as failure:
            search(served.url)
    finally:
        served.refuses = 0
    assert failure.value.permanent is permanent and "sesame" not in failure.value.reason


def test_the_authorization_is_sent_to_the_server(served: Served) -> None:
    served.authorized.clear()
    search(served.url, authorization="Bearer sesame")
    assert set(served.authorized) == {"Bearer sesame"}


def test_a_failure_is_shown_and_the_next_search_answers(served: Served) -> None:
    names = ProviderSettings({"MCP_SEARCH_URL": served.url, "MCP_SEARCH_TOOL": "fails"})
    well = ProviderSettings({"MCP_SEARCH_URL": served.url})

    async def ask() -> SearchAnswer:
        async with httpx.AsyncClient() as client:
            broken, working = (open_provider("mcp_search", each, client) for each in (names, well))
            chain = FallbackSearch([broken, replace(working, name="Library")])
            return await chain.search(REQUEST)

    answer = asyncio.run(ask())
    assert answer.hits
    assert answer.notes[0].startswith("MCP search: Its tool answered with an error")
    assert answer.notes[0].endswith("Answered instead: Library.")


@pytest.mark.subprocess
def test_a_command_is_started_without_this_process_environment(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    settings = ProviderSettings({"MCP_SEARCH_COMMAND": COMMAND, "MCP_SEARCH_TOOL": "environment"})
    assert configured_providers(settings) == ["mcp_search"]

    async def ask() -> SearchAnswer:
        async with httpx.AsyncClient() as client:
            return await open_provider("mcp_search", settings, client).search.search(
                replace(REQUEST, limit=100)
            )

    titles = {hit.title for hit in asyncio.run(ask()).hits}
    assert "PATH" in titles and "OPENAI_API_KEY" not in titles
    assert "a line for standard error" not in "".join(capfd.readouterr())


@pytest.mark.subprocess
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("/no/such/program", "could not be started"),
        ("'unclosed", "can't be run"),
        ("true", "did not answer|refused"),
    ],
)
def test_a_command_that_starts_no_server_is_a_failure(command: str, reason: str) -> None:
    broken = McpSearch(client_of(command), ToolCall(), Paths(), PATIENT)
    with pytest.raises(SearchFailedError, match=reason):
        asyncio.run(broken.search(REQUEST))


def test_neither_address_nor_command_is_no_configuration() -> None:
    assert "mcp_search" not in configured_providers(ProviderSettings({"MCP_SEARCH_TOOL": "find"}))
