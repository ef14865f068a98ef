"""Turn a question into search terms, and text into the extra terms that an index needs.

A query is never query syntax: the result consists of plain words and phrases, to be quoted.
Identifiers are words too. `asyncio.Task.cancel` is searched whole and exactly (`names`), as a
phrase of stemmed words (`identifiers`) and by its parts (`words`), on both sides: the index
gets the exact names and the parts of camel case through `extra_terms`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

from research.engine.text.tokens import joined_verbs

MAX_TERMS = 24
MAX_NAME_CHARACTERS = 80
MAX_SIDES = 3
# A query of so few words may be a title, and is also searched as one phrase.
MAX_TITLE_WORDS = 6

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
_PART = re.compile(_WORD)
# "--force-with-lease", "__init__", "os.path", "ns::Type", "max_workers", "3.11", "C++", "word"
_WRITTEN = re.compile(rf"(?:(?<![\w-])(?:--?|_+))?{_WORD}(?:[_.:/\-]+{_WORD})*(?:_+|[+#]+)?")
# "Python's", "it’s", "we're", "don't"
_CONTRACTION = re.compile(r"n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
# "Thread", "Pool", "Executor"; "HTTP", "Server"
_CAMEL = re.compile(r"[a-z0-9]+|[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")
# "dP" in "ThreadPool", "PSe" in "HTTPServer"
_HUMP = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]")
# Modifier letters are letters to the tokenizers of both databases, and end no English suffix.
# "since which version": what kind of answer is wanted, not what the page is about
_ASKS_FOR_VERSION = re.compile(
    r"\b(?:since )?(?:which|what) (?:release|version)s?\b", re.IGNORECASE
)
_AS_LETTERS = str.maketrans({"_": "ˍ", "-": "ˉ", ".": "ˌ", ":": "ː", "/": "ˏ", "+": "ˎ", "#": "ˆ"})
_NAME_END = "ˈ"


@dataclass(frozen=True)
class QueryTerms:
    """Single words, identifiers as phrases of their parts, and exact names as one token each."""

    words: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        return (*self.words, *self.identifiers, *self.names)

    def __bool__(self) -> bool:
        return bool(self.words or self.identifiers)


def query_terms(query: str) -> QueryTerms:
    """Return at most `MAX_TERMS` terms in the order of the query, without stop words, then the
    nouns that its verbs form with their particles.

    A query of nothing but stop words keeps them. Parts of an identifier are words as well.
    """
    subject = _ASKS_FOR_VERSION.sub(" ", query)
    plain = _CONTRACTION.sub(" ", subject if _PART.search(subject) else query)
    written = _WRITTEN.findall(plain)
    units = [(name, list(_parts(name))) for name in written]
    meant = [unit for unit in units if not _is_stop_unit(*unit)] or units
    identifiers = _unique(" ".join(parts) for _, parts in meant if len(parts) > 1)
    every = [part for _, parts in units for part in parts]
    if 1 < len(every) <= MAX_TITLE_WORDS:
        identifiers = _unique([" ".join(every), *identifiers])
    names = _unique(exact_name(name) for name, _ in meant if is_name(name))
    words = _unique(
        word
        for name, parts in meant
        for word in chain(parts, *map(_humps, parts))
        if len(parts) == 1 or _is_telling(word)
    )
    third = MAX_TERMS // 3
    left = MAX_TERMS - len(identifiers[:third]) - len(names[:third])
    return QueryTerms(
        tuple(_unique([*words, *joined_verbs(plain)])[:left]),
        tuple(identifiers[:third]),
        tuple(names[:third]),
    )


def named_sides(query: str) -> list[str]:
    """Return the identifiers of a query that has several, so that each is searched separately."""
    written = _WRITTEN.findall(_CONTRACTION.sub(" ", query))
    names = list(dict.fromkeys(filter(_is_identifier, written)))
    return names if 1 < len(names) <= MAX_SIDES else []


def extra_terms(text: str) -> str:
    """Return terms that the index's tokenizer misses: parts of CamelCase words, bigrams of CJK
    runs, words between such runs without a space, and exact names as one token each.

    Both databases index a run of Chinese or Japanese as one word, which only the whole sentence
    would match.
    """
    words = dict.fromkeys(_PART.findall(text))
    camel = (" ".join(_humps(word)) for word in words)
    runs = (_parts(word) for word in _PART.findall(text) if _CJK_RUN.search(word))
    names = dict.fromkeys(exact_name(name) for name in _WRITTEN.findall(text) if is_name(name))
    return " ".join((*filter(None, camel), *chain.from_iterable(runs), *names))


def is_name(written: str) -> bool:
    """Return whether it is more than one word for the tokenizers, or written with signs."""
    return not written.isalnum() and len(written) <= MAX_NAME_CHARACTERS


def exact_name(name: str) -> str:
    """Return an identifier as one token that no tokenizer splits or stems, without case."""
    return name.casefold().translate(_AS_LETTERS) + _NAME_END


def written_words(text: str) -> list[str]:
    """Return words and identifiers as written but without case, function words included."""
    return [word.casefold() for word in _WRITTEN.findall(_CONTRACTION.sub(" ", text))]


def is_stop_word(word: str) -> bool:
    return word.casefold() in STOP_WORDS


def _is_identifier(written: str) -> bool:
    """Return whether a word is written like an identifier; hyphens also join ordinary words."""
    return not written.replace("-", "a").isalnum() or written[0] == "-" or bool(_humps(written))


def _parts(joined: str) -> Iterator[str]:
    """Return the words of an identifier, or the bigrams of a CJK run."""
    for part in _PART.findall(joined):
        position = 0
        for run in _CJK_RUN.finditer(part):
            yield from filter(None, [part[position : run.start()]])
            yield from _bigrams(run[0])
            position = run.end()
        yield from filter(None, [part[position:]])


def _humps(word: str) -> list[str]:
    """Return the parts of a word in camel case; none for any other word."""
    return _CAMEL.findall(word) if _HUMP.search(word) else []


def _bigrams(run: str) -> list[str]:
    return [left + right for left, right in pairwise(run)] or [run]


def _is_stop_unit(name: str, parts: list[str]) -> bool:
    return len(parts) == 1 and name.isalnum() and is_stop_word(parts[0])


def _is_telling(part: str) -> bool:
    """Return whether a part of an identifier is specific enough to be searched."""
    return len(part) > 1 and not is_stop_word(part)


def _unique(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(word.casefold() for word in words))
