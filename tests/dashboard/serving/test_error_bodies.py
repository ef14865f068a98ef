"""Errors that programs get where people get a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bench.dashboard.processes import Served, served

pytest_plugins = ["tests.support.fixtures"]
pytestmark = pytest.mark.subprocess

LARGE = b"x" * 3_000_000
FORM = {"Content-Type": "multipart/form-data"}
UNKNOWN_HOST = {"Host": "elsewhere.example"}


@pytest.fixture(scope="module")
def server(empty_state: Path) -> Iterator[Served]:
    with served(1, state=empty_state) as running:
        yield running


def ask(server: Served, method: str, path: str, **content: object) -> httpx.Response:
    url = f"http://127.0.0.1:{server.port}{path}"
    return httpx.request(method, url, timeout=60, **content)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "runs", {"content": LARGE}, 413),
        ("PUT", "runs", {}, 405),
        ("POST", "nope", {}, 404),
        ("DELETE", "nope", {}, 404),
        ("GET", "nope", {}, 404),
        ("GET", "runs", {"headers": UNKNOWN_HOST}, 400),
    ],
)
def test_the_api_answers_with_problems(
    server: Served, method: str, path: str, content: dict[str, object], status: int
) -> None:
    answer = ask(server, method, f"/api/v1/{path}", **content)
    assert (answer.status_code, answer.headers["Content-Type"]) == (
        status,
        "application/problem+json",
    )
    told = answer.json()
    assert told["status"] == status and told["title"] and told["detail"]


@pytest.mark.parametrize(
    ("method", "path", "content", "status"),
    [
        ("POST", "responses", {"content": LARGE}, 413),
        ("PUT", "responses", {}, 405),
        ("POST", "embeddings", {"json": {}}, 404),
        ("GET", "responses/resp_1/input_items", {}, 404),
        ("GET", "models", {"headers": UNKNOWN_HOST}, 400),
    ],
)
def test_openai_clients_get_errors_in_openai_s_form(
    server: Served, method: str, path: str, content: dict[str, object], status: int
) -> None:
    answer = ask(server, method, f"/v1/{path}", **content)
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/json")
    error = answer.json()["error"]
    assert error["message"] and error["type"] == "invalid_request_error"
    assert {"param", "code"} < set(error)


def test_agents_get_errors_of_json_rpc(server: Served) -> None:
    answer = ask(server, "POST", "/mcp", content=LARGE)
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "application/json")
    assert answer.json()["error"]["message"] == "The body is too large."


def test_people_still_get_pages(server: Served) -> None:
    for path, content, status in (
        ("/sign-in/", {"content": LARGE}, 413),
        ("/runs/", {"headers": UNKNOWN_HOST}, 400),
    ):
        answer = ask(server, "POST", path, **content)
        assert (answer.status_code, answer.headers["Content-Type"]) == (
            status,
            "text/html; charset=utf-8",
        )
