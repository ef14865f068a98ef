"""The same run in another process: nothing may hang on the order in which a set is walked."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from research.engine.journal import digest_of
from research.engine.llm_tasks.prompting.prompt_pages import number_sentences
from research.engine.offline.passages.coverage import QuestionScale
from research.engine.offline.passages.passage_model import rank_passages
from research.engine.offline.passages.passage_signs import AskedText, PassageRanking
from research.engine.ports import Page
from research.fulltext.index import DocumentIndex
from tests.engine.scripted import CHAIN, SIMPLE, harbour, ledger, page
from tests.support.retrieval.folders import InProcess

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ("1", "2")
WORDS = [
    *("autovacuum", "bloat", "buffer", "checkpoint", "commit", "cost", "delay", "freeze", "index"),
    *("launcher", "limit", "lock", "memory", "partition", "planner", "statistics", "threshold"),
    *("timeout", "transaction", "trigger", "tuple", "update", "visibility", "wraparound", "worker"),
]
TOPICS = (
    "How do the autovacuum launcher and each worker keep to the limit of cost, delay and memory?",
    "threshold of the update statistics that trigger the planner for a partition",
    "freeze of each tuple before wraparound, visibility, index bloat and buffer",
    "timeout and lock of a transaction that waits for a commit or a checkpoint",
)


def manual(number: int) -> str:
    """Return the Markdown of a long chapter, always the same. Many of its sentences name the same
    number of wanted things, and some sections have long headings.
    """
    chance = random.Random(number)
    parts = [f"# Routine maintenance {number}"]
    for at in range(120):
        one, two, three, four, *heading = chance.sample(WORDS, 14)
        parts += [
            f"## {' '.join(heading)}" if at % 3 == 0 else f"## Part {at}",
            f"It has a {one}, a {two}, a {three} and a {four}, as was said above, and no other.",
        ]
    return "\n\n".join(parts)


def manuals() -> list[Page]:
    return [page(f"https://docs.example/{n}", manual(n), f"Maintenance {n}") for n in range(4)]


async def run_digests() -> list[str]:
    """Return a digest of all records of a few runs."""
    found = []
    for script in (SIMPLE, CHAIN, None):
        ran = await harbour(script).ask((script or CHAIN).question)
        found.append(digest_of([repr(record) for record in ran.records]))
    return found


async def prompt_sentences() -> list[list[int]]:
    """Return the numbers of the sentences that prompts show of long pages."""
    return [
        [line.sentence.number for line in sheet.lines]
        for pointed in (True, False)
        for at in range(len(TOPICS))
        for sheet in number_sentences(
            manuals(), (TOPICS[at], *TOPICS[:at]), 24_000, only_near=True, pointed=pointed
        )
    ]


async def offline_ranking() -> list[tuple[str, Any, float]]:
    """Return the passages of long pages in the order of their exact values for each topic."""
    ranking = PassageRanking(manuals())
    return [
        (each.passage.page.url, each.passage.slices, each.value)
        for topic in TOPICS
        for each in rank_passages(ranking, AskedText(topic))
    ]


async def covered_shares() -> list[float]:
    """Return the exact shares of a question that sets of its words make up."""
    asked, _ = ledger(question=" ".join(TOPICS))
    asked.pages.update({each.url: each for each in manuals()})
    scale, chance = QuestionScale.of(asked), random.Random(0)
    terms = sorted(scale.weights)
    return [scale.share(frozenset(chance.sample(terms, 15))) for _ in range(50)]


async def search_results() -> list[tuple[str, float, str]]:
    """Return the documents that an index finds for each topic, with exact scores and snippets."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "manuals")
        folder.mkdir()
        for number in range(6):
            (folder / f"{number}.md").write_text(manual(number))
        index = DocumentIndex(Path(place, "index.sqlite3"))
        await index.refresh(folder, InProcess())
        names = await index.collections()
        found = [
            (Path(hit.url).name, hit.score, hit.snippet)
            for topic in TOPICS
            for hit in await index.search(topic, names, 10)
        ]
        index.close()
    return found


TOLD = (run_digests, prompt_sentences, offline_ranking, covered_shares, search_results)


async def everything() -> dict[str, Any]:
    return {each.__name__: await each() for each in TOLD}


@pytest.mark.subprocess
def test_another_process_with_another_hash_seed_gives_the_same() -> None:
    code = (
        "import asyncio, json; from tests.engine.test_determinism import everything; "
        "print(json.dumps(asyncio.run(everything())))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in SEEDS
    ]
    told = [process.communicate(timeout=120)[0] for process in running]
    first, second = map(json.loads, told)
    assert all(first.values())
    assert [name for name, found in first.items() if found != second[name]] == []
