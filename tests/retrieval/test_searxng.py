import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from email.utils import formatdate
from time import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from research.engine.tools import SearchFailure, SearchRequest
from research.retrieval.providers import ProviderSettings, configured, open_search
from research.retrieval.providers.searxng import Patience, SearxngSearch

QUICK = Patience(timeout_seconds=0.3, backoff_seconds=0.01, longest_wait_seconds=2)

ANSWER = {
    "query": "vacuum",
    "number_of_results": 0,
    "results": [
        {
            "url": "https://docs.example/vacuum",
            "title": "Vacuum",
            "content": "How to vacuum.",
            "publishedDate": "2024-05-06T00:00:00",
            "engine": "duckduckgo",
            "engines": ["duckduckgo", "brave"],
            "score": 4.0,
            "category": "general",
        },
        {"title": "A result without an address"},
        {"url": "https://b.example/", "title": "B", "content": None, "publishedDate": None},
        {"url": "https://c.example/", "title": "C", "publishedDate": "last week"},
    ],
    "answers": [],
    "corrections": [],
    "infoboxes": [],
    "suggestions": [],
    "unresponsive_engines": [["google", "access denied: 10.0.0.7"], ["bing", "timeout"]],
}


class Server:
    """Answers request after request from a script; the last line of it repeats."""

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str], str]] = []
        self.paths: list[str] = []
        self.hang = False
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self, status: int, body: object = "", **headers: str) -> None:
        text = body if isinstance(body, str) else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.script.append((status, named, text))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.paths.append(head.split(" ")[1])
        if self.hang:
            await reader.read()
        else:
            status, headers, body = self.script[min(len(self.paths), len(self.script)) - 1]
            lines = [f"HTTP/1.1 {status} X", "Connection: close", f"Content-Length: {len(body)}"]
            lines += [f"{name}: {value}" for name, value in headers.items()]
            writer.write(("\r\n".join(lines) + "\r\n\r\n" + body).encode())
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[None]:
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    async with serving(server):
        yield server


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
def ask(server: Server, client: httpx.AsyncClient) -> Callable[..., object]:
    def ask(query: str = "vacuum", **more: object) -> object:
        request = SearchRequest(query, **more)  # type: ignore[arg-type]
        return SearxngSearch(server.url, client, QUICK).search(request)

    return ask


async def reason(search: object) -> SearchFailure:
    with pytest.raises(SearchFailure) as failure:
        await search  # type: ignore[misc]
    return failure.value


async def test_reads_the_documented_answer(server: Server, ask):
    server.answers(200, ANSWER)
    answer = await ask("vacuum & more", language="de")
    first, second, third = answer.hits
    assert (first.url, first.title, first.snippet) == (
        "https://docs.example/vacuum",
        "Vacuum",
        "How to vacuum.",
    )
    assert (first.published, first.provider, first.rank) == ("2024-05-06", "searxng", 1)
    assert (second.snippet, second.published, second.rank) == ("", None, 2)
    assert third.published is None
    asked = urlsplit(server.paths[0])
    assert asked.path == "/search"
    assert parse_qs(asked.query) == {
        "q": ["vacuum & more"],
        "format": ["json"],
        "language": ["de"],
    }


async def test_names_silent_engines_without_their_messages(server: Server, ask):
    server.answers(200, ANSWER)
    answer = await ask()
    assert answer.notes == ("Engines of the search server that did not answer: bing, google.",)


async def test_keeps_to_the_limit(server: Server, ask):
    server.answers(200, ANSWER)
    assert len((await ask(limit=1)).hits) == 1


async def test_waits_as_long_as_a_limit_asks(server: Server, ask):
    server.answers(429, "slow down", Retry_After="1")
    server.answers(200, ANSWER)
    started = asyncio.get_running_loop().time()
    assert (await ask()).hits
    assert asyncio.get_running_loop().time() - started >= 1


async def test_understands_a_retry_date(server: Server, ask):
    server.answers(503, "", Retry_After=formatdate(time() - 5, usegmt=True))
    server.answers(200, ANSWER)
    assert (await ask()).hits


async def test_gives_up_at_once_when_the_wait_is_long(server: Server, ask):
    server.answers(429, "slow down", Retry_After="3600")
    failure = await reason(ask())
    assert "429" in failure.reason and not failure.permanent
    assert len(server.paths) == 1


async def test_gives_up_after_three_faults(server: Server, ask):
    server.answers(500, "Traceback: secret")
    failure = await reason(ask())
    assert failure.reason == "The search server answered 500: it has a fault of its own."
    assert len(server.paths) == 3


async def test_says_that_json_may_be_switched_off(server: Server, ask):
    server.answers(403, "<h1>Forbidden</h1>")
    failure = await reason(ask())
    assert "settings.yml: search.formats" in failure.reason and failure.permanent
    assert len(server.paths) == 1


@pytest.mark.parametrize(
    "body",
    ["<html><body>Hello</body></html>", "[]", "{}", '{"results": 3}', '{"results": [{"a": 1}]}'],
)
async def test_tells_another_server_from_searxng(server: Server, ask, body: str):
    server.answers(200, body)
    failure = await reason(ask())
    assert failure.reason == "The server at SEARXNG_URL is not a SearXNG server."


@pytest.mark.parametrize("status", [301, 404])
async def test_doubts_the_address(server: Server, ask, status: int):
    server.answers(status, "", Location="http://127.0.0.1:1/")
    failure = await reason(ask())
    assert failure.reason == (
        f"The search server answered {status}: SEARXNG_URL may not be its address."
    )


async def test_does_not_wait_for_a_server_that_hangs(server: Server, ask):
    server.hang = True
    failure = await reason(ask())
    assert failure.reason == "The search server did not answer in time."
    assert len(server.paths) == 3


async def test_says_that_nobody_answers(client: httpx.AsyncClient):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
        failure = await reason(SearxngSearch(url, client, QUICK).search(SearchRequest("x")))
    assert failure.reason == "The search server did not answer."
    assert "127" not in failure.reason


@pytest.mark.parametrize("url", ["not an address", "ftp://example.org", ""])
async def test_says_that_the_address_is_none(client: httpx.AsyncClient, url: str):
    failure = await reason(SearxngSearch(url, client, QUICK).search(SearchRequest("x")))
    assert failure.reason == "SEARXNG_URL is not the address of a server."


async def test_no_results_is_an_answer(server: Server, ask):
    server.answers(200, {"results": []})
    assert (await ask()).hits == ()


async def test_is_opened_by_name(server: Server, client: httpx.AsyncClient):
    settings = ProviderSettings(searxng_url=server.url)
    assert configured(settings) == ["searxng"]
    server.answers(200, ANSWER)
    answer = await open_search(["searxng"], settings, client).search(SearchRequest("x"))
    assert len(answer.hits) == 3


def test_a_provider_that_is_unknown_or_not_configured_is_refused():
    assert configured(ProviderSettings()) == []
    for name, words in (("altavista", "known are: searxng"), ("searxng", "needs SEARXNG_URL")):
        with pytest.raises(SearchFailure, match=words):
            open_search([name], ProviderSettings(), httpx.AsyncClient())
