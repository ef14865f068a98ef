"""What five passages hold, against five chunks of plain BM25, and what their score means.

    .venv/bin/python -m bench.passages                    # the manuals for tuning
    .venv/bin/python -m bench.passages --part held_out_4  # once, when nothing will be changed

Each question is asked of the search over its own manual; the passages that the analyst without a
model would show come from the pages that the search names. The baseline cuts every page of the
manual into chunks of `CHUNK_WORDS` words and ranks them by BM25 over stemmed words. A text holds
an answer if it contains a literal of it, without regard to case and white space. `--runs N` adds N
whole runs of the engine, drawn evenly.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.calibration import Judged, calibration_table, share
from bench.documentation import Clock
from bench.fitting import READ
from bench.manuals import (
    PARTS,
    Manual,
    ManualQuestion,
    answers,
    manuals,
    normalise,
    open_manual,
    questions,
    texts_of,
)
from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.loop import Question, run_research
from research.engine.offline.passages.passage_model import (
    answer_probability,
    best_distinct,
    rank_passages,
)
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.offline.planning import query_of
from research.engine.ports import Page, SearchRequest, Tools
from research.engine.records import Report, RunState
from research.engine.text.tokens import split_terms
from research.extract.pool import TextPool
from research.search.documents import DocumentFetch, DocumentSearch

CHUNK_WORDS, SHOWN = 80, 5
K1, B = 1.2, 0.75
DIRECT_KINDS = frozenset({"since", "version", "default", "number or default"})


@dataclass(frozen=True)
class Compared:
    """A question's passages beside the baseline's chunks; `in_text` says whether any page of the
    manual holds the answer, `run_score` is that of a whole run, if one was made."""

    judged: Judged
    in_text: bool
    chunk_first: bool
    chunks_hold: bool
    run_score: float | None = None


class Chunks:
    """Plain BM25 over chunks of a manual's pages."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = [
            " ".join(words[at : at + CHUNK_WORDS])
            for words in map(str.split, texts)
            for at in range(0, len(words), CHUNK_WORDS)
        ]
        counts = [Counter(split_terms(text)) for text in self.texts]
        self.lengths = [count.total() for count in counts]
        self.mean = sum(self.lengths) / max(1, len(self.lengths)) or 1.0
        self.places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for term, times in count.items():
                self.places[term].append((number, times))

    def best(self, question: str) -> list[str]:
        """Return the best chunks, best first."""
        scores: dict[int, float] = defaultdict(float)
        for term in dict.fromkeys(split_terms(question)):
            found = self.places.get(term, [])
            rarity = math.log(1 + (len(self.texts) - len(found) + 0.5) / (len(found) + 0.5))
            for number, times in found:
                norm = K1 * (1 - B + B * self.lengths[number] / self.mean)
                scores[number] += rarity * times * (K1 + 1) / (times + norm)
        ranked = sorted(scores, key=lambda number: (-scores[number], number))
        return [self.texts[number] for number in ranked[:SHOWN]]


async def compare(manual: Manual, asked: Sequence[ManualQuestion], runs: int) -> list[Compared]:
    """Ask a manual all of its questions, `runs` of them in whole runs as well."""
    with TextPool() as pool, tempfile.TemporaryDirectory() as folder:
        index, collection = await open_manual(manual, Path(folder), pool)
        try:
            search = DocumentSearch(index, [collection])
            fetch = DocumentFetch(index, [collection])
            texts = await texts_of(index, fetch)
            chunks, normed = Chunks(texts), [normalise(text) for text in texts]
            every = max(1, len(asked) // runs) if runs else 0
            found = []
            for number, question in enumerate(asked):
                pages = await _pages(search, fetch, question.text)
                wanted = [normalise(answer) for answer in question.answers]
                in_text = any(w in text for w in wanted for text in normed)
                is_run = every > 0 and number % every == 0
                score = await _run_score(search, fetch, question.text) if is_run else None
                best = [answers(question, chunk) for chunk in chunks.best(question.text)]
                judged = _judged(question, pages)
                found.append(Compared(judged, in_text, any(best[:1]), any(best), score))
            return found
        finally:
            index.close()


async def _pages(search: DocumentSearch, fetch: DocumentFetch, text: str) -> list[Page]:
    answer = await search.search(SearchRequest(query_of(text), READ))
    return [await fetch.fetch(hit.url) for hit in answer.hits]


def _judged(question: ManualQuestion, pages: Sequence[Page]) -> Judged:
    asked, ranking = AskedText(question.text), PassageRanking(pages)
    shown = best_distinct(rank_passages(ranking, asked))
    held = [answers(question, each.passage.text) for each in shown]
    probability = answer_probability(asked, ranking, shown)
    return Judged(
        question.manual,
        question.kind,
        probability,
        bool(question.answers),
        any(held[:1]),
        any(held),
    )


async def _run_score(search: DocumentSearch, fetch: DocumentFetch, text: str) -> float:
    """Return the score of a whole run of the engine."""
    records: list[Any] = []
    config = ResearchConfig()
    journal = Journal(MemoryStore(), Tools(search, fetch, Clock()), Meter(config), records.append)
    await journal.open()
    await run_research(Question(text, "2026-01-01", agreed=True), config, journal)
    assert any(isinstance(record, Report) for record in records)
    last = [record for record in records if isinstance(record, RunState)][-1]
    return last.quality_score or 0.0


def figures(found: Sequence[Compared]) -> str:
    """Return every figure of some questions as Markdown."""
    usable = [each for each in found if each.in_text or not each.judged.is_answerable]
    answerable = [each for each in usable if each.judged.is_answerable]
    lines = [
        f"left out, since no page's extracted text holds the answer: {len(found) - len(usable)}",
        "",
        calibration_table([each.judged for each in usable]),
        "",
        "| kind | questions | first passage | five | BM25 first | BM25 five |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    groups = {"all": answerable}
    for each in answerable:
        groups.setdefault(each.judged.manual, []).append(each)
    for each in answerable:
        groups.setdefault(each.judged.kind, []).append(each)
    for name, some in groups.items():
        lines.append(
            f"| {name} | {len(some)} | {share([c.judged.first_holds for c in some]):.2f} "
            f"| {share([c.judged.five_hold for c in some]):.2f} "
            f"| {share([c.chunk_first for c in some]):.2f} "
            f"| {share([c.chunks_hold for c in some]):.2f} |"
        )
    direct = [c.judged for c in answerable if c.judged.kind in DIRECT_KINDS]
    right = f"version and default: first passage holds {share([j.first_holds for j in direct]):.3f}"
    lines += ["", f"{right} of {len(direct)}"]
    ran = [each for each in usable if each.run_score is not None]
    if ran:
        apart = [abs((e.run_score or 0) - 10 * e.judged.probability) for e in ran]
        lines.append(
            f"whole runs: {len(ran)}, mean difference of their score {sum(apart) / len(ran):.2f}"
        )
    return "\n".join(lines)


async def measured(part: str, runs: int) -> list[Compared]:
    """Return the comparison over every manual of a part."""
    asked = questions(part)
    found: list[Compared] = []
    for name, manual in manuals().items():
        if manual.part == part:
            found += await compare(manual, [q for q in asked if q.manual == name], runs)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=PARTS, default="tuning")
    parser.add_argument("--runs", type=int, default=0, help="whole runs for each manual")
    options = parser.parse_args()
    print(figures(asyncio.run(measured(options.part, options.runs))))


if __name__ == "__main__":
    main()
