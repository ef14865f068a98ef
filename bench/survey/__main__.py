"""Research the survey questions with the oracle and print the figures of each report.

    python -m bench.survey                        # s1-s3, quick, standard and thorough
    python -m bench.survey s1 --depth thorough --show
    python -m bench.survey --part tuning_4
    python -m bench.survey --reworded             # statements in other words than the pages'
    python -m bench.survey --reworded --unbelieved  # and no model is believed as verifier

The questions of held-out parts are looked at once, for the figure that is published.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from bench.survey.bare import Paced, bare_stages
from bench.survey.measure import measure, rows
from bench.survey.oracle import RewordingOracle, SurveyOracle
from bench.survey.reading import measure_form, measure_summary, read_report, summary_share
from bench.survey.web import SurveyWeb
from research.engine import Clock, Question, ResearchConfig, Tools, run_in_memory
from research.engine.llm_tasks.verify import prompt_version
from research.engine.records import Aspect, Plan, Qualification
from research.engine.records.result import RunResult
from research.runtime.program import SystemClock
from tests.support.virtual_time import LoopClock, VirtualTimeLoop

DEPTHS = ("quick", "standard", "thorough")
QUALIFIED = Qualification(prompt_version(), 80, 0, 80, 0)
UNBELIEVED = Qualification(prompt_version(), 80, 80, 80, 0)
Figures = dict[str, float | None]
T = TypeVar("T")
COLUMNS = (
    "found", "coverage", "coverage_strict", "aspects_touched", "words", "sources", "hosts_cited",
    "calls", "tokens", "rounds", "summary", "summary_weight", "summary_asides",
    "repeated", "long_paragraphs", "citations_backed",
    "newest_wins", "outdated_repeated", "disputes_marked", "disputes_one_sided",
    "primary_preferred", "cells_right", "cells_wrong", "events", "events_ordered",
    "copies_cited", "useless_cited", "bare_coverage", "wall_over_bare", "tokens_over_bare",
)  # fmt: skip


async def research(
    question: Mapping[str, Any],
    depth: str,
    clock: Clock | None = None,
    verifier: Qualification = QUALIFIED,
    oracle: type[SurveyOracle] = SurveyOracle,
) -> RunResult:
    """Run one question of the survey with an oracle at a depth; on a clock of virtual time, at the
    pace of the simulated world.
    """
    model, pages = _oracle(question, oracle)
    web = SurveyWeb(pages)
    if clock is None:
        tools = Tools(web, web, SystemClock(), model)
    else:
        paced = Paced(model, web)
        tools = Tools(paced, paced, clock, paced)
    asked = Question(question["question"], question["asked"], agreed=True, verifier=verifier)
    return await run_in_memory(asked, tools, ResearchConfig(research_depth=depth))


def _oracle(
    question: Mapping[str, Any], oracle: type[SurveyOracle] = SurveyOracle
) -> tuple[SurveyOracle, list[dict[str, Any]]]:
    pages = [row for row in rows("pages.jsonl") if row["question"] == question["id"]]
    facts = [row for row in rows("facts.jsonl") if row["question"] == question["id"]]
    return oracle(question, facts, pages), pages


async def _timed(
    question: Mapping[str, Any], depth: str, verifier: Qualification, oracle: type[SurveyOracle]
) -> tuple[RunResult, float]:
    found = await research(question, depth, LoopClock(), verifier, oracle)
    return found, asyncio.get_running_loop().time()


def over_bare(question: Mapping[str, Any], figures: Figures, seconds: float) -> Figures:
    """Return wall time and tokens divided by those of the bare loop when it has the same coverage,
    or by all that it takes if it never has.
    """
    stages = run_in_virtual_time(bare_stages(question, *_oracle(question)))
    facts, pages = rows("facts.jsonl"), rows("pages.jsonl")
    for stage in stages:
        told = {"sentences": [{"text": text} for text in stage.findings]}
        coverage = measure(question, facts, pages, told)["coverage"]
        if coverage >= figures["coverage"]:
            break
    return {
        "bare_coverage": coverage,
        "wall_over_bare": seconds / stage.seconds,
        "tokens_over_bare": (figures["tokens"] or 0) / stage.tokens,
    }


def run_in_virtual_time(step: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(step)


def figures_of(question: Mapping[str, Any], found: RunResult) -> Figures:
    """Return what the rubric says of a finished run."""
    report, usage = found.report, found.usage
    read = read_report(report.markdown, report.citations)
    told = measure(question, rows("facts.jsonl"), rows("pages.jsonl"), read)
    evidence = {record.id: record for record in found.evidence}
    facts = [row for row in rows("facts.jsonl") if row["question"] == question["id"]]
    table, timeline = told.get("table", {}), told.get("timeline", {})
    quotes = [{"text": source.quote} for r in found.evidence for source in r.sources]
    known = measure(question, rows("facts.jsonl"), rows("pages.jsonl"), {"sentences": quotes})
    aspects = [aspect for aspect in found.of(Aspect) if not aspect.dropped]
    return {
        **told,
        **measure_form(report.markdown, report.citations),
        **measure_summary(report.markdown, facts, question["aspects"]),
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
    parts = sorted({row["part"] for row in rows("questions.jsonl")})
    parser.add_argument("--part", choices=parts, default="tuning")
    parser.add_argument("--show", action="store_true", help="print the reports too")
    parser.add_argument("--reworded", action="store_true", help="statements are paraphrases")
    parser.add_argument("--unbelieved", action="store_true", help="no statement can be verified")
    options = parser.parse_args()
    chosen = [
        row for row in rows("questions.jsonl")
        if (row["id"] in options.questions if options.questions else row["part"] == options.part)
    ]  # fmt: skip
    if unknown := set(options.questions) - {row["id"] for row in chosen}:
        parser.error(f"no such question: {', '.join(sorted(unknown))}")
    verifier = UNBELIEVED if options.unbelieved else QUALIFIED
    oracle = RewordingOracle if options.reworded else SurveyOracle
    tell(chosen, options.depth or DEPTHS, options.show, verifier, oracle)


def tell(
    questions: list[dict[str, Any]],
    depths: list[str] | tuple[str, ...],
    show: bool,
    verifier: Qualification = QUALIFIED,
    oracle: type[SurveyOracle] = SurveyOracle,
) -> None:
    """Print a column of figures for each depth and question, and the mean of each depth."""
    for depth in depths:
        columns: list[Figures] = []
        for question in questions:
            found, seconds = run_in_virtual_time(_timed(question, depth, verifier, oracle))
            if show:
                print(found.report.markdown)
                print(found.state.termination_text, found.state.quality_score)
                print(found.state.termination_reason, found.usage.llm_calls_by_task)
                print(len(found.of(Plan)[0].aspects), found.usage.fallbacks)
            figures = figures_of(question, found)
            columns.append(figures | over_bare(question, figures, seconds))
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
