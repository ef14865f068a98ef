"""Whole runs against model servers that differ from OpenAI's own, each in one way."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.installation import Installation
from tests.support.model_server import (
    MODERN,
    NARROW,
    PLAIN,
    STREAMS_ONLY,
    STRICT,
    UNCOUNTED,
    Manner,
    says,
)
from tests.support.world import LIT, SIMPLE, World

pytestmark = pytest.mark.subprocess

pytest_plugins = ["tests.support.fixtures"]


def researched(installation: Installation, *options: str) -> dict[str, Any]:
    ended = installation.manage("research", SIMPLE, "--json", "--yes", *options)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


@pytest.mark.requirement("E12")
@pytest.mark.parametrize(
    "manner",
    [STRICT, MODERN, PLAIN, UNCOUNTED, STREAMS_ONLY, NARROW,
     Manner(preface="<think>Is {this} right?</think>\n"), Manner(reasoning="Hm."),
     Manner(preface="Sure! Here it is:\n```json\n"),
     Manner(preface="Is {this} right?\n</think>\n"),
     Manner(system_role=False), Manner(most_output=1000)],
    ids=["strict", "modern", "plain", "uncounted", "streams only", "narrow",
         "thinks", "reasons", "fenced", "thinks unopened", "no system message", "short answers"],
)  # fmt: skip
def test_a_run_completes_without_a_fallback(
    world: World, installation: Installation, manner: Manner
) -> None:
    world.model.manner = manner
    found = researched(installation)
    assert found["status"] == "completed"
    usage = found["usage"]
    assert (usage["fallbacks"], usage["retries"]) == ({}, 0)
    assert usage["answers"] == {"intake": 1, "read": 1, "assess": 1, "draft": 1}
    assert usage["tokens_estimated"] == (not manner.counts)
    assert usage["cost_usd"] is None
    assert LIT in found["report_markdown"]


def test_one_that_takes_no_notice_of_schemas_is_asked_in_words(
    world: World, installation: Installation
) -> None:
    world.model.manner = PLAIN
    world.model.faults["intake"] = [says("I would look it up."), says("Let me think about it.")]
    found = researched(installation)
    assert found["usage"]["fallbacks"] == {} and found["usage"]["retries"] == 2
    assert "of this schema" in world.model.requests[2].prompt


def test_one_that_does_not_tell_its_small_window_is_asked_for_less(
    world: World, installation: Installation
) -> None:
    world.model.manner = Manner(window=4096, silent=True)
    found = researched(installation)
    assert found["status"] == "completed" and LIT in found["report_markdown"]
    usage = found["usage"]
    assert usage["fallbacks"] == {} and 1 <= usage["retries"] <= 3
    assert usage["answers"] == {"intake": 1, "read": 1, "assess": 1, "draft": 1}
    assert any("had not told its window" in error["message"] for error in found["errors"])


@pytest.mark.requirement("A16")
def test_prices_and_sums_by_task_stage_and_model(world: World, installation: Installation) -> None:
    installation.settings = {**installation.settings, "MODEL_PRICES": "scripted=10/20"}
    usage = researched(installation)["usage"]
    tokens = (usage["prompt_tokens"], usage["completion_tokens"])
    assert usage["cost_usd"] == pytest.approx((tokens[0] * 10 + tokens[1] * 20) / 1e6)
    for kind in ("task", "stage", "model"):
        parts = usage["spent_by"][kind].values()
        assert sum(part["cost_usd"] for part in parts) == pytest.approx(usage["cost_usd"])
        assert sum(part["calls"] for part in parts) == usage["llm_calls"] == 4
    assert set(usage["spent_by"]["stage"]) == {"intake", "overview", "report"}


@pytest.mark.requirement("C19")
def test_a_cheaper_model_judges_rounds_and_the_other_does_the_rest(
    world: World, installation: Installation
) -> None:
    installation.settings = {**installation.settings, "EVALUATOR_MODEL": "scripted-small"}
    usage = researched(installation)["usage"]
    calls = {name: part["calls"] for name, part in usage["spent_by"]["model"].items()}
    assert calls == {"scripted": 3, "scripted-small": 1}
    judged, small = usage["spent_by"]["task"]["assess"], usage["spent_by"]["model"]
    assert judged == small["scripted-small"]


@pytest.mark.requirement("A15", "C19")
def test_a_cheaper_model_reads_at_its_own_price(world: World, installation: Installation) -> None:
    installation.settings = {
        **installation.settings,
        "SUBAGENT_MODEL": "openai:scripted-small",
        "MODEL_PRICES": "openai:scripted=10/20,scripted-small=1/2",
    }
    usage = researched(installation)["usage"]
    by_model, by_task = usage["spent_by"]["model"], usage["spent_by"]["task"]
    assert {name: part["calls"] for name, part in by_model.items()} == {
        "scripted": 3, "scripted-small": 1,
    }  # fmt: skip
    small = by_model["scripted-small"]
    assert small == by_task["read"]
    assert small["cost_usd"] == pytest.approx(
        (small["prompt_tokens"] + 2 * small["completion_tokens"]) / 1e6
    )


def test_the_small_profile_asks_small_things(world: World, installation: Installation) -> None:
    world.model.manner = NARROW
    found = researched(installation, "--set", "MODEL_PROFILE=small")
    assert found["status"] == "completed"
    assert max(len(asked.prompt) for asked in world.model.requests) < 4000
    assert LIT in json.dumps(found["evidence"])


@pytest.mark.requirement("D17")
def test_a_report_is_marked_where_that_is_wanted(world: World, installation: Installation) -> None:
    installation.settings = {**installation.settings, "EVAL_MODEL": "scripted-judge"}
    found = researched(installation, "--set", "ENABLE_ONLINE_EVALS=on")
    assert found["evaluation"]["answer"] == 8 and found["evaluation"]["process"] == 3
    assert found["evaluation"]["composite"] == 6
    assert "scripted-judge" in found["usage"]["spent_by"]["model"]
    assert found["usage"]["llm_calls"] == len(world.model.requests) == 5


@pytest.mark.requirement("D17")
def test_marking_is_off_by_default_and_never_in_the_way(
    world: World, installation: Installation
) -> None:
    assert researched(installation)["evaluation"] is None
    world.model.faults["judge"] = [says("no marks")] * 4
    found = researched(installation, "--set", "ENABLE_ONLINE_EVALS=on")
    assert found["status"] == "completed" and found["evaluation"] is None
    assert [error["message"] for error in found["errors"]] == [
        "The report was not marked: invalid answer."
    ]
