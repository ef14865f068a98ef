"""The pages of one survey question as the search and the fetch of a run, in this process."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from html import escape
from typing import Any

from bench.plain_bm25 import PlainPages, plain_words
from research.engine import Page, SearchAnswer, SearchHit, SearchRequest
from research.engine.ports import FetchFailedError
from research.extract.extract import extract_text
from research.fetch.sites import domain_of, independence_key

Row = Mapping[str, Any]
SNIPPET = 220
FETCHED = datetime(2026, 9, 1, tzinfo=UTC)


class SurveyWeb:
    """Search and fetch over the pages of one question. Pages pass through the product's
    extraction, so that a run reads what it would read of a site.
    """

    def __init__(self, pages: Sequence[Row]) -> None:
        self._rows = {row["url"]: row for row in pages}
        self._pages: dict[str, Page] = {}

    @cached_property
    def _index(self) -> PlainPages:
        return PlainPages((url, _plain_text(row)) for url, row in self._rows.items())

    async def search(self, request: SearchRequest) -> SearchAnswer:
        found = self.urls_for(request.query, request.limit)
        hits = (self._hit(rank, url, request.query) for rank, url in enumerate(found, 1))
        return SearchAnswer(tuple(hits))

    def urls_for(self, query: str, limit: int) -> list[str]:
        return list(self._index.search(query, limit))

    def _hit(self, rank: int, url: str, query: str) -> SearchHit:
        row = self._rows[url]
        wanted = set(plain_words(query))
        parts = [part for text in row["paragraphs"] for part in text.split(". ")]
        best = max(parts, key=lambda part: len(wanted & set(plain_words(part))))
        return SearchHit(url, row["title"], best[:SNIPPET], "survey", rank, row["published"])

    async def fetch(self, url: str) -> Page:
        if url not in self._rows:
            raise FetchFailedError("There is no such page.", status="failed")
        if url not in self._pages:
            self._pages[url] = _page_of(self._rows[url])
        return self._pages[url]


def _plain_text(row: Row) -> str:
    return " ".join((row["title"], row["title"], row["title"], *row["paragraphs"]))


def _page_of(row: Row) -> Page:
    said = extract_text(html_of(row).encode(), "text/html; charset=utf-8", row["url"])
    return Page(
        url=row["url"],
        final_url=row["url"],
        title=said.title or row["title"],
        text=said.text,
        sha256=hashlib.sha256(said.text.encode()).hexdigest(),
        content_type="text/html",
        domain=domain_of(row["url"]),
        independence_key=independence_key(row["url"]),
        fetched_at=FETCHED,
        site=said.site,
        kind=said.kind,
        published=said.published,
        language=said.language,
    )


def html_of(row: Row) -> str:
    """Return the page as a plain site would serve it."""
    body = "".join(f"<p>{escape(text)}</p>" for text in row["paragraphs"])
    cells = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in row["table"] or ()
    )
    table = f"<table>{cells}</table>" if cells else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(row['title'])}</title>"
        f'<meta property="og:site_name" content="{escape(row["site"])}">'
        f'<meta property="article:published_time" content="{row["published"]}T08:00:00Z">'
        f"</head><body><main><article><h1>{escape(row['title'])}</h1>{body}{table}"
        "</article></main></body></html>"
    )
