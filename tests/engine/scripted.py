"""A small world in memory that drives the real engine: a web, a search, a clock and a model.

The model answers by rule from nothing but its prompt, so it takes part like any other; the
tests twist its answers to make it hostile.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import EvidenceStore
from research.engine.journal import Inbox, Journal, JournalEndsError, MemoryStore, ParkedError
from research.engine.loop import Question, run_research
from research.engine.ports import (
    FetchFailedError,
    ModelAnswer,
    ModelFailedError,
    ModelRequest,
    Page,
    SearchAnswer,
    SearchFailedError,
    SearchHit,
    SearchRequest,
    Tools,
)
from research.engine.records import (
    Action,
    Complexity,
    Evidence,
    Plan,
    PlannedAspect,
    Qualification,
    QuoteSource,
    Record,
    Report,
    Round,
    RunState,
    Stage,
    Usage,
    key_of,
)
from research.engine.text.tokens import term_set
from research.engine.threads.seed import Seed
from research.engine.verifier.canary_kinds import rewordings
from research.engine.verifier.pairs import qualification_pairs

QUALIFIED = Qualification("as tested", 80, 2, 80, 2)
"""What is stored of the scripted model as verifier."""
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
TODAY = "2026-03-01"
REWORDED = tuple(rewordings().values())
R = TypeVar("R")
Answer = dict[str, Any]


def page(url: str, text: str, title: str = "", key: str = "", **more: Any) -> Page:
    host = url.split("/")[2] if "://" in url else url
    return Page(
        url=url,
        final_url=url,
        title=title or host,
        text=text,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        content_type="text/html",
        domain=host,
        independence_key=key or host,
        fetched_at=AT,
        **more,
    )


# --- tools ----------------------------------------------------------------------------------


class Clock:
    """Stands still unless told; `step` seconds pass with each reading."""

    def __init__(self, step: float = 0.0) -> None:
        self.seconds = 0.0
        self.step = step

    def now(self) -> datetime:
        return AT

    def monotonic(self) -> float:
        self.seconds += self.step
        return self.seconds


class Web:
    """Pages by address, found by their words; every call that reached it is counted.

    `down` are addresses that fail, "search" among them for the search itself. With `chance`
    answers come after random delays. `at_once` is the most calls that were in flight.
    """

    def __init__(self, pages: Sequence[Page], *, chance: random.Random | None = None) -> None:
        self.pages = {each.url: each for each in pages}
        self.chance = chance
        self.down: set[str] = set()
        self.hang: dict[str, asyncio.Event] = {}
        self.searched: list[str] = []
        self.fetched: Counter[str] = Counter()
        self.at_once = 0
        self._flying = 0
        self._words = {u: term_set(f"{p.title} {p.text}") for u, p in self.pages.items()}

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.searched.append(request.query)
        await self._take_time()
        if "search" in self.down:
            raise SearchFailedError("The search did not answer.")
        wanted = term_set(request.query)
        worth = {
            url: len(words & wanted) / max(1, len(wanted)) for url, words in self._words.items()
        }
        found = sorted((u for u in worth if worth[u] >= 0.5), key=lambda u: (-worth[u], u))
        hits = (
            SearchHit(url, self.pages[url].title, self.pages[url].text[:160], "scripted", rank)
            for rank, url in enumerate(found[: request.limit], 1)
        )
        return SearchAnswer(tuple(hits))

    async def fetch(self, url: str) -> Page:
        self.fetched[url] += 1
        self._flying += 1
        self.at_once = max(self.at_once, self._flying)
        try:
            await self._take_time()
            if url in self.hang:
                await self.hang[url].wait()
        finally:
            self._flying -= 1
        if url in self.down or "fetch" in self.down:
            raise FetchFailedError("The site did not answer.", status="failed")
        return self.pages[url]

    async def _take_time(self) -> None:
        await asyncio.sleep(self.chance.random() / 500 if self.chance else 0)


# --- a model that knows what to look for ----------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A sub-question, its query, and the words by which a sentence that answers is known."""

    question: str
    query: str
    markers: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """How the model plans a question; `leads` maps words of a sentence to what they name."""

    question: str
    parts: tuple[Part, ...]
    complexity: str = "simple"
    leads: Mapping[str, str] = field(default_factory=dict)
    clarifying: tuple[str, ...] = ()


SECTION = re.compile(r"^# ([A-Z][A-Z ,-]+)$", re.MULTILINE)
LINE = re.compile(r"^\[(\w+)\] (?:\(([^)]*)\) )?(.*)$", re.MULTILINE)
MARKS = {"completeness": 9, "depth": 9, "reliability": 9, "actionability": 9}


def sections_of(prompt: str) -> dict[str, str]:
    parts = SECTION.split(prompt)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def lines_of(text: str) -> list[tuple[str, str, str]]:
    """`[id] (note) words`: id, note and words of each line."""
    return LINE.findall(text)


