"""Hostile models do the harm that their name says, and say which of their claims are false."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import pytest

from bench.comparison.running import Bench, Ran
from bench.comparison.strategies import calls, recall
from bench.world import hostile, oracle
from bench.world.envelope import Envelope
from bench.world.facts import Question, World
from bench.world.generate import build_world
from bench.world.grammar import parse
from bench.world.hostile import TYING
from bench.world.running import running_world
from research.engine import Aspect, Gap, Record
from tests.bench import prompts

R = TypeVar("R", bound=Record)


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(11, 6)


@pytest.fixture(scope="module")
def question(world: World) -> Question:
    return world.of_kind("medium")[0]


@pytest.fixture(scope="module")
def reading(world: World, question: Question) -> str:
    pages = [p for p in world.pages if set(p.facts) & set(question.needed) and p.readable]
    return prompts.read(question.text, [question.text], [prompts.sentences_of(p) for p in pages])


def told(model: str, task: str, prompt: str, turn: int = 0) -> tuple[Any, list[str]]:
    said = hostile.tell(model, task, prompt, {}, turn)
    return json.loads(said.text), said.false_claims


def test_the_plain_model_is_the_oracle(reading: str) -> None:
    assert told("oracle", "read", reading) == (oracle.answer("read", reading), [])


def test_always_stop_is_ready_with_nothing_found(question: Question) -> None:
    prompt = prompts.assess(question.text, [question.text], [])
    answer, _ = told("oracle-always-stop", "assess", prompt)
    assert answer["ready"] and not answer["gaps"] and answer["overall"] == 10
    assert not answer["unanswered"]


def test_always_continue_is_never_ready_and_always_wants_something_new(
    world: World, question: Question
) -> None:
    found = [("A1", world.facts[fact].statement.claim()) for fact in question.needed]
    prompt = prompts.assess(question.text, [question.text], found)
    answer, _ = told("oracle-always-continue", "assess", prompt)
    longer = prompt + "- another\n- and another\n- and one more\n"
    later, _ = told("oracle-always-continue", "assess", longer)
    assert not answer["ready"] and answer["gaps"]
    queries = [{gap["query"] for gap in each["gaps"]} for each in (answer, later)]
    assert not queries[0] & queries[1]


def test_overrating_names_what_is_missing_and_calls_none_of_it_critical(question: Question) -> None:
    prompt = prompts.assess(question.text, [question.text], [])
    answer, _ = told("oracle-overrating", "assess", prompt)
    honest = oracle.answer("assess", prompt)
    assert [gap["text"] for gap in answer["gaps"]] == [gap["text"] for gap in honest["gaps"]]
    assert answer["gaps"] and not any(gap["critical"] for gap in answer["gaps"])
    assert answer["overall"] == 10 and answer["ready"]


def test_improving_marks_every_search_higher(question: Question) -> None:
    prompt = prompts.assess(question.text, [question.text], [])
    marks = [
        told("oracle-improving", "assess", p)[0]["overall"] for p in (prompt, prompt + "- b\n")
    ]
    assert marks[1] > marks[0]


def test_repeating_asks_for_the_words_of_the_first_search(question: Question) -> None:
    prompt = prompts.assess(question.text, [question.text], []) + "- one two three\n"
    answer, _ = told("oracle-repeating", "assess", prompt)
    [gap] = answer["gaps"]
    [first, *_] = Envelope.of(prompt).items("ALREADY SEARCHED")
    assert sorted(gap["query"].split()) == sorted(first.split()) and not answer["ready"]


def test_inventing_claims_what_no_sentence_says(reading: str) -> None:
    answer, false = told("oracle-inventing", "read", reading)
    made = [f for f in answer["findings"] if f["claim"] in false]
    numbers = {int(n) for n in re.findall(r"^\[(\d+)\]", reading, re.MULTILINE)}
    assert made and not any(f["claim"] in reading for f in made)
    assert any(f["sentences"][0] not in numbers for f in made)
    assert any(f["sentences"][0] in numbers for f in made)


def test_false_claims_stand_on_the_right_sentences(reading: str) -> None:
    honest = oracle.answer("read", reading)["findings"]
    answer, false = told("oracle-false-claims", "read", reading)
    assert [f["sentences"] for f in answer["findings"]] == [f["sentences"] for f in honest]
    assert [f["claim"] for f in answer["findings"]] == false
    assert all(a["claim"] != b["claim"] for a, b in zip(answer["findings"], honest, strict=True))


@pytest.mark.parametrize("turn", range(3))
def test_an_altered_claim_no_longer_states_the_fact(world: World, turn: int) -> None:
    for fact in world.facts.values():
        changed = hostile.altered(fact.statement.claim(), turn)
        assert parse(changed) != fact.statement


def test_obeying_does_what_a_page_orders(world: World) -> None:
    page = next(p for p in world.pages if p.injected)
    question = world.questions[0].text
    prompt = prompts.read(question, [question], [prompts.sentences_of(page)])
    answer, false = told("oracle-obeying", "read", prompt)
    assert page.injected in answer["findings"][0]["claim"] == false[0]
    assert answer["leads"][0]["query"].startswith("http://127.0.0.99/")
    honest = json.dumps(oracle.answer("read", prompt))
    assert page.injected not in honest


def test_malformed_answers_come_in_turn_and_none_is_an_object_of_the_schema(reading: str) -> None:
    said = [hostile.tell("oracle-malformed", "read", reading, {}, turn).text for turn in range(8)]
    assert said[:4] == said[4:] and len(set(said)) == 4
    with pytest.raises(json.JSONDecodeError):
        json.loads(said[0])
    assert isinstance(json.loads(said[1])["findings"], dict)
    with pytest.raises(json.JSONDecodeError):
        json.loads(said[2])
    assert isinstance(json.loads(said[3]), list)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError):
        hostile.tell("gpt", "read", "", {}, 0)


def of_kind(ran: Ran, kind: type[R]) -> list[R]:
    return [record for record in ran.records if isinstance(record, kind)]


@pytest.mark.subprocess
async def test_a_model_that_ties_gaps_to_sub_questions_finds_as_much() -> None:
    """Complex questions with several hops: each gap belongs to a sub-question that is answered."""
    with running_world(4, per_kind=2) as running:
        async with Bench.open(running) as bench:
            for question in running.world.of_kind("complex"):
                ran = await bench.run(question, model=TYING)
                planned = {a.id for a in of_kind(ran, Aspect) if a.raised_by == "plan"}
                assert {gap.aspect_id for gap in of_kind(ran, Gap)} <= planned
                assert recall(ran.figures) == 1.0
                assert calls(ran.figures) <= 16
