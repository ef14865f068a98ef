"""Large, slow and broken requests against the real server on loopback."""

from __future__ import annotations

import re
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import httpx
import pytest

from bench import bodies
from bench.bodies import BOUNDARY, CLOSE, MEGABYTE, MULTIPART, TOKEN, Case, part, send
from bench.dashboard.processes import Served, served
from dashboard.serving.body_limits import ANONYMOUS_BYTES
from tests.browser.serving import free_port
from tests.dashboard.test_serve import link_in, serving

pytest_plugins = ["tests.support.fixtures"]
pytestmark = pytest.mark.subprocess

SIZE = 3 * MEGABYTE
SECONDS = 60
GENEROUS_MS = 3_000
CROWD = 60
STREAMED = {"multipart, lines in one file", "multipart, few big files"}
KINDS = sorted(bodies.bodies(SIZE))
EVERY_KIND = list(product(KINDS, (False, True)))


@pytest.fixture(scope="module")
def server(empty_state: Path) -> Iterator[Served]:
    with served(1, state=empty_state) as running:
        yield running


@pytest.fixture
def member(server: Served) -> Iterator[httpx.Client]:
    cookies = {"plumbline_session": server.sessions[0], "plumbline_csrf": TOKEN}
    url, told = f"http://127.0.0.1:{server.port}", {"X-CSRFToken": TOKEN}
    with httpx.Client(base_url=url, cookies=cookies, headers=told, timeout=SECONDS) as client:
        yield client


def case_of(server: Served, kind: str, *, signed_in: bool, is_chunked: bool) -> Case:
    session = server.sessions[0] if signed_in else ""
    return Case(kind, bodies.bodies(SIZE)[kind], session, is_chunked)


@pytest.mark.parametrize(("kind", "is_chunked"), EVERY_KIND)
def test_a_large_body_of_somebody_unknown_is_refused_unread(
    server: Served, kind: str, is_chunked: bool
) -> None:
    case = case_of(server, kind, signed_in=False, is_chunked=is_chunked)
    assert send(server.port, case.head(server.port), case.blocks()) == 413


@pytest.mark.parametrize(("kind", "is_chunked"), EVERY_KIND)
def test_somebody_who_is_signed_in_may_only_upload_files(
    server: Served, kind: str, is_chunked: bool
) -> None:
    case = case_of(server, kind, signed_in=True, is_chunked=is_chunked)
    status = send(server.port, case.head(server.port), case.blocks())
    assert status == 302 if kind in STREAMED else status in (400, 413)


@pytest.mark.parametrize("signed_in", [False, True])
def test_others_are_served_meanwhile_and_memory_stays(server: Served, signed_in: bool) -> None:
    for kind in ("multipart, many fields", "multipart, lines in one file"):
        outcome = bodies.measure(
            server, case_of(server, kind, signed_in=signed_in, is_chunked=False)
        )
        assert outcome.p95 < GENEROUS_MS
        assert outcome.growth < bodies.MOST_GROWTH_MB


def test_a_crowd_takes_turns(server: Served) -> None:
    body = bodies.bodies(ANONYMOUS_BYTES - 1_000)["multipart, many fields"]
    case = Case("crowd", body, "", is_chunked=False)

    def post(_: int) -> int:
        return send(server.port, case.head(server.port), case.blocks())

    with bodies.asking(server.port) as waiting, ThreadPoolExecutor(CROWD) as threads:
        statuses = set(threads.map(post, range(CROWD)))
    assert statuses == {200}
    assert waiting.p95 < GENEROUS_MS


@pytest.mark.parametrize("is_chunked", [False, True])
def test_an_upload_arrives_whole(server: Served, member: httpx.Client, is_chunked: bool) -> None:
    content = b"Oaks grow old.\n" * 20_000
    name = f"oaks {is_chunked}"
    body = part("name", name.encode()) + part("files", content, "oaks.txt") + CLOSE
    sent = iter([body[:100_000], body[100_000:]]) if is_chunked else body
    answer = member.post("/documents/", content=sent, headers={"Content-Type": MULTIPART})
    assert answer.status_code == 302
    page = member.get(answer.headers["Location"]).text
    assert name in page and "oaks.txt" in page and "293" in page


def test_a_chunked_form_is_read(member: httpx.Client) -> None:
    told = {"Content-Type": bodies.FORM}
    answer = member.post("/settings/", content=iter([b"question=", b""]), headers=told)
    assert answer.status_code == 422


def test_the_refusal_says_how_much_may_be_sent(server: Served) -> None:
    url = f"http://127.0.0.1:{server.port}/sign-in/"
    answer = httpx.post(url, data={"username": "x" * (ANONYMOUS_BYTES + 1)}, timeout=SECONDS)
    assert answer.status_code == 413
    assert "At most 16 KB can be sent at once" in answer.text and "Sign in" in answer.text
    assert "Content-Security-Policy" in answer.headers


def test_a_field_that_is_too_large_is_refused_in_words(member: httpx.Client) -> None:
    answer = member.post("/documents/", data={"name": "x" * SIZE}, files={"files": b"one"})
    assert answer.status_code == 413
    assert "At most 1 MB can be sent at once" in answer.text


@pytest.mark.parametrize(("signed_in", "told"), [(False, b"413"), (True, b"100")])
def test_a_client_that_asks_first_need_not_send(
    server: Served, signed_in: bool, told: bytes
) -> None:
    kind = "multipart, few big files"
    head = case_of(server, kind, signed_in=signed_in, is_chunked=False).head(server.port)
    with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS) as sock:
        sock.sendall(head[:-2] + b"Expect: 100-continue\r\n\r\n")
        assert sock.makefile("rb").readline().split()[1] == told


def test_a_connection_is_of_use_after_a_large_body(member: httpx.Client) -> None:
    files = {"files": ("a.txt", b"a" * (2 * ANONYMOUS_BYTES))}
    answer = member.post("/documents/", data={"name": "kept open"}, files=files)
    assert answer.status_code == 302
    assert member.get("/documents/").status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_health_needs_neither_a_session_nor_a_known_name(server: Served, method: str) -> None:
    answer = httpx.request(
        method, f"http://127.0.0.1:{server.port}/healthz", headers={"Host": "anything.test"}
    )
    assert answer.status_code == 200
    assert answer.text == ("ok\n" if method == "GET" else "")


def test_a_served_process_is_ready_and_shows_its_metrics_to_this_machine(server: Served) -> None:
    address = f"http://127.0.0.1:{server.port}"
    assert httpx.get(f"{address}/readyz").text == "database: ok\n"
    assert "\nplumbline_queue_depth " in httpx.get(f"{address}/metrics").text
    forwarded = httpx.get(f"{address}/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
    assert forwarded.status_code == 403


def test_a_request_that_breaks_off_is_no_error_of_the_server(tmp_path: Path) -> None:
    port = free_port()
    with serving(tmp_path, port) as (process, lines):
        session = httpx.get(link_in(lines)).cookies["plumbline_session"]
        for block in (b"", part("files", b"x" * 200_000, "a.txt")):
            break_off(port, session, "/documents/", block)
            break_off(port, "", "/sign-in/", block)
        assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=SECONDS).text == "ok\n"
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=SECONDS)
    assert not re.search("Traceback|ERROR|Exception", told)


def break_off(port: int, session: str, path: str, block: bytes) -> None:
    """Send the head and a part of the body, and go."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: plumbline_session={session}\r\n"
        f"Content-Type: multipart/form-data; boundary={BOUNDARY.decode()}\r\n"
        "Content-Length: 900000\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as sock:
        sock.sendall(head.encode() + block)
