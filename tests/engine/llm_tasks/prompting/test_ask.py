import json
from typing import Any

import jinja2
import pytest
from pydantic import BaseModel

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.llm_tasks import assess, draft, intake, read, repair, sections
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import (
    PROMPTS,
    InvalidAnswerError,
    Task,
    TaskFailedError,
    ask_model,
    parse_answer,
    render_template,
)
from research.engine.ports import ModelAnswer, ModelFailedError, ModelRequest, Tools
from tests.engine.scripted import Clock, Web

GOOD = '{"statements": [{"number": 1, "text": "It is old.", "evidence": ["E1"]}]}'
CONTEXT = {
    "question": "How old?",
    "instructions": [],
    "language": "en",
    "faults": [],
    "evidence": [],
    "aspects": [],
    "is_edited": True,
    "keeps_places": True,
    "concludes": False,
    "places": {},
    "has_formulas": True,
}
TASKS = [intake.AGREED, intake.ASKING, read.TASK, assess.TASK, draft.DRAFT, repair.REPAIR]
TASKS += [sections.SECTION, sections.SUMMARY]


class Parrot:
    """A model that says what it is told to, in order; failures are raised."""

    name = "parrot"

    def __init__(self, *says: str | ModelFailedError) -> None:
        self.says = list(says)
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        said = self.says.pop(0)
        if isinstance(said, ModelFailedError):
            raise said
        return ModelAnswer(said, self.name, 10, 5)


def journal_of(model: Parrot, **knobs: Any) -> Journal:
    web = Web([])
    meter = Meter(ResearchConfig(**knobs))
    return Journal(MemoryStore(), Tools(web, web, Clock(), model), meter, backoff_seconds=0)


async def asked(journal: Journal, attempts: int = 3) -> repair.RepairAnswer:
    return await ask_model(journal, attempts, "report/repair", repair.REPAIR, CONTEXT)


# --- the dialogue ---------------------------------------------------------------------------


async def test_a_good_answer_takes_one_call() -> None:
    model = Parrot(GOOD)
    journal = journal_of(model)
    assert (await asked(journal)).statements[0].text == "It is old."
    [request] = model.requests
    assert request.task == "repair"
    assert request.prompt.startswith("# QUESTION\nHow old?")
    assert journal.meter.snapshot().retries == 0


@pytest.mark.requirement("A9", "C16")
async def test_a_bad_answer_is_shown_to_the_model_with_its_fault() -> None:
    bad = '{"statements": [{"number": "one", "text": "It is old."}]}'
    model = Parrot(bad, GOOD)
    journal = journal_of(model)
    await asked(journal)
    first, second = (request.prompt for request in model.requests)
    assert second.startswith(first)
    added = second.removeprefix(first)
    assert bad in added
    assert "statements.0.number: Input should be a valid integer" in added
    assert "statements.0.evidence: Field required" in added
    assert journal.meter.snapshot().retries == 1


async def test_only_the_last_answer_is_shown_and_a_long_one_is_cut() -> None:
    model = Parrot("first nonsense", "x" * 50_000, GOOD)
    await asked(journal_of(model))
    last = model.requests[-1].prompt
    assert "first nonsense" not in last
    assert len(last) < len(model.requests[0].prompt) + 3000


async def test_a_failed_call_is_tried_again_as_it_was() -> None:
    model = Parrot(ModelFailedError("busy"), GOOD)
    journal = journal_of(model)
    await asked(journal)
    assert model.requests[0] == model.requests[1]
    assert journal.meter.llm_calls == 2


@pytest.mark.requirement("C16")
@pytest.mark.parametrize(
    "says, calls, cause",
    [
        (["nonsense"] * 3, 3, "invalid answer"),
        ([ModelFailedError("It is busy.")] * 3, 3, "It is busy."),
        ([ModelFailedError("No such model.", permanent=True)], 1, "No such model."),
        (["nonsense", "nonsense", ModelFailedError("It is busy.")], 3, "It is busy."),
    ],
)
async def test_it_gives_up_with_a_cause(
    says: list[str | ModelFailedError], calls: int, cause: str
) -> None:
    model = Parrot(*says)
    with pytest.raises(TaskFailedError) as failed:
        await asked(journal_of(model))
    assert (failed.value.cause, len(model.requests)) == (cause, calls)


