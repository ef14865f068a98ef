"""The survey instrument: a whole run through it, and how it reads a report."""

import re
from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass

import httpx
import pytest

from bench import prompts
from bench.survey.__main__ import figures_of, over_bare, research
from bench.survey.measure import measure, rows
from bench.survey.oracle import SurveyOracle, parts_of
from bench.survey.reading import measure_form, measure_summary, read_report
from research.engine import ModelAnswer, ModelRequest
from research.engine.llm_tasks.assess import FINDINGS_OF_A_PART
from research.engine.llm_tasks.prompting.ask import PROMPTS


@dataclass(frozen=True)
class Cited:
    marker: int
    url: str


REPORT = """# What?

**Short answer.** It is old. [1]

*1 of 1 answered*

## A part

It was built in 1889, says Dr. [1] It weighs 4.6 tonnes. [1][2] (⚠ Sources disagree)

- One thing. [2]
- Another \\*thing\\*. [1]

| Name | Year |
| --- | --- |
| Tower [1] | 1889 |

## Sources

- [1] x
"""
CITED = [Cited(1, "https://a.example/"), Cited(2, "https://b.example/")]


def test_a_report_is_read_as_sentences_with_addresses_and_tables() -> None:
    read = read_report(REPORT, CITED)
    said = {each["text"]: each["urls"] for each in read["sentences"]}
    assert said["It weighs 4.6 tonnes."] == ["https://a.example/", "https://b.example/"]
    assert said["Another *thing*."] == ["https://a.example/"]
    assert read["tables"] == [[["Name", "Year"], ["Tower", "1889"]]]


def test_an_old_value_is_history_only_if_its_own_sentence_says_so() -> None:
    question = {"id": "s", "aspects": [], "cells": {}, "timeline": []}
    common = {"question": "s", "aspect": "a", "weight": 1, "disputed_with": None}
    facts = [
        common | {"id": "f1", "values": ["22 mg"], "superseded_by": None},
        common | {"id": "f2", "values": ["35 mg"], "superseded_by": "f1"},
    ]

    def outdated(*texts: str) -> float:
        report = {"sentences": [{"text": text} for text in texts]}
        return float(measure(question, facts, [], report)["outdated_repeated"])

    assert outdated("The dose, which had stood at 35 mg until 2023, is now 22 mg.") == 0
    assert outdated("It is no longer the 35 mg of the first decade, but 22 mg.") == 0
    assert outdated("The dose is 22 mg.", "Previously (2014): the dose is 35 mg.") == 0
    assert outdated("Salt made before May 2023 had 35 mg, but by law it now has 22 mg.") == 0
    assert outdated("The dose has come down to 22 mg, having stood at 35 mg.") == 0
    assert outdated("The dose is 22 mg.", "For table salt it is 35 mg.") == 1
    assert outdated("The dose is 22 mg and it is 35 mg.") == 1


def test_repetitions_are_counted_behind_the_summary() -> None:
    twice = "The tower was built of iron in Paris. [1]"
    report = f"# What?\n\n{twice}\n\n*facts*\n\n## A\n\n{twice} {twice}\n\n## Sources\n"
    assert measure_form(report, CITED)["repeated"] == 1


def test_a_labelled_or_listed_sentence_belongs_to_the_summary() -> None:
    twice = "The tower was built of iron in Paris. [1]"
    listed = f"- {twice}\n- **Who paid?** It was the city of Paris. [1]"
    left = "*No answer was found on: Who died?*\n\n*Who wept?*"
    top = f"# What?\n\n**Short answer.**\n\n{listed}\n\n*facts*\n\n{left}"
    report = f"{top}\n\n## A\n\n{twice}\n"
    assert measure_form(report, CITED)["repeated"] == 0


