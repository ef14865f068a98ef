"""Scores one run against known pages, quotes and answers."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from bench.evaluation.cases import YES_NO, Case, Gold
from bench.evaluation.pool import Library, body_text, page_url
from bench.evaluation.trace import Trace, best_ranks
from research.engine import MemoryStore, QuoteSource, Usage

DEPTH = 5
_WORD = re.compile(r"\w+")
_MARKER = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Words:
    """The words of a text, normalized for spacing, punctuation, case and spelling."""

    text: str

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _WORD.finditer(self.text)]

    @cached_property
    def joined(self) -> str:
        plain = (unicodedata.normalize("NFKC", self.text[a:b]).casefold() for a, b in self.spans)
        return f" {' '.join(plain)} "

    def find(self, wanted: str) -> tuple[int, int] | None:
        """Return the character offsets at which the words of `wanted` occur."""
        other = Words(unicodedata.normalize("NFC", wanted))
        if not other.spans or (at := self.joined.find(other.joined)) < 0:
            return None
        first = self.joined.count(" ", 0, at)
        return self.spans[first][0], self.spans[first + len(other.spans) - 1][1]

    def hold(self, wanted: str) -> bool:
        return self.find(wanted) is not None


@dataclass(frozen=True)
class Cost:
    """Cumulative usage since the start of a run."""

    searches: int = 0
    fetches: int = 0
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0

    @classmethod
    def of(cls, usage: Usage) -> Cost:
        tokens = usage.prompt_tokens + usage.completion_tokens
        return cls(usage.searches, usage.fetches, usage.llm_calls, tokens, usage.seconds)


@dataclass(frozen=True)
class GoldFound:
    """The rounds in which a gold page was found by a search, was fetched, and was quoted."""

    title: str
    named: int | None
    rank: int | None
    fetched: int | None
    quoted: int | None


@dataclass(frozen=True)
class RoundDone:
    queries: tuple[str, ...]
    pages: tuple[str, ...]
    cost: Cost


@dataclass(frozen=True)
class Answer:
    """Occurrence of the known answer in the short answer, the report, or any quote of the run."""

    text: str
    held: bool
    in_report: bool
    in_quotes: bool


@dataclass(frozen=True)
class QuoteCheck:
    checked: int
    right: int
    wrong: tuple[str, ...] = ()


async def gold_found(case: Case, trace: Trace, store: MemoryStore) -> tuple[GoldFound, ...]:
    texts = await _texts(trace, store)
    ranks = best_ranks(store)
    return tuple(_found(case, gold, trace, texts, ranks) for gold in case.gold)


async def _texts(trace: Trace, store: MemoryStore) -> dict[str, Words]:
    """Return the stored texts of the pages that were read."""
    texts = {}
    for url in trace.read:
        entry = store.entries[f"fetch/{url}", 1]
        texts[url] = Words(await store.page_text(entry.answer["sha256"]))
    return texts


def _found(
    case: Case, gold: Gold, trace: Trace, texts: dict[str, Words], ranks: dict[str, int]
) -> GoldFound:
    places = {url: spans for url, text in texts.items() if (spans := _places(gold, text))}
    known = {page_url(page) for page in case.pages if _places(gold, Words(page.text))} | set(places)
    quoted = [
        number
        for (url, start, end), (number, _) in trace.quotes.items()
        if any(_overlap(start, end, *span) for span in places.get(url, ()))
    ]
    return GoldFound(
        title=gold.title,
        named=_least(trace.named[url] for url in known if url in trace.named),
        rank=_least(ranks[url] for url in known if url in ranks),
        fetched=_least(trace.read[url] for url in places),
        quoted=_least(quoted),
    )


def _places(gold: Gold, text: Words) -> list[tuple[int, int]]:
    """Return the offsets of each gold sentence; empty if any of them is missing."""
    spans = [text.find(wanted) for wanted in gold.texts]
    return [span for span in spans if span] if all(spans) else []


def _overlap(start: int, end: int, low: int, high: int) -> bool:
    """Return whether at least half of the shorter text occurs in the other."""
    shared = min(end, high) - max(start, low)
    return shared * 2 >= min(end - start, high - low)


def _least(numbers: Iterable[int]) -> int | None:
    return min(numbers, default=None)


def rounds_done(trace: Trace) -> tuple[RoundDone, ...]:
    return tuple(
        RoundDone(
            tuple(trace.queries.get(number, ())),
            tuple(trace.titles[url] for url, at in trace.read.items() if at == number),
            Cost.of(trace.usage.get(number, trace.spent)),
        )
        for number in range(1, trace.last_round + 1)
    )


def answer_of(case: Case, trace: Trace) -> Answer | None:
    """Return the known answer; None for "yes" and "no", which a text cannot be searched for."""
    if not case.has_answer_text:
        return None
    quotes = " … ".join(q.quote for record in trace.evidence.values() for q in record.sources)
    short = _MARKER.sub("", trace.report.short_answer)
    return Answer(
        text=short,
        held=_holds(case, short),
        in_report=_holds(case, _MARKER.sub("", _body(trace.report.markdown))),
        in_quotes=_holds(case, quotes),
    )


def _body(markdown: str) -> str:
    """Return a report without the question in its title."""
    return markdown.partition("\n")[2]


def _holds(case: Case, text: str) -> bool:
    held = Words(unicodedata.normalize("NFC", text))
    answers = (answer for answer in case.answers if answer.strip().casefold() not in YES_NO)
    return any(held.hold(answer) for answer in answers)


def check_quotes(trace: Trace, store: MemoryStore, library: Library) -> QuoteCheck:
    """Check every quote against the stored bytes and against the page on disk."""
    quotes = [quoted for _, quoted in trace.quotes.values()]
    pages = {
        url: Words(body_text(library.file_of(url).read_text("utf-8")))
        for url in {quoted.url for quoted in quotes}
    }
    wrong = [quoted for quoted in quotes if not _stands(quoted, store, pages[quoted.url])]
    return QuoteCheck(
        len(quotes),
        len(quotes) - len(wrong),
        tuple(f"{quoted.url} {quoted.start}-{quoted.end}: {quoted.quote}" for quoted in wrong),
    )


def _stands(quoted: QuoteSource, store: MemoryStore, page: Words) -> bool:
    text = store.texts.get(quoted.text_sha256, "")
    return (
        hashlib.sha256(text.encode()).hexdigest() == quoted.text_sha256
        and text[quoted.start : quoted.end] == quoted.quote
        and page.hold(quoted.quote)
    )
