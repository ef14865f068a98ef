"""Processes that notify each other of work, and how often they look for it."""

from __future__ import annotations

import asyncio

import pytest
from django.db import connection, connections, transaction

from research.worker import notify
from research.worker.notify import Listener, woken_by_commands


@pytest.fixture(autouse=True)
def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "_heard_at", None)


def tell(what: str, *, rolls_back: bool = False) -> None:
    """Notify as another process does, over a separate connection."""
    try:
        with transaction.atomic():
            notify.tell_processes(what)
            transaction.set_rollback(rolls_back)
    finally:
        connections.close_all()


@pytest.mark.django_db(transaction=True)
def test_what_another_process_commits_is_heard_and_what_it_rolls_back_is_not() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has no notifications")
    commanded: list[int] = []

    async def scenario() -> None:
        listener, woken = Listener(), asyncio.Event()
        notify.on_wake.append(woken.set)
        notify.on_command.append(commanded.append)
        await listener.start()
        async with asyncio.timeout(20):
            await woken.wait()  # it listens, but has heard nothing
            assert notify.patience(0.5) == 0.5
            await asyncio.to_thread(tell, "7", rolls_back=True)
            woken.clear()
            await asyncio.to_thread(tell, "8")
            await woken.wait()
        assert notify.patience(0.5) == notify.PATIENCE_SECONDS
        await listener.stop()
        notify.on_wake.remove(woken.set)
        notify.on_command.remove(commanded.append)

    asyncio.run(scenario())
    assert commanded == [8]


async def test_only_the_beginning_of_silence_and_its_end_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    answers: list[object] = [OSError("refused"), OSError("refused"), "8", OSError("refused")]
    all_taken = asyncio.Event()

    async def listen(listener: Listener) -> None:
        if not answers:
            all_taken.set()
            await asyncio.Event().wait()
        answer = answers.pop(0)
        if isinstance(answer, OSError):
            raise answer
        listener._note("")

    monkeypatch.setattr(Listener, "_listen", listen)
    monkeypatch.setattr("research.worker.notify.AGAIN_SECONDS", 0)
    with caplog.at_level("INFO", logger="research.worker.notify"):
        work = asyncio.create_task(Listener()._work())
        await all_taken.wait()
        work.cancel()
    assert [each.levelname for each in caplog.records] == ["WARNING", "INFO", "WARNING"]


def test_looks_are_rarer_only_while_heartbeats_are_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(notify, "monotonic", lambda: now)
    assert notify.patience(0.5) == 0.5
    notify.hear(notify.BEAT)
    assert (notify.patience(0.5), notify.patience(60)) == (notify.PATIENCE_SECONDS, 60)
    now += notify.HEARD_SECONDS
    assert notify.patience(0.5) == 0.5
    notify.hear("said by a later version")
    assert notify.patience(0.5) == notify.PATIENCE_SECONDS


async def test_a_command_wakes_the_run_that_it_is_for() -> None:
    with woken_by_commands(7) as ours, woken_by_commands(8) as other:
        notify.hear("7")
        await asyncio.sleep(0)
        assert ours.is_set()
        assert not other.is_set()
