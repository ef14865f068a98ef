"""Authentication, CSRF, rate limits and errors of the API."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.api import rate_limits
from dashboard.serving import body_limits
from dashboard.serving.body_limits import Head
from research.models import ApiToken, Run
from research.services import api_tokens
from tests.dashboard.api.conftest import client_with

QUESTION = {"question": "How old do oaks get?"}


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer plumbline_wrong"}])
def test_without_a_valid_token_nothing_is_answered(db: None, header: dict[str, str]) -> None:
    refused = Client(headers=header).get("/api/v1/runs")
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"] == "Bearer"
    assert refused.headers["Content-Type"] == "application/problem+json"


def test_a_session_may_read(client: Client) -> None:
    assert client.get("/api/v1/me").json() == {"user": "local", "token": None}


def test_a_session_needs_a_csrf_token_to_write(admin: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(admin)
    refused = browser.post("/api/v1/runs", QUESTION, content_type="application/json")
    assert refused.status_code == 403 and not Run.objects.exists()
    browser.get("/tokens/")
    token = browser.cookies["plumbline_csrf"].value
    headers = {"X-CSRFToken": token}
    sent = browser.post("/api/v1/runs", QUESTION, content_type="application/json", headers=headers)
    assert sent.status_code == 201


def test_a_token_needs_no_csrf_token(admin: User) -> None:
    _, secret = api_tokens.create_token(admin, "Test")
    program = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}"})
    sent = program.post("/api/v1/runs", QUESTION, content_type="application/json")
    assert sent.status_code == 201


def test_the_caller_is_described(admin: User) -> None:
    told = client_with(admin, max_cost_usd=1.5).get("/api/v1/me").json()["token"]
    assert told == {
        "name": "Test",
        "scopes": ["read", "write"],
        "max_cost_usd": 1.5,
        "expires_at": None,
    }


def test_requests_above_the_rate_limit_are_refused(
    api: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 2
    monkeypatch.setattr(rate_limits.count_request, "__defaults__", (lambda: 45.0,))
    first, second, third = (api.get("/api/v1/me") for _ in range(3))
    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 429]
    left = [answer.headers["RateLimit-Remaining"] for answer in (first, second, third)]
    assert left == ["1", "0", "0"]
    assert third.headers["Retry-After"] == third.headers["RateLimit-Reset"] == "15"
    monkeypatch.setattr(rate_limits.count_request, "__defaults__", (lambda: 60.0,))
    assert api.get("/api/v1/me").status_code == 200


def test_a_token_deleted_elsewhere_changes_nothing_any_more(admin: User) -> None:
    """It may still read for seconds in this process, which looks it up for each change."""
    program = client_with(admin)
    assert program.get("/api/v1/me").status_code == 200
    ApiToken.objects.filter(owner=admin).delete()
    sent = program.post("/api/v1/runs", QUESTION, content_type="application/json")
    assert sent.status_code == 401 and not Run.objects.exists()


def test_another_token_has_a_limit_of_its_own(api: Client, admin: User, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 1
    assert [api.get("/api/v1/me").status_code for _ in range(2)] == [200, 429]
    assert client_with(admin).get("/api/v1/me").status_code == 200


def test_an_unknown_path_is_a_problem(api: Client) -> None:
    answer = api.get("/api/v2/anything")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.django_db(transaction=True)
async def test_a_token_may_send_larger_bodies() -> None:
    from channels.db import database_sync_to_async

    owner = await User.objects.acreate(username="ada")
    _, secret = await database_sync_to_async(api_tokens.create_token)(owner, "Test")
    head = Head("POST", "/api/v1/runs", authorization=f"Bearer {secret}")
    assert await body_limits.most_bytes(head) == body_limits.form_bytes()
    await ApiToken.objects.all().adelete()
    assert await body_limits.most_bytes(head) == body_limits.ANONYMOUS_BYTES
