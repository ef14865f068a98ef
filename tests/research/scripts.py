"""Scripted tools and engines: what they were asked is counted, as a server's log would."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic

from research.engine import records
from research.engine.config import ResearchConfig
from research.engine.journal import Journal
from research.engine.loop import Question
from research.engine.ports import (
    ModelAnswer,
    ModelRequest,
    Page,
    SearchAnswer,
    SearchHit,
    SearchRequest,
    Tools,
)
from research.engine.records import Status, StopReason
from research.models import Run

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXT = "Eggs are scrambled over low heat.\n\nStir slowly."
QUOTE = "Eggs are scrambled over low heat."
URLS = tuple(f"https://eggs{n}.example/page" for n in range(1, 4))


def page_at(url: str, text: str = TEXT) -> Page:
    host = url.split("/")[2] if "://" in url else url
    return Page(
        url=url,
        final_url=url,
        title=f"Eggs at {host}",
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        content_type="text/html",
        domain=host,
        independence_key=host,
        fetched_at=AT,
    )


class World:
    """Tools that answer at once; `asked` counts every call that reached the outside."""

    name = "scripted-model"

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def tools(self, run: Run | None = None) -> Tools:
        return Tools(search=self, fetch=self, clock=self, model=self)

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.asked[f"search {request.query}"] += 1
        hits = (SearchHit(url, "Eggs", "", "scripted", n + 1) for n, url in enumerate(URLS))
        return SearchAnswer(tuple(hits))

    async def fetch(self, url: str) -> Page:
        self.asked[f"fetch {url}"] += 1
        return page_at(url, f"{TEXT}\n\nThis is {url}.")

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked[f"model {request.task}"] += 1
        return ModelAnswer("{}", self.name, 10, 5)

    def now(self) -> datetime:
        return AT

    def monotonic(self) -> float:
        return monotonic()


def asks_model(task: str) -> ModelRequest:
    return ModelRequest(task, "system", "prompt", {}, 100)


def quoted(page: Page, quote: str = QUOTE) -> records.QuoteSource:
    start = page.text.index(quote)
    return records.QuoteSource(
        url=page.url,
        title=page.title,
        domain=page.domain,
        independence_key=page.independence_key,
        quote=quote,
        start=start,
        end=start + len(quote),
        text_sha256=page.sha256,
        fetched_at=page.fetched_at,
    )


def evidence(number: int, *pages: Page, **more: object) -> records.Evidence:
    first = records.Evidence(
        id=f"E{number}",
        claim=QUOTE,
        aspect_id="A1",
        round=1,
        sources=tuple(quoted(page) for page in pages),
        relevance=0.9,
    )
    return replace(first, **more)


ASPECT = records.Aspect("A1", "How hot?", "egg heat", "plan", 1)
GAP = records.Gap("G1", "The heat is missing", "A1", True, 1)
GATE = records.GateResult(
    1, "evidence", "retry", 0.4, 0.8, (records.Criterion("records", 1, 2),), ("More records.",), AT
)


async def research(question: Question, config: ResearchConfig, journal: Journal) -> None:
    """Two rounds over three pages: every kind of record, some of them changed on the way."""
    head = records.RunState(Status.INTAKE, analyst=journal.analyst)
    journal.emit(head)
    journal.emit(records.Action("Reading the question"))
    await journal.model("intake", 1, asks_model("intake"))
    plan = records.Plan("Eggs", head.complexity, "en", (records.PlannedAspect("How hot?", "q"),))
    journal.emit(plan)
    if not question.agreed:
        journal.emit(replace(head, status=Status.AWAITING_APPROVAL))
        await journal.wait_for_person("approval", frozenset({"approve", "revise"}))
    head = replace(head, status=Status.RESEARCHING)
    journal.emit(head)
    journal.emit(ASPECT)
    for number in (1, 2):
        await _round(number, head, journal)
    journal.emit(replace(head, status=Status.WRITING, round=2, quality_score=8.0))
    await journal.model("draft", 1, asks_model("draft"))
    citation = records.Citation(1, ("E1",), URLS[0])
    journal.emit(records.Report(f"{QUOTE} [1]", (citation,), short_answer=QUOTE))
    journal.emit(
        replace(
            head,
            status=Status.COMPLETED,
            stage=records.Stage.REPORT,
            round=2,
            quality_score=8.0,
            verdict="Good enough.",
            termination_reason=StopReason.QUALITY_MET,
            termination_text="The research is good enough.",
        )
    )


async def _round(number: int, head: records.RunState, journal: Journal) -> None:
    journal.emit(replace(head, round=number))
    journal.emit(records.Action(f"Researching, round {number}"))
    row = records.Round(number, records.Stage.OVERVIEW, ("eggs",))
    journal.emit(row)
    unit = records.Unit(number, 1, "eggs", "A1", (f"eggs {number}",))
    journal.emit(unit)
    await journal.commands(f"round/{number}", frozenset({"stop", "add_topic"}))
    await journal.search(f"round/{number}/search", SearchRequest(f"eggs {number}"))
    pages = [await journal.fetch(url) for url in URLS[: number + 1]]
    await journal.model(f"round/{number}/read", 1, asks_model("read"))
    await journal.elapsed(f"round/{number}")
    journal.emit(replace(unit, status="done", seconds=1.0))
    for page in pages:
        journal.emit(records.Source(page.url, page.title, page.domain, number, status="cited"))
    journal.emit(evidence(1, *pages, round=1, confidence=1 - 0.5 ** len(pages)))
    journal.emit(replace(ASPECT, evidence_ids=("E1",), state=records.AspectState.ANSWERED))
    journal.emit(replace(GAP, closed_round=number, closed_by=("E1",)) if number > 1 else GAP)
    journal.emit(records.RefusedQuote(number, 1, 1, "Eggs fly.", URLS[0], "Not on the page."))
    journal.emit(records.Problem("search", "One provider did not answer."))
    journal.emit(replace(GATE, round=number, decision="pass" if number > 1 else "retry"))
    journal.emit(replace(row, score=6.0 + number, novelty=0.5, closed=True, decision="Go on."))
    journal.emit(journal.meter.snapshot())
