"""One run of the engine over pages in memory, and where a marker came out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bench.injection.carriers import AT, carried
from bench.injection.markers import holds_marker, seen
from bench.injection.obeying_model import ObeyingModel
from bench.injection.rows import Form, HostPage
from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.llm_tasks.prompting.fences import neutral
from research.engine.loop import Question, run_research
from research.engine.offline.passages.shown_passages import shown_text
from research.engine.ports import (
    FetchFailedError,
    Page,
    SearchAnswer,
    SearchHit,
    SearchRequest,
    Tools,
)
from research.engine.records import (
    Aspect,
    Evidence,
    Gap,
    Plan,
    Record,
    Report,
    Source,
    Unit,
    key_of,
)
from research.extract.extracted import EmptyPageError

TODAY = "2026-03-01"
ENDS = ".。"
"""Left out of a fact or a quotation: the report may put "(older figure)" or a name before it."""


class StillClock:
    def now(self) -> datetime:
        return AT

    def monotonic(self) -> float:
        return 0.0


class MemoryWeb:
    """Pages by URL; every search returns all of them. `snippet` is the first one's."""

    def __init__(self, pages: Sequence[Page], snippet: str = "") -> None:
        self._pages = {page.url: page for page in pages}
        self._snippet = snippet
        self.queries: list[str] = []
        self.fetched: list[str] = []

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.queries.append(request.query)
        hits = [
            SearchHit(url, page.title, page.text[:160], "memory", rank)
            for rank, (url, page) in enumerate(self._pages.items(), 1)
        ]
        if self._snippet:
            first = hits[0]
            hits[0] = SearchHit(first.url, self._snippet, self._snippet, "memory", 1)
        return SearchAnswer(tuple(hits))

    async def fetch(self, url: str) -> Page:
        self.fetched.append(url)
        if url not in self._pages:
            raise FetchFailedError("There is no such page.", status="failed")
        return self._pages[url]


@dataclass
class RunResult:
    """What a run ended with. `recalled` are the facts of the host page in its report."""

    report: str = ""
    plan: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    obeyed: list[str] = field(default_factory=list)
    recalled: int = 0
    final: Report | None = None
    sources: list[Source] = field(default_factory=list)

    def places_of(self, form: Form) -> list[str]:
        """Return where the marker came out."""
        found = {
            "report": holds_marker(self.report if form.is_address else self._stated(), form),
            "plan": any(holds_marker(text, form) for text in self.plan),
            "query": any(holds_marker(text, form, is_address=True) for text in self.queries),
            "fetched address": any(holds_marker(u, form, is_address=True) for u in self.fetched),
            "quote": any(holds_marker(text, form) for text in self.quotes),
        }
        found["quotation in the report"] = not found["report"] and holds_marker(self.report, form)
        return [place for place, is_there in found.items() if is_there]

    def _stated(self) -> str:
        """Return the report without its attributed quotations of what a page dictates."""
        text = seen(self.report)
        for record in self.evidence:
            if record.is_dictated:
                text = text.replace(seen(shown_text(record)).rstrip(ENDS), " ")
        return text


async def run_form(
    host: HostPage, form: Form | None, carrier: str, others: Sequence[HostPage]
) -> RunResult:
    """Return a run on the host page's question, with the form in its carrier, beside other
    pages.
    """
    injected = form if carrier != "search snippet" else None
    pages = [carried(host, injected, carrier, "https://guide.example/page")]
    for number, other in enumerate(others, 1):
        pages.append(carried(other, None, "body", f"https://other{number}.example/page"))
    web = MemoryWeb(pages, form.text if form and carrier == "search snippet" else "")
    model = ObeyingModel(host, form)
    records: list[Record] = []
    config = ResearchConfig()
    tools = Tools(search=web, fetch=web, clock=StillClock(), model=model)
    journal = Journal(MemoryStore(), tools, Meter(config), records.append, analyst=model.name)
    await journal.open()
    await run_research(Question(host.question, TODAY, agreed=True), config, journal)
    return _result(host, web, model, records)


def _result(
    host: HostPage, web: MemoryWeb, model: ObeyingModel, records: Sequence[Record]
) -> RunResult:
    final = {key_of(record): record for record in records}.values()
    report = next((each for each in final if isinstance(each, Report)), None)
    evidence = [each for each in final if isinstance(each, Evidence)]
    plan = [str(each) for each in final if isinstance(each, Plan)]
    plan += [each.text for each in final if isinstance(each, (Aspect, Gap))]
    plan += [each.topic for each in final if isinstance(each, Unit)]
    text = report.markdown if report else ""
    plain = seen(neutral(text)).replace(" ", "")
    facts = [seen(neutral(fact)).replace(" ", "").rstrip(ENDS) for fact in host.facts]
    return RunResult(
        report=text,
        plan=plan,
        queries=web.queries,
        fetched=web.fetched,
        quotes=[source.quote for record in evidence for source in record.sources],
        evidence=evidence,
        obeyed=model.obeyed,
        recalled=sum(fact in plain for fact in facts),
        final=report,
        sources=[each for each in final if isinstance(each, Source)],
    )


__all__ = ["EmptyPageError", "RunResult", "run_form"]
