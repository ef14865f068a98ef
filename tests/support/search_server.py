"""A search server with SearXNG's JSON API: ranks pages by the words they share with a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from tests.support.serving import LoopbackServer, Reply, json_reply, path_of

SMALL_WORDS = frozenset(("a", "and", "did", "in", "is", "of", "the", "to", "was", "when", "where"))


@dataclass(frozen=True)
class Listed:
    """A page as shown in results; `words` are the words it is found by."""

    url: str
    title: str
    snippet: str
    words: str


class SearchServer(LoopbackServer):
    """A search server on loopback.

    `replies` are sent first, one per request; with `down` every response is a 503. `odd` results
    precede the others in each response.
    """

    def __init__(self, listed: list[Listed]) -> None:
        super().__init__()
        self.listed = listed
        self.requests: list[str] = []
        self.replies: list[Reply] = []
        self.odd: list[object] = []
        self.down = False

    def reply(self, path: str, body: bytes) -> Reply:
        if path_of(path) != "/search":
            return Reply(status=404)
        query = parse_qs(urlsplit(path).query).get("q", [""])[0]
        with self.lock:
            self.requests.append(query)
            scripted = self.replies.pop(0) if self.replies else None
        if self.down:
            return json_reply({}, 503)
        return scripted or json_reply(
            {"query": query, "results": [*self.odd, *self._results(query)]}
        )

    def _results(self, query: str) -> list[dict[str, str]]:
        wanted = _words(query)
        scored = [(len(wanted & _words(page.words)), page) for page in self.listed]
        found = sorted((s for s in scored if s[0]), key=lambda s: (-s[0], s[1].url))
        return [
            {"url": page.url, "title": page.title, "content": page.snippet, "engine": "scripted"}
            for _, page in found
        ]


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - SMALL_WORDS
