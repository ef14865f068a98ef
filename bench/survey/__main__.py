"""Research the survey questions with the oracle and print the figures of each report.

    python -m bench.survey                        # s1-s3, quick, standard and thorough
    python -m bench.survey s1 --depth thorough --show
    python -m bench.survey --held-out

The held-out questions are looked at once, for the figure that is published.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping
from typing import Any

from bench.survey.measure import measure, rows
from bench.survey.oracle import SurveyOracle
from bench.survey.reading import measure_form, read_report, summary_share
from bench.survey.web import SurveyWeb
from research.engine import Question, ResearchConfig, Tools, run_in_memory
from research.engine.llm_tasks.verify import prompt_version
from research.engine.records import Aspect, Plan, Qualification
from research.engine.records.result import RunResult
from research.runtime.clock import SystemClock

DEPTHS = ("quick", "standard", "thorough")
QUALIFIED = Qualification(prompt_version(), 80, 0, 80, 0)
Figures = dict[str, float | None]
COLUMNS = (
    "found", "coverage", "coverage_strict", "aspects_touched", "words", "sources", "hosts_cited",
    "calls", "tokens", "rounds", "summary", "repeated", "long_paragraphs", "citations_backed",
    "newest_wins", "outdated_repeated", "disputes_marked", "disputes_one_sided",
    "primary_preferred", "cells_right", "cells_wrong", "events", "events_ordered",
    "copies_cited", "useless_cited",
)  # fmt: skip


async def research(question: Mapping[str, Any], depth: str) -> RunResult:
    """Run one question of the survey with the oracle at a depth."""
    pages = [row for row in rows("pages.jsonl") if row["question"] == question["id"]]
    facts = [row for row in rows("facts.jsonl") if row["question"] == question["id"]]
    web = SurveyWeb(pages)
    tools = Tools(web, web, SystemClock(), SurveyOracle(question, facts, pages))
    asked = Question(question["question"], question["asked"], agreed=True, verifier=QUALIFIED)
    return await run_in_memory(asked, tools, ResearchConfig(research_depth=depth))


def figures_of(question: Mapping[str, Any], found: RunResult) -> Figures:
    """Return what the rubric says of a finished run."""
    report, usage = found.report, found.usage
    read = read_report(report.markdown, report.citations)
    told = measure(question, rows("facts.jsonl"), rows("pages.jsonl"), read)
    evidence = {record.id: record for record in found.evidence}
    table, timeline = told.get("table", {}), told.get("timeline", {})
    quotes = [{"text": source.quote} for r in found.evidence for source in r.sources]
    known = measure(question, rows("facts.jsonl"), rows("pages.jsonl"), {"sentences": quotes})
    aspects = [aspect for aspect in found.of(Aspect) if not aspect.dropped]
    return {
        **told,
        **measure_form(report.markdown, report.citations),
        "found": known["coverage"],
        "summary": summary_share(evidence, report, aspects),
        "calls": usage.llm_calls,
        "tokens": usage.prompt_tokens + usage.completion_tokens,
        "rounds": found.state.round,
        "cells_right": table.get("right"),
        "cells_wrong": table.get("wrong"),
        "events": timeline.get("found"),
        "events_ordered": timeline.get("ordered"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.survey", description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="*", metavar="ID")
    parser.add_argument("--depth", choices=DEPTHS, action="append")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--show", action="store_true", help="print the reports too")
    options = parser.parse_args()
    part = "held_out" if options.held_out else "tuning"
    chosen = [
        row for row in rows("questions.jsonl")
        if (row["id"] in options.questions if options.questions else row["part"] == part)
    ]  # fmt: skip
    asyncio.run(tell(chosen, options.depth or DEPTHS, options.show))


async def tell(
    questions: list[dict[str, Any]], depths: list[str] | tuple[str, ...], show: bool
) -> None:
    """Print a column of figures for each depth and question, and the mean of each depth."""
    for depth in depths:
        columns: list[Figures] = []
        for question in questions:
            found = await research(question, depth)
            if show:
                print(found.report.markdown)
                print(found.state.termination_text, found.state.quality_score)
                print(found.state.termination_reason, found.usage.llm_calls_by_task)
                print(len(found.of(Plan)[0].aspects), found.usage.fallbacks)
            columns.append(figures_of(question, found))
        print(f"\n{depth:20}" + "".join(f"{row['id']:>9}" for row in questions) + "     mean")
        for name in COLUMNS:
            values = [column.get(name) for column in columns]
            known = [value for value in values if value is not None]
            mean = sum(known) / len(known) if known else None
            print(f"{name:20}" + "".join(map(_shown, [*values, mean])))


def _shown(value: float | None) -> str:
    if value is None:
        return f"{'–':>9}"
    return f"{value:9.3f}" if isinstance(value, float) and value < 10 else f"{value:9.0f}"


if __name__ == "__main__":
    main()
