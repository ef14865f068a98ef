"""Research in one call, and a search and fetch over pages in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import date

from research.engine import (
    FetchFailedError,
    Model,
    Page,
    Question,
    ResearchConfig,
    RunResult,
    SearchAnswer,
    SearchHit,
    SearchRequest,
    Tools,
    run_in_memory,
)
from research.engine.text.tokens import term_set
from research.runtime.program import SystemClock

SNIPPET = 300


class Pages:
    """`Search` and `Fetch` over pages in memory, found by the terms shared with a query."""

    def __init__(self, pages: Iterable[Page] = ()) -> None:
        self._pages = {page.url: page for page in pages}
        self._terms = {
            page.url: term_set(f"{page.title} {page.text}") for page in self._pages.values()
        }

    async def search(self, request: SearchRequest) -> SearchAnswer:
        """Return the pages with most of the query's terms, best first, in their given order."""
        wanted = term_set(request.query)
        shared = {url: len(wanted & terms) for url, terms in self._terms.items()}
        found = sorted((url for url in shared if shared[url]), key=lambda url: -shared[url])
        hits = (
            SearchHit(url, self._pages[url].title, self._pages[url].text[:SNIPPET], "pages", rank)
            for rank, url in enumerate(found[: request.limit], start=1)
        )
        return SearchAnswer(tuple(hits))

    async def fetch(self, url: str) -> Page:
        if url not in self._pages:
            raise FetchFailedError("There is no page of this address.", status="failed")
        return self._pages[url]

    def tools(self, model: Model | None = None) -> Tools:
        """Return the tools of a run over these pages; without a model code quotes passages."""
        return Tools(self, self, SystemClock(), model)


async def research_async(
    question: str,
    tools: Tools | Iterable[Page],
    config: ResearchConfig | None = None,
    *,
    today: date | None = None,
) -> RunResult:
    """Research a question to its end without any interaction and return all findings.

    `tools` may be pages, which are then all that is searched. `today` is what relative dates in the
    question refer to. Raise `BudgetSpentError` or `ToolFailedError` as `run_in_memory` does.
    """
    asked = Question(question, (today or date.today()).isoformat(), agreed=True)
    given = tools if isinstance(tools, Tools) else Pages(tools).tools()
    return await run_in_memory(asked, given, config or ResearchConfig())


def research(
    question: str,
    tools: Tools | Iterable[Page],
    config: ResearchConfig | None = None,
    *,
    today: date | None = None,
) -> RunResult:
    """Do the same as `research_async` for programs without an event loop."""
    return asyncio.run(research_async(question, tools, config, today=today))
