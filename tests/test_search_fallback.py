"""Searches that stand in for each other, in whole runs over real servers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import pytest

from research.search.fallback import SWITCHED_OFF
from tests.support.installation import Installation
from tests.support.serving import LoopbackServer, Reply, closed_place, json_reply, path_of
from tests.support.web_server import html
from tests.support.world import LIT, SIMPLE, World

pytestmark = pytest.mark.subprocess

pytest_plugins = ["tests.support.fixtures"]

KEYS = {
    "TAVILY_API_KEY": "tvly-secret-one",
    "EXA_API_KEY": "exa-secret-two",
    "BRAVE_API_KEY": "brave-secret-three",
}
TITLE = "Harrow Point lighthouse"


class Wiki(LoopbackServer):
    """A wiki with one page, and a search that always finds it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def reply(self, path: str, body: bytes) -> Reply:
        with self.lock:
            self.asked.append(path)
        if path_of(path) == "/w/api.php":
            found = [{"ns": 0, "title": TITLE, "snippet": f"<span>{TITLE}</span>, first lit"}]
            return json_reply({"query": {"search": found}})
        if unquote(path_of(path)) == f"/wiki/{TITLE.replace(' ', '_')}":
            page = html(
                TITLE, f"The tower stands above the reef on the cape. {LIT} It still burns."
            )
            return Reply(page.encode(), content_type="text/html; charset=utf-8")
        return Reply(status=404)


