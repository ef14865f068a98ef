"""Asking the model for one task: render, call, check, repair, and give up with a cause."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import jinja2
from pydantic import ValidationError

from research.engine.budget.meter import BudgetSpentError
from research.engine.journal import Journal, make_storable
from research.engine.llm_tasks.answers import Answer, parts_of
from research.engine.llm_tasks.prompting.parse_json import parse_objects, without_thoughts
from research.engine.ports import Hear, ModelFailedError, ModelRequest, ModelRole
from research.engine.records import Problem
from research.errors import PlumblineError

PROMPTS = Path(__file__).parents[1] / "prompts"
TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(PROMPTS),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,
)
CUT_OFF = "The answer was cut off because it was too long. Answer in fewer words."


A = TypeVar("A", bound=Answer)


@dataclass(frozen=True)
class Task(Generic[A]):
    """A model task. `name` is the schema's and the journal's, and the prompt file's where
    `prompt` is ''. `shown_answer` is how many characters of a faulty answer are shown again.
    """

    name: str
    answer: type[A]
    max_output_tokens: int
    role: ModelRole = "research"
    shown_answer: int = 2000
    prompt: str = ""

    def schema(self) -> dict[str, Any]:
        """Return the answer's JSON schema in the strict form: closed objects, nothing optional."""
        return _strict_schema(self.answer)

    def rendered(self, context: Mapping[str, Any]) -> tuple[str, str]:
        """System message and prompt."""
        return render_template(self.prompt or self.name, context)


@lru_cache
def _strict_schema(answer: type[Answer]) -> dict[str, Any]:
    closed: dict[str, Any] = _close_schema(answer.model_json_schema())
    return closed


class TaskFailedError(PlumblineError):
    """No usable answer after all attempts; `cause` is a short word for the record."""

    def __init__(self, cause: str) -> None:
        super().__init__(cause)
        self.cause = cause


class TooLongError(TaskFailedError):
    """The server found the prompt of this attempt too long for the model's window."""

    def __init__(self, cause: str, attempt: int) -> None:
        super().__init__(cause)
        self.attempt = attempt


async def ask_model(
    journal: Journal,
    attempts: int,
    place: str,
    task: Task[A],
    context: Mapping[str, Any],
    on_text: Hear | None = None,
    first: int = 1,
) -> A:
    """Return the validated answer of one task; an invalid answer is shown to the model with its
    fault.

    `on_text` receives each attempt's growing text, if the model streams; `first` is the number of
    the first attempt. Raises `TaskFailedError` when `attempts` are used up or a budget is spent,
    `TooLongError` if the same prompt can't succeed: a server that refuses it as too long is asked
    once more before it is believed.
    """
    asked = request_for(journal, task, context)
    cause, repair, refused = "no answer", "", False
    for attempt in range(first, attempts + 1):
        request = replace(asked, prompt=asked.prompt + repair)
        if attempt > 1:
            journal.meter.usage.retries += 1
        try:
            answer = await journal.model(place, attempt, request, on_text)
        except BudgetSpentError as spent:
            raise TaskFailedError(str(spent.reason)) from None
        except ModelFailedError as failure:
            cause = failure.reason
            if failure.too_long:
                if refused or first > 1:
                    raise TooLongError(cause, attempt) from None
                refused = True
            if failure.permanent:
                break
            continue
        for note in answer.notes:
            journal.emit(Problem("model", note))
        try:
            usable = parse_answer(answer.text, task.answer)
        except InvalidAnswerError as invalid:
            fault = CUT_OFF if answer.cut_off else str(invalid)
            cause, repair = (
                "invalid answer",
                _repair_prompt(answer.text[: task.shown_answer], fault),
            )
        else:
            journal.meter.usage.answered(task.name)
            return usable
    raise TaskFailedError(cause)


def request_for(journal: Journal, task: Task[A], context: Mapping[str, Any]) -> ModelRequest:
    """Return the first attempt's request."""
    system, prompt = task.rendered(context)
    most_tokens = task.max_output_tokens + journal.meter.config.model_reasoning_tokens
    return ModelRequest(task.name, system, prompt, task.schema(), most_tokens, task.role)


class InvalidAnswerError(PlumblineError, ValueError):
    """The fault of a model's answer, in words that help it to repair it."""


def parse_answer(text: str, answer: type[A]) -> A:
    """Return the first object of a model's text that is, or contains, an answer.

    Raises `InvalidAnswerError` with the fault as shown to the model.
    """
    fault = ""
    try:
        for found in parse_objects(text):
            for candidate in (found, *parts_of(found)):
                try:
                    return answer.model_validate(make_storable(candidate))
                except ValidationError as error:
                    fault = fault or _describe_faults(error)
    except (ValueError, RecursionError):
        raise InvalidAnswerError("The JSON is too deep, or holds a number without end.") from None
    raise InvalidAnswerError(fault or _why_unparsed(text))


def _describe_faults(error: ValidationError) -> str:
    faults = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5]]
    return "; ".join(faults)


def _why_unparsed(text: str) -> str:
    """Why there is no object in a text."""
    plain = without_thoughts(text)
    start = plain.find("{")
    if start < 0 or plain.rfind("}") < start:
        return "There was no JSON object in the answer."
    try:
        json.loads(plain[start : plain.rfind("}") + 1], strict=False)
    except json.JSONDecodeError as error:
        return f"The JSON is broken: {error.msg} at character {start + error.pos}."
    except (ValueError, RecursionError):
        return "The JSON is too deep, or holds a number without end."
    return "There was no JSON object in the answer."


def render_template(name: str, context: Mapping[str, Any]) -> tuple[str, str]:
    """System message and prompt; the file's first part, up to `=====`, is the system message.

    A variable that is missing is an error (`jinja2.UndefinedError`).
    """
    text = TEMPLATES.get_template(f"{name}.md").render(context)
    system, _, prompt = text.partition("\n=====\n")
    return system.strip(), prompt.strip() + "\n"


def _repair_prompt(text: str, fault: str) -> str:
    return (
        "\n# YOUR LAST ANSWER\n"
        f"{text}\n\n"
        "# WHAT WAS WRONG WITH IT\n"
        f"{fault}\nAnswer again with one JSON object that puts this right.\n"
    )


def _close_schema(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_close_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {
        key: _close_schema(value)
        for key, value in schema.items()
        if key not in {"default", "title"}
    }
    if isinstance(schema.get("properties"), dict):
        closed["properties"] = {k: _close_schema(v) for k, v in schema["properties"].items()}
        closed["required"] = list(closed["properties"])
        closed["additionalProperties"] = False
    return closed
