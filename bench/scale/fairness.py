"""How long one person's run waits behind another's 500, in lengths of a run."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter

from bench.scale.parts import prepare_django

prepare_django()

from django.contrib.auth import get_user_model  # noqa: E402 - after the setup

from research.engine.config import ResearchConfig  # noqa: E402
from research.engine.journal import Journal  # noqa: E402
from research.engine.loop import Question  # noqa: E402
from research.engine.ports import Tools  # noqa: E402
from research.engine.records import RunState, Status  # noqa: E402
from research.models import Run  # noqa: E402
from research.queue.admission import Caps  # noqa: E402
from research.queue.processes import EmbeddedWorker  # noqa: E402
from research.runtime.program import SystemClock  # noqa: E402
from research.search.fallback import NoSearch  # noqa: E402
from research.services import runs  # noqa: E402

MANY, SLOTS, RUN_SECONDS, SECONDS = 500, 4, 4.0, 20.0


class NoFetch:
    async def fetch(self, url: str) -> object:
        raise AssertionError("nothing is fetched")


def tools(run: Run) -> Tools:
    return Tools(NoSearch(), NoFetch(), SystemClock())  # type: ignore[arg-type]


async def main() -> None:
    begun: dict[str, float] = {}
    at_work: Counter[str] = Counter()
    most: Counter[str] = Counter()

    async def engine(question: Question, config: ResearchConfig, journal: Journal) -> None:
        person = question.text.split()[0]
        begun.setdefault(question.text, time.monotonic())
        at_work[person] += 1
        most[person] = max(most[person], at_work[person])
        await asyncio.sleep(RUN_SECONDS)
        at_work[person] -= 1
        journal.emit(RunState(Status.COMPLETED, termination_text="Done."))

    users = get_user_model()._default_manager
    worker = EmbeddedWorker(tools, SLOTS, engine=engine, caps=Caps(per_person=SLOTS))
    await worker.start()
    many = await worker.writer.call(users.create_user, "many")
    one = await worker.writer.call(users.create_user, "one")
    for number in range(MANY):
        await worker.writer.call(lambda n=number: runs.ask_question(many, f"many {n}", agreed=True))
    asked = time.monotonic()
    await worker.writer.call(lambda: runs.ask_question(one, "one 1", agreed=True))
    while "one 1" not in begun and time.monotonic() - asked < SECONDS:
        await asyncio.sleep(0.01)
    waited = begun.get("one 1", float("inf")) - asked
    await worker.stop()
    print(json.dumps({"waited_lengths": waited / RUN_SECONDS, "most_of_one": most["many"]}))


if __name__ == "__main__":
    asyncio.run(main())
