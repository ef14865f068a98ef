"""Killed with SIGKILL at an entry of its journal, a run goes on and pays for nothing twice.

Workers and commands are processes of their own; the model, the search and the web are
servers whose logs tell what was asked of them before and after.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from research.engine.loop import PAID_TWICE
from tests.support.installation import ROOT, Inside, Installation, Killed
from tests.support.world import CHAINED, SCRIPTS, SIMPLE, WIDE, World

pytestmark = pytest.mark.subprocess

pytest_plugins = ["tests.support.fixtures"]

SAMPLES = [
    each["question"] for each in json.loads((ROOT / "research/samples/questions.json").read_text())
]
POSTGRESQL = pytest.mark.services("postgresql")
Call = tuple[str, str]


def decided(found: dict[str, Any]) -> dict[str, Any]:
    """A run's resource without what differs between two runs of one question: ids and times."""
    own = {"id", "thread", "created_at", "finished_at", "seconds", "at", "fetched_at"}

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(each) for name, each in value.items() if name not in own}
        return [without(each) for each in value] if isinstance(value, list) else value

    kept: dict[str, Any] = without(found)
    return {**kept, "errors": [e for e in kept["errors"] if e["message"] != PAID_TWICE]}


def told_as_paid_twice(found: dict[str, Any]) -> set[str]:
    return {error["where"] for error in found["errors"] if error["message"] == PAID_TWICE}


def settled_calls(journal: list[dict[str, Any]]) -> set[Call]:
    """What the journal holds an answer to, as the servers log it."""
    names = {"model": "prompt", "search": "query", "fetch": "url"}
    return {
        (entry["kind"], entry["request"][names[entry["kind"]]])
        for entry in journal
        if entry["kind"] in names and entry["status"] != "pending"
    }


def pending_models(journal: list[dict[str, Any]]) -> dict[str, str]:
    return {e["place"]: e["request"]["prompt"] for e in journal if e["status"] == "pending"}


# --- at an entry ----------------------------------------------------------------------------


@pytest.mark.requirement("F3")
@pytest.mark.parametrize(
    ("question", "stride"), [(SIMPLE, 5), (CHAINED, 13)], ids=["simple", "chained"]
)
def test_killed_at_an_entry_it_goes_on_and_asks_for_no_answer_again(
    world: World, installation: Installation, question: str, stride: int
) -> None:
    with installation.inside() as inside:
        whole = inside("ask", question=question)
        inside("work", run=whole)
        expected = decided(inside("resource", run=whole))
        for k in range(1, writes(inside("journal", run=whole)) + 1, stride):
            run = inside("ask", question=question)
            killed_and_resumed(inside, world, run, k)
            assert decided(inside("resource", run=run)) == expected, k
            assert inside("head", run=run)["crashes"] == 0, "it had made progress"
        check_replay(inside, world, run)


@pytest.mark.requirement("F3", "F8")
@pytest.mark.parametrize(
    "database",
    ["installation", pytest.param("postgresql_installation", marks=POSTGRESQL)],
    ids=["sqlite", "postgresql"],
)
def test_killed_with_four_units_at_work_it_completes_and_asks_for_no_answer_again(
    world: World, database: str, request: pytest.FixtureRequest
) -> None:
    installation: Installation = request.getfixturevalue(database)
    with installation.inside() as inside:
        whole = inside("ask", question=WIDE)
        inside("work", run=whole)
        for k in range(3, writes(inside("journal", run=whole)), 24):
            run = inside("ask", question=WIDE)
            killed_and_resumed(inside, world, run, k)
            head = inside("head", run=run)
            assert (head["status"], head["crashes"]) == ("completed", 0), k
        check_replay(inside, world, run)


def writes(journal: list[dict[str, Any]]) -> int:
    """How often an undisturbed run writes to its journal: twice for a call of the model."""
    return len(journal) + sum(entry["kind"] == "model" for entry in journal)


def killed_and_resumed(inside: Inside, world: World, run: str, k: int) -> None:
    world.forget()
    with pytest.raises(Killed):
        inside("work", run=run, die_after=k)
    journal = inside("journal", run=run)
    settled, pending = settled_calls(journal), pending_models(journal)
    before = world.calls()
    world.forget()

    inside("expire", run=run)
    inside("work", run=run)
    listed = told_as_paid_twice(inside("resource", run=run))
    after = world.calls()
    assert not settled & set(after), k
    assert listed == set(pending), k
    twice = {call for call, times in Counter([*before, *after]).items() if times > 1}
    assert {prompt for kind, prompt in twice if kind == "model"} <= set(pending.values()), k
    assert not pending_models(inside("journal", run=run)), k


def check_replay(inside: Inside, world: World, run: str) -> None:
    """Replayed with its own config: no miss, the same decisions, nothing asked or written."""
    world.forget()
    before = (inside("head", run=run), inside("journal", run=run))
    replay = inside("replay", run=run)
    assert (replay["journal_ends"], replay["divergences"], replay["identical"]) == (None, [], True)
    assert (inside("head", run=run), inside("journal", run=run)) == before
    assert not world.calls()


def test_a_run_that_kills_every_worker_at_one_point_is_put_aside_with_a_sentence(
    world: World, installation: Installation
) -> None:
    with installation.inside() as inside:
        run = inside("ask", question=SIMPLE)
        while inside("head", run=run)["crashes"] < 3:
            with pytest.raises(Killed):
                inside("work", run=run, die_after=1)
            inside("expire", run=run)
        world.forget()
        inside("work", run=run, until=["stalled"])
        found = inside("resource", run=run)
        assert found["status"] == "stalled"
        [told] = [error["message"] for error in found["errors"] if error["where"] == "run"]
        assert "its worker stopped unexpectedly 4 times at the same point" in told
        assert not world.calls()

        inside("tell", run=run, command="retry_run")
        inside("work", run=run)
        assert inside("resource", run=run)["status"] == "completed"


