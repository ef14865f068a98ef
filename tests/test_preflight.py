"""`manage.py preflight` and `manage.py setup`, as their user has them."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from research.llm.local import LOOK_SECONDS, find_local
from research.runtime.installation import Installation as Installed
from research.runtime.installation import Value, setting_names
from research.runtime.preflight import check_model
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.installation import ROOT, Installation
from tests.support.model_server import (
    MODERN,
    NARROW,
    PLAIN,
    STREAMS_ONLY,
    STRICT,
    UNCOUNTED,
    Manner,
    ModelServer,
)
from tests.support.serving import closed_place
from tests.support.world import World

pytestmark = pytest.mark.subprocess

__all__ = ["embedding_server"]
pytest_plugins = ["tests.support.fixtures"]


def preflight(installation: Installation) -> tuple[int, dict[str, dict[str, Any]], dict[str, Any]]:
    """Exit status, checks by name, and all that was said."""
    ended = installation.manage("preflight", "--json")
    assert "Traceback" not in ended.stderr, ended.stderr
    found = json.loads(ended.stdout)
    return ended.returncode, {check["name"]: check for check in found["checks"]}, found


@pytest.mark.requirement("D15")
def test_all_is_well(world: World, installation: Installation) -> None:
    status, checks, found = preflight(installation)
    assert (status, found["ready"]) == (0, True)
    assert set(checks) == {
        "Model", "Context window", "Answers", "Protocol", "Profile", "Price", "Verifier", "Search",
        "Database", "Live updates",
    }  # fmt: skip
    assert checks["Answers"]["state"] == "good"
    assert checks["Context window"]["state"] == "fair", "the server doesn't tell it"
    assert world.model.url() not in json.dumps(found["checks"]), "no key, no whole address"


@pytest.mark.requirement("D15")
def test_a_model_is_qualified_as_verifier_on_demand_and_stays_so(
    world: World, installation: Installation
) -> None:
    _, checks, _ = preflight(installation)
    assert checks["Verifier"]["state"] == "idle"
    assert "8 model calls and at most 18,400 tokens" in checks["Verifier"]["advice"]
    before = world.model.tasks.count("verify")
    ended = installation.manage("preflight", "--json", "--qualify")
    [found] = [c for c in json.loads(ended.stdout)["checks"] if c["name"] == "Verifier"]
    assert found["state"] == "good" and "let 0 pass" in found["found"], found
    assert world.model.tasks.count("verify") == before + 8
    _, checks, _ = preflight(installation)
    assert checks["Verifier"]["state"] == "good"
    assert world.model.tasks.count("verify") == before + 8, "it is stored"


@pytest.mark.parametrize(
    ("page", "state", "says"),
    [("/v1", "good", "words answers with 5 numbers."), ("/v2", "bad", "knows no such model")],
)
def test_an_embedding_model_is_tried(
    world: World,
    installation: Installation,
    embedding_server: EmbeddingServer,
    page: str,
    state: str,
    says: str,
) -> None:
    server = {"EMBEDDING_MODEL": "words", "EMBEDDING_BASE_URL": embedding_server.url(page)}
    installation.settings = {**installation.settings, **server}
    _, checks, _ = preflight(installation)
    assert checks["Embeddings"]["state"] == state
    assert says in checks["Embeddings"]["found"]


@pytest.mark.parametrize(
    "manner, check, says",
    [
        (STRICT, "Answers", "takes no notice of a schema"),
        (PLAIN, "Answers", "takes no notice of a schema"),
        (UNCOUNTED, "Protocol", "does not count tokens"),
        (STREAMS_ONLY, "Protocol", "only streams"),
        (MODERN, "Protocol", "max_completion_tokens"),
        (Manner(system_role=False), "Protocol", "takes no system message"),
        (Manner(most_output=150), "Protocol", "at most 150 tokens at once"),
        (NARROW, "Context window", "4,096 tokens: small"),
        (Manner(reasoning="Hm."), "Protocol", "thinks before it answers"),
    ],
    ids=[
        "strict",
        "plain",
        "uncounted",
        "streams only",
        "modern",
        "no system message",
        "short answers",
        "narrow",
        "reasons",
    ],
)
def test_it_names_what_is_odd_about_a_server(manner: Manner, check: str, says: str) -> None:
    with ModelServer({}, manner) as server:
        checks = asyncio.run(check_model(chosen(server)))
    [found] = [each for each in checks if each.name == check]
    assert says in found.found


@pytest.mark.requirement("D15")
@pytest.mark.parametrize(
    ("always", "why"),
    [
        (("OK",), "different questions with the same text"),
        (('{"sentence": 3, "colour": "red"}',), "different questions with the same text"),
        (("Certainly!", "I am happy to help."), "in words where JSON is asked for"),
    ],
)
@pytest.mark.parametrize("ignores_format", [True, False])
def test_a_model_whose_answers_no_task_can_use_is_refused(
    always: tuple[str, ...], why: str, ignores_format: bool
) -> None:
    with ModelServer({}, Manner(always=always, ignores_format=ignores_format)) as server:
        [found] = asyncio.run(check_model(chosen(server)))
    assert (found.name, found.state) == ("Model", "bad")
    assert f"scripted at {server.place} can’t be used: it answers {why}." == found.found
    assert "answers of its own, as JSON" in found.advice and "(RESEARCH_MODEL)" in found.advice


def test_a_model_that_misreads_once_is_not_refused() -> None:
    manner = Manner(always=("It was built in 1742.", '{"colour": "red"}'))
    with ModelServer({}, manner) as server:
        checks = asyncio.run(check_model(chosen(server)))
    states = {each.name: each.state for each in checks}
    assert (states["Model"], states["Profile"]) == ("good", "fair")


def chosen(server: ModelServer) -> Installed:
    """Return an installation with the model of a server."""
    unset = dict.fromkeys(setting_names(), Value())
    named = {"OPENAI_BASE_URL": server.url("/v1"), "RESEARCH_MODEL": "scripted"}
    return Installed(unset | {name: Value(text) for name, text in named.items()})


@pytest.mark.requirement("F16")
def test_a_model_server_of_this_machine_is_found_within_a_second(
    world: World, bare_installation: Installation
) -> None:
    port = world.model.place.rpartition(":")[2]
    dead = closed_place().rpartition(":")[2]
    bare_installation.settings = {"LOCAL_MODEL_PORTS": f"{dead},{port}"}
    status, checks, found = preflight(bare_installation)
    assert status == 0
    assert found["local"] == [
        {"name": "A model server", "address": world.model.url("/v1"), "models": ["scripted"]}
    ]
    assert world.model.url("/v1") in checks["Model"]["advice"]


@pytest.mark.virtual_time
async def test_a_port_that_hangs_takes_less_than_a_second() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert await find_local([silent.getsockname()[1]]) == []
        assert asyncio.get_running_loop().time() == LOOK_SECONDS < 1


@pytest.mark.requirement("D15")
def test_a_server_that_is_down_says_what_to_do(world: World, installation: Installation) -> None:
    installation.settings = {
        **installation.settings, "OPENAI_BASE_URL": f"http://{closed_place()}/v1",
    }  # fmt: skip
    status, checks, _ = preflight(installation)
    assert status == 1
    assert "could not be reached" in checks["Model"]["found"]
    assert "ends in /v1" in checks["Model"]["advice"]
    assert checks["Search"]["state"] != "bad", "one thing that fails hides no other"


def set_up(installation: Installation, env: Path, answers: str, **more: str) -> str:
    environment = {**installation.environment, **more, "DEEPRESEARCH_ENV_FILE": str(env)}
    ended = subprocess.run(
        [sys.executable, "manage.py", "setup"], cwd=ROOT, env=environment,
        input=answers, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.requirement("D15")
def test_setup_writes_what_was_answered_and_keeps_the_rest(
    bare_installation: Installation, tmp_path: Path
) -> None:
    env = tmp_path / "settings.env"
    env.write_text("# mine\nMAX_SEARCHES=20\nRESEARCH_MODEL=old\n")
    with ModelServer({}) as server:
        answers = f"{server.url('/v1')}\nsk-key\nnew\nsmall\n\n\n"
        shown = set_up(bare_installation, env, answers, LOCAL_MODEL_PORTS="1")
    assert env.read_text().splitlines() == [
        "# mine", "MAX_SEARCHES=20", "RESEARCH_MODEL=new",
        f"OPENAI_BASE_URL={server.url('/v1')}", "OPENAI_API_KEY=sk-key", "MODEL_PROFILE=small",
    ]  # fmt: skip
    assert env.stat().st_mode & 0o077 == 0
    again = set_up(bare_installation, env, "\n\n\n\n\n\n", LOCAL_MODEL_PORTS="1")
    assert "sk-key" not in shown.replace("sk-key\n", "") + again
    assert "OPENAI_API_KEY=sk-key" in env.read_text()


@pytest.mark.requirement("F16")
def test_setup_offers_the_server_that_it_finds(
    bare_installation: Installation, tmp_path: Path
) -> None:
    env = tmp_path / "settings.env"
    env.touch()
    with ModelServer({}) as server:
        port = server.place.rpartition(":")[2]
        set_up(bare_installation, env, "", LOCAL_MODEL_PORTS=port)
        assert f"OPENAI_BASE_URL={server.url('/v1')}" in env.read_text()
    assert "RESEARCH_MODEL=scripted" in env.read_text()
