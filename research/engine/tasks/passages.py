"""Reading without a model: the fallback of every task that reads pages."""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.evidence import Finding
from research.engine.extractive import reading
from research.engine.findings import Reading, quoted
from research.engine.records import Aspect
from research.engine.run import Run
from research.engine.tools import Page


def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    per_page = run.config.max_evidence_claims_per_research_unit
    scored = reading.read_pages(pages, aspects, per_page)
    return Reading([_finding(item) for item in scored])


def _finding(item: reading.Scored) -> Finding:
    """The passage as a claim in its own words, with the term that it defines."""
    passage = item.passage
    section = passage.section
    return Finding(
        claim=passage.claim,
        aspect_id=item.aspect_id,
        source=quoted(passage.page, passage.start, passage.end, section),
        relevance=item.score,
        also=(quoted(passage.page, *passage.label, section),) if passage.label else (),
    )
