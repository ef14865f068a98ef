"""Clients of the API with a token."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from research.models import Run
from research.services import api_tokens
from research.services.api_tokens import Scope
from tests.dashboard.conftest import QUOTE, add_evidence, add_report, make_run

PLAN = {"brief": "Oaks", "complexity": "simple", "language": "en", "aspects": []}


@pytest.fixture(autouse=True)
def empty_cache() -> Iterator[None]:
    """Requests that other tests counted don't use up the rate limit."""
    cache.clear()
    yield


def client_with(owner: User, *scopes: Scope, **limits: object) -> Client:
    _, secret = api_tokens.create_token(owner, "Test", scopes or tuple(Scope), **limits)
    return Client(headers={"Authorization": f"Bearer {secret}"})


@pytest.fixture
def api(admin: User) -> Client:
    return client_with(admin)


@pytest.fixture
def finished(admin: User) -> Run:
    """An ended run with one evidence record and a report that cites it."""
    run = make_run(admin, "completed", termination_reason="quality_met", plan=PLAN)
    add_evidence(run, 1)
    add_report(run, f"# Oaks\n\n{QUOTE} [1]")
    return run
