"""Text as PostgreSQL's full-text search stores it: stemmed words with their positions.

Made here and not by `to_tsvector`, so that both databases take the same words from a text:
PostgreSQL's own parser keeps host names and paths whole and knows accents only by an
extension. Words are those of SQLite's `unicode61` with `remove_diacritics`, then `porter`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

# A field's label in the vector: "A" to "D".
Field = tuple[str, str]

_WORD = re.compile(r"[^\W_]+")
_MARKED = re.compile("[\u00aa-\u058f\u1e00-\u1fff]")
_LONGEST = 200
# PostgreSQL keeps no more positions of a lexeme, and no vector beyond a megabyte.
_MOST_POSITIONS = 255
_MOST_BYTES = 1_000_000
_ENTRY_BYTES = 8


@dataclass(frozen=True)
class Vector:
    """A `tsvector` as text, and how many words the fields have in all."""

    text: str
    words: int


def build_vector(fields: Sequence[Field]) -> Vector:
    """Return the labelled fields as one vector; no phrase reaches from one field into the next.

    Of a text too large for a vector the rarest lexemes are left out.
    """
    positions: dict[str, list[str]] = defaultdict(list)
    first = words = 0
    for label, text in fields:
        found = _WORD.findall(unicodedata.normalize("NFC", text))
        for at, word in enumerate(found, first + 1):
            positions[normalize_word(word)].append(f"{at}{label}")
        first += len(found) + 1
        words += len(found)
    return Vector(" ".join(_fitting(positions)), words)


def phrase_query(phrase: str) -> str:
    """The `tsquery` for words that follow each other."""
    return " <-> ".join(_quote_word(part) for part in text_lexemes(phrase))


def text_lexemes(text: str) -> list[str]:
    """Return the lexemes of a few words, in their order."""
    return [normalize_word(word) for word in _WORD.findall(unicodedata.normalize("NFC", text))]


@lru_cache(maxsize=100_000)
def normalize_word(word: str) -> str:
    """Return a word without case, accents and endings; long ones are cut."""
    folded = _without_accents(word.casefold())[:_LONGEST]
    if not folded.isascii() or len(folded) < 3:
        return folded
    # A stemmer keeps state while it works, and queries run in several threads.
    import snowballstemmer  # imports its stemmers of all languages

    stemmed: str = snowballstemmer.stemmer("porter").stemWord(folded)
    return stemmed


def _without_accents(word: str) -> str:
    """Latin, Greek and Cyrillic letters without their marks; other scripts as written."""
    if not _MARKED.search(word):
        return word
    return "".join(
        letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter)
    )


def _fitting(positions: dict[str, list[str]]) -> Iterator[str]:
    """Yield the entries of a vector, the most frequent lexemes first."""
    size = 0
    for word, places in sorted(positions.items(), key=lambda item: -len(item[1])):
        kept = places[:_MOST_POSITIONS]
        size += len(word.encode()) + 2 * len(kept) + _ENTRY_BYTES
        if size > _MOST_BYTES:
            return
        yield f"{_quote_word(word)}:{','.join(kept)}"


def _quote_word(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"
