"""A round that could read no page: named among the problems, and tried another way.

Such a round failed: it says nothing on what the web holds. So it is neither assessed nor judged by
novelty or improvement, and its topics are looked for again, by other queries first. Pages that
were tried are not chosen again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.assessment import Assessment, Missing
from research.engine.extractive.planning import query_of
from research.engine.ledger import Ledger
from research.engine.run import Run
from research.engine.text import unique
from research.engine.topics import UNREADABLE, Topic
from research.engine.units import Work
from research.engine.wording import count

PAGES_FAILED = frozenset({"failed", "late"})


def note_failure(run: Run, work: Sequence[Work]) -> bool:
    """Whether the round failed: it read no page, and some were not to be had, or the round
    before failed. The next round's topics are ready then.
    """
    lost = [item for item in work if item.urls and item.unit.status in PAGES_FAILED]
    if any(item.pages for item in work) or not (lost or run.failing):
        run.failing, run.retries = 0, []
        return False
    number, pages = run.ledger.round.number, sum(len(item.urls) for item in lost)
    run.failing += 1
    run.failed.add(number)
    run.retries = [_retry(run.ledger, item) for item in lost]
    found = f"None of {count(pages, 'page')} could be read" if pages else "No other page was found"
    run.trouble(f"round {number}", f"{found}. Its topics are tried another way.")
    return True


def _retry(ledger: Ledger, item: Work) -> Topic:
    """The topic by other queries; the earlier ones last, for other pages than those tried."""
    earlier = item.unit.queries
    for query in earlier:
        ledger.queries.pop(query, None)
    aspect = ledger.aspects.get(item.topic.aspect_id or "")
    worded = [query_of(text) for text in (item.topic.text, aspect.text if aspect else "")]
    others = [query for query in (*item.topic.queries, *worded) if query]
    ways = [query for query in unique(others) if query not in earlier]
    return replace(item.topic, queries=(*ways, *earlier), reason=UNREADABLE)


def unchanged(run: Run, judged: Assessment) -> Assessment:
    """The last assessment after a failed round: what was missing still is."""
    gaps = (
        Missing(gap.text, gap.query, gap.aspect_id, gap.critical, gap_id=gap.id)
        for gap in run.ledger.open_gaps()
    )
    return replace(judged, gaps=tuple(gaps), directions=(), by_model=run.has_model)
