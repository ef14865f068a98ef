"""A question in, a cited report out, as a user runs it: with a model, a search and web pages.

Everything outside of Plumbline is a scripted server on loopback; nothing inside is replaced.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup

from tests.support.installation import Installation, Killed
from tests.support.model_server import Answer, no_choices, refuses, says
from tests.support.run_schema import validate_run
from tests.support.world import CHAINED, DESIGNED, LIT, LIT_TOO, SIMPLE, TRAINED, World

pytestmark = pytest.mark.subprocess

pytest_plugins = ["tests.support.fixtures"]

AFTER_INTAKE = "intake/1"
WRONG = LIT.replace("1887", "1889")


def researched(installation: Installation, question: str, *options: str) -> dict[str, Any]:
    """The object that the command prints, checked against its schema."""
    ended = installation.manage("research", question, "--json", "--yes", *options)
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr
    found = json.loads(ended.stdout)
    validate_run(found)
    return found


def with_pages(installation: Installation, run: str) -> dict[str, Any]:
    with installation.inside() as inside:
        found = inside("resource", run=run)
    validate_run(found)
    return found


def check_quotes(found: dict[str, Any], world: World) -> int:
    """Every quote stands in the stored text at its place, and in the page that was served."""
    texts = {page["text_sha256"]: page["text"] for page in found["pages"]}
    quotes = [quote for record in found["evidence"] for quote in record["sources"]]
    for quote in quotes:
        assert texts[quote["text_sha256"]][quote["start"] : quote["end"]] == quote["quote"]
        shown = BeautifulSoup(world.page(quote["url"]), "html.parser").get_text(" ")
        assert " ".join(quote["quote"].split()) in " ".join(shown.split())
    return len(quotes)


def check_citations(found: dict[str, Any]) -> None:
    """Every marker of the report leads to a quote of a page, and every citation is used."""
    pages = {r["id"]: {q["url"] for q in r["sources"]} for r in found["evidence"]}
    marks = {int(mark) for mark in re.findall(r"\[(\d+)\]", found["report_markdown"])}
    assert marks == {citation["marker"] for citation in found["citations"]}
    for citation in found["citations"]:
        assert all(citation["url"] in pages[each] for each in citation["evidence_ids"])


# --- the path -------------------------------------------------------------------------------


@pytest.mark.requirement("F1")
def test_a_simple_question_takes_four_calls_and_ends_with_checked_quotes(
    world: World, installation: Installation
) -> None:
    found = researched(installation, SIMPLE)
    assert (found["status"], found["termination_reason"]) == ("completed", "quality_met")
    assert found["analyst"] == "scripted"
    assert sorted(world.model.tasks) == sorted(["intake", "read", "assess", "draft"])
    usage = found["usage"]
    assert (usage["llm_calls"], usage["retries"], usage["fallbacks"]) == (4, 0, {})
    # The page on another lighthouse promises too little to be read.
    assert (usage["searches"], usage["fetches"]) == (1, len(world.fetched)) == (1, 2)
    assert usage["prompt_tokens"] > 0 and not usage["tokens_estimated"]
    assert {LIT, LIT_TOO} == {record["claim"] for record in found["evidence"]}
    assert LIT in found["report_markdown"]
    check_citations(found)
    assert check_quotes(with_pages(installation, found["id"]), world) == 2


@pytest.mark.requirement("A17")
def test_a_page_that_only_another_page_names_is_found_in_the_next_round(
    world: World, installation: Installation
) -> None:
    found = researched(installation, CHAINED)
    assert found["status"] == "completed"
    assert [aspect["state"] for aspect in found["aspects"]] == ["answered", "one_source"]
    assert world.search.requests[2:] == ["Edda Marlow"]
    assert len(found["rounds"]) == 2
    assert len(world.model.requests) == found["usage"]["llm_calls"] == 7
    assert found["usage"]["fallbacks"] == {}
    assert DESIGNED in found["report_markdown"] and TRAINED in found["report_markdown"]
    [gap] = found["gaps"]
    assert (gap["opened_round"], gap["closed_round"]) == (1, 2)
    assert len(set(world.fetched)) == len(world.fetched)
    check_citations(found)
    assert check_quotes(with_pages(installation, found["id"]), world) == 3


# --- a model that says what is not so -------------------------------------------------------


def test_sentences_that_a_model_invents_are_refused_and_counted(
    world: World, installation: Installation
) -> None:
    def invent(answer: Answer) -> Answer:
        invented = {**answer["findings"][0], "claim": "It is painted crimson.", "sentences": [9999]}
        return {**answer, "findings": [invented, *answer["findings"]]}

    world.model.twists["read"] = invent
    found = researched(installation, SIMPLE)
    assert found["status"] == "completed"
    assert found["usage"]["refused_quotes"] == 1
    assert {LIT, LIT_TOO} == {record["claim"] for record in found["evidence"]}
    assert "crimson" not in found["report_markdown"]


def test_a_wrong_number_in_a_claim_gives_way_to_the_page_s_own_words(
    world: World, installation: Installation
) -> None:
    world.model.twists["read"] = misread
    found = researched(installation, SIMPLE)
    assert {LIT, LIT_TOO} == {record["claim"] for record in found["evidence"]}
    assert found["usage"]["refused_quotes"] == 1
    assert "1889" not in json.dumps(found)


def misread(answer: Answer) -> Answer:
    return json.loads(json.dumps(answer).replace(LIT, WRONG))


def test_a_wrong_number_in_the_draft_is_repaired(world: World, installation: Installation) -> None:
    world.model.twists["draft"] = misread
    found = researched(installation, SIMPLE)
    assert sorted(world.model.tasks[-3:-1]) == ["assess", "draft"]  # beside each other
    assert world.model.tasks[-1] == "repair"
    assert WRONG in world.model.requests[-1].prompt
    assert "1889" not in found["report_markdown"] and LIT in found["report_markdown"]
    assert (found["checks"]["repaired"], found["checks"]["cut"]) == (1, 0)


@pytest.mark.requirement("F2")
def test_what_a_model_cannot_put_right_is_cut_and_the_report_says_so(
    world: World, installation: Installation
) -> None:
    world.model.twists |= {"draft": misread, "repair": misread}
    found = researched(installation, SIMPLE)
    assert found["status"] == "completed"
    assert "1889" not in found["report_markdown"]
    assert found["checks"]["cut"] == 2
    assert "2 statements cut in the check" in found["report_markdown"]
    assert f"“{LIT.rstrip('.')}”" in found["report_markdown"], "the key claim is back, quoted"


# --- a model's server that has its moods ----------------------------------------------------


def test_a_busy_or_broken_server_is_asked_again_and_the_retries_are_counted(
    world: World, installation: Installation
) -> None:
    world.model.faults = {
        "intake": [refuses(429, Retry_After="0")],
        "read": [refuses(500), no_choices()],
    }
    found = researched(installation, SIMPLE)
    assert sorted(world.model.tasks) == sorted(["intake"] * 2 + ["read"] * 3 + ["assess", "draft"])
    usage = found["usage"]
    assert (usage["retries"], usage["fallbacks"]) == (3, {})
    assert usage["llm_calls_by_task"] == {"intake": 2, "read": 3, "assess": 1, "draft": 1}
    assert LIT in found["report_markdown"]


def test_an_answer_that_is_no_json_is_shown_to_the_model_with_its_fault(
    world: World, installation: Installation
) -> None:
    world.model.faults = {
        "read": [says("Surely! Here is what I found.")],
        "assess": [says('{"dimensions": {"completeness": "very"}}')],
    }
    found = researched(installation, SIMPLE)
    assert sorted(world.model.tasks) == ["assess", "assess", "draft", "intake", "read", "read"]
    again = {asked.task: asked.prompt for asked in world.model.requests}
    assert "# YOUR LAST ANSWER\nSurely! Here is what I found." in again["read"]
    assert "There was no JSON object in the answer." in again["read"]
    assert "dimensions.completeness" in again["assess"].split("# WHAT WAS WRONG WITH IT")[1]
    assert (found["usage"]["retries"], found["usage"]["fallbacks"]) == (2, {})


def test_a_server_that_knows_no_schema_is_asked_in_words(
    world: World, installation: Installation
) -> None:
    world.model.refuses_schema = True
    found = researched(installation, CHAINED)
    assert found["status"] == "completed"
    assert found["usage"]["fallbacks"] == {}
    assert [asked.constrained for asked in world.model.requests] == [True] + [False] * 7
    assert TRAINED in found["report_markdown"]


def test_two_calls_that_are_refused_for_their_schema_at_once_count_as_no_retry(
    world: World, installation: Installation
) -> None:
    with installation.inside() as inside:
        run = inside("ask", question=CHAINED)
        with pytest.raises(Killed):
            inside("work", run=run, die_after=AFTER_INTAKE)
        world.model.refuses_schema = True
        world.model.hold("read")
        inside("expire", run=run)
        inside.begin("work", run=run)
        wait_for(lambda: len(world.model.requests) > 2)
        world.model.let_go()
        inside.end()
        found = inside("resource", run=run)
    assert [asked.constrained for asked in world.model.requests[1:3]] == [True, True]
    assert (found["status"], found["usage"]["retries"]) == ("completed", 0)


def wait_for(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_task_that_fails_for_good_is_done_without_the_model_and_that_is_counted(
    world: World, installation: Installation
) -> None:
    world.model.faults = {"assess": [refuses(500)] * 4}
    found = researched(installation, SIMPLE)
    assert found["status"] == "completed"
    assert found["usage"]["fallbacks"] == {"assess": {"the model's server answered 500": 1}}
    assert LIT in found["report_markdown"]
