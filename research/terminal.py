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

from research import assembly, notify
from research.advancing import advance
from research.connections import asked
from research.engine.records import ENDED, Mark, Status
from research.engine.wording import count, mark_words
from research.leases import Lease, claim, new_owner
from research.models import Run
from research.progress import how_far, progress
from research.progress_parts import AspectPart, Progress
from research.services import ServiceError, runs

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5
CHANGEABLE, FIXED = r"\[y]es, \[n]o, or say what to change", r"\[y]es or \[n]o"
MARKS = {
    Mark.ANSWERED: "[green]✓[/]",
    Mark.ONE_SOURCE: "[yellow]◐[/]",
    Mark.PASSAGES: "[yellow]◐[/]",
    Mark.CLOSE: "○",
    Mark.DISPUTED: "[magenta]≠[/]",
    Mark.OPEN: "○",
    Mark.NOT_FOUND: "[red]–[/]",
    Mark.NOT_SEARCHED: "○",
}


class Foreground:
    """Works on one run until it has ended, asking its owner where it waits."""

    def __init__(self, actor: AbstractUser, run: Run, lease: Lease, *, quiet: bool) -> None:
        self.actor = actor
        self.run = run
        self.lease: Lease | None = lease
        self.console = Console(stderr=True)
        self.quiet = quiet
        self._interrupts = 0

    async def work(self) -> Run:
        """The run as it ended, or as it was put aside."""
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
            await assembly.close()
        return self.run

    async def _advance(self) -> None:
        lease = self.lease or await asyncio.to_thread(claim, self.run.pk, new_owner())
        self.lease = None
        if lease is None:
            await asyncio.sleep(POLL_SECONDS)
            return
        async with self._shown():
            await advance(self.run.pk, assembly.build_tools, lease=lease)

    def _interrupt(self) -> None:
        """Ctrl-C asks for a report on what is there; a second one cancels."""
        self._interrupts += 1
        command = runs.stop_and_report if self._interrupts == 1 else runs.cancel
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
    async def _shown(self) -> AsyncIterator[None]:
        """Live progress on standard error, redrawn after each commit."""
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
        """Away from the writer's thread, on which the lease is kept."""
        try:
            live.update(picture(await asked(progress, self.run)))
        except DatabaseError:
            log.warning("the progress cannot be shown now", exc_info=True)

    def _clarify(self) -> None:
        questions = (self.run.plan or {}).get("questions", [])
        self.console.print("[bold]A question first[/] (Enter leaves one out)")
        answers = [Prompt.ask(question, console=self.console, default="") for question in questions]
        if any(answers):
            runs.answer(self.actor, self.run, answers)
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
            runs.approve(self.actor, self.run)
        elif reply.lower() in {"n", "no"}:
            runs.cancel(self.actor, self.run)
        else:
            runs.send_back(self.actor, self.run, reply)

    def _decide(self) -> None:
        """The engine is unsure whether to go on."""
        reply = Prompt.ask(
            f"{self.run.asks} (d: dig deeper, s: sufficient)",
            console=self.console,
            choices=["d", "s"],
            default="s",
            show_choices=False,
        )
        command = runs.dig_deeper if reply == "d" else runs.stop_and_report
        command(self.actor, self.run)


def picture(now: Progress) -> Group:
    """Progress as a terminal shows it: verdict, sub-questions, what is being done."""
    head = Text(now.verdict.text or now.run.question, style="bold")
    quotes, sources = count(now.evidence.count, "quote"), count(now.evidence.sources, "source")
    score = f"{now.quality.score:.1f}" if now.quality.score is not None else "–"
    gaps = sum(gap.closed_round is None for gap in now.gaps)
    facts = (
        f"{how_far(now)} · score {score}, goal {now.quality.threshold:g} · {count(gaps, 'gap')} · "
        f"{quotes} from {sources}"
    )
    table = Table.grid(padding=(0, 2))
    for aspect in now.aspects:
        table.add_row(Text.from_markup(_mark(aspect)), Text(aspect.text))
    action = Text(now.action.text if now.action else "", style="dim")
    return Group(head, Text(facts), table, action)


def _mark(aspect: AspectPart) -> str:
    if aspect.dropped:
        return "[dim]– left out[/]"
    return f"{MARKS[aspect.mark]} {mark_words(aspect.mark, aspect.sources)}"


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()
