from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.templatetags.static import static
from django.test import Client

from dashboard.static_files import content_hash

SHEET = Path(settings.BASE_DIR) / "static" / "plumbline.css"
ACCEPTS = {"Accept-Encoding": "gzip, br"}


def test_the_url_of_a_static_file_has_the_hash_of_its_content() -> None:
    assert static("plumbline.css") == f"/static/plumbline.{content_hash(str(SHEET))}.css"
    assert static("nothing/like-it.css") == "/static/nothing/like-it.css"


def test_a_hashed_url_is_compressed_and_cached_forever() -> None:
    answer = Client().get(static("plumbline.css"), headers=ACCEPTS)
    assert answer.status_code == 200
    assert gzip.decompress(answer.content) == SHEET.read_bytes()
    assert "immutable" in answer.headers["Cache-Control"]
    assert answer.headers["Content-Length"] == str(len(answer.content))
    assert answer.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["plumbline.css", "plumbline.0123456789ab.css"])
def test_other_urls_of_a_file_are_not_cached_forever(name: str) -> None:
    answer = Client().get(f"/static/{name}")
    assert answer.content == SHEET.read_bytes()
    assert "immutable" not in answer.headers["Cache-Control"]


def test_a_page_is_compressed_for_clients_that_accept_it(client: Client, admin: User) -> None:
    assert client.get("/", headers=ACCEPTS).headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in client.get("/").headers
