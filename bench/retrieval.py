"""Measures web retrieval: relevance of pages, and the fan-out of parallel fetches.

    .venv/bin/python -m bench.retrieval relevance FILE.jsonl [FILE.jsonl …]
    .venv/bin/python -m bench.retrieval fan-out

`make bench SUITE=retrieval DATA="FILE.jsonl …"` writes both into `docs/benchmarks.md`.

Relevance reads question sets in the format of `manage.py evaluate`: each question, or each of its
sub-questions if given, is compared with the page that answers it and with pages of other questions.
The fan-out is one search and its pages, each on a different host.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx

from research.engine import SearchRequest
from research.engine.text.relevance import RELEVANT, page_relevance
from research.extract.pool import TextPool
from research.fetch.fetch import FetchSettings, SafeFetch
from research.search.providers import ProviderSettings, open_search

PAGES = 20
DELAY_SECONDS = 0.3
OTHERS = 5
WORDS = ("harbour", "lantern", "granite", "keeper", "signal", "winter", "barge", "register")


# --- relevance ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """A text that one page answers."""

    text: str
    title: str
    answer: str
    question: str


@dataclass(frozen=True)
class Parted:
    """Shares of answering pages at or above the threshold, and of other pages below it."""

    source: str
    pairs: int
    answering: float
    others: float


def measure_relevance(files: Sequence[Path]) -> list[Parted]:
    """Return one result for each source of questions."""
    cases = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    pages = [
        (page["title"], " ".join(page["sentences"]), case["id"])
        for case in cases
        for page in case["pages"]
    ]
    chance = random.Random(1)
    parted = []
    for source in sorted({case["src"] for case in cases}):
        wanted = [each for case in cases if case["src"] == source for each in wanted_of(case)]
        gold = [page_relevance(each.text, each.title, each.answer) for each in wanted]
        strange = [
            page_relevance(each.text, title, text)
            for each in wanted
            for title, text, question in chance.sample(pages, OTHERS)
            if question != each.question
        ]
        at_least = sum(value >= RELEVANT for value in gold) / len(gold)
        below = sum(value < RELEVANT for value in strange) / len(strange)
        parted.append(Parted(source, len(gold), at_least, below))
    return parted


def wanted_of(case: dict[str, Any]) -> Iterator[Wanted]:
    """Yield the question for each page that answers it, or each sub-question with its page."""
    bodies = {
        gold["title"]: gold.get("paragraph") or " ".join(gold["sentences"]) for gold in case["gold"]
    }
    texts = {page["title"]: " ".join(page["sentences"]) for page in case["pages"]}
    parts = case.get("decomposition")
    if not parts:
        for title, body in bodies.items():
            yield Wanted(case["question"], title, texts.get(title, body), case["id"])
        return
    for part in parts:
        text = part["q"]
        for number, earlier in enumerate(parts, start=1):
            text = text.replace(f"#{number}", earlier["a"])
        if part["title"] in bodies:
            yield Wanted(text, part["title"], bodies[part["title"]], case["id"])


# --- pages side by side ---------------------------------------------------------------------


async def measure_fan_out(repeats: int) -> list[float]:
    """Return the ratio of the wall time for a search and all pages to that for one page.

    Servers run in a separate process. Both times are measured in each repetition, so that other
    load affects both.
    """
    ours, theirs = multiprocessing.Pipe()
    servers = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,))
    servers.start()
    try:
        places = ours.recv()
        with TextPool() as pool:
            await wall(places, pool, PAGES)
            return [
                await wall(places, pool, PAGES)
                / statistics.median([await wall(places, pool, 1) for _ in range(3)])
                for _ in range(repeats)
            ]
    finally:
        servers.kill()


async def wall(places: list[str], pool: TextPool, pages: int) -> float:
    """Return the seconds for one search and the given number of pages, on new connections."""
    search_at, hosts = places[0], places[1:]
    settings = ProviderSettings({"SEARXNG_URL": f"http://{search_at}"})
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        SafeFetch(FetchSettings(frozenset(hosts)), pool) as web,
    ):
        search = open_search(["searxng"], settings, client)
        began = asyncio.get_running_loop().time()
        answer = await search.search(SearchRequest("harbour lantern", limit=pages))
        read = await asyncio.gather(*(web.fetch(hit.url) for hit in answer.hits))
        seconds = asyncio.get_running_loop().time() - began
    assert len(read) == pages and all(page.text for page in read)
    return seconds


def serve(channel: Connection) -> None:
    asyncio.run(_serve(channel))


async def _serve(channel: Connection) -> None:
    """Start the search server, then one server per host; every response is delayed."""
    addresses = ["127.0.0.1", *(f"127.0.1.{number}" for number in range(1, PAGES + 1))]
    places: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                await asyncio.sleep(DELAY_SECONDS)
                writer.write(_reply(head.split(b" ")[1].decode(), places))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    _page()
    for address in addresses:
        server = await asyncio.start_server(answer, address, 0)
        places.append(f"{address}:{server.sockets[0].getsockname()[1]}")
    channel.send(places)
    await asyncio.Event().wait()


def _reply(target: str, places: list[str]) -> bytes:
    status, kind, body = "200 OK", "text/html; charset=utf-8", _page()
    if target == "/robots.txt":
        status, kind, body = "404 Not Found", "text/plain", ""
    elif target.startswith("/search"):
        results = [
            {"url": f"http://{place}/page", "title": f"Harbour lantern {number}"}
            for number, place in enumerate(places[1:])
        ]
        kind, body = "application/json", json.dumps({"results": results})
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


@cache
def _page() -> str:
    """Return a page, built before the first request: building it would delay all servers."""
    chance = random.Random(2)
    paragraphs = (
        " ".join(chance.choice(WORDS) for _ in range(12)).capitalize() + "." for _ in range(200)
    )
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return f"<html><title>Harbour</title><body><main><h1>Harbour</h1>{body}</main></body></html>"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    what = parser.add_subparsers(dest="what", required=True)
    what.add_parser("relevance").add_argument("files", type=Path, nargs="+")
    what.add_parser("fan-out").add_argument("--repeats", type=int, default=5)
    told = parser.parse_args()
    if told.what == "relevance":
        for each in measure_relevance(told.files):
            print(f"{each.source}: {each.answering:.1%} of {each.pairs} pages that answer at"
                  f" {RELEVANT} or more, {each.others:.1%} of others below")  # fmt: skip
    else:
        ratios = asyncio.run(measure_fan_out(told.repeats))
        print(f"wall ÷ the slowest chain: {statistics.median(ratios):.3f}"
              f" ({min(ratios):.3f} to {max(ratios):.3f})")  # fmt: skip


if __name__ == "__main__":
    main()
