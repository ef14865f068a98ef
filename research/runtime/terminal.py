"""A run in the foreground of a terminal: live progress, questions, Ctrl-C.

Everything shown comes from the progress payload; nothing is inferred.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import Error as DatabaseError
from rich.console import Console, Group
from rich.live import Live
from rich.prompt import Prompt
from rich.table import Table
from rich.text import Text

from research.engine.records import ENDED, AnswerStatus, Status
from research.engine.report.messages import count_noun, mark_words
from research.models import Command, Run
from research.readmodel.progress import how_far, load_progress
from research.readmodel.progress_parts import AspectPart, Progress
from research.runtime import tool_factory
from research.runtime.db_threads import query_async
from research.services import ServiceError, runs
from research.worker import notify
from research.worker.leases import Lease, claim_run, new_owner
from research.worker.run_executor import advance_run

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
CHANGEABLE, FIXED = r"\[y]es, \[n]o, or say what to change", r"\[y]es or \[n]o"
MARKS = {
    AnswerStatus.ANSWERED: "[green]✓[/]",
    AnswerStatus.ONE_SOURCE: "[yellow]◐[/]",
    AnswerStatus.PASSAGES: "[yellow]◐[/]",
    AnswerStatus.CLOSE: "○",
    AnswerStatus.DISPUTED: "[magenta]≠[/]",
    AnswerStatus.OPEN: "○",
    AnswerStatus.NOT_FOUND: "[red]–[/]",
    AnswerStatus.NOT_SEARCHED: "○",
}


class Foreground:
    """Executes one run until it has ended, and asks its owner whenever it waits."""

    def __init__(self, actor: AbstractUser, run: Run, lease: Lease | None, *, quiet: bool) -> None:
        self.actor = actor
        self.run = run
        self.lease = lease
        self.console = Console(stderr=True)
        self.quiet = quiet
        self._interrupts = 0

    async def work(self) -> Run:
        """Execute the run; return it as it ended or was set aside."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        if self.console.is_terminal:
            logging.getLogger("research.engine").setLevel(logging.WARNING)
        try:
            while self.run.status not in ENDED | {Status.STALLED}:
                await self._advance()
                await asyncio.to_thread(self.run.refresh_from_db)
                if self.run.status == Status.AWAITING_CLARIFICATION:
                    await asyncio.to_thread(self._clarify)
                elif self.run.status == Status.AWAITING_APPROVAL:
                    await asyncio.to_thread(self._approve)
                elif self.run.status == Status.PAUSED and self.run.asks:
                    await asyncio.to_thread(self._decide)
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            await tool_factory.close_tools()
        return self.run

    async def _advance(self) -> None:
        lease = self.lease or await asyncio.to_thread(claim_run, self.run.pk, new_owner())
        self.lease = None
        if lease is None:
            await asyncio.sleep(POLL_SECONDS)
            return
        async with self._show_progress():
            await advance_run(self.run.pk, tool_factory.build_tools, lease=lease)

    def _interrupt(self) -> None:
        """End early on the first Ctrl-C, cancel on the second."""
        self._interrupts += 1
        command = _end_early if self._interrupts == 1 else runs.request_cancel
        said = "Stopping; Ctrl-C again cancels." if self._interrupts == 1 else "Cancelling."
        self.console.print(said)
        asyncio.get_running_loop().run_in_executor(None, self._tell, command)

    def _tell(self, command: Callable[[AbstractUser, Run], Any]) -> None:
        try:
            command(self.actor, self.run)
        except ServiceError as refused:
            self.console.print(str(refused))

    # --- what is shown ---------------------------------------------------------------------

    @asynccontextmanager
    async def _show_progress(self) -> AsyncIterator[None]:
        """Show live progress on standard error, redrawn after each commit."""
        if self.quiet:
            yield
            return
        changed, running = asyncio.Event(), asyncio.get_running_loop()

        def committed(public_id: str, sequence: int) -> None:
            if public_id == self.run.public_id:
                running.call_soon_threadsafe(changed.set)

        with Live(console=self.console, refresh_per_second=4, transient=False) as live:
            notify.on_committed.append(committed)
            drawing = asyncio.create_task(self._redraw(live, changed), name="progress is drawn")
            try:
                yield
            finally:
                notify.on_committed.remove(committed)
                drawing.cancel()
                await asyncio.wait([drawing])
                await self._draw(live)

    async def _redraw(self, live: Live, changed: asyncio.Event) -> None:
        while True:
            await changed.wait()
            changed.clear()
            await self._draw(live)

    async def _draw(self, live: Live) -> None:
        """Redraw once, outside the writer's thread, which must stay free to renew the lease."""
        try:
            live.update(render_progress(await query_async(load_progress, self.run)))
        except DatabaseError:
            log.warning("the progress cannot be shown now", exc_info=True)

    def _clarify(self) -> None:
        questions = (self.run.plan or {}).get("questions", [])
        self.console.print("[bold]A question first[/] (Enter leaves one out)")
        answers = [Prompt.ask(question, console=self.console, default="") for question in questions]
        if any(answers):
            runs.answer_questions(self.actor, self.run, answers)
        else:
            runs.skip_questions(self.actor, self.run)

    def _approve(self) -> None:
        plan = self.run.plan or {}
        self.console.print(f"[bold]Plan[/]  {plan.get('brief', '')}")
        for number, aspect in enumerate(plan.get("aspects", ()), 1):
            self.console.print(f"  {number}. {aspect['text']}")
        ways = CHANGEABLE if self.run.plans_anew else FIXED
        reply = Prompt.ask(
            f"Start? {ways}",
            console=self.console,
            choices=None if self.run.plans_anew else ["y", "yes", "n", "no"],
            show_choices=False,
            default="y",
        ).strip()
        if reply.lower() in {"y", "yes"}:
            runs.approve_plan(self.actor, self.run)
        elif reply.lower() in {"n", "no"}:
            runs.request_cancel(self.actor, self.run)
        else:
            runs.send_back(self.actor, self.run, reply)

    def _decide(self) -> None:
        """Ask whether to dig deeper, if the engine left the decision to the user."""
        reply = Prompt.ask(
            f"{self.run.asks} (d: dig deeper, s: sufficient)",
            console=self.console,
            choices=["d", "s"],
            default="s",
            show_choices=False,
        )
        command = runs.dig_deeper if reply == "d" else runs.stop_and_report
        command(self.actor, self.run)


