"""The real engine and worker with a scripted model: four units of a run and four runs at once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser

from research.engine import loop
from research.engine.config import ResearchConfig
from research.models import Run
from research.queue.processes import EmbeddedWorker
from research.services import runs
from research.worker import writer as writing
from research.worker.run_executor import Outcome, advance_run
from tests.engine.scripted import Oracle, Part, Script, Web, World, harbour_pages
from tests.research.killing import Killed, killed_at
from tests.research.worker.test_embedded import QUICK, Engine, expire

pytestmark = pytest.mark.django_db(transaction=True)

WIDE = Script(
    "When was the Harrow Point lighthouse first lit, who designed it, where did Edda Marlow "
    "learn her trade, and who owned the Calder foundry?",
    (
        Part("When was the lighthouse lit?", "Harrow Point lighthouse first lit", ("first lit",)),
        Part("Who designed the lighthouse?", "Harrow Point lighthouse designed", ("designed",)),
        Part("Where did Edda Marlow learn?", "Edda Marlow learned trade", ("learned",)),
        Part("Who owned the foundry?", "Calder foundry Ruth Ansel", ("Ruth Ansel",)),
    ),
    "complex",
)
SLOTS = 4
RUNS = 12


class WindowedOracle(Oracle):
    """Tells its window only after a while, as a server does."""

    async def context_tokens(self) -> int:
        await asyncio.sleep(0)
        return 32_000


def wide_world(seed: int = 1) -> World:
    return World(Web(harbour_pages(), chance=random.Random(seed)), WindowedOracle(WIDE))


def asked(person: AbstractUser) -> Run:
    config = ResearchConfig(max_concurrent_research_units=SLOTS)
    return runs.ask_question(person, WIDE.question, agreed=True, config=config)


def advanced(run: Run, world: World, engine: Engine = loop.run_research) -> Outcome:
    own = advance_run(run.pk, lambda _: world.tools(), engine=engine, timing=QUICK)
    return asyncio.run(own)


def test_four_units_journal_the_window_once(ada: AbstractUser) -> None:
    run, world = asked(ada), wide_world()
    assert advanced(run, world) == "done"
    assert ended(run) == "completed"
    assert world.model is not None and world.model.at_once > 1
    assert run.units.filter(round=1).count() == SLOTS
    assert run.journal.filter(place="model/window").count() == 1


@pytest.mark.slow
def test_four_runs_at_once_complete_with_large_batches(
    ada: AbstractUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    commit = writing.commit_works

    def counted(lease: Any, works: list[writing.Work]) -> None:
        sizes.append(len(works))
        commit(lease, works)

    monkeypatch.setattr(writing, "commit_works", counted)
    waiting = [asked(ada) for _ in range(RUNS)]
    asyncio.run(worked_off(waiting))
    assert [ended(run) for run in waiting] == ["completed"] * RUNS
    assert max(sizes) > 10


async def worked_off(waiting: list[Run]) -> None:
    worlds = {run.pk: wide_world(run.pk) for run in waiting}
    worker = EmbeddedWorker(lambda run: worlds[run.pk].tools(), SLOTS, timing=QUICK)
    await worker.start()
    left = Run.objects.filter(pk__in=worlds, finished_at=None)
    async with asyncio.timeout(120):
        while await worker.writer.call(left.exists):
            await asyncio.sleep(0.02)
    await worker.stop()


@pytest.mark.requirement("F3")
@pytest.mark.slow
def test_killed_at_an_entry_it_completes_and_asks_for_no_settled_answer_again(
    ada: AbstractUser,
) -> None:
    whole = asked(ada)
    assert advanced(whole, wide_world()) == "done"
    for k in range(1, whole.journal.count(), 5):
        run, world = asked(ada), wide_world()
        with pytest.raises(BaseException) as died:
            advanced(run, world, killed_at(k, loop.run_research))
        assert is_killed(died.value), k
        check_resumed(run, world, k)


def check_resumed(run: Run, world: World, k: int) -> None:
    """What was settled is not asked again; a call of the model under way may be."""
    assert world.model is not None
    under_way = run.journal.filter(kind="model", status="pending")
    may_be_twice = {entry.request["prompt"] for entry in under_way}
    settled = run.journal.filter(status="done")
    expire(run)
    fetched, before = Counter(world.web.fetched), set(settled.values_list("place", flat=True))
    assert advanced(run, world) == "done"
    assert (ended(run), run.crashes) == ("completed", 0), k
    prompts = Counter(request.prompt for request in world.model.requests)
    assert {prompt for prompt, times in prompts.items() if times > 1} <= may_be_twice, k
    again = {url for url in fetched if world.web.fetched[url] > fetched[url]}
    assert not again & {place.removeprefix("fetch/") for place in before}, k


def is_killed(error: BaseException) -> bool:
    """Units side by side end in a group."""
    if isinstance(error, BaseExceptionGroup):
        return all(is_killed(each) for each in error.exceptions)
    return isinstance(error, Killed)


def ended(run: Run) -> str:
    run.refresh_from_db()
    return f"{run.status}" if run.status == "completed" else f"{run.status}: {run.termination_text}"
