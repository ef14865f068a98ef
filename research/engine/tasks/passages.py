"""Reading without a model: the fallback of every task that reads pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.aside import aside
from research.engine.evidence import Finding
from research.engine.extractive import reading
from research.engine.extractive.answering import brings
from research.engine.findings import Reading, doubts, quoted
from research.engine.journal.containment import UNEXPECTED, contain
from research.engine.ledger import SUPPORTS
from research.engine.records import Aspect
from research.engine.run import Run
from research.engine.tools import Page, ToolFailure

JUST_CLOSE = SUPPORTS - 0.01


async def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    """The passages that answer, looked for in a thread: of long pages that takes seconds.

    Raises `ToolFailure` for an unexpected error.
    """
    if not pages:
        return Reading()
    per_page = run.config.max_evidence_claims_per_research_unit
    asked = {aspect.id: aspect.text for aspect in aspects}
    new = {page.url for page in pages}
    before = [page for page in run.ledger.pages.values() if page.url not in new]
    with contain("reading", ToolFailure(UNEXPECTED)):
        scored = await aside(
            [*before, *pages], reading.read_pages, pages, aspects, per_page, before
        )
    return Reading([_weighed(_finding(item), asked[item.aspect_id]) for item in scored])


def _weighed(finding: Finding, asked: str) -> Finding:
    """A passage that lacks the date, number or name asked for comes close and supports nothing."""
    if brings(finding.source.quote, asked):
        return finding
    return replace(finding, relevance=min(finding.relevance, JUST_CLOSE))


def _finding(item: reading.Scored) -> Finding:
    """The passage as a claim in its own words, with the term that it defines."""
    passage = item.passage
    section = passage.section
    return Finding(
        claim=passage.claim,
        aspect_id=item.aspect_id,
        source=quoted(passage.page, passage.start, passage.end, section),
        relevance=item.score,
        uncertainty=doubts(passage.claim),
        also=(quoted(passage.page, *passage.label, section),) if passage.label else (),
    )