@dataclass(frozen=True)
class Rate:
    """US dollars per token."""

    input: float
    output: float


class Oracle:
    """A model that answers well; `twists[task]` change an answer, `raw[task]` replace its text.

    `requests` are all that reached it, `faults[task]` exceptions that are raised first.
    """

    name = "scripted-model"

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[ModelRequest] = []
        self.twists: dict[str, Callable[[Answer], Any]] = {}
        self.raw: dict[str, Callable[[str], str]] = {}
        self.faults: dict[str, list[ModelFailedError]] = {}
        self.tokens = (100, 50)
        self.cost_usd: float | None = 0.001
        self.rate: Rate | None = Rate(5e-6, 1e-5)
        self.unpriced: set[str] = set()
        self.at_once = 0
        self._flying = 0

    def price(self, role: str) -> Rate | None:
        return None if role in self.unpriced else self.rate

    def model_of(self, role: str) -> str:
        return self.name if role == "research" else f"scripted-{role}"

    @property
    def tasks(self) -> list[str]:
        return [request.task for request in self.requests]

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        self._flying += 1
        self.at_once = max(self.at_once, self._flying)
        await asyncio.sleep(0)
        self._flying -= 1
        if self.faults.get(request.task):
            raise self.faults[request.task].pop(0)
        answer = getattr(self, f"_{request.task}")(sections_of(request.prompt))
        answer = self.twists.get(request.task, lambda same: same)(answer)
        text = self.raw.get(request.task, lambda same: same)(json.dumps(answer))
        return ModelAnswer(text, self.name, *self.tokens, cost_usd=self.cost_usd)

    def _intake(self, sections: Mapping[str, str]) -> Answer:
        clear = "CLARIFICATIONS" in sections
        return {
            "clarifying_questions": [] if clear else list(self.script.clarifying),
            "brief": f"What is asked: {sections['QUESTION']}",
            "complexity": self.script.complexity,
            "language": "en",
            "sub_questions": [part.question for part in self.script.parts],
            "queries": [part.query for part in self.script.parts],
            "scope": "This question only.",
            "evidence_strategy": "Pages that say it.",
            "output_format": "A few sentences.",
        }

    def _compare(self, sections: Mapping[str, str]) -> Answer:
        return {"newer": [], "disagree": [], "entities": [], "properties": [], "cells": []}

    def _follow_up(self, sections: Mapping[str, str]) -> Answer:
        said = sections["QUESTION"]
        return {"same_topic": True, "question": said.removeprefix("And ").capitalize()}

    def _markers(self) -> dict[str, tuple[str, ...]]:
        return {part.question: part.markers for part in self.script.parts}

    def _read(self, sections: Mapping[str, str]) -> Answer:
        known = self._markers()
        wanted = [(i, known.get(text, ())) for i, _, text in lines_of(sections["SUB-QUESTIONS"])]
        findings: list[Answer] = []
        leads: list[Answer] = []
        for number, _, sentence in lines_of(sections["PAGES"]):
            for aspect, words in wanted:
                if words and all(word in sentence for word in words):
                    findings.append(finding(sentence, [int(number)], aspect))
            for words, name in self.script.leads.items():
                if words in sentence:
                    leads.append({"topic": name, "query": name, "sentence": int(number)})
        return {"findings": findings, "leads": leads}

    def _assess(self, sections: Mapping[str, str]) -> Answer:
        found = {note.split(";")[0] for _, note, _ in lines_of(sections["FINDINGS"])}
        named = [
            line[2:] for line in sections.get("NAMED BY PAGES, NOT YET LOOKED UP", "").split("\n")
        ]
        searched = {line[2:] for line in sections["ALREADY SEARCHED"].split("\n")}
        fresh = [name for name in named if name and name not in searched]
        aspects = [(i, text) for i, _, text in lines_of(sections["SUB-QUESTIONS"])]
        missing = [(i, text) for i, text in aspects if i not in found]
        gaps = [
            {
                "text": f"No answer to: {text}",
                "sub_question": aspect,
                "query": fresh.pop(0) if fresh else text,
                "critical": True,
            }
            for aspect, text in missing
        ]
        return {
            "dimensions": MARKS if not gaps else {**MARKS, "completeness": 4, "depth": 4},
            "overall": 9 if not gaps else 4,
            "reasoning": f"{len(gaps)} parts are missing.",
            "unanswered": [i for i, _ in missing],
            "gaps": gaps,
            "directions": [],
            "ready": not gaps,
        }

    def _draft(self, sections: Mapping[str, str]) -> Answer:
        evidence = [(i, a, words) for i, a, words in lines_of(sections["EVIDENCE"]) if a]
        statements = [f"{words} [{i}]" for i, _, words in evidence]
        return {"statements": statements, "short_answer": statements[:1]}

    _section = _draft

    def _summary(self, sections: Mapping[str, str]) -> Answer:
        told = lines_of(sections["CHECKED STATEMENTS"])
        return {"sentences": [f"{words} [{number}]" for number, _, words in told]}

    def _last_look(self, sections: Mapping[str, str]) -> Answer:
        return {"findings": [], "whole": []}

    def _verify(self, sections: Mapping[str, str]) -> Answer:
        return verdicts_on(sections["STATEMENTS"], is_carried)

    def _repair(self, sections: Mapping[str, str]) -> Answer:
        words = {i: text for i, _, text in lines_of(sections["EVIDENCE"])}
        fault = re.compile(r"^\[(\d+)\] .* \(cites ([^)]*)\): ", re.MULTILINE)
        cited = [
            (int(n), ids.split(", ")[0])
            for n, ids in fault.findall(sections["STATEMENTS TO PUT RIGHT"])
        ]
        return {
            "statements": [
                {"number": n, "text": words[i], "evidence": [i]} for n, i in cited if i in words
            ]
        }


