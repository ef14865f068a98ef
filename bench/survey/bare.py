"""The bare loop (`bench/bare_loop.py`) on a survey question, and the pace of both it and a run.

Both call the same oracle, search the same pages and wait as long for each answer, so that their
time and tokens can be compared at the same coverage.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import httpx

from bench.bare_loop import Bare
from bench.survey.oracle import SurveyOracle
from bench.survey.web import SurveyWeb, html_of
from bench.world.model import FIRST_TOKEN_SECONDS, TOKEN_SECONDS, count_tokens
from bench.world.search import SEARCH_SECONDS
from bench.world.web import PAGE_SECONDS
from research.engine import ModelAnswer, ModelRequest, Page, SearchAnswer, SearchRequest

MODEL, SEARCH = "http://model.invalid", "http://search.invalid"
RESULTS = 10


@dataclass(frozen=True)
class Paced:
    """Model, search and pages that take as long as those of the simulated world."""

    model: SurveyOracle
    web: SurveyWeb

    @property
    def name(self) -> str:
        return self.model.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        answer = await self.model.complete(request)
        await asyncio.sleep(seconds_for(count_tokens(answer.text)))
        return answer

    async def search(self, request: SearchRequest) -> SearchAnswer:
        await asyncio.sleep(SEARCH_SECONDS)
        return await self.web.search(request)

    async def fetch(self, url: str) -> Page:
        await asyncio.sleep(PAGE_SECONDS)
        return await self.web.fetch(url)


def seconds_for(tokens: int) -> float:
    return FIRST_TOKEN_SECONDS + TOKEN_SECONDS * tokens


@dataclass(frozen=True)
class Stage:
    """The bare loop if it wrote its report after a round: what it had found, and what it took."""

    findings: list[str]
    seconds: float
    tokens: int


@dataclass
class BareServer:
    """The servers that the bare loop calls, with a note of each of its rounds."""

    question: Mapping[str, Any]
    model: SurveyOracle
    web: SurveyWeb
    rows: Mapping[str, Mapping[str, Any]]
    tokens: int = 0
    stages: list[Stage] = field(default_factory=list)

    async def answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return httpx.Response(200, json=await self._complete(json.loads(request.content)))
        url = str(request.url)
        if urlsplit(url).hostname == urlsplit(SEARCH).hostname:
            await asyncio.sleep(SEARCH_SECONDS)
            urls = self.web.urls_for(request.url.params["q"], RESULTS)
            return httpx.Response(200, json={"results": [{"url": found} for found in urls]})
        await asyncio.sleep(PAGE_SECONDS)
        return httpx.Response(200, html=html_of(self.rows[url]))

    async def _complete(self, body: Mapping[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        told = self.model.bare(body["response_format"]["json_schema"]["name"], prompt)
        text = json.dumps(told)
        said = count_tokens(text)
        await asyncio.sleep(seconds_for(said))
        used = count_tokens(prompt) + said
        self.tokens += used
        if "findings" in told:
            self._note(told["findings"])
        message = {"message": {"content": text}}
        return {"choices": [message], "usage": {"total_tokens": used}}

    def _note(self, findings: list[str]) -> None:
        report = count_tokens(" ".join(findings))
        seconds = asyncio.get_running_loop().time() + seconds_for(report)
        asked = count_tokens(self.question["question"])
        self.stages.append(Stage(findings, seconds, self.tokens + asked + 2 * report))


async def bare_stages(
    question: Mapping[str, Any], model: SurveyOracle, pages: Sequence[Mapping[str, Any]]
) -> list[Stage]:
    """Return findings and cost of the bare loop after each round; needs its own event loop."""
    server = BareServer(question, model, SurveyWeb(pages), {row["url"]: row for row in pages})
    transport = httpx.MockTransport(server.answer)
    async with httpx.AsyncClient(transport=transport, timeout=None) as client:
        await Bare(client, MODEL, SEARCH).research(question["question"])
    return server.stages
