"""`manage.py worker` as operators run it: processes of their own, killed and told to stop."""

from __future__ import annotations

import signal
import subprocess
import time
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from research.management.commands import worker
from tests.support.installation import Inside, Installation
from tests.support.world import SIMPLE, World

pytest_plugins = ["tests.support.fixtures"]


@contextmanager
def working(installation: Installation, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a worker's process, once it says that it works."""
    process = installation.start("worker", *arguments, stdout=subprocess.PIPE)
    try:
        assert process.stdout and b"Working on" in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def until(looking: Inside, run: str, **expected: Any) -> float:
    """Wait for these columns of the run's row; return how long it took, in seconds."""
    began = time.monotonic()
    while time.monotonic() - began < 40:
        head = looking("head", run=run)
        if all(head[name] == value for name, value in expected.items()):
            return time.monotonic() - began
        time.sleep(0.05)
    raise AssertionError(f"{head} is not {expected}")


@pytest.mark.subprocess
@pytest.mark.requirement("F8")
def test_a_worker_takes_over_from_a_killed_one_of_its_host_before_the_lease_expires(
    world: World, installation: Installation
) -> None:
    world.model.hold("read")
    with installation.inside() as looking, working(installation) as first:
        run = looking("ask", question=SIMPLE)
        assert world.model.held.wait(30)
        with working(installation, "--queues", "research", "--concurrency", "1"):
            first.kill()
            first.wait()
            seconds = until(looking, run, lease_epoch=2)
            world.model.let_go()
            until(looking, run, status="completed")
    assert seconds < 6, "a lease lasts 15 seconds"


@pytest.mark.subprocess
def test_a_worker_told_to_stop_lets_a_call_finish_and_gives_the_run_back(
    world: World, installation: Installation
) -> None:
    world.model.hold("read")
    with installation.inside() as looking, working(installation) as process:
        run = looking("ask", question=SIMPLE)
        assert world.model.held.wait(30)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        world.model.let_go()
        assert process.wait(20) == 0
        settled = {e["place"]: e["status"] for e in looking("journal", run=run)}
        assert settled["round/1/unit/1/read"] == "done"
        assert "pending" not in settled.values()
        head = looking("head", run=run)
        assert (head["lease_owner"], head["crashes"]) == ("", 0)
        assert world.model.tasks == ["intake", "read"]
        looking("work", run=run)
        assert looking("head", run=run)["status"] == "completed"


@pytest.mark.parametrize("text", ["research,nonsense", ","])
def test_unknown_queues_are_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=r"no such queue: nonsense|at least one"):
        worker.queue_names(text)


@pytest.mark.parametrize("text", ["0", "-1", "two", ""])
def test_a_concurrency_below_one_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="not a whole number"):
        worker.at_least_one(text)
