"""Task `intake`: understand the question, or ask back, and propose the sub-questions."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from pydantic import Field

from research.engine.journal.forms import Form
from research.engine.limits import MOST_PARTS, USUAL_PARTS
from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.prompting.ask import Task, ask_model
from research.engine.llm_tasks.prompting.fences import fences
from research.engine.offline.planning import Understood
from research.engine.offline.questions.compared import compared_properties
from research.engine.records import Complexity, PlannedAspect
from research.engine.report.report_format import ASKED_FORMS
from research.engine.run import Run
from research.engine.text.language import code_of, language_of
from research.engine.text.tokens import capitalize_heading, normalise_space
from research.engine.threads.seed import ReportForm

MOST_QUESTIONS = 3
LONGEST_READER = 300
"""Characters."""
LONGEST_TITLE, LONGEST_HEADING = 100, 60
"""Characters of a title, and of the heading of a sub-question."""


class IntakeAnswer(Answer):
    """Requirements of the research; `queries` and `headings` correspond to `sub_questions`."""

    title: str = ""
    headings: list[str] = Field(default_factory=list)
    complexity: Complexity
    language: str
    brief: str
    sub_questions: list[str]
    queries: list[str]
    form: str = ""
    reader: str = ""


class PlanAnswer(IntakeAnswer):
    """And what a person is asked, or reads before they approve the plan."""

    clarifying_questions: list[str]
    scope: str
    evidence_strategy: str
    output_format: str


AGREED = Task("intake", IntakeAnswer, 1800)
ASKING: Task[IntakeAnswer] = Task("intake", PlanAnswer, 1800)


async def understand_question(
    run: Run, place: str, clarifications: tuple[str, ...] = (), comment: str = ""
) -> Understood:
    """Return the model's plan of the question. Raises `TaskFailedError`."""
    context = {
        "question": run.question.text,
        "today": run.question.today,
        "clarifications": clarifications,
        "comment": comment,
        "instructions": run.instructions,
        "documents": await _searched_documents(run),
        "most": most_aspects(run),
        "agreed": run.question.agreed,
    }
    attempts = run.config.max_model_attempts
    task = AGREED if run.question.agreed else ASKING
    return _to_understood(run, await ask_model(run.journal, attempts, place, task, context))


async def _searched_documents(run: Run) -> list[str]:
    """Return in lines what the asker's documents hold, or their names; none if a run searches
    anything else, too.
    """
    names = list(run.question.documents)
    if not names or run.form < Form.EDITED:
        return names

    async def read() -> list[str]:
        tools = run.journal.tools
        return list(tools.contents) if tools else []

    lines = await run.journal.decide_once("documents", read)
    return [fences(run).shown(line) for line in lines] or names


def most_aspects(run: Run) -> int:
    """Return the most sub-questions of a plan: many only if there is room to answer them."""
    return USUAL_PARTS if run.config.research_depth == "quick" else MOST_PARTS


def _asked_form(run: Run, told: str, parts: int) -> ReportForm:
    """Return the form that the question asks for; no mere table where a plan has more parts than
    the question lists columns: the rest wants explaining.
    """
    form = ASKED_FORMS.get(normalise_space(told).lower(), "full")
    columns = max(USUAL_PARTS, len(compared_properties(run.question.text)))
    return "full" if form == "table" and parts > columns else form


def _reader(told: str) -> str:
    """Return whom the report is for, in whole words."""
    return textwrap.shorten(told, LONGEST_READER, placeholder=" …")


def _usable_headings(told: Sequence[str], asked: Sequence[str]) -> list[str]:
    """Return the headings, '' for one that is long; none if they don't tell the parts apart."""
    headings = [_short_name(heading, LONGEST_HEADING) for heading in told]
    given = list(filter(None, headings))
    if len(asked) == 1 or len(told) != len(asked) or len(set(given)) < len(given):
        return []
    return headings


def _short_name(text: str, most: int) -> str:
    """Return a name on one line without a mark at its end, '' if it is longer than `most`."""
    name = normalise_space(text).strip(" .:;,")
    return capitalize_heading(name) if len(name) <= most else ""


def _to_understood(run: Run, answer: IntakeAnswer) -> Understood:
    question = run.question.text
    asked = answer.sub_questions[: most_aspects(run)]
    headings = _usable_headings(answer.headings, asked)
    parts = zip_longest(asked, answer.queries, headings, fillvalue="")
    planned = [
        PlannedAspect(
            normalise_space(part), normalise_space(query) or normalise_space(part), heading
        )
        for part, query, heading in parts
        if part.strip()
    ]
    understood = Understood(
        brief=normalise_space(answer.brief) or question,
        complexity=answer.complexity,
        language=code_of(answer.language) or language_of(question, run.usual_language),
        aspects=tuple(planned) or (PlannedAspect(question, question),),
        form=_asked_form(run, answer.form, len(planned)),
        reader=_reader(normalise_space(answer.reader)),
        title=_short_name(answer.title, LONGEST_TITLE),
    )
    if not isinstance(answer, PlanAnswer):
        return understood
    return replace(
        understood,
        questions=tuple(q for q in answer.clarifying_questions if q.strip())[:MOST_QUESTIONS],
        scope=answer.scope,
        evidence_strategy=answer.evidence_strategy,
        output_format=answer.output_format,
    )