def _end_early(actor: AbstractUser, run: Run) -> Command:
    """Stop the research; finish a report that is being written without the model."""
    run.refresh_from_db()
    is_writing = run.status == Status.WRITING and run.has_model
    return (runs.finish_by_code if is_writing else runs.stop_and_report)(actor, run)


def render_progress(now: Progress) -> Group:
    """Return the progress for a terminal: verdict, sub-questions, current action."""
    head = Text(now.verdict.text or now.run.question, style="bold")
    quotes, sources = (
        count_noun(now.evidence.count, "quote"),
        count_noun(now.evidence.sources, "source"),
    )
    score = f"{now.quality.score:.1f}" if now.quality.score is not None else "–"
    gaps = sum(gap.closed_round is None for gap in now.gaps)
    facts = (
        f"{how_far(now)} · score {score}, goal {now.quality.threshold:g} · "
        f"{count_noun(gaps, 'gap')} · {quotes} from {sources}"
    )
    table = Table.grid(padding=(0, 2))
    for aspect in now.aspects:
        table.add_row(Text.from_markup(_mark(aspect)), Text(aspect.text))
    action = Text(now.action.text if now.action else "", style="dim")
    return Group(head, Text(facts), table, action)


def _mark(aspect: AspectPart) -> str:
    if aspect.dropped:
        return "[dim]– left out[/]"
    return f"{MARKS[aspect.mark]} {mark_words(aspect.mark, aspect.sources, aspect.open_points)}"


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
