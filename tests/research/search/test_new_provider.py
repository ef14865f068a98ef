"""A provider is one file and one line: all that shows or reads settings derives from it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.support.retrieval.search_api import serving

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio, json, sys
from research.search import providers
providers.MODULES["larder"] = "tests.support.retrieval.larder"  # the one line

import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)

from django.contrib.auth.models import User
from django.test import Client
import httpx
from config import reference
from research.runtime.settings_check import describe_unknown
from research.engine.ports import SearchRequest
from research.runtime.installation import current_installation
from research.runtime.source_choices import provider_settings
from research.services.errors import ServiceError
from research.services.installation import change_settings

admin = User.objects.create_superuser("ada")
browser = Client()
browser.force_login(admin)
try:
    change_settings(admin, {"SEARCH_PROVIDER": "larder"})
    refused = ""
except ServiceError as error:
    refused = str(error)
browser.post("/installation/", {"LARDER_API_KEY": "sesame", "SEARCH_PROVIDER": "larder"})
page = browser.get("/installation/").content.decode()
settings = provider_settings(current_installation())

async def search():
    async with httpx.AsyncClient() as client:
        found = providers.open_search(["larder"], settings, client)
        return await found.search(SearchRequest("plum jam"))

print(json.dumps({
    "example": reference.env_example(), "documented": reference.settings_page(),
    "unknown": describe_unknown(["LARDER_API_KEY", "LARDER_URL", "LARDER_APIKEY"]),
    "refused": refused, "page": page, "configured": providers.configured_providers(settings),
    "hits": [hit.title for hit in asyncio.run(search()).hits],
}))
"""


@pytest.mark.subprocess
@pytest.mark.requirement("settings")
async def test_a_provider_in_one_file_is_configured_documented_set_up_and_used(
    tmp_path: Path,
) -> None:
    async with serving() as api:
        api.answers(200, "http://a.example/|Plum jam|Boil it.")
        environment = {
            "PATH": os.environ["PATH"],
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PLUMBLINE_HOME": str(tmp_path),
            "ALLOWED_HOSTS": "testserver",
            "LARDER_URL": api.url,
        }
        program = await asyncio.create_subprocess_exec(
            sys.executable, "-c", PROGRAM, cwd=ROOT, env=environment, stdout=PIPE, stderr=PIPE
        )
        output, errors = await program.communicate()
        assert program.returncode == 0, errors.decode()
    seen = json.loads(output)
    assert "# A key for Larder.\n# LARDER_API_KEY=" in seen["example"]
    assert (
        "| `LARDER_URL` | `http://127.0.0.1:9` | Another address for Larder's interface. |"
        in seen["documented"]
    )
    assert "pubmed, github, stack_exchange, larder" in seen["documented"]
    [unknown] = seen["unknown"]
    assert unknown.endswith("LARDER_APIKEY, which is not a setting. Did you mean LARDER_API_KEY?")
    assert seen["refused"] == "Larder needs its key."
    assert (
        "Key for Larder" in seen["page"] and "Delete the saved key: Key for Larder" in seen["page"]
    )
    assert "sesame" not in seen["page"]
    assert seen["configured"] == ["larder"]
    assert seen["hits"] == ["Plum jam"]
    assert api.asked[0].headers["x-key"] == "sesame"