class Refusing(LoopbackServer):
    """Answers everything with the same status, and repeats what it was sent."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status
        self.asked: list[str] = []

    def reply(self, path: str, body: bytes) -> Reply:
        with self.lock:
            self.asked.append(path)
        return Reply(json.dumps({"error": f"secret {path}"}).encode(), self.status)


@pytest.fixture
def wiki() -> Iterator[Wiki]:
    with Wiki() as wiki:
        yield wiki


@pytest.fixture
def refusing() -> Iterator[Refusing]:
    with Refusing(401) as refusing:
        yield refusing


def test_where_the_first_search_refuses_the_next_one_answers_and_both_are_named(
    world: World, installation: Installation, wiki: Wiki
) -> None:
    world.search.down = True
    installation.settings = {
        **installation.settings,
        "SEARCH_PROVIDER": "searxng,wikipedia",
        "WIKIPEDIA_URL": wiki.url(),
        "FETCH_ALLOW_PRIVATE_HOSTS": wiki.place,
    }
    ended = installation.manage("research", SIMPLE, "--yes", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert {source["quote"] for each in found["evidence"] for source in each["sources"]} >= {LIT}
    assert {source["url"] for source in found["sources"]} == {
        wiki.url(f"/wiki/{quote(TITLE.replace(' ', '_'))}")
    }
    messages = [each["message"] for each in found["errors"]]
    assert any(
        re.fullmatch(r"SearXNG: It answered 503: .* Answered instead: Wikipedia\.", message)
        for message in messages
    )


def test_a_search_that_finds_little_is_helped_by_the_next_one(
    world: World, installation: Installation, wiki: Wiki
) -> None:
    installation.settings = {
        **installation.settings,
        "SEARCH_PROVIDER": "wikipedia,searxng",
        "WIKIPEDIA_URL": wiki.url(),
        "FETCH_ALLOW_PRIVATE_HOSTS": ",".join(
            [wiki.place, *(s.place for s in world.sites.values())]
        ),
    }
    ended = installation.manage("research", SIMPLE, "--yes", "--json")
    found = json.loads(ended.stdout)
    places = {source["url"].split("/")[2] for source in found["sources"]}
    assert wiki.place in places and len(places) > 1
    assert "Wikipedia found little." in [each["message"] for each in found["errors"]]


@pytest.mark.requirement("D11")
def test_with_every_search_down_the_run_says_so_and_makes_nothing_up(
    world: World, installation: Installation, refusing: Refusing
) -> None:
    world.search.down = True
    installation.settings = {
        **installation.settings,
        **KEYS,
        **{f"{name}_URL": refusing.url() for name in ("TAVILY", "EXA", "BRAVE")},
        "ARXIV_URL": refusing.url(),
        "WIKIPEDIA_URL": f"http://{closed_place()}",
        "SEARCH_PROVIDER": "searxng,tavily,exa,brave,wikipedia,arxiv",
        "SEARCH_RATES": "tavily=0,exa=0,brave=0",
    }
    ended = installation.manage("research", SIMPLE, "--yes", "--json")
    assert ended.returncode == 1
    found = json.loads(ended.stdout)
    assert (found["status"], found["evidence"], found["report_markdown"]) == ("failed", [], "")
    [message] = {each["message"] for each in found["errors"] if "provider" in each["message"]}
    for said in (
        "SearXNG: It answered 503",
        "Tavily: It refused the key (401): check TAVILY_API_KEY",
        "Exa: It refused the key (401): check EXA_API_KEY",
        "Brave: It refused the key (401): check BRAVE_API_KEY",
        "Wikipedia: It did not answer",
        "Try again later, ",
    ):
        assert said in message
    assert "draft" not in world.model.tasks
    assert refusing.asked
    kept = b"".join(path.read_bytes() for path in installation.home.rglob("*") if path.is_file())
    for key in KEYS.values():
        assert key not in ended.stdout + ended.stderr
        assert key.encode() not in kept
        assert not any(key in path for path in refusing.asked)


def test_results_that_cannot_be_read_are_counted_in_the_run_and_cost_no_other(
    world: World, installation: Installation
) -> None:
    """Null signs and halves of signs among them, which no database keeps."""
    odd = [None, "x", {"url": "file:///etc/passwd"}, {"url": "https://a.example/\x00"}]
    world.search.odd = [*odd, {"url": "https://b.example/", "title": "\x00\ud800", "content": 7}]
    ended = installation.manage("research", SIMPLE, "--yes", "--json")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert {source["quote"] for each in found["evidence"] for source in each["sources"]} >= {LIT}
    assert any(
        re.fullmatch(r"SearXNG: 4 of its \d+ results could not be read and were left out\.", said)
        for said in (each["message"] for each in found["errors"])
    )


@pytest.mark.parametrize(
    ("knobs", "expected"),
    [
        (["NEVER_SITES=127.0.0.1"], "nothing_found"),
        (["ONLY_SITES=lighthouses.example"], "nothing_found"),
        (["SEARCH_KIND=academic"], None),
    ],
)
def test_the_bounds_of_a_run_reach_its_search(
    world: World, installation: Installation, knobs: list[str], expected: str | None
) -> None:
    options = [part for knob in knobs for part in ("--set", knob)]
    ended = installation.manage("research", SIMPLE, "--yes", "--json", *options)
    found = json.loads(ended.stdout)
    if expected is None:
        assert found["sources"]
        return
    assert found["termination_reason"] == expected
    assert (found["sources"], world.fetched) == ([], [])


def test_what_was_searched_is_frozen_in_the_run(bare_installation: Installation) -> None:
    bare_installation.settings = {"NETWORK_PROBE": closed_place()}
    with bare_installation.inside() as inside:
        run = inside("ask", question="Why do maple leaves turn red?")
        inside("work", run=run)
        assert inside("head", run=run)["sources"] == {"search": ["samples"], "documents": []}


@pytest.mark.requirement("D8")
def test_without_a_search_the_run_says_so_and_makes_nothing_up(
    world: World, installation: Installation
) -> None:
    installation.settings = {**installation.settings, "SEARCH_PROVIDER": "none"}
    ended = installation.manage("research", SIMPLE, "--yes", "--json")
    found = json.loads(ended.stdout)
    assert (ended.returncode, found["termination_reason"]) == (0, "nothing_found")
    assert {each["message"] for each in found["errors"]} == {SWITCHED_OFF}
    assert (found["evidence"], found["report_markdown"], world.search.requests) == ([], "", [])


@pytest.mark.requirement("D8")
def test_the_terminal_says_once_that_search_is_switched_off(installation: Installation) -> None:
    installation.settings = {**installation.settings, "SEARCH_PROVIDER": "none"}
    ended = installation.manage("research", SIMPLE, "--yes")
    assert "Found nothing that answers this." in ended.stdout
    assert ended.stderr.count(SWITCHED_OFF) == 1
    run = ended.stderr.splitlines()[-1].rpartition(" ")[2]
    assert ended.stderr.endswith(f"Run {run}: manage.py replay {run}\n")
    assert installation.manage("replay", run).stdout.startswith("Rounds: 1")


@pytest.mark.requirement("D8")
@pytest.mark.parametrize("are_set_up", [True, False])
def test_documents_are_searched_where_no_other_search_is(
    world: World, installation: Installation, tmp_path: Path, are_set_up: bool
) -> None:
    (tmp_path / "log.md").write_text(f"# {TITLE}\n\n{LIT}\n")
    folder = str(tmp_path)
    set_up = {"DOCUMENTS": folder} if are_set_up else {}
    installation.settings = {**installation.settings, "SEARCH_PROVIDER": "none", **set_up}
    named = () if are_set_up else ("--documents", folder)
    found = json.loads(installation.manage("research", SIMPLE, "--yes", "--json", *named).stdout)
    assert {source["quote"] for each in found["evidence"] for source in each["sources"]} == {LIT}
    assert (world.search.requests, world.fetched) == ([], [])
