"""Words: the plain text statistics that every rule without a model rests on.

Nothing here knows a subject; stop words and stemming are English, other languages are
compared as written.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain
from pathlib import Path

_DATA = Path(__file__).parent / "data"
STOP_WORDS = frozenset((_DATA / "stop_words_en.txt").read_text().split())
_WORD = re.compile(r"[^\W_]+(?:[._'’+#-]*[^\W_]+|[+#]+)*", re.UNICODE)
_TOKEN = re.compile(
    r"[^\W_]+(?:(?:[._'’-]|_+)[^\W_]+)*[+#]*|(?<!_)_+[^\W_]+(?:_+[^\W_]+)*_*", re.UNICODE
)
_PART = re.compile(r"[^\W_]+", re.UNICODE)
_CONTRACTION = re.compile(r"(?:n't|'s|'re|'ve|'ll|'d|'m)$")
_CLIPPED = frozenset({"ca", "wo", "sha"})  # can't, won't, shan't
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_GRAMMAR = re.compile("[\u3040-\u309f]+|.?[的了是吗呢么什们哪谁怎].?")
"""Pairs of characters that carry grammar only: hiragana, and what is asked with in Chinese."""
_MARKED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_VERB_AND_PARTICLE = re.compile(r"\b([a-z]{2,}) (up|down|out|off|over|back|in|on)\b")
_QUESTION_WORD = r"(?:[a-z]{2,7}\s)?(?:which|what|where|when|who|whom|whose|why|how)\b"
_VERB = r"(?:is|are|was|were|do|does|did|can|could|may|must|should|will)\b"
_JOINT = re.compile(
    rf"[,;?]?\s(?:and|or|but)\s(?={_QUESTION_WORD})|[,;?]\s(?:and|or|but)\s(?={_VERB})"
    rf"|[;?]\s(?={_QUESTION_WORD}|{_VERB})",
    re.IGNORECASE,
)
"""`, and which`, `, and into what`, `, and can`, `? How`"""
_ASKS = re.compile(rf"{_QUESTION_WORD}|{_VERB}", re.IGNORECASE)
MOST_CLAUSES = 3
_SHORT = 300
"""Texts of at most so many characters, such as sentences, are asked for many times."""
_NO_VERBS = STOP_WORDS - {"back", "keep", "make", "put", "take"}

_FOLDED_BY_PATTERNS = {0x131: "i", 0x307: None, 0x17F: "s", 0x212A: "k"}


def capitalize_heading(text: str) -> str:
    """Return a text as a heading: capitalised, if its first word is all lower case.

    Identifiers ("pg_dump", "utf8", "iPhone") and "-Wall" stay as written.
    """
    first = text.partition(" ")[0].rstrip("?:,;.!")
    plain = first.replace("-", "").replace("'", "").replace("’", "")
    is_word = plain.isalpha() and first.islower() and first[0].isalpha()
    return text[0].title() + text[1:] if is_word else text


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Return the stem of a lower-case word; words with digits or outside ASCII are returned
    unchanged.

    Snowball stemmers keep state and threads stem concurrently, so each call makes its own, which
    takes about a hundredth of the time of stemming.
    """
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    import snowballstemmer  # imports its stemmers of all languages

    stemmed: str = snowballstemmer.stemmer("english").stemWord(word)
    return stemmed


def without_accents(text: str) -> str:
    """Latin letters without their marks; other scripts as written."""
    return _MARKED.sub(lambda letter: unicodedata.normalize("NFD", letter[0])[0], text)


@lru_cache(maxsize=50_000)
def _terms_of(token: str) -> tuple[str, ...]:
    return (
        ()
        if token.lower() in STOP_WORDS or _GRAMMAR.fullmatch(token)
        else tuple(term for term in _parts_of(token) if term not in STOP_WORDS)
    )


