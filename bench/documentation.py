"""In how many questions over documentation the short answer's quotes hold the known string.

    .venv/bin/python -m bench.documentation bench/questions/documentation.jsonl

The manuals that the questions are of (Debian's postgresql-doc-15, python3.11-doc, nodejs-doc
and valgrind) are searched together, by the extractive analyst, on the default settings. The
rule for a hit stands in `bench/questions/README.md`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from research.engine import (
    Evidence,
    Journal,
    MemoryStore,
    Meter,
    Question,
    Record,
    Report,
    ResearchConfig,
    Source,
    Tools,
    run_research,
)
from research.extract.pool import TextPool
from research.fulltext.index import DocumentIndex
from research.search.documents import DocumentFetch, DocumentSearch

MANUALS = {
    "postgresql": Path("/usr/share/doc/postgresql-doc-15/html"),
    "python": Path("/usr/share/doc/python3.11/html"),
    "nodejs": Path("/usr/share/doc/nodejs/api"),
    "valgrind": Path("/usr/share/doc/valgrind/html"),
}
FOLDERS = (MANUALS["postgresql"], MANUALS["python"])
MARKER = re.compile(r"\[(\d+)\]")


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()


@dataclass(frozen=True)
class Outcome:
    """`page_read` says whether the page that answers was among those read."""

    id: str
    hit: bool
    page_read: bool
    in_report: bool
    rounds: int
    seconds: float
    short_answer: str


async def measure(questions: list[dict[str, Any]], config: ResearchConfig) -> list[Outcome]:
    with TextPool() as pool, tempfile.TemporaryDirectory() as folder:
        index = DocumentIndex(Path(folder) / "documents.sqlite3")
        try:
            sets = {question["set"] for question in questions}
            folders = [folder for name, folder in MANUALS.items() if name in sets]
            reports = [await index.refresh(each, pool) for each in folders]
            names = [report.collection for report in reports]
            tools = Tools(DocumentSearch(index, names), DocumentFetch(index, names), Clock())
            return [await _one(question, tools, config) for question in questions]
        finally:
            index.close()


async def _one(question: dict[str, Any], tools: Tools, config: ResearchConfig) -> Outcome:
    records: list[Record] = []
    journal = Journal(MemoryStore(), tools, Meter(config), records.append)
    started = time.monotonic()
    await journal.open()
    asked = Question(question["question"], "2026-01-01", agreed=True)
    await run_research(asked, config, journal)
    return _outcome(question, records, time.monotonic() - started)


def _outcome(question: dict[str, Any], records: list[Record], seconds: float) -> Outcome:
    evidence = {r.id: r for r in records if isinstance(r, Evidence)}
    sources = {r.url: r for r in records if isinstance(r, Source)}
    report = [r for r in records if isinstance(r, Report)][-1]
    short = _quotes(report, evidence, report.short_answer)
    everything = _quotes(report, evidence, report.markdown)
    wanted = [question["answer"], *question.get("alternatives", ())]
    read = [url for url, s in sources.items() if s.status in {"read", "cited"}]
    return Outcome(
        id=question["id"],
        hit=holds(short, wanted),
        page_read=any(url.endswith("/" + question["page"]) for url in read),
        in_report=holds(everything, wanted),
        rounds=max((r.round for r in evidence.values()), default=0),
        seconds=seconds,
        short_answer=short,
    )


def _quotes(report: Report, evidence: dict[str, Evidence], text: str) -> str:
    marks = {int(mark) for mark in MARKER.findall(text)}
    return " … ".join(
        source.quote
        for citation in report.citations
        if citation.marker in marks
        for record_id in citation.evidence_ids
        for source in evidence[record_id].sources
        if source.url == citation.url
    )


def holds(text: str, wanted: list[str]) -> bool:
    """Return whether a text holds one of the strings, case and white space folded."""
    plain = " ".join(text.split()).casefold()
    return any(" ".join(answer.split()).casefold() in plain for answer in wanted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--set", metavar="KNOB=VALUE", action="append", default=[])
    parser.add_argument("--part", help="only the questions of this part")
    parser.add_argument("--misses", action="store_true", help="show the short answers that miss")
    options = parser.parse_args()
    questions = [json.loads(line) for line in options.questions.read_text().splitlines()]
    if options.part:
        questions = [question for question in questions if question.get("part") == options.part]
    config = ResearchConfig.from_strings(dict(pair.split("=", 1) for pair in options.set))
    outcomes = asyncio.run(measure(questions, config))
    kinds = {question["id"]: question["kind"] for question in questions}
    asked, hits = Counter(kinds.values()), Counter(kinds[o.id] for o in outcomes if o.hit)
    for outcome in outcomes:
        if options.misses and not outcome.hit:
            print(f"{outcome.id} page read: {outcome.page_read}; {outcome.short_answer[:300]}")
    for kind, count in sorted(asked.items()):
        print(f"{kind:8} {hits[kind]} of {count}")
    print(f"short answer holds the string: {sum(o.hit for o in outcomes)} of {len(outcomes)}")
    print(f"report holds the string: {sum(o.in_report for o in outcomes)}")
    print(f"page that answers was read: {sum(o.page_read for o in outcomes)}")
    print(f"mean rounds: {sum(o.rounds for o in outcomes) / len(outcomes):.2f}")
    print(f"median seconds: {sorted(o.seconds for o in outcomes)[len(outcomes) // 2]:.2f}")


if __name__ == "__main__":
    main()
