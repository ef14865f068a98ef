"""A search over the world in SearXNG's JSON format, ranked by BM25 on title and text."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

from bench.world.facts import Page, World
from bench.world.serving import Log, Reply, Request, json_reply

SEARCH_SECONDS = 0.3
RESULTS = 10
SNIPPET = 220
K1, B, TITLE_WEIGHT = 1.2, 0.75, 3
_SMALL = frozenset(
    (
        *("a", "an", "and", "are", "at", "by", "does", "each", "for", "from", "have", "how", "in"),
        *("is", "it", "its", "of", "on", "or", "that", "the", "there", "to", "was", "what"),
        *("when", "where", "which", "who", "with"),
    )
)


def words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in _SMALL]


class Ranking:
    """BM25 with the title counted `TITLE_WEIGHT` times and a deterministic order of ties.

    Two neighbouring words of the query that occur in some title are a phrase, such as a name; if a
    query has phrases, pages without any of them are no results.
    """

    def __init__(self, pages: tuple[Page, ...]) -> None:
        self._pages = pages
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths = []
        self._phrases = {pair for page in pages for pair in _pairs(page.title)}
        self._phrases_of = [_pairs(f"{p.title} {p.text}") & self._phrases for p in pages]
        for at, page in enumerate(pages):
            counted = Counter(words(page.text) + TITLE_WEIGHT * words(page.title))
            self._lengths.append(counted.total())
            for word, count in counted.items():
                self._holding[word].append((at, count))
        self._mean = sum(self._lengths) / max(1, len(pages))

    def best(self, query: str, count: int = RESULTS) -> list[tuple[float, Page]]:
        scores, phrases = self._scores(query), _pairs(query) & self._phrases
        order = sorted(scores, key=lambda at: (-scores[at], self._pages[at].place))
        kept = [at for at in order if not phrases or phrases & self._phrases_of[at]]
        return [(scores[at], self._pages[at]) for at in kept[:count]]

    def _scores(self, query: str) -> dict[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words(query)):
            held = self._holding.get(word, [])
            rarity = math.log(1 + (len(self._pages) - len(held) + 0.5) / (len(held) + 0.5))
            for at, found in held:
                length = 1 - B + B * self._lengths[at] / self._mean
                scores[at] += rarity * found * (K1 + 1) / (found + K1 * length)
        return scores


def _pairs(text: str) -> set[tuple[str, str]]:
    """Return pairs of neighbouring words without stop words."""
    found = re.findall(r"\w+", text.lower())
    return {pair for pair in pairwise(found) if not _SMALL & set(pair)}


def snippet(page: Page, query: str) -> str:
    """Return the sentence of the page with most of the query's words, and the text after it."""
    wanted = set(words(query))
    sentences = re.split(r"(?<=[.])\s+", page.text)
    scores = [len(wanted & set(words(sentence))) for sentence in sentences]
    best = max(range(len(sentences)), key=lambda at: (scores[at], -at))
    return " ".join(sentences[best : best + 2])[:SNIPPET]


class SearchServer:
    """`/search?q=…&format=json`, as documented by SearXNG."""

    def __init__(self, world: World, url_of: Callable[[Page], str], log: Log, latency: bool):
        self._ranking, self._url_of = Ranking(world.pages), url_of
        self._log, self._latency = log, latency

    async def answer(self, request: Request) -> Reply:
        start = time.time()
        asked = parse_qs(urlsplit(request.target).query)
        query = asked.get("q", [""])[0]
        if request.path != "/search" or asked.get("format") != ["json"] or not query:
            status = 400 if request.path == "/search" else 404
            return json_reply({"error": "this is no search"}, status)
        if self._latency:
            await asyncio.sleep(SEARCH_SECONDS)
        results = [self._result(score, page, query) for score, page in self._ranking.best(query)]
        self._log.add("search", start, query=query, results=len(results))
        return json_reply(
            {
                "query": query,
                "number_of_results": len(results),
                "results": results,
                **{name: [] for name in ("answers", "corrections", "infoboxes", "suggestions")},
                "unresponsive_engines": [],
            }
        )

    def _result(self, score: float, page: Page, query: str) -> dict[str, Any]:
        return {
            "url": self._url_of(page),
            "title": page.title,
            "content": snippet(page, query),
            "engine": "world",
            "engines": ["world"],
            "category": "general",
            "score": round(score, 4),
            "publishedDate": f"{page.published}T08:00:00",
        }
