"""Merge the results of a round's units into the ledger, in the order of topic, query and rank.

A round that could read no page has failed, which proves nothing about the web. It is neither
assessed nor judged by novelty or improvement, and its topics are searched again, by other queries
first. Tried pages are not chosen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from research.engine.assessment.assessment import Assessment, MissingInfo
from research.engine.evidence.ledger import Ledger
from research.engine.offline.planning import query_of
from research.engine.ports import Page
from research.engine.records import RefusedQuote
from research.engine.report.messages import count_noun
from research.engine.rounds.findings import Refusal
from research.engine.rounds.topics import UNREADABLE, Topic
from research.engine.rounds.units import Work
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.relevance import page_relevance
from research.engine.text.tokens import unique_texts
from research.engine.threads.seed import is_rejected
from research.engine.untrusted.screening import names_page

REJECTED = "a reviewer rejected this passage"


class Merger:
    """Takes in one round: pages and findings as they come, then what they come to."""

    def __init__(self, run: Run) -> None:
        ledger = run.ledger
        self._run = run
        self._before = dict(ledger.book.records)
        self._read = frozenset(ledger.pages)
        self._keys = {aspect: ledger.keys_of(aspect) for aspect in ledger.aspects}
        self._work: list[Work] = []
        self._claims: list[str] = []

    async def add(self, work: Sequence[Work]) -> None:
        """Pages, findings, leads and refusals into the ledger."""
        ledger = self._run.ledger
        for item in work:
            worth = await run_in_thread_if_long(
                item.pages, _page_relevance, item.pages, relevant_texts(self._run, item)
            )
            for page in item.pages:
                _add_page(self._run, page, worth[page.url])
            _leave_out_rejected(self._run, item)
            wall = self._run.wall()
            for finding in item.reading.findings:
                finding = replace(finding, claim=wall.masked(finding.claim))
                record, new = ledger.book.add(finding, item.unit.round)
                if new:
                    self._claims.append(record.claim)
            _emit_refusals(self._run, item)
            for lead in item.reading.leads:
                known = ledger.leads.get(lead.text)
                if known is None or known.strength < lead.strength:
                    ledger.leads[lead.text] = lead
            self._run.journal.emit(item.unit)
        self._work += work

    async def close(self) -> None:
        """Novelty, the sub-questions' states, and what changed of the evidence; a round that could
        read no page has no novelty.
        """
        ledger = self._run.ledger
        _count_searches(self._run, self._work, self._keys)
        failed = note_failure(self._run, self._work)
        if not failed:
            self._count_effort()
        novelty = None if failed else round(ledger.corpus.novelty(self._claims), 4)
        ledger.corpus.add(self._claims)
        await self._run.refresh_aspects()
        ledger.emit_evidence(self._before)
        pages = {page.url for item in self._work for page in item.pages}
        ledger.update_round(
            novelty=novelty,
            pages_read=len(pages - self._read),
            new_evidence=len(self._claims),
        )

    def _count_effort(self) -> None:
        """Record the results of the round's searches."""
        ledger, least = self._run.ledger, self._run.config.gate_overview_relevance
        searches = sum(len(item.searched) for item in self._work)
        read = {page.url for item in self._work for page in item.pages}
        relevant = any((ledger.sources[url].relevance or 0) >= least for url in read)
        ledger.effort.read(searches, relevant)
        ledger.effort.count_corroboration(searches, ledger.evidence, self._before)


def relevant_texts(run: Run, item: Work) -> tuple[str, ...]:
    """Return the texts that a page may be relevant to: topics, queries, and their sub-questions."""
    found: list[str] = []
    for topic in (each.topic for each in (item, *item.also)):
        aspect = run.ledger.aspects.get(topic.aspect_id or "")
        queries = topic.queries if topic.all_queries else topic.queries[:1]
        found += (aspect.text if aspect else topic.text, *queries)
    return tuple(found)


def _page_relevance(pages: Sequence[Page], wanted: Sequence[str]) -> Mapping[str, float]:
    """Return the relevance of each page to its best-matching sub-question, by URL."""
    return {
        page.url: max(page_relevance(aim, page.title, page.text) for aim in wanted)
        for page in pages
    }


def _add_page(run: Run, page: Page, worth: float) -> None:
    """A page that was fetched under another address already is counted as repeated."""
    others = (known for known in run.ledger.pages.values() if known.url != page.url)
    if any(known.final_url == page.final_url for known in others):
        run.journal.meter.usage.repeated_fetches += 1
    run.ledger.put_page(page)
    run.late.pop(page.url, None)
    listed = run.ledger.sources[page.url]
    title = page.title
    if not title and names_page(listed.title, page, run.question.text):
        title = listed.title
    run.ledger.put_source(
        replace(
            listed,
            title=title,
            domain=page.domain,
            kind=page.kind,
            published=page.published or listed.published,
            relevance=worth,
            status="read",
            reason=page.note or None,
            site=page.site,
        )
    )


def _leave_out_rejected(run: Run, item: Work) -> None:
    """A passage that a reviewer refused in an earlier run of the thread stays out."""
    kept = []
    for finding in item.reading.findings:
        if is_rejected(finding.source, run.ledger.rejected):
            refusal = Refusal(finding.claim, finding.source.url, REJECTED)
            item.reading.refusals.append(refusal)
        else:
            kept.append(finding)
    item.reading.findings = kept


def _emit_refusals(run: Run, item: Work) -> None:
    for ordinal, refusal in enumerate(item.reading.refusals, 1):
        run.journal.meter.usage.refused_quotes += 1
        run.journal.emit(
            RefusedQuote(
                item.unit.round, item.unit.number, ordinal,
                refusal.claim, refusal.url, refusal.reason,
            )
        )  # fmt: skip


def _count_searches(run: Run, work: Sequence[Work], before: dict[str, frozenset[str]]) -> None:
    """Count how often in a row a sub-question was searched without a new independent source."""
    searched = {item.topic.aspect_id: None for item in work if item.unit.status == "done"}
    for aspect_id in filter(None, searched):
        aspect = run.ledger.aspects[aspect_id]
        news = run.ledger.keys_of(aspect_id) - before.get(aspect_id, frozenset())
        run.ledger.set_aspect(
            aspect_id, searches_without_news=0 if news else aspect.searches_without_news + 1
        )


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
