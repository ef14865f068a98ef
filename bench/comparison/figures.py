"""The figures of one run: its score, and what its records and stored pages show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from bench.world import filler, markup
from bench.world.facts import Page, Question
from bench.world.running import RunningWorld
from bench.world.score import Cost, Resource, Score, report_body, score
from research.engine import MemoryStore
from research.engine.rounds.units import NOT_NEEDED

CONNECTION_WORDS = 12
CONNECTIONS = 0.1
_MARKS = re.compile(r"((?:\[\d+\])+)")
UNANSWERED = r"\n## Not (?:found|searched)\n"
"""Headings of the lists that follow the answers, such as `## Not found`."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z“])")
_ANSWERED = re.compile(r"(?:All \d+|\d+ of the \d+) parts of the question are answered\b")
JUDGED = re.compile(r"commands/round/\d+")
"""Where the journal notes what people told a run before the stop rule was asked."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens."""

    prompt_usd: float
    completion_usd: float

    def of(self, cost: Cost) -> float:
        spent = cost.prompt_tokens * self.prompt_usd + cost.completion_tokens * self.completion_usd
        return spent / 1_000_000


@dataclass(frozen=True)
class Figures:
    """One run. `cost` is by the servers' log, or by the engine's meter in a replay.

    `speculative` are pages that were got and not read; `gates` are (round, gate, decision);
    `quotes_right` counts quotes that stand at their offsets in the stored text and in the
    page as the world serves it; `statements` are the report's sentences, but for connections;
    `key_claims` are the records that the engine calls so. `judged` counts the rounds after which
    the stop rule was asked: all but those of verification.
    """

    score: Score
    cost: Cost
    usd: float | None
    wall_seconds: float
    cpu_seconds: float
    speculative: int
    quotes: int
    quotes_right: int
    statements: int
    statements_cited: int
    key_claims: int
    key_claims_cited: int
    judged: int
    gates: tuple[tuple[int, str, str], ...]
    status: str
    disputed: bool = False
    """Whether sources contradict each other, which costs a verification."""

    @property
    def tokens(self) -> int:
        return self.cost.prompt_tokens + self.cost.completion_tokens


def figures_of(
    running: RunningWorld,
    question: Question,
    resource: Resource,
    log: Mapping[str, Any],
    store: MemoryStore,
    wall_seconds: float,
    cpu_seconds: float,
    replay: bool,
    prices: Prices | None,
) -> Figures:
    scored = score(running.world, question, resource, log)
    cost = metered(resource["usage"]) if replay else scored.cost
    quotes = [source for record in resource["evidence"] for source in record["sources"]]
    statements, cited = statements_of(resource)
    keys = {record["id"] for record in resource["evidence"] if record["key"]}
    reported = {i for citation in resource["citations"] for i in citation["evidence_ids"]}
    return Figures(
        score=scored,
        cost=cost,
        usd=prices.of(cost) if prices else None,
        wall_seconds=wall_seconds,
        cpu_seconds=cpu_seconds,
        speculative=_speculative(resource, log),
        quotes=len(quotes),
        quotes_right=sum(_stands(quote, store, running) for quote in quotes),
        statements=statements,
        statements_cited=cited,
        key_claims=len(keys),
        key_claims_cited=len(keys & reported),
        judged=sum(bool(JUDGED.fullmatch(place)) for place, _ in store.entries),
        gates=tuple((g["round"], g["gate"], g["decision"]) for g in resource["gates"]),
        status=resource["status"],
        disputed=any(e["contradicts"] for e in resource["evidence"]),
    )


def metered(usage: Mapping[str, Any]) -> Cost:
    """Return what the engine itself counted, replayed calls included."""
    return Cost(
        calls=dict(usage["llm_calls_by_task"]),
        prompt_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        searches=usage["searches"],
        fetches=usage["fetches"],
        repeated_searches=0,
        repeated_fetches=usage["repeated_fetches"],
        busy_seconds=0.0,
    )


def _speculative(resource: Resource, log: Mapping[str, Any]) -> int:
    """Pages that came as they should and that no round took or put aside."""
    taken = {
        _address(source["url"])
        for source in resource["sources"]
        if source["status"] != "not_read" or source["reason"] == NOT_NEEDED
    }
    got = {e["url"] for e in log["entries"] if e["server"] == "web" and e["status"] == 200}
    return len(got - taken)


def _address(url: str) -> str:
    """Return an address as the log has it, without the port."""
    return re.sub(r":\d+(?=/)", "", url, count=1)


# --- quotes -----------------------------------------------------------------------------------


def _stands(quote: Mapping[str, Any], store: MemoryStore, running: RunningWorld) -> bool:
    text = store.texts.get(quote["text_sha256"], "")
    served = _served(running, quote["url"])
    return (
        text[quote["start"] : quote["end"]] == quote["quote"] and _words(quote["quote"]) in served
    )


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text))} "


def _served(running: RunningWorld, url: str) -> str:
    """Return the words of the page that the world serves at an address; of none, nothing."""
    page = running.page_at(url)
    return "" if page is None else _page_words(page)


@lru_cache(maxsize=4096)
def _page_words(page: Page) -> str:
    byline = f"Published on {page.published}"
    padding = filler.padding(page.path, markup.HUGE) if page.trouble == "huge" else ()
    return _words("\n".join((page.title, byline, *page.paragraphs, *padding)))


# --- statements -------------------------------------------------------------------------------


def statements_of(resource: Resource) -> tuple[int, int]:
    """Sentences of the report's body, and those with a citation that leads to a quote.

    A short sentence without a number and without a marker is a connection and doesn't count,
    up to one sentence in ten; nor does the one that says how far the question is answered.
    """
    valid = _valid_markers(resource)
    every = (s for paragraph in _prose(resource) for s in _sentences(paragraph))
    sentences = [(text, marks) for text, marks in every if not _ANSWERED.match(text)]
    cited = sum(bool(marks) and marks <= valid for _, marks in sentences)
    connections = sum(not marks and _connects(text) for text, marks in sentences)
    return len(sentences) - min(connections, int(CONNECTIONS * len(sentences))), cited


def _valid_markers(resource: Resource) -> set[int]:
    quoted = {(e["id"], s["url"]) for e in resource["evidence"] for s in e["sources"]}
    return {
        c["marker"]
        for c in resource["citations"]
        if any((record, c["url"]) in quoted for record in c["evidence_ids"])
    }


def _prose(resource: Resource) -> Iterable[str]:
    """Yield the paragraphs that say something, those of boxes too: no headings or labels, no lines
    of facts, nothing not found.
    """
    body = re.split(UNANSWERED, report_body(resource["report_markdown"]), maxsplit=1)[0]
    for paragraph in (line.removeprefix(">").removeprefix(" ") for line in body.split("\n")):
        if paragraph and not re.match(r"#|\*(?!\*)|\*\*[^*]+\*\*$", paragraph):
            yield re.sub(r"^\*\*[^*]+\*\* ", "", paragraph)


def _sentences(paragraph: str) -> Iterable[tuple[str, set[int]]]:
    """Each sentence with its markers; a quotation is part of one sentence."""
    whole = re.sub("“[^”]*”", "“…”", paragraph)
    parts = [*_MARKS.split(whole), ""]
    for text, marks in zip(parts[::2], parts[1::2], strict=True):
        *before, last = _SENTENCE.split(text.strip()) or [""]
        yield from ((sentence, set()) for sentence in before if sentence)
        if last:
            yield last, set(map(int, re.findall(r"\d+", marks)))


def _connects(text: str) -> bool:
    return len(text.split()) <= CONNECTION_WORDS and not re.search(r"\d", text)
