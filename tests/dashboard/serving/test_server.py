"""The web server's process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest
from daphne.server import Server

from dashboard.serving import server
from dashboard.serving.server import Address, EmbeddedServer


@pytest.fixture
def turns() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("turns")
def test_research_gives_way_to_requests_within_a_millisecond(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    intervals: list[float] = []
    monkeypatch.setattr(Server, "run", lambda _: intervals.append(sys.getswitchinterval()))
    monkeypatch.setattr(server.reactor, "callWhenRunning", lambda _: None)
    unused: Any = None
    address = Address("127.0.0.1", 8000)
    EmbeddedServer(unused, unused, address, on_ready=unused, close=unused).run()
    assert [each <= 0.001 for each in intervals] == [True]
