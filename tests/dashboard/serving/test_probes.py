"""Readiness, and who may see the metrics."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pytest_django import Settings

from dashboard.serving import probes
from dashboard.serving.probes import Readiness, may_see_metrics, serve_probe


async def fine() -> None: ...


async def away() -> None:
    raise ConnectionError("postgres://user:secret@host")


async def hanging() -> None:
    await asyncio.Event().wait()


def scope(path: str = "/metrics", client: str = "127.0.0.1", **headers: str) -> dict[str, Any]:
    given = {"host": "127.0.0.1:8000", **headers}
    return {
        "path": path,
        "method": "GET",
        "client": (client, 5000),
        "headers": [(k.replace("_", "-").encode(), v.encode()) for k, v in given.items()],
    }


async def answer(asked: dict[str, Any]) -> tuple[int, dict[bytes, bytes], str]:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await serve_probe(asked, None, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"].decode()


async def test_ready_once_all_services_answer() -> None:
    assert await Readiness({"database": fine, "redis": fine})({}) == (
        200,
        "database: ok\nredis: ok\n",
    )


@pytest.mark.parametrize("check", [away, hanging])
async def test_not_ready_while_a_service_is_away_or_hangs(check: Any) -> None:
    ready = Readiness({"database": check, "redis": fine}, check_seconds=0.01)
    assert await ready({}) == (503, "database: unavailable\nredis: ok\n")


@pytest.mark.parametrize("phase", ["starting", "stopping"])
async def test_not_ready_before_and_after_serving(phase: Any) -> None:
    ready = Readiness({})
    ready.phase = phase
    assert await ready({}) == (503, f"{phase}\n")


async def test_many_askers_cause_one_check_a_second() -> None:
    checked, now = [], [0.0]

    async def check() -> None:
        checked.append(now[0])

    ready = Readiness({"database": check}, clock=lambda: now[0])
    await asyncio.gather(*(ready({}) for _ in range(50)))
    await ready({})
    now[0] = 1.5
    await ready({})
    assert checked == [0.0, 1.5]


LOCAL = [{}, {"host": "localhost"}, {"host": "[::1]:8000"}]
FOREIGN = [
    {"client": "192.0.2.7"},
    {"host": "attacker.test"},
    {"x_forwarded_for": "192.0.2.7"},
    {"forwarded": "for=192.0.2.7"},
    {"authorization": "Bearer guess"} | {"client": "192.0.2.7"},
]


@pytest.mark.parametrize("given", LOCAL)
def test_metrics_are_for_this_machine(given: dict[str, str], settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    assert may_see_metrics(scope(**given))


@pytest.mark.parametrize("given", FOREIGN)
async def test_metrics_are_for_nobody_else(given: dict[str, str], settings: Settings) -> None:
    settings.METRICS_TOKEN = ""
    status, headers, text = await answer(scope(**given))
    assert status == 403 and "METRICS_TOKEN" in text and "plumbline_" not in text
    assert headers[b"x-content-type-options"] == b"nosniff"


@pytest.mark.parametrize(
    ("sent", "seen"), [("Bearer t0ken", True), ("Bearer other", False), ("", False)]
)
def test_a_token_decides_instead_if_one_is_set(sent: str, seen: bool, settings: Settings) -> None:
    settings.METRICS_TOKEN = "t0ken"
    assert may_see_metrics(scope(client="192.0.2.7", authorization=sent)) is seen
    assert may_see_metrics(scope(authorization=sent)) is seen


async def test_the_process_is_measured_while_the_database_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def hang(function: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(probes, "_in_thread", hang)
    monkeypatch.setattr(probes, "CHECK_SECONDS", 0.01)
    status, headers, text = await answer(scope())
    assert status == 200 and "plumbline_database_up 0.0" in text
    assert "plumbline_sockets 0.0" in text
    assert headers[b"content-type"].startswith(b"text/plain; version=")


async def test_probes_are_only_read() -> None:
    for path in probes.PROBES:
        status, *_ = await answer({**scope(path), "method": "POST"})
        assert status == 405
