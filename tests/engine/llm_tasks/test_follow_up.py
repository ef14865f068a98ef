"""Task `follow_up` (D13): the model's reading of a new turn, or the one by its words."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from research.engine.analyst import analyst_of
from research.engine.llm_tasks.follow_up import (
    ASTRAY,
    FINDINGS_CHARACTERS,
    SUMMARY_CHARACTERS,
    TASK,
    EarlierTurns,
    FollowUpAnswer,
)
from research.engine.llm_tasks.prompting.ask import PROMPTS, parse_answer
from research.engine.offline.follow_up import Turn
from research.engine.ports import ModelFailedError
from research.engine.records import Evidence
from research.engine.run import Question, Run
from tests.engine.llm_tasks.prompting.test_ask import Parrot, journal_of
from tests.engine.scripted import TODAY, page, quoted

BEFORE = EarlierTurns("Who designed the Harrow Point lighthouse?", "Edda Marlow designed it.")
SAID = "What did it cost?"
BY_WORDS = Turn(True, "What did it cost (Harrow Point)?")
ALONE = "What did the Harrow Point lighthouse cost?"


def run_of(model: Parrot | None, **knobs: Any) -> Run:
    journal = journal_of(model or Parrot(), **knobs)
    journal.analyst = model.name if model else "extractive"
    return Run(Question(SAID, TODAY), journal.meter.config, journal)


async def turned(*says: str | ModelFailedError, said: str = SAID, **knobs: Any) -> tuple[Turn, Run]:
    run = run_of(Parrot(*says), **knobs)
    return await analyst_of(run).understand_follow_up("follow_up", BEFORE, said), run


def says(same_topic: bool, question: str) -> str:
    return json.dumps({"same_topic": same_topic, "question": question})


COAST = page("https://coast.example/", "It cost nothing to see. It is old.")


def finding(number: int, claim: str) -> Evidence:
    return Evidence(f"E{number}", claim, "A1", 1, (quoted(COAST, "It cost nothing to see."),), 0.9)


FOUND = (finding(1, "It cost much."), finding(2, "It is old."))


async def answered_by(
    *ids: str, same_topic: bool = True, found: Sequence[Evidence] = FOUND
) -> tuple[str, ...]:
    model = Parrot(json.dumps({"same_topic": same_topic, "question": ALONE, "answered_by": ids}))
    before = replace(BEFORE, findings=found)
    turn = await analyst_of(run_of(model)).understand_follow_up("follow_up", before, SAID)
    return turn.answered_by


def fallbacks(run: Run) -> dict[str, Any]:
    return dict(run.journal.meter.snapshot().fallbacks)


async def test_the_model_words_the_question_so_that_it_can_be_understood_alone() -> None:
    turn, run = await turned(says(True, f" {ALONE} "))
    assert turn == Turn(True, ALONE)
    assert (run.journal.meter.llm_calls, fallbacks(run)) == (1, {})


async def test_a_topic_shift_keeps_the_turn_as_it_was_said() -> None:
    turn, _ = await turned(says(False, "Something of the model's own"), said="How is bread baked?")
    assert turn == Turn(False, "How is bread baked?")


async def test_the_prompt_holds_the_thread_and_the_new_turn() -> None:
    model = Parrot(says(True, ALONE))
    long = EarlierTurns(BEFORE.question, "It is old. " * 10_000)
    await analyst_of(run_of(model)).understand_follow_up("follow_up", long, SAID)
    [request] = model.requests
    assert request.prompt.startswith(f"# QUESTION\n{SAID}\n\n# TODAY\n{TODAY}\n")
    assert (
        f"# EARLIER QUESTION\n{BEFORE.question}\n\n# WHAT WAS FOUND\nIt is old." in request.prompt
    )
    assert len(request.prompt) < SUMMARY_CHARACTERS + 300


async def test_the_model_names_the_findings_that_answer() -> None:
    assert await answered_by("E2", "E1", "E2") == ("E2", "E1")
    assert await answered_by("E1", "E7", "A1") == ("E1",), "others are no findings"
    assert await answered_by() == ()
    assert await answered_by("E1", same_topic=False) == (), "another topic is not answered"


async def test_a_model_that_names_most_of_many_findings_answers_nothing() -> None:
    found = [finding(n, f"It cost {n} pounds.") for n in range(1, 21)]
    ids = [each.id for each in found]
    assert await answered_by(*ids[:10], found=found) == (*ids[:10],)
    assert await answered_by(*ids[:11], found=found) == ()
    assert await answered_by(*ids[:6], found=found[:6]) == (*ids[:6],), "few may all be needed"


async def test_of_too_many_findings_the_prompt_shows_the_closest() -> None:
    model = Parrot(says(True, ALONE))
    others = [
        finding(n, f"Long ago it was {n} feet high. {'Stone. ' * 1000}") for n in range(1, 20)
    ]
    before = replace(BEFORE, findings=[*others, finding(20, "What it cost is known.")])
    await analyst_of(run_of(model)).understand_follow_up("follow_up", before, SAID)
    [request] = model.requests
    assert "[E20] What it cost is known." in request.prompt and "[E19]" not in request.prompt
    assert len(request.prompt) < FINDINGS_CHARACTERS + 1_000


async def test_where_the_model_fails_the_words_decide_and_the_cause_is_counted() -> None:
    turn, run = await turned(ModelFailedError("No such model.", permanent=True))
    assert turn == BY_WORDS
    assert fallbacks(run) == {"follow_up": {"No such model.": 1}}


async def test_a_question_with_nothing_of_what_was_asked_is_not_taken() -> None:
    turn, run = await turned(says(True, "When was the Eiffel Tower finished?"))
    assert turn == BY_WORDS
    assert fallbacks(run) == {"follow_up": {ASTRAY: 1}}


async def test_a_small_model_is_not_asked() -> None:
    turn, run = await turned(model_profile="small")
    assert (turn, run.journal.meter.llm_calls, fallbacks(run)) == (BY_WORDS, 0, {})


async def test_without_a_model_the_words_decide() -> None:
    run = run_of(None)
    assert await analyst_of(run).understand_follow_up("follow_up", BEFORE, SAID) == BY_WORDS
    assert fallbacks(run) == {}


def test_the_example_fits_the_schema() -> None:
    system = (PROMPTS / "follow_up.md").read_text().partition("\n=====\n")[0]
    assert isinstance(parse_answer(system.splitlines()[-1], TASK.answer), FollowUpAnswer)
