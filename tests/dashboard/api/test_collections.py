"""Collections, account and settings through the API."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from research.documents.try_search import Passage
from research.models import Collection, Run
from research.services import documents
from tests.dashboard.api.conftest import client_with
from tests.dashboard.conftest import make_run


@pytest.fixture
def collection(api: Client, settings: Any, tmp_path: Path) -> Iterator[str]:
    settings.STATE_DIR = tmp_path
    body = {"name": "Trees"}
    made = api.post("/api/v1/collections", body, content_type="application/json")
    assert made.status_code == 201
    yield made.json()["id"]


def test_files_are_uploaded_listed_and_removed(api: Client, collection: str) -> None:
    path = f"/api/v1/collections/{collection}/files"
    files = [SimpleUploadedFile("oak.md", b"# Oak"), SimpleUploadedFile("oak.exe", b"MZ")]
    sent = api.post(path, {"files": files}).json()
    assert sent["added"] == ["oak.md"]
    assert [each["name"] for each in sent["refused"]] == ["oak.exe"]
    assert [each["name"] for each in api.get(path).json()["items"]] == ["oak.md"]
    assert api.delete(f"{path}/oak.md").status_code == 204
    assert api.get(path).json()["items"] == []
    assert api.delete(f"{path}/oak.md").status_code == 404


def test_a_collection_is_read_and_deleted(api: Client, collection: str) -> None:
    assert api.get(f"/api/v1/collections/{collection}").json()["state"] == "waiting"
    assert [each["id"] for each in api.get("/api/v1/collections").json()["items"]] == [collection]
    assert api.delete(f"/api/v1/collections/{collection}").status_code == 204
    assert api.get(f"/api/v1/collections/{collection}").status_code == 404


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the index is asked; it finds one passage."""
    told: list[Any] = []

    async def found(rows: list[Collection], query: str, limit: int = 10) -> list[Passage]:
        told.append(([row.public_id for row in rows], query, limit))
        return [Passage("doc://x", "Oak", "Oaks grow old.", "Age", frozenset())]

    monkeypatch.setattr("dashboard.api.collections.search_collections", found)
    return told


FOUND = {"url": "doc://x", "title": "Oak", "section": "Age", "text": "Oaks grow old."}


def test_a_search_returns_passages(api: Client, collection: str, asked: list[Any]) -> None:
    answer = api.get(f"/api/v1/collections/{collection}/search", {"q": "old oaks"}).json()
    assert answer["items"] == [FOUND]
    assert asked == [([collection], "old oaks", 10)]


def test_several_collections_are_searched_at_once(
    api: Client, admin: User, collection: str, asked: list[Any]
) -> None:
    other = documents.create_collection(admin, "Yews").public_id
    hidden = documents.create_collection(User.objects.create(username="stranger"), "Hidden")
    search = partial(api.get, "/api/v1/collections/search")
    assert search({"q": "old"}).json()["items"] == [FOUND]
    assert search({"q": "old", "collection": [other, collection], "limit": 3}).status_code == 200
    assert asked == [([collection, other], "old", 10), ([other, collection], "old", 3)]
    assert search({"q": "old", "collection": [hidden.public_id]}).status_code == 404
    assert search({"q": "old", "limit": 0}).status_code == 422


def test_a_collection_of_another_user_is_not_found(collection: str) -> None:
    stranger = client_with(User.objects.create(username="stranger"))
    assert stranger.get(f"/api/v1/collections/{collection}").status_code == 404


def test_a_question_is_asked_of_a_collection(api: Client, collection: str) -> None:
    api.post(
        f"/api/v1/collections/{collection}/files",
        {"files": [SimpleUploadedFile("oak.md", b"# Oak")]},
    )
    body = {"question": "How old?", "collections": [collection]}
    made = api.post("/api/v1/runs", body, content_type="application/json")
    run = Run.objects.get(public_id=made.json()["id"])
    assert run.sources["search"] == ["documents"]
    assert run.sources["collections"] == [{"id": collection, "name": "Trees"}]


def test_settings_are_listed_with_their_defaults(api: Client) -> None:
    told = api.get("/api/v1/settings").json()
    assert "samples" in told["sources"]
    knobs = {each["name"]: each for each in told["settings"]}
    assert knobs["max_searches"]["value"] == 60 and knobs["max_searches"]["help"]


def test_usage_is_summed_over_own_runs(api: Client, admin: User) -> None:
    make_run(admin, usage={"searches": 2, "prompt_tokens": 5, "cost_usd": 0.5})
    make_run(admin, usage={"searches": 3, "completion_tokens": 1})
    make_run(User.objects.create(username="other"), usage={"searches": 9})
    used = api.get("/api/v1/usage").json()
    assert (used["runs"], used["searches"], used["tokens"], used["cost_usd"]) == (2, 5, 6, 0.5)


def test_usage_with_an_unknown_price_has_no_sum(api: Client, admin: User) -> None:
    make_run(admin, usage={"cost_usd": None})
    assert api.get("/api/v1/usage").json()["cost_usd"] is None


def test_an_upload_that_cannot_be_parsed_is_a_problem(api: Client, collection: str) -> None:
    path = f"/api/v1/collections/{collection}/files"
    answer = api.generic("POST", path, b"oak", content_type="multipart/form-data")
    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")
    assert "boundary" in answer.json()["detail"]