def test_a_summary_is_measured_by_the_weight_of_its_facts_and_its_asides() -> None:
    common = {"disputed_with": None, "superseded_by": None, "kind": "quality"}
    facts = [
        common | {"aspect": "a", "weight": 3, "values": ["iron"]},
        common | {"aspect": "a", "weight": 2, "values": ["rivets"]},
        common | {"aspect": "b", "weight": 2, "values": ["May 1889"], "kind": "event"},
        common | {"aspect": "b", "weight": 3, "values": ["stone"]},
    ]
    listed = "- Of iron. [1]\n- In May 1889. [1]"
    report = f"# What?\n\n**Answer.**\n\n{listed}\n\n*facts*\n\n## A\n\nStone. [1]\n"
    assert measure_summary(report, facts, ["a", "b"]) == {
        "summary_weight": round(5 / 6, 4),
        "summary_asides": 0.5,
    }


def test_the_oracle_plans_by_the_words_of_the_question() -> None:
    asked = "Survey the Tower of Ys: why it was built, who paid, and what went wrong."
    assert [part.partition(": ")[2] for part in parts_of(asked)] == [
        "why it was built?", "who paid?", "what went wrong?",
    ]  # fmt: skip


async def test_a_quick_run_covers_a_quarter_of_a_survey_question() -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s1")
    figures = figures_of(question, await research(question, "quick"))
    assert (figures["coverage"] or 0) >= 0.2 and (figures["words"] or 0) <= 450
    assert figures["summary"] == 1 and figures["citations_backed"] == 1


def test_a_run_is_compared_with_the_bare_loop_at_the_same_coverage() -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s11")
    little: dict[str, float | None] = {"coverage": 0.1, "tokens": 1000}
    much: dict[str, float | None] = {"coverage": 1.0, "tokens": 1000}
    early, late = over_bare(question, little, 10.0), over_bare(question, much, 10.0)
    assert 0.1 < (early["bare_coverage"] or 0) < (late["bare_coverage"] or 0) <= 1
    assert (early["wall_over_bare"] or 0) > (late["wall_over_bare"] or 0) > 0
    assert (early["tokens_over_bare"] or 0) > (late["tokens_over_bare"] or 0) > 0


async def test_prompts_repeat_no_quotes_that_are_the_claim(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s11")
    asked: list[ModelRequest] = []
    complete = SurveyOracle.complete

    async def noted(self: SurveyOracle, request: ModelRequest) -> ModelAnswer:
        asked.append(request)
        return await complete(self, request)

    monkeypatch.setattr(SurveyOracle, "complete", noted)
    await research(question, "thorough")
    by_task = {request.task: request.prompt for request in asked}
    assert question["question"] in by_task["read"] and question["question"] in by_task["assess"]
    assert "\n    = (" in by_task["section"]
    listed = re.findall(r"^\[E\d+\] \((A\d+);", by_task["assess"], re.MULTILINE)
    assert max(Counter(listed).values()) == FINDINGS_OF_A_PART


async def test_another_version_of_a_prompt_is_measured_and_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prompts, "SERVER", None)  # no real model, even where there is one
    text = (PROMPTS / "draft.md").read_text("utf-8")
    _, _, data = text.partition("\n=====\n")
    usual = await prompts.measure_prompt("draft", text, ["s11"], "quick")
    other = await prompts.measure_prompt("draft", f"Write.\n=====\n{data}", ["s11"], "quick")
    again = await prompts.measure_prompt("draft", text, ["s11"], "quick")
    assert (other["instructions, tokens"], other["coverage"]) == (2, usual["coverage"])
    assert again == usual and usual["valid answers of a real model"] is None

    texts = iter(['{"newer": []}', '{"newer": [], "disagree": []}', "none"])

    def answered(url: str, **_: object) -> httpx.Response:
        message = {"choices": [{"message": {"content": next(texts)}}]}
        return httpx.Response(200, json=message, request=httpx.Request("POST", url))

    monkeypatch.setattr(httpx, "post", answered)
    monkeypatch.setattr(prompts, "served", lambda: nullcontext("http://model.invalid"))
    asked = ModelRequest("compare", "", "", {}, 10)
    assert prompts.count_valid([asked] * 3) == (1, 3)