# --- the command line and a worker ----------------------------------------------------------


@pytest.mark.requirement("F8")
def test_a_worker_takes_a_run_of_the_command_line_only_when_its_lease_is_over(
    world: World, installation: Installation
) -> None:
    world.model.hold("read")
    with installation.inside() as looking:
        assert looking("latest") is None
        command = installation.start("research", SIMPLE, "--json", "--yes")
        assert world.model.held.wait(30)
        run = looking("latest")
        with installation.inside() as working:
            working.begin("work", run=run)
            check_left_alone(looking, run)
            command.kill()
            command.wait()
            lease_until = looking("head", run=run)["lease_until"]
            world.model.let_go()
            assert working.end() == ["round/1/unit/1/read"], "it was in flight, and is listed"
        ended = looking("head", run=run)
    assert (ended["status"], ended["crashes"], ended["lease_epoch"]) == ("completed", 0, 3)
    assert sorted(world.model.tasks) == sorted(["intake", "read", "read", "assess", "draft"])
    assert world.model.requests[2].at >= datetime.fromisoformat(lease_until).timestamp()
    assert len(world.search.requests) == 1
    assert Counter(world.fetched).most_common(1)[0][1] == 1


def check_left_alone(looking: Inside, run: str) -> None:
    """A worker is looking for work all the while."""
    owner = looking("head", run=run)["lease_owner"]
    for _ in range(4):
        time.sleep(1)
        seen = looking("head", run=run)
        assert (seen["status"], seen["lease_owner"], seen["lease_epoch"]) == (
            "researching", owner, 1,
        )  # fmt: skip


# --- while it waits for a person ------------------------------------------------------------


def test_killed_while_it_waits_on_a_terminal_the_plan_is_there_and_can_be_approved(
    world: World, installation: Installation
) -> None:
    with installation.inside() as inside:
        assert inside("latest") is None
        killed_at_the_prompt(installation, b"Start? [y]es, [n]o, or say what to change")
        run = inside("latest")
        waiting = inside("head", run=run)
        assert waiting["status"] == "awaiting_approval"
        assert [aspect["text"] for aspect in waiting["plan"]["aspects"]] == [SIMPLE]
        inside("tell", run=run, command="approve_plan")
        inside("work", run=run)
        assert inside("head", run=run)["status"] == "completed"
    assert sorted(world.model.tasks) == sorted(["intake", "read", "assess", "draft"])


def killed_at_the_prompt(installation: Installation, prompt: bytes) -> None:
    """Run the command on a terminal, and kill it when it asks."""
    ours, theirs = pty.openpty()
    command = installation.start(
        "research", SIMPLE, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
    )
    os.close(theirs)
    shown = b""
    while prompt not in shown:
        shown += os.read(ours, 1024)
    command.kill()
    command.wait()
    os.close(ours)


def test_killed_at_each_of_its_questions_nothing_is_lost(
    world: World, installation: Installation
) -> None:
    asks_back = replace(SCRIPTS[SIMPLE], clarifying=("Which of the two lighthouses?",))
    world.model.scripts = {SIMPLE: asks_back}
    with installation.inside() as inside:
        run = inside("ask", question=SIMPLE, agreed=False)
        with pytest.raises(Killed):
            inside("work", run=run, until=["awaiting_clarification"], then_die=True)
        assert inside("head", run=run)["plan"]["questions"] == ["Which of the two lighthouses?"]
        inside("tell", run=run, command="answer_questions", arguments=[["The northern one"]])
        with pytest.raises(Killed):
            inside("work", run=run, until=["awaiting_approval"], then_die=True)
        assert [each["text"] for each in inside("head", run=run)["plan"]["aspects"]] == [SIMPLE]
        inside("tell", run=run, command="approve_plan")
        inside("work", run=run)
        ended = inside("head", run=run)
    assert (ended["status"], ended["crashes"]) == ("completed", 0)
    assert sorted(world.model.tasks) == sorted(["intake", "intake", "read", "assess", "draft"])
    assert "The northern one" in world.model.requests[1].prompt


# --- replay of the samples ------------------------------------------------------------------


@pytest.fixture(scope="module")
def offline(empty_state: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """One installation with nothing configured, for all samples."""
    folder: Path = tmp_path_factory.mktemp("offline")
    return Installation(Path(shutil.copytree(empty_state, folder / "state")), {})


@pytest.mark.requirement("F3", "F5")
@pytest.mark.parametrize("question", SAMPLES)
def test_a_sample_replayed_has_no_miss_and_the_same_decisions(
    offline: Installation, question: str
) -> None:
    ended = offline.manage("research", question, "--json", "--yes")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["analyst"] == "extractive"

    again = offline.manage("replay", found["id"], "--json")
    assert again.returncode == 0, again.stderr
    replay = json.loads(again.stdout)
    assert (replay["journal_ends"], replay["divergences"]) == (None, [])
    assert replay["identical"]
    assert replay["termination_reason"] == found["termination_reason"]
    decisions = [(r["number"], r["score"], r["decision"]) for r in found["rounds"]]
    assert [(r["number"], r["score"], r["decision"]) for r in replay["rounds"]] == decisions
