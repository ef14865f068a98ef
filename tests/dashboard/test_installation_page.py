"""Model and search are set and tried in the browser, without JavaScript."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from research.engine.config import ResearchConfig
from research.installation import current
from tests.support.model_server import PLAIN, ModelServer, refuses, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]
KEY = "sk-very-secret"


@pytest.fixture
def server(settings: Settings) -> Iterator[ModelServer]:
    """A model server at a port that is looked at, and nothing set by the environment."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RESEARCH_MODEL", "EVALUATOR_MODEL"):
        setattr(settings, name, "")
    settings.RESEARCH_DEFAULTS = ResearchConfig()
    with ModelServer({}) as server:
        settings.LOCAL_MODEL_PORTS = [int(server.place.rpartition(":")[2])]
        yield server


@pytest.mark.requirement("F16")
def test_a_local_server_is_found_and_used_by_one_button(
    client: Client, server: ModelServer
) -> None:
    page = client.get("/installation/").content.decode()
    assert "Found on this machine" in page and server.url("/v1") in page
    offer = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    tried = client.post("/installation/", offer).content.decode()
    assert "Everything that is set up works" in tried
    assert "Answers keep to a JSON schema" in tried
    assert current()["RESEARCH_MODEL"] == "scripted"
    assert "scripted at" in client.get("/").content.decode()


def test_the_key_is_written_and_never_shown(client: Client, server: ModelServer) -> None:
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "OPENAI_API_KEY": KEY, "RESEARCH_MODEL": "m"}
    assert client.post("/installation/", sent).status_code == 302
    assert current()["OPENAI_API_KEY"] == KEY
    for page in (client.get("/installation/"), client.post("/installation/try/")):
        assert KEY not in page.content.decode()
    client.post("/installation/", {"RESEARCH_MODEL": "m", "OPENAI_API_KEY": ""})
    assert current()["OPENAI_API_KEY"] == KEY
    client.post("/installation/", {"forget_key": "on"})
    assert current()["OPENAI_API_KEY"] == ""


@pytest.mark.requirement("F16")
def test_the_search_is_set_and_tried(
    client: Client, server: ModelServer, settings: Settings, tmp_path: Path
) -> None:
    settings.SEARCH_PROVIDER, settings.DOCUMENTS = "", [str(tmp_path)]
    tried = client.post("/installation/", {"SEARCH_PROVIDER": "samples", "try": "1"})
    assert current()["SEARCH_PROVIDER"] == "samples"
    checks = {check["name"]: check for check in tried.context["checks"]}
    found = checks["Search"]["found"]
    assert "sample library" in found and ": 5 results for “" in found
    assert found in html.unescape(tried.content.decode())


@pytest.mark.requirement("D15", "F16")
def test_what_does_not_work_is_said_with_what_to_do(client: Client, server: ModelServer) -> None:
    server.faults["shape"] = [refuses(401)]
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent).content.decode()
    assert "Something does not work" in page
    assert "refused the key" in page and "Check OPENAI_API_KEY" in page


def test_one_that_ignores_schemas_and_can_do_little_is_told_apart(
    client: Client, server: ModelServer
) -> None:
    server.manner = PLAIN
    server.faults["sense"] = [says("The mill is old.")]
    sent = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted", "try": "1"}
    page = client.post("/installation/", sent).content.decode()
    assert "takes no notice of a schema" in page
    assert "MODEL_PROFILE=small" in page


def test_what_the_environment_sets_is_shown_and_not_changed(
    client: Client, server: ModelServer, settings: Settings
) -> None:
    settings.OPENAI_BASE_URL, settings.RESEARCH_MODEL = server.url("/v1"), "given"
    page = client.get("/installation/").content.decode()
    assert page.count("Set by the environment") == 3
    assert "Found on this machine" not in page
    client.post("/installation/", {"RESEARCH_MODEL": "other"})
    assert current()["RESEARCH_MODEL"] == "given"


def test_a_bad_address_is_told_beside_its_field(client: Client, server: ModelServer) -> None:
    page = client.post("/installation/", {"OPENAI_BASE_URL": "nonsense"})
    assert page.status_code == 422
    assert b'id="id_OPENAI_BASE_URL_error">An address looks like' in page.content


def test_settings_are_for_admins(db: None) -> None:
    User.objects.create_user("ada", password="x")
    client = Client()
    client.force_login(User.objects.get(username="ada"))
    for address in ("/installation/", "/installation/try/"):
        assert client.post(address).status_code == 302
    assert b"Setup" not in client.get("/").content
