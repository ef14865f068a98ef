"""Runs for the tools: started from their arguments, waited for, and read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Literal

from dashboard.api import asking
from dashboard.api.auth import Caller
from dashboard.mcp import results
from dashboard.mcp.results import RunState, describe_run
from research.models import Evidence, EvidenceSource, PageText, Run
from research.runtime.db_threads import query_async
from research.services import ServiceError, documents
from research.worker import notify
from research.worker.notify import wait_at_most

Depth = Literal["quick", "standard", "thorough"]
Sources = Literal["web", "documents", "both", "samples"]
POLL_SECONDS = 1.0
"""Interval for changes that another process commits; those of this process arrive at once."""

Report = Callable[[RunState], Awaitable[None]]


def start_run(
    caller: Caller,
    *,
    question: str,
    depth: Depth | None = None,
    sources: Sources | None = None,
    collections: Sequence[str] = (),
    approve_first: bool = True,
    max_cost_usd: float | None = None,
    idempotency_key: str | None = None,
) -> Run:
    """Create a run. Raise `ServiceError` or `ConfigError` with a sentence for the user."""
    chosen = {"research_depth": depth, "max_cost_usd": max_cost_usd}
    knobs = {name: value for name, value in chosen.items() if value is not None}
    named = documents.find_by_name(caller.user, collections) if collections else []
    ids = [row.public_id for row in named]
    asked = asking.Asked(question, knobs, sources or "", ids, approve_first)
    return asking.start_run(caller, asked, idempotency_key)


async def wait_for_run(run: Run, seconds: float, report: Report) -> RunState:
    """Return the state at the end of the wait; pass every state on the way to `report`."""
    deadline = monotonic() + seconds
    sequence = -1
    with _woken_by_changes(run.public_id) as changed:
        while True:
            now = await query_async(_sequence, run.pk)
            if now != sequence:
                sequence, state = now, await query_async(describe_run, run)
                await report(state)
                if must_act(state):
                    return state
            left = deadline - monotonic()
            if left <= 0:
                return state
            await wait_at_most(changed, min(left, POLL_SECONDS))


def must_act(state: RunState) -> bool:
    """Return whether the run has ended or waits for its user."""
    return state.ended or state.next_tool != "wait"


def _sequence(key: int) -> int:
    return int(Run.objects.values_list("sequence", flat=True).get(pk=key))


@contextmanager
def _woken_by_changes(public_id: str) -> Iterator[asyncio.Event]:
    changed, running = asyncio.Event(), asyncio.get_running_loop()

    def committed(run: str, sequence: int) -> None:
        if run == public_id:
            running.call_soon_threadsafe(changed.set)

    notify.on_committed.append(committed)
    try:
        yield changed
    finally:
        notify.on_committed.remove(committed)


def newest_report(run: Run) -> results.ReportText:
    return results.describe_report(run, run.reports.order_by("-number").first())


def page_of_evidence(run: Run, ids: Sequence[str], offset: int, limit: int) -> results.EvidencePage:
    """Return evidence records from `offset` on; `ids` restricts them to these labels."""
    rows = run.evidence.with_review().prefetch_related("quotes")
    if ids:
        rows = rows.filter(label__in=ids)
    total = rows.count()
    texts = dict(run.aspects.values_list("label", "text"))
    shown: list[Evidence] = list(rows[offset : offset + limit])
    after = offset + len(shown)
    return results.EvidencePage(
        run=run.public_id,
        total=total,
        next_offset=after if after < total else None,
        evidence=results.describe_evidence(shown, texts),
    )


def quote_in_context(
    run: Run, label: str, position: int, characters: int
) -> results.QuoteInContext:
    """Return a quote within its page. Raise `ServiceError` if the run has no such quote."""
    row = EvidenceSource.objects.filter(
        evidence__run=run, evidence__label=label, position=position
    ).first()
    if row is None:
        raise ServiceError(f"The run has no quote {position} of evidence {label}.")
    page = PageText.objects.filter(uses__run=run, sha256=row.text_sha256).first()
    return results.place_quote(label, row, page, characters)
