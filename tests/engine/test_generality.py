"""Nothing in the engine knows the samples: with other words and hosts they end the same way.

The sample library, its entities renamed, lies in one pool with a hundred pages on other
subjects; the three questions, renamed alike, are asked on the default settings.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from research.engine.journal import MemoryStore
from research.engine.ports import Tools
from research.engine.records import Source, Status
from research.fulltext.index import DocumentIndex
from research.search.documents import LIBRARY, SampleLibrary
from tests.engine.report.test_report import check_markers
from tests.engine.scripted import Clock, Ran, run
from tests.support.retrieval.folders import InProcess

OTHER_WORDS = {
    "quantum": "plenic",
    "cryptocurrency": "tokenry",
    "cryptocurrencies": "tokenries",
    "bitcoin": "oakcoin",
    "blockchain": "rowledger",
    "lattice": "trellis",
    "hash": "grind",
    "wallet": "satchel",
    "wallets": "satchels",
    "firmware": "innerware",
    "eggs": "gorbs",
    "egg": "gorb",
    "butter": "melk",
    "yolk": "heartlet",
    "yolks": "heartlets",
    "curds": "flocks",
    "plumbline": "sagline",
    "chainkeepers": "rowfolk",
    "cipherdesk": "knotroom",
    "coinfield": "discmeadow",
    "deskside": "benchnear",
    "eggwise": "gorbsense",
    "kitchen": "scullery",
    "ledgerlab": "tallyshed",
    "northgate": "southdoor",
    "signature-notes": "handmark-papers",
    "simple-suppers": "plain-dinners",
    "weeknight": "tuesday",
}
PATTERN = re.compile(
    r"(?<![A-Za-z])(?:" + "|".join(sorted(OTHER_WORDS, key=len, reverse=True)) + r")(?![A-Za-z])",
    re.IGNORECASE,
)
PLACES = ["Ardvale", "Bremholt", "Corrin", "Dunmere", "Elswick", "Farrowby", "Glenhope", "Hollin"]
TRADES = ["weaving", "slate", "herring", "glass", "rope", "barley", "clock making", "salt"]
PEOPLE = ["Ines Vale", "Otto Brand", "Mara Lindqvist", "Jon Tresk", "Ada Fenn", "Pell Morrow"]


def renamed(text: str) -> str:
    """Every distinctive word replaced, in its own case."""

    def other(match: re.Match[str]) -> str:
        word = OTHER_WORDS[match.group().lower()]
        if match.group().isupper():
            return word.upper()
        return word.capitalize() if match.group()[0].isupper() else word

    return PATTERN.sub(other, text)


def town(number: int) -> str:
    """A page of a small encyclopedia, its facts drawn by its number."""
    chance = random.Random(number)
    name = f"{chance.choice(PLACES)}{'-on-' + chance.choice(PLACES) if number % 3 else ''} {number}"
    trade, person = chance.choice(TRADES), chance.choice(PEOPLE)
    year = chance.randrange(1650, 1950)
    paragraphs = [
        f"{name} is a town of {chance.randrange(2, 90)},000 people on the river "
        f"{chance.choice(PLACES)}. It was founded in {year} and grew by {trade}.",
        f"The first mill was built by {person} in {year + 20}. How the mill was to be run was laid "
        f"down in a charter, and its security was the town's concern for decades.",
        f"Today {trade} is of little impact, and most people work in the schools and in computing. "
        f"The museum of {trade} decides each year which collection to show.",
    ]
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<!DOCTYPE html><html lang=en><head><title>{name}</title></head><body><main>"
        f"<h1>{name}</h1>{body}<h2>Sights</h2><p>Visitors see the bridge that {person} designed, "
        f"and they stop at the market hall of {year + 70}.</p></main></body></html>"
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The renamed samples and a hundred towns, as files by host."""
    root = tmp_path_factory.mktemp("renamed")
    pages = {
        renamed(file.relative_to(LIBRARY).as_posix()): renamed(file.read_text(encoding="utf-8"))
        for file in LIBRARY.rglob("*.html")
    }
    pages |= {f"atlas{n % 10}.example/towns/{n}.html": town(n) for n in range(100)}
    for name, text in pages.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def questions() -> list[str]:
    listed = json.loads((LIBRARY.parent / "questions.json").read_text(encoding="utf-8"))
    return [renamed(entry["question"]) for entry in listed]


@pytest.fixture(scope="module")
def runs(
    library: Path, questions: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Ran]]:
    """What became of each question."""
    index = DocumentIndex(tmp_path_factory.mktemp("index") / "pool.sqlite3")

    async def ask_all() -> dict[str, Ran]:
        pool = SampleLibrary(index, InProcess(), library=library)
        tools = Tools(search=pool, fetch=pool, clock=Clock())
        return {q: await run(q, tools, MemoryStore(), "extractive") for q in questions}

    yield asyncio.run(ask_all())
    index.close()


def test_nothing_is_left_of_the_samples_words(library: Path, questions: list[str]) -> None:
    text = " ".join(p.read_text(encoding="utf-8") for p in library.rglob("*.html"))
    assert not PATTERN.search(text)
    assert not PATTERN.search(" ".join(p.as_posix() for p in library.rglob("*")))
    assert questions == [
        "How does Sagline decide when to stop?",
        "How to make scrambled gorbs?",
        "Impact of plenic computing on tokenry security",
    ]


@pytest.mark.slow
def test_the_documentation_question_completes_with_its_rule(
    runs: dict[str, Ran], questions: list[str]
) -> None:
    ran = runs[questions[0]]
    assert ran.state.status is Status.COMPLETED
    assert "Sagline stops at the first reason" in ran.report.markdown.replace("**", "")
    check_markers(ran)


def test_the_how_to_ends_after_one_round_with_one_page_s_steps(
    runs: dict[str, Ran], questions: list[str]
) -> None:
    ran = runs[questions[1]]
    assert ran.state.status is Status.COMPLETED
    assert len(ran.rounds) == 1
    assert "gorbs" in ran.report.markdown
    assert "scrambled gorbs are beaten gorbs" in ran.report.short_answer.lower()
    lists = [r for r in ran.evidence if sum(s.quote.count("\n") + 1 for s in r.sources) >= 5]
    assert lists, "a list of steps is kept whole"
    check_markers(ran)


@pytest.mark.requirement("C10", "D19")
def test_the_impact_question_needs_three_rounds_or_more(
    runs: dict[str, Ran], questions: list[str]
) -> None:
    ran = runs[questions[2]]
    assert ran.state.status is Status.COMPLETED
    assert len(ran.rounds) >= 3
    found = [{s.url for s in ran.of(Source) if s.round == number} for number in (1, 2, 3)]
    cited = {citation.url for citation in ran.report.citations}
    assert all(urls & cited for urls in found)
    check_markers(ran)


def test_pages_on_other_subjects_are_not_cited(runs: dict[str, Ran]) -> None:
    for ran in runs.values():
        assert not [c.url for c in ran.report.citations if "//atlas" in c.url]
