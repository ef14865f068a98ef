"""Wrong use and outages: a sentence for the user, an exit status, the record kept, no traceback."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.installation import Installation
from tests.support.serving import closed_place
from tests.support.world import LIT, SIMPLE, World

pytestmark = pytest.mark.subprocess

pytest_plugins = ["tests.support.fixtures"]

EGGS = "How to make scrambled eggs?"


def recorded(installation: Installation) -> dict[str, Any] | None:
    """The newest run as it is kept, or None where there is none."""
    with installation.inside() as inside:
        run = inside("latest")
        found: dict[str, Any] | None = inside("resource", run=run) if run else None
    return found


# --- what cannot be started -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("   ", "--yes"), "The question is empty."),
        (("e" * 2001, "--yes"), "The question has 2,001 characters; the maximum is 2,000."),
        ((EGGS,), "There is no terminal to ask you on: add --yes"),
        ((EGGS, "--yes", "--set", "NO_SUCH=1"), "There is no setting called NO_SUCH."),
        ((EGGS, "--yes", "--set", "MAX_SEARCHES=many"), "MAX_SEARCHES takes a whole number"),
        ((EGGS, "--yes", "--set", "MAX_SEARCHES"), "--set takes KNOB=VALUE"),
        ((EGGS, "--yes", "--mode", "quick"), "invalid choice: 'quick'"),
        (
            (EGGS, "--yes", "--documents", "/no/such/folder"),
            "folder is not a readable folder",
        ),
        ((EGGS, "--yes", "--search", "nobody"), "There is no search provider named nobody"),
        ((EGGS, "--yes", "--search", "searxng"), "SearXNG needs SEARXNG_URL to be set."),
        ((EGGS, "--yes", "--search", "documents"), "No folder of documents was named"),
    ],
    ids=[
        "empty",
        "long",
        "terminal",
        "unknown",
        "value",
        "form",
        "mode",
        "folder",
        "search",
        "unconfigured",
        "no folder",
    ],
)
def test_bad_use_ends_with_status_2_and_a_sentence(
    bare_installation: Installation, arguments: tuple[str, ...], sentence: str
) -> None:
    ended = bare_installation.manage("research", *arguments)
    assert ended.returncode == 2
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPENAI_BASE_URL", "nonsense"), ("SEARXNG_URL", "nonsense"), ("MAX_SEARCHES", "many")],
)
def test_a_setting_that_cannot_be_used_is_named(
    bare_installation: Installation, name: str, value: str
) -> None:
    bare_installation.settings = {name: value}
    ended = bare_installation.manage("research", EGGS, "--yes")
    assert ended.returncode == 2
    assert ended.stderr.startswith(name)
    assert len(ended.stderr.splitlines()) == 1


def test_a_run_that_is_not_there_cannot_be_replayed(bare_installation: Installation) -> None:
    ended = bare_installation.manage("replay", "nothing")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "There is no run nothing." in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_private_address_is_not_fetched(bare_installation: Installation) -> None:
    ended = bare_installation.manage("fetch", "http://127.0.0.1:8080/")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "refused: the address is this machine itself" in ended.stderr
    assert "Traceback" not in ended.stderr


# --- what fails once it runs ----------------------------------------------------------------


def failed(
    installation: Installation, ended: subprocess.CompletedProcess[str], sentence: str
) -> dict[str, Any]:
    """Exit status 1, the sentence for the user, a failed run in the record, no report."""
    assert ended.returncode == 1, ended.stderr
    assert sentence in ended.stdout
    assert "Traceback" not in ended.stderr
    found = recorded(installation)
    assert found and found["status"] == "failed"
    assert found["report_markdown"] == "" and found["citations"] == []
    assert found["quality_score"] is None and found["termination_reason"] is None
    assert found["errors"]
    return found


@pytest.mark.parametrize("content", [None, b"\x00\x01\x02"], ids=["empty", "nothing readable"])
def test_a_folder_without_documents_fails_the_run(
    bare_installation: Installation, tmp_path: Path, content: bytes | None
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    if content is not None:
        (folder / "photo.raw").write_bytes(content)
    ended = bare_installation.manage("research", EGGS, "--yes", "--documents", str(folder))
    failed(bare_installation, ended, f"The folder {folder} holds no documents that can be read.")


def test_a_folder_that_may_not_be_read_fails_the_run(
    bare_installation: Installation, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir(mode=0)
    arguments = ("research", EGGS, "--yes", "--documents", str(folder))
    ended = bare_installation.manage(*arguments, prefix=as_anybody())
    folder.chmod(0o700)
    failed(bare_installation, ended, f"The folder {folder} cannot be read: permission denied.")


def as_anybody() -> list[str]:
    """What to put before a command so that file permissions hold for it, even for root."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("root reads every folder, and there is no setpriv to do without that")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_with_the_search_down_the_run_fails_and_nothing_is_made_up(
    world: World, installation: Installation
) -> None:
    world.search.down = True
    ended = installation.manage("research", SIMPLE, "--yes")
    found = failed(installation, ended, "no search or page could be reached")
    assert "SearXNG: It answered 503" in ended.stderr
    assert any("SearXNG: It answered 503" in each["message"] for each in found["errors"])
    assert found["evidence"] == []
    assert "draft" not in world.model.tasks


def test_with_nothing_behind_the_search_s_address_the_run_fails(
    world: World, installation: Installation
) -> None:
    installation.settings = {**installation.settings, "SEARXNG_URL": f"http://{closed_place()}"}
    ended = installation.manage("research", SIMPLE, "--yes")
    found = failed(installation, ended, "no search or page could be reached")
    assert "SearXNG: It did not answer" in found["errors"][0]["message"]


def test_with_the_pages_down_no_page_can_be_read_and_the_sources_say_why(
    world: World, installation: Installation
) -> None:
    for site in world.sites.values():
        site.down = True
    ended = installation.manage("research", SIMPLE, "--yes")
    assert "Traceback" not in ended.stderr
    assert "none of the pages found last could be read" in ended.stdout
    found = recorded(installation)
    assert found
    assert (ended.returncode, found["status"]) == (0, "completed")
    assert found["termination_reason"] == "pages_unreadable"
    assert (found["evidence"], found["citations"], found["report_markdown"]) == ([], [], "")
    reasons = {source["reason"] for source in found["sources"] if source["status"] == "failed"}
    assert reasons == {"the server answered 503 for robots.txt"}
    assert "draft" not in world.model.tasks


def test_with_the_model_down_passages_are_quoted_and_the_record_says_why(
    world: World, installation: Installation
) -> None:
    down = f"http://{closed_place()}/v1"
    installation.settings = {**installation.settings, "OPENAI_BASE_URL": down}
    ended = installation.manage("research", SIMPLE, "--yes")
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    assert LIT in ended.stdout.replace("**", ""), "the words of the question are marked"
    found = recorded(installation)
    assert found
    fallbacks = found["usage"]["fallbacks"]
    assert fallbacks.keys() == {"intake", "read", "assess", "draft"}
    told = {reason for reasons in fallbacks.values() for reason in reasons}
    assert "the model's server could not be reached" in told
    assert all("could not be reached" in each or "not called for" in each for each in told)
    assert found["usage"]["prompt_tokens"] == 0
    assert found["usage"]["seconds"] < 15, "nobody waits for a server that is not there"
