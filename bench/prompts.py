"""Compare two versions of a prompt: its tokens, what runs find with it, and valid answers.

    python -m bench prompts section                  # the prompt as it is
    python -m bench prompts section new-section.md   # beside another version of it
    python -m bench prompts read read.md --questions s9 s10 --depth quick

The runs are those of `python -m bench.survey` with its oracle, so that coverage tells what the
prompt shows, not how well it asks. How many answers a small real model gives in the wanted form
tells that better: `LLAMA_SERVER` names the server of llama.cpp, `LOCAL_MODEL_FILE` a GGUF file.
Without them the line stays empty.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

import httpx
import jinja2

from bench.survey.__main__ import DEPTHS, QUALIFIED, figures_of
from bench.survey.measure import rows
from bench.survey.oracle import SurveyOracle
from bench.survey.web import SurveyWeb
from bench.world.model import count_tokens
from research.engine import (
    ModelAnswer,
    ModelRequest,
    Question,
    ResearchConfig,
    Tools,
    run_in_memory,
)
from research.engine.llm_tasks import assess, compare, draft, intake, read, repair, sections, verify
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import (
    PROMPTS,
    TEMPLATES,
    InvalidAnswerError,
    parse_answer,
)
from research.runtime.program import SystemClock
from tests.support.real_model import MODEL, SERVER, served

ANSWERS: Mapping[str, type[Answer]] = {
    task.name: task.answer
    for task in (
        intake.AGREED, read.TASK, assess.TASK, compare.COMPARE, draft.DRAFT, repair.REPAIR,
        sections.SECTION, sections.SUMMARY, verify.VERIFY,
    )
}  # fmt: skip
REAL_PROMPTS, REAL_TOKENS, REAL_SECONDS = 8, 500, 300
"""The real model gets the shortest prompts of the runs, since its window is small."""
FIGURES = ("calls", "tokens", "found", "coverage", "coverage_strict", "words", "disputes_marked")


@dataclass
class Listening:
    """The oracle, with a note of the requests of one task."""

    oracle: SurveyOracle
    task: str
    heard: list[ModelRequest] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.oracle.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.task == self.task:
            self.heard.append(request)
        return await self.oracle.complete(request)


async def measure_prompt(
    task: str, text: str, questions: Sequence[str], depth: str
) -> dict[str, float | None]:
    """Return the figures of a version of a prompt, each the mean over the questions."""
    heard: list[ModelRequest] = []
    columns: list[dict[str, float | None]] = []
    with prompt_replaced(task, text):
        for question in (row for row in rows("questions.jsonl") if row["id"] in questions):
            facts, pages = (
                [row for row in rows(name) if row["question"] == question["id"]]
                for name in ("facts.jsonl", "pages.jsonl")
            )
            model, web = Listening(SurveyOracle(question, facts, pages), task), SurveyWeb(pages)
            asked = Question(question["question"], question["asked"], True, verifier=QUALIFIED)
            tools = Tools(web, web, SystemClock(), model)
            found = await run_in_memory(asked, tools, ResearchConfig(research_depth=depth))
            columns.append(figures_of(question, found))
            heard += model.heard
    valid, tried = count_valid(heard) if SERVER and MODEL and heard else (0, 0)
    return {
        "instructions, tokens": float(count_tokens(heard[0].system)) if heard else None,
        "whole prompt, tokens": _mean([count_tokens(r.system + r.prompt) for r in heard]),
        "calls of the task": len(heard) / max(1, len(columns)),
        **{name: _mean([column.get(name) for column in columns]) for name in FIGURES},
        "valid answers of a real model": valid / tried if tried else None,
    }


@contextmanager
def prompt_replaced(task: str, text: str) -> Iterator[None]:
    """Let the engine use another text for a prompt."""
    before = TEMPLATES.loader
    assert before is not None and TEMPLATES.cache is not None
    TEMPLATES.loader = jinja2.ChoiceLoader([jinja2.DictLoader({f"{task}.md": text}), before])
    TEMPLATES.cache.clear()
    try:
        yield
    finally:
        TEMPLATES.loader = before
        TEMPLATES.cache.clear()


def count_valid(heard: Sequence[ModelRequest]) -> tuple[int, int]:
    """Return how many answers of the small real model have the wanted form, and of how many."""
    chosen = sorted(heard, key=lambda each: len(each.system + each.prompt))[:REAL_PROMPTS]
    with served() as address:
        return sum(_is_valid(address, request) for request in chosen), len(chosen)


def _is_valid(address: str, request: ModelRequest) -> bool:
    messages = [
        {"role": "system", "content": request.system},
        {"role": "user", "content": request.prompt},
    ]
    body = {"messages": messages, "temperature": 0, "max_tokens": REAL_TOKENS}
    answer = httpx.post(f"{address}/chat/completions", json=body, timeout=REAL_SECONDS)
    answer.raise_for_status()
    try:
        parse_answer(answer.json()["choices"][0]["message"]["content"], ANSWERS[request.task])
    except InvalidAnswerError:
        return False
    return True


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known else None


async def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench prompts", description=__doc__.splitlines()[0])
    parser.add_argument("task", choices=sorted(ANSWERS))
    parser.add_argument("other", type=Path, nargs="?", help="a file with another version")
    parser.add_argument("--questions", nargs="+", default=["s9", "s11"], metavar="ID")
    parser.add_argument("--depth", choices=DEPTHS, default="thorough")
    options = parser.parse_args(arguments)
    texts = {"as it is": (PROMPTS / f"{options.task}.md").read_text("utf-8")}
    if options.other:
        texts[options.other.name] = options.other.read_text("utf-8")
    columns = [
        await measure_prompt(options.task, text, options.questions, options.depth)
        for text in texts.values()
    ]
    print(f"{options.task:32}" + "".join(f"{name[:18]:>20}" for name in texts))
    for name in columns[0]:
        shown = ("–" if (v := column[name]) is None else f"{v:,.3f}" for column in columns)
        print(f"{name:32}" + "".join(f"{value:>20}" for value in shown))