def _parts_of(token: str) -> tuple[str, ...]:
    """Stems of a token; one of several parts comes whole too."""
    written = without_accents(token.lower()).replace("’", "'")
    lower = _CONTRACTION.sub("", written)
    if lower != written and (lower in STOP_WORDS or lower in _CLIPPED):
        return ()
    parts = _PART.findall(lower)
    if len(parts) <= 1:
        return (stem(lower),)
    return (lower, *(stem(part) for part in parts))


def split_tokens(text: str) -> list[str]:
    """Words as written, identifiers (`a_b`, `os.path`) whole, CJK runs as bigrams."""
    found: list[str] = _TOKEN.findall(text)
    if text.isascii() or not _CJK.search(text):
        return found
    return [
        part
        for token in found
        for part in (_split_bigrams(token) if _CJK.search(token) else (token,))
    ]


def is_unspaced(text: str) -> bool:
    """Return whether a text is written, at least in part, without spaces between words."""
    return bool(_CJK.search(text))


def _split_bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def split_terms(text: str) -> list[str]:
    """Return stems in order without stop words; an identifier yields itself and its parts."""
    return [term for token in split_tokens(text) for term in _terms_of(token)]


def term_set(text: str) -> frozenset[str]:
    return _term_set_of_short(text) if len(text) <= _SHORT else _find_term_set(text)


@lru_cache(maxsize=8192)
def _term_set_of_short(text: str) -> frozenset[str]:
    return _find_term_set(text)


def _find_term_set(text: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(_terms_of, set(split_tokens(text)))))


def joined_verbs(text: str) -> list[str]:
    """Return the nouns that verbs and their particles would form: "backing up" → "backup".

    Most are no words ("usein"); the others occur in manuals that people ask about with the verb.
    """
    return [stem(verb) + particle for verb, particle in _phrasal_verbs(text)]


def phrasal_verbs(text: str) -> frozenset[str]:
    """Return the words of "back up", "roll back" and the like, in lower case; "in" and "on" after a
    verb are mostly locations.
    """
    pairs = (pair for pair in _phrasal_verbs(text) if pair[1] not in {"in", "on"})
    return frozenset(chain.from_iterable(pairs))


def _phrasal_verbs(text: str) -> list[tuple[str, str]]:
    pairs = _VERB_AND_PARTICLE.findall(text.lower())
    return [(verb, particle) for verb, particle in pairs if verb not in _NO_VERBS]


def is_stop_word(word: str) -> bool:
    return word.lower() in STOP_WORDS


def question_joints(text: str) -> list[int]:
    """Return where further questions begin in a sentence: before ", and which" or "? How"."""
    return [found.start() for found in _JOINT.finditer(text)]


def split_clauses(question: str) -> list[str]:
    """Return the two or three questions that are asked at once, or []."""
    parts = [part for part in _JOINT.split(question) if term_set(part) and words_in(part) > 3]
    is_asked = all(map(_ASKS.match, parts))
    return parts if is_asked and 1 < len(parts) <= MOST_CLAUSES else []


def in_lower_case(word: str) -> str:
    """Return a word in lower case as patterns that ignore case read it: for them the dotted capital
    and the dotless i, the long s and the Kelvin sign are an i, an s and a k.
    """
    return word.lower().translate(_FOLDED_BY_PATTERNS)


def normalise_space(text: str) -> str:
    """White space folded to single spaces."""
    return " ".join(text.split())


def words_in(text: str) -> int:
    """Return the number of words; two characters of an unspaced script count as one."""
    return _words_in_short(text) if len(text) <= _SHORT else _count_words(text)


@lru_cache(maxsize=8192)
def _words_in_short(text: str) -> int:
    return _count_words(text)


def _count_words(text: str) -> int:
    found = len(_WORD.findall(text))
    if text.isascii():
        return found
    runs = _CJK.findall(text)
    return found + sum(len(run) // 2 for run in runs) if runs else found


def unique_texts(items: Iterable[str]) -> list[str]:
    """In order of first appearance, case and white space folded for the comparison."""
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(normalise_space(item).casefold(), item)
    return list(seen.values())
