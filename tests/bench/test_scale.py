"""The observer of several processes, and the table of bars."""

from __future__ import annotations

import asyncio
import hashlib
import json
import socket
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bench.cutting import Proxy
from bench.scale import table
from bench.scale.altered import LONG_SECONDS, _watch
from bench.scale.fleet import CALLS, STATES, Trial
from bench.scale.table import BARS, Choice, print_table
from bench.scale.trials import Extent, redis_away


class Watched:
    """A fleet whose database and logs are as they are given."""

    web = ()

    def __init__(self, calls: list[tuple[Any, ...]], entries: list[dict[str, Any]]) -> None:
        self.answers = {CALLS: calls, STATES: [("a", "completed"), ("b", "researching")]}
        self.entries = entries
        self.running = self

    def log(self) -> dict[str, Any]:
        return {"entries": self.entries}

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.answers[query]


def asked(prompt: str, start: float) -> dict[str, Any]:
    sha256 = hashlib.sha256(prompt.encode()).hexdigest()
    return {"server": "model", "prompt_sha256": sha256, "start": start}


def test_only_calls_that_began_after_they_were_settled_count_as_asked_again() -> None:
    own, shared = {"prompt": "own"}, {"prompt": "shared"}
    calls = [(1, 1, "model", own), (2, 1, "model", shared), (3, 2, "model", shared)]
    entries = [asked("own", 1.0), asked("own", 4.0), asked("own", 6.0), asked("shared", 9.0)]
    trial = Trial(Watched(calls, entries))  # type: ignore[arg-type]
    trial._seen = {1: 5.0, 2: 5.0, 3: 5.0}
    trial._compare()
    assert (trial.found.asked_again, trial.found.compared) == (1, 1)
    assert (trial.found.runs, trial.found.unfinished) == (2, 1)


def test_a_missed_bar_and_a_part_that_fails_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(part: str) -> dict[str, float]:
        raise TimeoutError("the workers did not start")

    extent = Extent()
    monkeypatch.setattr(table, "measure", lambda part: {"speedup": 3.5})
    assert print_table(Choice(["throughput"], 1, extent)) == 0
    monkeypatch.setattr(table, "measure", lambda part: {"speedup": 3.3})
    assert print_table(Choice(["throughput"], 1, extent)) == 1
    monkeypatch.setattr(table, "measure", fails)
    assert print_table(Choice(["throughput"], 1, extent)) == 1
    assert "not measured: the workers did not start" in capsys.readouterr().out


def test_no_two_bars_have_the_same_key() -> None:
    keys = [bar.key for bars in BARS.values() for bar in bars]
    assert len(keys) == len(set(keys))


def test_a_proxy_that_hangs_passes_on_later_what_it_was_sent() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Proxy("127.0.0.1", server.getsockname()[1]) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port)) as client,
    ):
        far, _ = server.accept()
        proxy.hang()
        client.sendall(b"hello")
        resumed = threading.Timer(0.3, proxy.resume)
        began = time.monotonic()
        resumed.start()
        assert far.recv(5) == b"hello"
        assert time.monotonic() - began >= 0.3
        far.close()


def test_a_proxy_outlives_a_server_that_is_away_for_a_while() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with Proxy("127.0.0.1", port) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port)) as client:
            assert client.recv(1) == b""
        with (
            socket.create_server(("127.0.0.1", port)) as server,
            socket.create_connection(("127.0.0.1", proxy.port)),
        ):
            server.accept()[0].close()


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.requirement("F8")
@pytest.mark.services("postgresql", "redis")
def test_runs_complete_while_redis_is_away() -> None:
    found = redis_away(Extent(runs=2, outage_seconds=2.0))
    assert (found["redis_runs"], found["redis_unfinished"], found["redis_asked_again"]) == (2, 0, 0)
    assert found["redis_compared"] > 0


def test_the_watch_notes_where_the_loop_is_held_up(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    loop = asyncio.new_event_loop()

    def hold_up() -> None:
        time.sleep(4 * LONG_SECONDS)

    async def work() -> None:
        watch = (loop, threading.get_ident(), told)
        threading.Thread(target=_watch, args=watch, daemon=True).start()
        hold_up()
        while not told.exists():
            await asyncio.sleep(0.01)

    loop.run_until_complete(work())
    loop.call_later(1.0, loop.stop)
    loop.run_forever()
    found = json.loads(told.read_text())
    assert max(found["answers"]) >= 3 * LONG_SECONDS
    assert len(found["answers"]) == len(found["computed"])
    assert any("hold_up" in function for function in found["longest"][0][1])
