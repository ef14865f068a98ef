"""Reading without a model: the fallback of every task that reads pages."""

from __future__ import annotations

from collections.abc import Sequence

from research.engine.evidence.store import Finding
from research.engine.journal.containment import UNEXPECTED, contain_errors
from research.engine.offline.passages import reading
from research.engine.ports import Page, ToolFailure
from research.engine.records import Aspect
from research.engine.rounds.findings import Reading, claim_doubts, quote_source
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long


async def read_extractively(run: Run, pages: Sequence[Page], aspects: Sequence[Aspect]) -> Reading:
    """Return the passages that answer, looked for in a thread: of long pages that takes seconds.

    Raises `ToolFailure` for an unexpected error.
    """
    if not pages:
        return Reading()
    per_page = run.config.max_evidence_claims_per_research_unit
    new = {page.url for page in pages}
    before = [page for page in run.ledger.pages.values() if page.url not in new]
    with contain_errors("reading", ToolFailure(UNEXPECTED)):
        scored = await run_in_thread_if_long(
            [*before, *pages],
            reading.read_pages,
            pages,
            aspects,
            per_page,
            before,
            run.ledger.began,
        )
    return Reading([_to_finding(item) for item in scored])


def _to_finding(item: reading.ScoredPassage) -> Finding:
    """Return the passage as a finding: its slices as quotes, its best sentence as the claim."""
    passage = item.passage
    first, *others = (quote_source(passage.page, *each, passage.section) for each in passage.slices)
    return Finding(
        claim=item.claim,
        aspect_id=item.aspect_id,
        source=first,
        relevance=item.score,
        uncertainty=claim_doubts(item.claim),
        also=tuple(others),
    )