async def test_a_spent_budget_ends_the_dialogue() -> None:
    model = Parrot("nonsense")
    with pytest.raises(TaskFailedError) as failed:
        await asked(journal_of(model, max_llm_calls=1))
    assert (failed.value.cause, len(model.requests)) == ("budget_calls", 1)


# --- reading an answer ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"<think>Perhaps {{this}}?</think>\n{GOOD}",
        f"<THINK>{{}}</THINK>{GOOD}",
        f"Sure, here it is:\n\n{GOOD}\n\nI hope that helps!",
        f"{GOOD}\n\nAs you see, {{number}} is 1.",
        GOOD.replace("It is old.", "It is\\nold.").replace("\\n", "\n").replace("\n", " "),
        json.dumps({**json.loads(GOOD), "confidence": "high"}),
    ],
)
def test_the_object_is_found_among_fences_thoughts_and_chatter(text: str) -> None:
    assert parse_answer(text, repair.RepairAnswer).statements[0].text == "It is old."


def test_line_breaks_within_a_string_are_read() -> None:
    text = GOOD.replace("It is old.", "It is\nold.")
    assert parse_answer(text, repair.RepairAnswer).statements[0].text == "It is\nold."


@pytest.mark.parametrize(
    "text, fault",
    [
        ("", "no JSON object"),
        ("I can't do that.", "no JSON object"),
        ("<think>" + GOOD + " Or not?", "no JSON object"),
        ('{"statements": [', "no JSON object"),
        ('{"statements": [}', "The JSON is broken"),
        ('{"statements": {}}', "statements.0.number: Field required"),
        ("[1, 2]", "no JSON object"),
        ('{"statements": [' + "9" * 5000 + "]}", "number without end"),
        ('{"statements": ' + "[" * 100_000 + "]" * 100_000 + "}", "too deep"),
    ],
)
def test_what_is_wrong_is_said(text: str, fault: str) -> None:
    with pytest.raises(InvalidAnswerError) as invalid:
        parse_answer(text, repair.RepairAnswer)
    assert fault in str(invalid.value)


def test_characters_that_no_store_can_keep_are_dropped() -> None:
    text = GOOD.replace("old.", "o\\u0000ld \\ud800 \\\\u0000.")
    found = parse_answer(text, repair.RepairAnswer).statements[0].text
    assert found == "It is old ? \\u0000."


# --- prompts and schemas --------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_a_task_s_example_answer_fits_its_schema(task: Task[Any]) -> None:
    """Also where only a person who approves the plan reads a part of it."""
    text = (PROMPTS / f"{task.name}.md").read_text().partition("\n=====\n")[0]
    agreed = task is intake.AGREED
    system = jinja2.Template(text).render(agreed=agreed, directions=2, most=14)
    example = system.splitlines()[-1]
    assert isinstance(parse_answer(example, task.answer), BaseModel)
    assert set(json.loads(example)) == set(task.schema()["properties"])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_schemas_are_closed_and_nothing_is_optional(task: Task[Any]) -> None:
    def check(part: Any) -> None:
        if isinstance(part, list):
            for each in part:
                check(each)
        elif isinstance(part, dict):
            assert "default" not in part
            if isinstance(part.get("properties"), dict) and part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
            for each in part.values():
                check(each)

    check(task.schema())


def test_a_field_that_is_called_title_stays_in_the_schema() -> None:
    class Titled(Answer):
        title: str

    assert Task("x", Titled, 1).schema()["properties"]["title"] == {"type": "string"}


def test_a_prompt_with_a_missing_variable_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        render_template("repair", {"question": "How old?"})


def test_what_a_page_says_is_never_read_as_a_template() -> None:
    _, prompt = render_template("repair", {**CONTEXT, "question": "{{ 7 * 7 }} {% if %}"})
    assert "{{ 7 * 7 }} {% if %}" in prompt
