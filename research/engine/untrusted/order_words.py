"""Words by which orders and dictation are recognised, by language and by what they name."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from research.engine.text.folding import folded
from research.engine.text.language import function_words
from research.engine.text.tokens import split_tokens, term_set

_DATA = Path(__file__).parent / "data"
_UNSPACED = frozenset({"ar", "zh", "ja"})
_WORD_START = re.compile(r"(?<!\w)\w")
_SHORT = re.compile("[\u0400-\u052f]{1,3}|[\u0600-\u06ff]{1,3}")
_UNSPACED_LETTER = re.compile("[\u0600-\u06ff\u3040-\u30ff\u3400-\u9fff]")
K = TypeVar("K")
BEGINNING = 4
"""Letters by which the words of the list are found; shorter words by all of theirs."""


@dataclass(frozen=True)
class _Listed:
    """A word of the list; `is_whole` asks for its end in the text too."""

    text: str
    is_whole: bool
    language: str
    kind: str


@dataclass(frozen=True)
class OrderWords:
    """The words of one language in a text by kind, and the kinds that begin at each position."""

    by_kind: MappingProxyType[str, frozenset[str]]
    starts: MappingProxyType[int, frozenset[str]]


@lru_cache(maxsize=4_000)
def content_terms(text: str) -> frozenset[str]:
    """Return the terms of a text that are no function words of any language; in Arabic and
    Cyrillic letters short words count as such.
    """
    plain = folded(text)
    terms = term_set(plain) - _function_terms()
    if plain.isascii():
        return terms
    return frozenset(term for term in terms if not _SHORT.fullmatch(term))


def evident_terms(label: str, text: str) -> frozenset[str]:
    """Return content terms of a label of which a look at a text, which may be a whole page, shows
    that it has them, too: those of plain words that it has between spaces.
    """
    plain = text.casefold()
    words = (word for word in split_tokens(folded(label)) if word.isascii() and word.isalpha())
    found = (word for word in words if len(word) > 1 and f" {word} " in plain)
    return content_terms(" ".join(found))


@cache
def _function_terms() -> frozenset[str]:
    codes = ("de", "fr", "es", "it", "pt", "nl")
    return frozenset(folded(word) for code in codes for word in function_words(code))


@cache
def _listed(name: str) -> MappingProxyType[str, tuple[_Listed, ...]]:
    """Return the words of a list by their first letters."""
    found: dict[str, list[_Listed]] = defaultdict(list)
    for language, kinds in tomllib.loads((_DATA / name).read_text("utf-8")).items():
        for kind, words in kinds.items():
            for word in words:
                form = folded(word)
                found[form[:BEGINNING]].append(_Listed(form, word[-1] == " ", language, kind))
    return MappingProxyType({begins: tuple(words) for begins, words in found.items()})


@lru_cache(maxsize=20_000)
def _beginning_with(letters: str, name: str) -> tuple[_Listed, ...]:
    """Return the words of a list that may begin with `BEGINNING` letters of a text, or fewer at its
    end.
    """
    listed = _listed(name)
    sizes = range(1, len(letters) + 1)
    return tuple(word for size in sizes for word in listed.get(letters[:size], ()))


@lru_cache(maxsize=8_000)
def order_words(text: str) -> MappingProxyType[str, OrderWords]:
    """Return the words of instructions in a folded text, by language."""
    by_kind: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    starts: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for start, word in _words(text, "order_words.toml"):
        by_kind[word.language][word.kind].add(word.text)
        starts[word.language][start].add(word.kind)
    return MappingProxyType(
        {code: OrderWords(_frozen(by_kind[code]), _frozen(starts[code])) for code in by_kind}
    )


@lru_cache(maxsize=8_000)
def dictation_kinds(text: str) -> tuple[frozenset[str], ...]:
    """Return the kinds of words of dictation in a folded text, of each language that has any."""
    return tuple(_kinds(text, "dictation_words.toml"))


@lru_cache(maxsize=8_000)
def telling_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds of words for what people tell each other in a text, of the language that has
    most.
    """
    most = max(_kinds(folded(text), "telling_words.toml"), key=len, default=())
    return tuple(sorted(most))


def _kinds(text: str, name: str) -> Iterator[frozenset[str]]:
    kinds: dict[str, set[str]] = defaultdict(set)
    for _, word in _words(text, name):
        kinds[word.language].add(word.kind)
    return map(frozenset, kinds.values())


def _words(text: str, name: str) -> Iterator[tuple[int, _Listed]]:
    """Yield the words of a list in a folded text, each with its place."""
    for start in _starts(text):
        for word in _beginning_with(text[start : start + BEGINNING], name):
            if _stands_at(word, text, start):
                yield start, word


def _frozen(found: Mapping[K, set[str]]) -> MappingProxyType[K, frozenset[str]]:
    return MappingProxyType({key: frozenset(words) for key, words in found.items()})


@lru_cache(maxsize=64)
def _starts(text: str) -> tuple[int, ...]:
    """Return where words begin; each list is looked for in a text in turn."""
    starts = tuple([match.start() for match in _WORD_START.finditer(text)])
    if text.isascii():
        return starts
    found = {*starts, *(match.start() for match in _UNSPACED_LETTER.finditer(text))}
    return tuple(sorted(found))


def _stands_at(word: _Listed, text: str, start: int) -> bool:
    end = start + len(word.text)
    if not text.startswith(word.text, start):
        return False
    if word.language in _UNSPACED:
        return True
    is_word_start = start == 0 or not text[start - 1].isalnum()
    return is_word_start and not (word.is_whole and text[end : end + 1].isalnum())
