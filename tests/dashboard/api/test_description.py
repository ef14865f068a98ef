"""The API keeps what its OpenAPI description says, for generated requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from datetime import time
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection, transaction
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as examples
from schemathesis.config import SchemathesisConfig

from research.models import Cadence, Event, Occurrence, Run
from research.notifications import subscriptions
from research.runtime import tool_factory
from research.schedules import manage
from research.schedules.manage import Plan
from research.services import api_tokens, documents

DESCRIPTION = "/api/v1/openapi.json"
FUZZ = bool(os.environ.get("FUZZ"))
REQUESTS = 50 if FUZZ else 2
"""Generated requests for each operation, beside the systematic ones of `make fuzz`."""


IDS = {
    "path.run_id": "generatedrun",
    "path.thread_id": "generatedthread",
    "path.collection_id": "generatedcollection",
    "path.name": "oak.md",
    "path.evidence_id": "E1",
    "path.extension": "md",
    "path.webhook_id": "generatedwebhook",
    "path.delivery_id": "generateddelivery",
    "path.schedule_id": "generatedschedule",
}
WITH_RULES = [
    "POST /api/v1/runs",
    "POST /api/v1/schedules",
    "PATCH /api/v1/schedules/{schedule_id}",
    "POST /api/v1/webhooks",
    "PATCH /api/v1/webhooks/{webhook_id}",
]
REFUSED = ["2xx", "409", "422"]
"""What JSON Schema cannot express: `settings` follow rules among each other, time zones are those
of the server, and webhooks have addresses that may be requested.
"""

CONFIG = {
    "parameters": IDS,
    "phases": {"coverage": {"enabled": FUZZ}},
    "analysis": {"constants": {"enabled": FUZZ}},  # reads the sources in each test process
    "operations": [
        {
            "include-name": WITH_RULES,
            "checks": {"positive_data_acceptance": {"expected-statuses": REFUSED}},
        }
    ],
}
schema = schemathesis.openapi.from_wsgi(
    DESCRIPTION, WSGIHandler(), config=SchemathesisConfig.from_dict(CONFIG)
)


@pytest.fixture
def token(finished: Run, admin: User, settings: Any, tmp_path: Path) -> Iterator[str]:
    """A token of a user who has what the generated requests name."""
    settings.API_REQUESTS_PER_MINUTE = 1_000_000
    settings.STATE_DIR = tmp_path
    collection = documents.create_collection(admin, "Trees")
    oak = SimpleUploadedFile(IDS["path.name"], b"# Oak")
    documents.add_files(admin, collection, [oak])
    webhook = subscriptions.add_webhook(admin, "https://hooks.example.org/in", [Event.FINISHED])
    plan = Plan("How old do oaks get?", Cadence.WEEKLY, time(8), "UTC", config=finished.config)
    schedule = manage.add_schedule(admin, plan)
    Occurrence.objects.create(schedule=schedule, due_at=finished.created_at, run=finished)
    rows = {
        "run": finished,
        "thread": finished.thread,
        "collection": collection,
        "webhook": webhook,
        "delivery": subscriptions.send_test(admin, webhook),
        "schedule": schedule,
    }
    for name, row in rows.items():
        row.public_id = IDS[f"path.{name}_id"]
        row.save(update_fields=["public_id"])
    yield api_tokens.create_token(admin, "Test")[1]
    asyncio.run(tool_factory.close_tools())  # a search opens the index in this test's folder


@pytest.fixture(autouse=True)
def open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the test's transaction open: unlike Django's client, WSGI closes connections."""
    monkeypatch.setattr(connection, "close", lambda: None)


@pytest.mark.slow
@pytest.mark.requirement("F17")
@schema.exclude(path_regex="events$").parametrize()  # streams need ASGI: see test_events.py
@examples(max_examples=REQUESTS, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described(case: schemathesis.Case, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
    with transaction.atomic():
        answer = case.call_and_validate(headers=headers)
        transaction.set_rollback(True)  # the next request finds the same rows
    named = case.path_parameters.values()
    exists = bool(named) and set(named) <= set(IDS.values())
    assert not (exists and answer.status_code == 404)


def test_the_description_needs_no_token_and_names_no_stranger(client: Client) -> None:
    described = Client().get(DESCRIPTION).json()
    assert described["openapi"].startswith("3.1")
    problem = described["paths"]["/api/v1/runs"]["post"]["responses"]["422"]
    assert list(problem["content"]) == ["application/problem+json"]
