"""Failed rounds: rounds that could read no page are recorded as problems and retried in another
way.

A failed round proves nothing about the web. It is neither assessed nor judged by novelty or
improvement, and its topics are searched again, by other queries first. Tried pages are not chosen
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.evidence.ledger import Ledger
from research.engine.offline.planning import query_of
from research.engine.report.messages import count_noun
from research.engine.rounds.topics import UNREADABLE, Topic
from research.engine.rounds.units import Work
from research.engine.run import Run
from research.engine.text.tokens import unique_texts

PAGES_FAILED = frozenset({"failed", "late"})


def note_failure(run: Run, work: Sequence[Work]) -> bool:
    """Return whether the round failed: it read no page, and some could not be fetched or the round
    before failed. If so, the next round's topics are set.
    """
    lost = [item for item in work if item.urls and item.unit.status in PAGES_FAILED]
    if any(item.pages for item in work) or not (lost or run.failing):
        run.failing, run.retries = 0, []
        return False
    number, pages = run.ledger.round.number, sum(len(item.urls) for item in lost)
    run.failing += 1
    run.failed.add(number)
    run.retries = [_retry_topic(run.ledger, item) for item in lost]
    found = (
        f"None of {count_noun(pages, 'page')} could be read" if pages else "No other page was found"
    )
    run.trouble(f"round {number}", f"{found}. Its topics are tried another way.")
    return True


def _retry_topic(ledger: Ledger, item: Work) -> Topic:
    """Return the topic by other queries; the earlier ones last, for other pages than those
    tried.
    """
    earlier = item.unit.queries
    for query in earlier:
        ledger.queries.pop(query, None)
    aspect = ledger.aspects.get(item.topic.aspect_id or "")
    worded = [query_of(text) for text in (item.topic.text, aspect.text if aspect else "")]
    others = [query for query in (*item.topic.queries, *worded) if query]
    ways = [query for query in unique_texts(others) if query not in earlier]
    return replace(item.topic, queries=(*ways, *earlier), reason=UNREADABLE)


def unchanged_assessment(run: Run, judged: Assessment) -> Assessment:
    """Return the last assessment after a failed round: what was missing still is."""
    gaps = (
        MissingInfo(gap.text, gap.query, gap.aspect_id, gap.critical, gap_id=gap.id)
        for gap in run.ledger.open_gaps()
    )
    return replace(
        judged,
        gaps=tuple(gaps),
        directions=(),
        by_model=run.has_model,
        is_marked_by_code=judged.is_marked_by_code or not judged.by_model,
    )
