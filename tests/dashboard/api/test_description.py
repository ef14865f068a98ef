"""The API keeps what its OpenAPI description says, for generated requests."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck
from hypothesis import settings as examples
from schemathesis.config import SchemathesisConfig

from research.models import Run
from research.services import api_tokens, documents

DESCRIPTION = "/api/v1/openapi.json"
FUZZ = bool(os.environ.get("FUZZ"))
REQUESTS = 50 if FUZZ else 2
"""Generated requests for each operation, beside the systematic ones of `FUZZ=1`."""


IDS = {
    "path.run_id": "generatedrun",
    "path.thread_id": "generatedthread",
    "path.collection_id": "generatedcollection",
    "path.evidence_id": "E1",
}
WITH_KNOBS = {"include-name": ["POST /api/v1/runs", "POST /api/v1/schedules"]}
REFUSED = ["2xx", "409", "422"]
"""`settings` follow rules among each other, which JSON Schema cannot express."""

CONFIG = {
    "parameters": IDS,
    "phases": {"coverage": {"enabled": FUZZ}},
    "operations": [
        {**WITH_KNOBS, "checks": {"positive_data_acceptance": {"expected-statuses": REFUSED}}}
    ],
}
schema = schemathesis.openapi.from_wsgi(
    DESCRIPTION, WSGIHandler(), config=SchemathesisConfig.from_dict(CONFIG)
)


@pytest.fixture
def token(finished: Run, admin: User, settings: Any, tmp_path: Path) -> str:
    """A token of a user who has what the generated requests name."""
    settings.API_REQUESTS_PER_MINUTE = 1_000_000
    settings.STATE_DIR = tmp_path
    collection = documents.create_collection(admin, "Trees")
    for row, name in ((finished, "run"), (finished.thread, "thread"), (collection, "collection")):
        row.public_id = IDS[f"path.{name}_id"]
        row.save(update_fields=["public_id"])
    return api_tokens.create_token(admin, "Test")[1]


@pytest.fixture(autouse=True)
def open_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the test's transaction open: unlike Django's client, WSGI closes connections."""
    monkeypatch.setattr(connection, "close", lambda: None)


@schema.exclude(path_regex="events$").parametrize()
@examples(max_examples=REQUESTS, suppress_health_check=list(HealthCheck))
def test_every_answer_is_as_described(case: schemathesis.Case, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
    case.call_and_validate(headers=headers)


def test_the_description_needs_no_token_and_names_no_stranger(client: Client) -> None:
    described = Client().get(DESCRIPTION).json()
    assert described["openapi"].startswith("3.1")
    problem = described["paths"]["/api/v1/runs"]["post"]["responses"]["422"]
    assert list(problem["content"]) == ["application/problem+json"]
