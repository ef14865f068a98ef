"""Load an earlier run's ledger as the start of this one: same ids, no new searches or fetches.

Everything loaded has round 0, so that pages can say "from the earlier run".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import ANSWERING, SUPPORTS, Ledger
from research.engine.evidence.quotes import plain_quote
from research.engine.journal.forms import Form
from research.engine.offline.answering import is_answer
from research.engine.ports import Page
from research.engine.records import Aspect, AspectState, Evidence, Gap, Plan
from research.engine.run import Run
from research.engine.text.relevance import page_relevance
from research.engine.threads.seed import Seed

EARLIER = 0
"""The round of what was there before the first round of this run."""


async def take_over(run: Run, seed: Seed) -> None:
    """The ledger as the seed has it, for the same question as it was understood."""
    if seed.question != run.question.text:
        run.question = replace(run.question, text=seed.question)
        run.update_state(understood_as=seed.question)
    run.open_ledger(seed.plan, seed)
    ledger = run.ledger
    await _take_pages(run, seed.pages)
    for source in seed.sources:
        ledger.put_source(replace(source, round=EARLIER))
    ledger.queries = dict.fromkeys(seed.queries, 0)
    ledger.followed = list(seed.topics)
    ledger.instructed = seed.instructions
    for aspect in seed.aspects:
        ledger.enter_aspect(replace(aspect, round=EARLIER))
    await _take_evidence(run, seed.evidence)
    for aspect in seed.aspects:
        if not aspect.dropped and aspect.state not in ANSWERING:
            ledger.set_aspect(aspect.id, state=aspect.state)
    for gap in seed.gaps:
        ledger.open_gap(_as_it_stands(ledger, gap))


async def take_over_for(run: Run, seed: Seed, plan: Plan) -> None:
    """The ledger for other sub-questions: of the evidence only what answers one of them.

    The pages are known: one that a search names again is read for the new questions without
    being fetched. So searches may be repeated: what they name was not read for these.
    """
    aspects = _open_for(run, seed, plan)
    await _take_pages(run, seed.pages)
    assigned = (_assign_record(record, aspects) for record in seed.evidence)
    await _take_with_sources(run, seed, [record for record in assigned if record is not None])


async def take_over_chosen(run: Run, seed: Seed, plan: Plan, chosen: Collection[str]) -> None:
    """The ledger for a plan of one question, which the chosen records answer, with those that
    contradict them and the pages that they rest on.
    """
    (aspect,) = _open_for(run, seed, plan)
    against = {i for record in seed.evidence if record.id in chosen for i in record.contradicts}
    kept = [
        replace(record, aspect_id=aspect.id, also_answers=(), relevance=max(SUPPORTS, worth))
        for record in seed.evidence
        if record.id in {*chosen, *against}
        for worth in (record.relevance,)
    ]
    resting_on = {source.url for record in kept for source in record.sources}
    await _take_pages(run, [page for page in seed.pages if page.url in resting_on])
    await _take_with_sources(run, seed, kept)


def _open_for(run: Run, seed: Seed, plan: Plan) -> list[Aspect]:
    """Open the ledger for a plan; return its sub-questions."""
    run.open_ledger(plan, seed)
    if seed.kind == "follow_up" and run.form >= Form.EDITED:
        run.ledger.told_before = seed.report
    for planned in plan.aspects:
        run.ledger.raise_aspect(planned.text, planned.query, "plan", EARLIER)
    return list(run.ledger.aspects.values())


async def _take_with_sources(run: Run, seed: Seed, kept: Sequence[Evidence]) -> None:
    """The records, and the sources that they rest on by their relevance to the sub-questions."""
    ledger = run.ledger
    resting_on = {source.url for record in kept for source in record.sources}
    for source in seed.sources:
        if source.url in resting_on:
            page, asked = ledger.pages[source.url], ledger.aspects.values()
            worth = max(page_relevance(each.text, page.title, page.text) for each in asked)
            ledger.put_source(replace(source, round=EARLIER, relevance=worth))
    await _take_evidence(run, kept)


async def _take_pages(run: Run, pages: Iterable[Page]) -> None:
    for page in pages:
        text = await run.journal.store.page_text(page.sha256)
        run.ledger.put_page(replace(page, text=text))


async def _take_evidence(run: Run, evidence: Sequence[Evidence]) -> None:
    ledger = run.ledger
    kept = {record.id for record in evidence}
    for record in evidence:
        contradicts = tuple(other for other in record.contradicts if other in kept)
        ledger.book.take_over(replace(record, round=EARLIER, key=False, contradicts=contradicts))
    ledger.corpus.add(record.claim for record in evidence)
    await run.refresh_aspects()
    ledger.emit_evidence({})


def _as_it_stands(ledger: Ledger, gap: Gap) -> Gap:
    """Return a gap whose sub-question lost its answer is open again."""
    aspect = ledger.aspects.get(gap.aspect_id or "")
    lost = aspect is not None and aspect.state not in ANSWERING
    if gap.open or lost:
        return replace(gap, opened_round=EARLIER, closed_round=None, closed_by=())
    known = tuple(i for i in gap.closed_by if not i.startswith("E") or i in ledger.book.records)
    return replace(gap, opened_round=EARLIER, closed_round=EARLIER, closed_by=known)


def _assign_record(record: Evidence, aspects: Sequence[Aspect]) -> Evidence | None:
    """Return the record under the sub-questions that its words answer; None if there are none."""
    source = record.sources[0]
    quote, context = plain_quote(source.quote), f"{source.title} {source.section}"
    answered = [aspect for aspect in aspects if is_answer(quote, context, aspect.text)]
    if not answered:
        return None
    worth = max(page_relevance(aspect.text, source.title, quote) for aspect in answered)
    first, *others = (aspect.id for aspect in answered)
    return replace(
        record, aspect_id=first, also_answers=tuple(others), relevance=max(SUPPORTS, worth)
    )


def reopen_aspect(run: Run, aspect_id: str) -> None:
    """Look for a sub-question again, whatever was tried for it before."""
    ledger = run.ledger
    aspect = ledger.aspects[aspect_id]
    state = aspect.state if aspect.state in ANSWERING else AspectState.OPEN
    ledger.set_aspect(aspect_id, state=state, searches_without_news=0)
    if not any(gap.aspect_id == aspect_id for gap in ledger.open_gaps()):
        critical = state not in ANSWERING
        text = aspect.text if critical else f"More on: {aspect.text}"
        ledger.open_gap(Gap(ledger.next_gap_id(), text, aspect_id, critical, EARLIER, aspect.query))