def verdicts_on(listed: str, judge: Callable[[str, Sequence[str]], bool]) -> Answer:
    """An answer of task `verify` by a rule on each statement and its quotes, at the first look."""
    found: Answer = {"carried": [], "more": [], "other": [], "faults": []}
    for block in re.split(r"\n(?=\[\d+\] )", listed):
        head, *lines = block.split("\n")
        number, statement = head[1:].split("] ", 1)
        quotes = [re.sub(r'^\s+"(.*)"(?: \(.*\))?$', r"\1", line) for line in lines if line.strip()]
        found["carried" if judge(statement, quotes) else "more"].append(int(number))
    return found


def is_carried(statement: str, quotes: Sequence[str]) -> bool:
    """Know a canary by its label or by a word that its quotes lack, "never" among them."""
    shipped = {each.pair.statement: each.faithful for each in qualification_pairs()}
    if statement in shipped:
        return shipped[statement]
    if " never " in statement and not any(" never " in quote for quote in quotes):
        return False
    known = term_set(" ".join((*quotes, *REWORDED)))
    return term_set(statement) <= known


def finding(claim: str, sentences: list[int], aspect: str) -> Answer:
    return {"claim": claim, "sentences": sentences, "sub_question": aspect}


# --- the world ------------------------------------------------------------------------------

LIT = "The Harrow Point lighthouse was first lit on 14 March 1887."
LIT_TOO = "Harrow Point lighthouse was first lit in March 1887 and is still in use."
DESIGNED = "The Harrow Point lighthouse was designed by Edda Marlow."
DESIGNED_TOO = "According to the register, Edda Marlow designed the Harrow Point lighthouse."
TRAINED = "Edda Marlow learned her trade at the Calder foundry in Leith."
TRAINED_TOO = "The Calder foundry in Leith took Edda Marlow as an apprentice, where she learned."
OWNED = "The Calder foundry belonged to Ruth Ansel until it closed in 1912."
OWNED_TOO = "Ruth Ansel owned the Calder foundry and sold its tools in 1912."


def harbour_pages() -> list[Page]:
    """Two sites on each fact; each fact's page names what a search for the next one needs."""
    return [
        page(
            "https://coast.example/harrow",
            f"Harrow Point is the last cape before the open sea.\n\n{LIT} Before that, a fire of "
            f"coal was kept on the cliff.\n\n## Builder\n\n{DESIGNED}",
            "Harrow Point lighthouse",
        ),
        page(
            "https://register.example/harrow",
            f"The register lists every light of the coast.\n\n{LIT_TOO}\n\n{DESIGNED_TOO}",
            "Harrow Point lighthouse in the register",
        ),
        page("https://people.example/marlow", f"{TRAINED} She built bridges later.", "Edda Marlow"),
        page("https://museum.example/marlow", f"{TRAINED_TOO}", "Edda Marlow in the museum"),
        page("https://works.example/calder", f"{OWNED} Nothing is left of it.", "Calder foundry"),
        page("https://leith.example/calder", f"{OWNED_TOO}", "The Calder foundry of Leith"),
        page(
            "https://cheese.example/", "Cheddar is a hard cheese from Somerset.", "Cheddar cheese"
        ),
    ]


SIMPLE = Script(
    "When was the Harrow Point lighthouse first lit?",
    (
        Part(
            "When was the Harrow Point lighthouse first lit?",
            "Harrow Point lighthouse first lit",
            ("first lit",),
        ),
    ),
)
CHAIN = Script(
    "Who designed the Harrow Point lighthouse, where was she trained, and who owned that place?",
    (
        Part(
            "Who designed the Harrow Point lighthouse?",
            "Harrow Point lighthouse designer",
            ("designed", "Marlow"),
        ),
        Part("Where was the designer trained?", "designer trained", ("learned",)),
        Part("Who owned the place of training?", "owner place training", ("Ruth Ansel",)),
    ),
    "complex",
    {"designed by Edda Marlow": "Edda Marlow", "Edda Marlow learned": "Calder foundry"},
)


