"""The table of processes, with processes that really live and die."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from research.models import Collection, Run, WorkerProcess
from research.queue import presence
from research.queue.host_process import HostProcess
from research.queue.presence import Registration, take_over
from research.runtime.program import REPLAY_VERSIONS
from research.worker import leases

pytestmark = pytest.mark.django_db

OURS = HostProcess.current()


def register(name: str, process: HostProcess, slots: int = 2) -> Registration:
    registration = Registration(name, ["research"], slots, process)
    registration.write()
    return registration


def no_such_process() -> HostProcess:
    return replace(OURS, pid=4_194_305)


def test_the_runs_of_a_dead_process_are_free_at_once(run: Run) -> None:
    register("dead", no_such_process())
    register("alive", OURS)
    assert leases.claim_run(run.pk, "dead")
    collection = Collection.objects.create(
        owner=run.owner, name="Books", lease_owner="dead",
        lease_until=leases.database_now() + timedelta(seconds=15),
    )  # fmt: skip
    assert leases.claim_run(run.pk, "alive") is None

    assert take_over(OURS) == 1
    assert leases.claim_run(run.pk, "alive")
    collection.refresh_from_db()
    assert collection.lease_until and collection.lease_until <= leases.database_now()
    assert [row.name for row in WorkerProcess.objects.all()] == ["alive"]
    run.refresh_from_db()
    assert run.crashes == 1


def test_the_runs_of_a_live_process_are_left_alone(run: Run) -> None:
    register("other", OURS)
    assert leases.claim_run(run.pk, "other")
    assert take_over(OURS) == 0
    run.refresh_from_db()
    assert leases.is_held(run)


def test_a_later_process_with_the_same_id_is_not_taken_for_the_dead_one() -> None:
    assert OURS.knows_dead(replace(OURS, pid_started="1"))
    assert not OURS.knows_dead(OURS)


@pytest.mark.subprocess
def test_a_killed_process_that_no_parent_has_waited_for_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        started = _started(child.pid)
        process = replace(OURS, pid=child.pid, pid_started=started)
        assert not OURS.knows_dead(process)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert OURS.knows_dead(process)


def _started(pid: int) -> str:
    from research.queue.host_process import _state_and_start

    return _state_and_start(pid)[1]


@pytest.mark.parametrize(
    ("changes", "is_dead"),
    [
        ({"boot_id": "earlier"}, True),
        ({"boot_id": "other", "host": "elsewhere"}, False),
        ({"boot_id": "other", "machine_id": "another"}, False),
        ({"pid_space": "a container"}, False),
        ({"boot_id": ""}, False),
    ],
    ids=["rebooted", "other host", "other machine", "container", "not told"],
)
def test_what_is_known_of_processes_that_are_out_of_sight(
    changes: dict[str, str], is_dead: bool
) -> None:
    known = replace(OURS, machine_id="machine", boot_id="boot", pid_space="boot space")
    other = replace(known, **{"pid": 4_194_305, "pid_space": "earlier space", **changes})
    assert known.knows_dead(other) is is_dead


def test_where_the_system_tells_nothing_nobody_is_taken_for_dead() -> None:
    blank = replace(OURS, machine_id="", boot_id="", pid_space="", pid_started="")
    assert not blank.knows_dead(replace(blank, pid=4_194_305))


def test_a_process_without_a_heartbeat_is_not_counted() -> None:
    register("fresh", OURS, slots=2)
    register("silent", replace(OURS, host="elsewhere"), slots=8)
    silent = leases.database_now() - timedelta(seconds=presence.GONE_SECONDS + 1)
    WorkerProcess.objects.filter(name="silent").update(seen_at=silent)
    assert presence.count_slots() == 2


@pytest.mark.django_db(transaction=True)
async def test_a_process_is_listed_from_its_start_to_its_stop() -> None:
    one = presence.Presence(Registration("me", ["research", "indexing"], 3, OURS))
    await one.start()
    row = await WorkerProcess.objects.aget()
    assert (row.name, row.slots, row.queues) == ("me", 3, ["research", "indexing"])
    assert (row.pid, row.replay_versions) == (os.getpid(), sorted(REPLAY_VERSIONS))
    await one.drain()
    assert (await WorkerProcess.objects.aget()).is_draining
    assert await one.writer.call(presence.count_slots) == 0
    await one.stop()
    assert not await WorkerProcess.objects.aexists()
