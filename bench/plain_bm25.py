"""The yardstick of document search: BM25 over whole pages, stemmed, without fields.

It shares nothing with the search that it is compared with but the texts of the pages: the
tokenizer is FTS5's own, and a query is its words without the commonest function words.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

# The words that Lucene's English analyzer drops, and those that questions begin with.
_FUNCTION_WORDS = """
a an and are as at be but by for if in into is it no not of on or such that the their then there
these they this to was will with
can do does from has have how i me my should so than what when where which who why you your
"""
FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
# "max", "workers"
_WORD = re.compile(r"[^\W_]+")


class PlainPages:
    """Pages by their addresses, searched with BM25 until `close`."""

    def __init__(self, pages: Iterable[tuple[str, str]]) -> None:
        """`pages` are addresses with texts."""
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(
            "CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, text, tokenize=porter)"
        )
        self._connection.executemany("INSERT INTO pages VALUES (?, ?)", pages)

    def search(self, question: str, limit: int) -> list[str]:
        """Return the addresses of the best pages, best first; none for a question without words."""
        terms = " OR ".join(f'"{word}"' for word in plain_words(question))
        if not terms:
            return []
        rows = self._connection.execute(
            "SELECT url FROM pages WHERE pages MATCH ? ORDER BY rank, url LIMIT ?", (terms, limit)
        )
        return [url for (url,) in rows]

    def close(self) -> None:
        self._connection.close()


def plain_words(question: str) -> list[str]:
    """Return the words of a question without function words, or all if it has no others."""
    words = list(dict.fromkeys(word.casefold() for word in _WORD.findall(question)))
    return [word for word in words if word not in FUNCTION_WORDS] or words