# --- running --------------------------------------------------------------------------------


class Commands:
    """An inbox: each command is taken once, at the first boundary that asks for its kind."""

    def __init__(self, *waiting: dict[str, Any]) -> None:
        self.waiting = list(waiting)

    async def take(self, kinds: frozenset[str]) -> list[dict[str, Any]]:
        taken = [each for each in self.waiting if each["kind"] in kinds]
        self.waiting = [each for each in self.waiting if each["kind"] not in kinds]
        return taken


class Ran:
    """A run as its records told it."""

    def __init__(self, journal: Journal, records: list[Record]) -> None:
        self.journal = journal
        self.records = records
        self.ended: JournalEndsError | ParkedError | None = None

    def of(self, kind: type[R]) -> list[R]:
        """The last state of each record of a kind, in order of first appearance."""
        return [record for record in self.final().values() if isinstance(record, kind)]

    def only(self, kind: type[R]) -> R:
        [record] = self.of(kind)
        return record

    def final(self) -> dict[tuple[object, ...], Record]:
        """The last record of each key; what is being done at the moment is not a result."""
        return {key_of(each): each for each in self.records if not isinstance(each, Action)}

    @property
    def state(self) -> RunState:
        return self.only(RunState)

    @property
    def report(self) -> Report:
        return self.only(Report)

    @property
    def usage(self) -> Usage:
        return self.only(Usage)

    @property
    def rounds(self) -> list[Round]:
        return self.of(Round)

    @property
    def evidence(self) -> list[Evidence]:
        return self.of(Evidence)


@dataclass
class World:
    """Tools and a journal's store; `model` None is the extractive analyst."""

    web: Web
    model: Oracle | None = None
    clock: Clock = field(default_factory=Clock)
    store: MemoryStore = field(default_factory=MemoryStore)
    contents: tuple[str, ...] = ()

    def tools(self) -> Tools:
        return Tools(self.web, self.web, self.clock, self.model, contents=self.contents)

    async def ask(self, question: str, **knobs: Any) -> Ran:
        """A run from the start, or from what the store holds."""
        return await run(question, self.tools(), self.store, self.analyst, **knobs)

    async def replay(self, question: str, **knobs: Any) -> Ran:
        """The run decided anew from its record alone."""
        return await run(question, None, self.store, self.analyst, **knobs)

    @property
    def analyst(self) -> str:
        return self.model.name if self.model else "extractive"


def harbour(script: Script | None = None, chance: random.Random | None = None) -> World:
    return World(Web(harbour_pages(), chance=chance), Oracle(script) if script else None)


async def run(
    question: str,
    tools: Tools | None,
    store: MemoryStore,
    analyst: str,
    *,
    inbox: Inbox | None = None,
    agreed: bool = True,
    verifier: Qualification | None = QUALIFIED,
    documents: tuple[str, ...] = (),
    seed: Seed | None = None,
    **knobs: Any,
) -> Ran:
    """Research with these knobs until it ends, parks, or the journal ends."""
    config = ResearchConfig(**knobs)
    records: list[Record] = []
    journal = Journal(store, tools, Meter(config), records.append, inbox, analyst)
    await journal.open()
    ran = Ran(journal, records)
    try:
        asked = Question(question, TODAY, agreed, seed, verifier, documents)
        await run_research(asked, config, journal)
    except (JournalEndsError, ParkedError) as ended:
        ran.ended = ended
    return ran


# --- parts of a ledger ----------------------------------------------------------------------


def quoted(source: Page, quote: str, section: str = "") -> QuoteSource:
    start = source.text.index(quote)
    return QuoteSource(
        url=source.url,
        title=source.title,
        domain=source.domain,
        independence_key=source.independence_key,
        quote=quote,
        start=start,
        end=start + len(quote),
        text_sha256=source.sha256,
        fetched_at=source.fetched_at,
        section=section,
        published=source.published,
    )


def ledger(
    *aspects: str, complexity: Complexity = Complexity.ORDINARY, question: str = ""
) -> tuple[Ledger, list[Record]]:
    """A ledger with these sub-questions in its first round, and what it emits."""
    emitted: list[Record] = []
    planned = tuple(PlannedAspect(text, text) for text in aspects)
    plan = Plan("", complexity, "en", planned)
    made = Ledger(question or aspects[0], plan, emitted.append, EvidenceStore())
    for text in aspects:
        made.raise_aspect(text, text, "plan", 0)
    made.begin_round(Round(1, Stage.OVERVIEW))
    return made, emitted
