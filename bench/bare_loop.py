"""A minimal baseline without any checks: plan → search and fetch → read all → report.

    python -m bench.bare_loop "QUESTION"   (with the environment of `RunningWorld.environment`)

Nothing is verified or stored, and each reading prompt has all pages so far. The prompts have the
product's section labels, so that the oracle can answer them.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from dataclasses import dataclass
from typing import Any

import httpx
import trafilatura

ROUNDS, PAGES_A_QUERY, PAGE_CHARACTERS = 6, 3, 8000


@dataclass
class Bare:
    """The result of the bare loop, and what it used."""

    client: httpx.AsyncClient
    model_url: str
    search_url: str
    model: str = "oracle"
    calls: int = 0
    tokens: int = 0
    rounds: int = 0

    async def research(self, question: str) -> str:
        head, searched = f"# QUESTION\n{question}\n", list[str]()
        pages, findings = dict[str, str](), list[str]()
        queries = (await self._ask("bare_plan", head))["queries"]
        while queries and self.rounds < ROUNDS:
            self.rounds += 1
            searched += queries
            pages |= await self._pages(queries, pages)
            told = f"{head}\n# ALREADY SEARCHED\n{_items(searched)}\n# PAGES\n{_numbered(pages)}"
            answer = await self._ask("bare_read", told)
            findings = answer["findings"]
            queries = [query for query in answer["queries"] if query not in searched]
        told = f"{head}\n# FINDINGS\n{_items(findings)}"
        return str((await self._ask("bare_report", told))["report"])

    async def _ask(self, task: str, prompt: str) -> dict[str, Any]:
        form = {"type": "json_schema", "json_schema": {"name": task, "schema": {}}}
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}]}
        url = f"{self.model_url}/chat/completions"
        answer = (await self.client.post(url, json=body | {"response_format": form})).json()
        self.calls += 1
        self.tokens += answer["usage"]["total_tokens"]
        said: dict[str, Any] = json.loads(answer["choices"][0]["message"]["content"])
        return said

    async def _pages(self, queries: list[str], seen: dict[str, str]) -> dict[str, str]:
        found = await asyncio.gather(*(self._search(query) for query in queries))
        named = [url for results in found for url in results[:PAGES_A_QUERY]]
        fresh = [url for url in dict.fromkeys(named) if url not in seen]
        return dict(zip(fresh, await asyncio.gather(*map(self._fetch, fresh)), strict=True))

    async def _search(self, query: str) -> list[str]:
        asked = {"q": query, "format": "json"}
        answer = await self.client.get(f"{self.search_url}/search", params=asked)
        return [result["url"] for result in answer.json()["results"]]

    async def _fetch(self, url: str) -> str:
        answer = await self.client.get(url)
        if not answer.is_success:
            return ""
        text = await asyncio.to_thread(trafilatura.extract, answer.text)
        return (text or "")[:PAGE_CHARACTERS]


def _items(texts: list[str]) -> str:
    return "".join(f"- {text}\n" for text in texts)


def _numbered(pages: dict[str, str]) -> str:
    lines, number = list[str](), 0
    for at, (url, text) in enumerate(pages.items(), 1):
        lines.append(f'<page number="{at}" address="{url}" title="" date="unknown">')
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text.strip()):
            number += 1
            lines.append(f"[{number}] {sentence}")
        lines.append("</page>")
    return "\n".join(lines)


async def run(question: str, model_url: str, search_url: str, model: str) -> dict[str, Any]:
    """Return the report with calls, tokens, rounds and wall time in seconds."""
    started = time.perf_counter()
    async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
        bare = Bare(client, model_url, search_url, model)
        report = await bare.research(question)
        figures = {k: v for k, v in vars(bare).items() if k in ("calls", "tokens", "rounds")}
    return {"report": report, "seconds": time.perf_counter() - started, **figures}


if __name__ == "__main__":
    told = os.environ
    places = (told["OPENAI_BASE_URL"], told["SEARXNG_URL"], told["RESEARCH_MODEL"])
    print(json.dumps(asyncio.run(run(sys.argv[1], *places)), indent=1))
