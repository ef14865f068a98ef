"""Merge the results of a round's units into the ledger, in the order of topic, query and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from research.engine.ports import Page
from research.engine.records import RefusedQuote
from research.engine.rounds.findings import Refusal
from research.engine.rounds.retrying import note_failure
from research.engine.rounds.units import Work
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.relevance import page_relevance
from research.engine.threads.seed import is_rejected
from research.engine.untrusted.screening import names_page

REJECTED = "a reviewer rejected this passage"


class Merger:
    """Takes in one round: pages and findings as they come, then what they come to."""

    def __init__(self, run: Run) -> None:
        ledger = run.ledger
        self._run = run
        self._before = dict(ledger.book.records)
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
        ledger.update_round(
            novelty=novelty,
            pages_read=sum(len(item.pages) for item in self._work),
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
    found_as = listed.title if names_page(listed.title, page, run.question.text) else ""
    run.ledger.put_source(
        replace(
            listed,
            title=page.title or found_as,
            domain=page.domain,
            kind=page.kind,
            published=page.published or listed.published,
            relevance=worth,
            status="read",
            reason=page.note or None,
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
