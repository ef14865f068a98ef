"""Completed runs of four workers ÷ those of one, where a run's work is waiting."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time

from bench.scale.parts import prepare_django

prepare_django()

from django.contrib.auth import get_user_model  # noqa: E402 - after the setup
from django.db import connections  # noqa: E402

from research.engine.config import ResearchConfig  # noqa: E402
from research.engine.journal import Journal  # noqa: E402
from research.engine.loop import Question  # noqa: E402
from research.engine.ports import Tools  # noqa: E402
from research.engine.records import RunState, Status  # noqa: E402
from research.models import Run  # noqa: E402
from research.queue.processes import EmbeddedWorker  # noqa: E402
from research.runtime.program import SystemClock  # noqa: E402
from research.search.fallback import NoSearch  # noqa: E402
from research.services import runs  # noqa: E402

WORKERS, SLOTS, RUN_SECONDS = 4, 2, 2.0
START_SECONDS, SECONDS = 3.0, 20.0


async def engine(question: Question, config: ResearchConfig, journal: Journal) -> None:
    await asyncio.sleep(RUN_SECONDS)
    journal.emit(RunState(Status.COMPLETED, termination_text="Done."))


def tools(run: Run) -> Tools:
    return Tools(NoSearch(), None, SystemClock())  # type: ignore[arg-type]


def work(until: float) -> None:
    async def work_until() -> None:
        worker = EmbeddedWorker(tools, SLOTS, engine=engine)
        await worker.start()
        await asyncio.sleep(until - time.time())
        await worker.stop()

    asyncio.run(work_until())


def completed_by(workers: int) -> int:
    """Return the runs that so many workers complete in `SECONDS`, once they have started."""
    Run.objects.all().delete()
    person = get_user_model()._default_manager.get_or_create(username="person")[0]
    for number in range(round(2 * workers * SLOTS * (START_SECONDS + SECONDS) / RUN_SECONDS)):
        runs.ask_question(person, f"Question {number}", agreed=True)
    connections.close_all()
    fork = multiprocessing.get_context("fork")
    begin = time.time() + START_SECONDS
    until = begin + SECONDS
    processes = [fork.Process(target=work, args=(until,)) for _ in range(workers)]
    for process in processes:
        process.start()
    time.sleep(max(0.0, begin - time.time()))
    before = Run.objects.filter(status="completed").count()
    time.sleep(max(0.0, until - time.time()))
    done = Run.objects.filter(status="completed").count() - before
    for process in processes:
        process.join()
    return done


def main() -> None:
    one, several = completed_by(1), completed_by(WORKERS)
    print(json.dumps({"one": one, "several": several, "speedup": several / max(1, one)}))


if __name__ == "__main__":
    main()
