"""A few kills and short outages of the measurement that makes many and long ones."""

from __future__ import annotations

import socket

import pytest

from bench import outages
from bench.cutting import Proxy
from bench.outages import Extent
from bench.world.running import running_world


@pytest.mark.slow
@pytest.mark.subprocess
@pytest.mark.requirement("F3")
@pytest.mark.parametrize(
    "database",
    ["sqlite", pytest.param("postgresql", marks=pytest.mark.services("postgresql", "redis"))],
)
def test_runs_survive_kills_and_outages_and_ask_nothing_settled_again(database: str) -> None:
    extent = Extent(kills=2, outages=1, seconds=2.0)
    with running_world(1, latency=True, per_kind=1) as running:
        for found in outages.measure(running, database, extent):
            assert found.holds, found


def test_a_proxy_that_is_cut_refuses_and_comes_back_at_its_place() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        Proxy("127.0.0.1", server.getsockname()[1]) as proxy,
    ):
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", proxy.port)) as client:
                far, _ = server.accept()
                client.sendall(b"hello")
                assert far.recv(5) == b"hello"
                proxy.cut()
                assert client.recv(1) == b""
                far.close()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.1", proxy.port))
            proxy.restore()
