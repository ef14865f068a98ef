"""Turns a question into search terms, and text into the extra terms an index needs.

A query is never query syntax: what comes out are plain words and phrases, to be quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from research.engine.text import joined_verbs

MAX_TERMS = 24

# Words of English that carry structure, not subject. Other languages rely on the weight by
# rarity alone.
_STOP_WORDS = """
a about above after again all also am an and any are as at be because been before being below
between both but by ca can cannot could did do does doing down during each either else ever every
few for from further get gets give given gives had has have having he her here hers him his how
however i if in instead into is it its itself just let many may me might more most much must my no
nor not now of off on once one only onto or other our ours out over own per please rather same
shall she should so some such than that the their theirs them then there these they this those
through to too under until up upon us very was we were what whatever when whenever where whether
which while who whom whose why will with within without wo would you your yours
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
_CJK_RUN = re.compile(f"[{_CJK}]+")
_WORD = r"[^\W_]+"
_JOINED = re.compile(rf"{_WORD}(?:[_.:/\-]+{_WORD})*")
_PART = re.compile(_WORD)
# What joins the parts of a name; a hyphen joins everyday words, too.
_NAMING = re.compile("[_.:/]")
_CONTRACTION = re.compile(r"n?['\u2019](?:s|t|re|ve|ll|d|m)\b", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")


@dataclass(frozen=True)
class QueryTerms:
    """Single words, and identifiers as phrases of their parts.

    `parts` are the words that stand in a name such as `os.path.join` and nowhere else.
    """

    words: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    parts: frozenset[str] = frozenset()

    @property
    def phrases(self) -> tuple[str, ...]:
        return (*self.words, *self.identifiers)

    def __bool__(self) -> bool:
        return bool(self.words or self.identifiers)


def query_terms(query: str) -> QueryTerms:
    """At most `MAX_TERMS` words and identifiers in the order of the query, without stop words,
    then the nouns that its verbs make with their particles.

    When a query has nothing but stop words, they are its terms.
    """
    plain = _CONTRACTION.sub(" ", query)
    joined = _JOINED.findall(plain)
    units = [list(_parts(match)) for match in joined]
    meant = [unit for unit in units if len(unit) > 1 or not _is_stop_word(unit[0])] or units
    identifiers = _unique(" ".join(unit) for unit in meant if len(unit) > 1)[: MAX_TERMS // 3]
    written = _unique(word for unit in meant for word in unit if len(unit) == 1 or _tells(word))
    words = _unique(chain(written, joined_verbs(plain)))
    alone = _unique(part for match in joined if not _NAMING.search(match) for part in _parts(match))
    return QueryTerms(
        tuple(words[: MAX_TERMS - len(identifiers)]),
        tuple(identifiers),
        frozenset(written).difference(alone),
    )


def extra_terms(text: str) -> str:
    """What the index's own tokens miss: parts of CamelCase words, bigrams of CJK runs, and
    words that stand between such runs without a space.

    Both databases take a run of Chinese or Japanese as one word, so that nothing but the
    whole sentence would find it.
    """
    words = dict.fromkeys(_PART.findall(text))
    camel = (" ".join(_CAMEL.findall(word)) for word in words if _HUMP.search(word))
    runs = (_parts(word) for word in _PART.findall(text) if _CJK_RUN.search(word))
    return " ".join((*camel, *chain.from_iterable(runs)))


def _parts(joined: str) -> Iterator[str]:
    """Words of an identifier; a CJK run gives its bigrams."""
    for part in _PART.findall(joined):
        position = 0
        for run in _CJK_RUN.finditer(part):
            yield from filter(None, [part[position : run.start()]])
            yield from _bigrams(run[0])
            position = run.end()
        yield from filter(None, [part[position:]])


def _bigrams(run: str) -> list[str]:
    return [left + right for left, right in pairwise(run)] or [run]


def _tells(part: str) -> bool:
    """Whether a part of an identifier is worth a search of its own."""
    return len(part) > 1 and not _is_stop_word(part)


def _is_stop_word(word: str) -> bool:
    return word.casefold() in STOP_WORDS


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.casefold() for word in words))
