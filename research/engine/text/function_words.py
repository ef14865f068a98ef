"""Language of a short text in Latin script, by its function words (rule F11).

A word that also occurs in English texts, as a word ("in", "die") or in names ("van", "de"), counts
half, and so does a first word before a name ("São Paulo"): neither identifies a language alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

ENGLISH = "en"
LEAST_SCORE = 1.0
"""One word that tells a language, or two that count half."""
MORE_WORDS = 2
"""So many words more than English another language must know where both score the same."""

_HALF = 0.5
_WORD = re.compile(r"[^\W\d_]+")
_IDENTIFIER = re.compile(r"(?<!\w)\w+(?:[._/@]+\w+)+")
_LETTERS = {
    "de": "äöüß", "fr": "àâçèéêëîïôùûœ", "es": "áéíóúñü¿¡", "it": "àèéìòù",
    "pt": "áâãàçéêíóôõú", "nl": "éëï",
}  # fmt: skip
_ENDINGS = {
    "fr": re.compile(r"(?:[^aeio]e|es|eur|eux|ent|oir|ait|tion)$"),
    "es": re.compile(r"(?:[ao]s?|dad|ción|iento)$"),
    "it": re.compile(r"(?:[aoi]|zione|tà)$"),
    "pt": re.compile(r"(?:[ao]s?|dade|ção|ções|mento)$"),
    "nl": re.compile(r"(?:en|ing|heid|aa.|ee.|oo.|uu.|ij.?)$"),
    "de": re.compile(r"(?:en|er|ung|keit|heit|lich|isch)$"),
}


def language_by_words(text: str, otherwise: str) -> str:
    """Return an ISO 639-1 code, or `otherwise` if the words identify no language."""
    words = _telling_words(text)
    known = {code: _known_words(code, words) for code in (ENGLISH, *_LETTERS)}
    scores = {code: _score_language(code, own, text) for code, own in known.items()}
    usual = otherwise.partition("-")[0].lower()
    favoured = usual if usual in _LETTERS else ""
    if favoured:
        scores[favoured] += _HALF
    best = max(scores.values())
    found = [code for code, score in scores.items() if score == best]
    if best < LEAST_SCORE or favoured in found:
        return otherwise
    if ENGLISH in found:
        enough = len(known[ENGLISH]) + MORE_WORDS
        found = [code for code in found if len(known[code]) >= enough] or [ENGLISH]
    return found[0] if len(found) == 1 else _by_endings(found, words) or otherwise


def function_words(code: str) -> frozenset[str]:
    """Return the function words of a language; empty if it is unknown."""
    return frozenset(word.lstrip("^") for word in _load_lists().get(code, ()))


def _telling_words(text: str) -> dict[str, float]:
    """Return the words that are neither names nor identifiers, with their weight: those in lower
    case, and the first one. In a text in capitals names can't be recognised.
    """
    words = _WORD.findall(_IDENTIFIER.sub(" ", text))
    if len(words) > 1 and "".join(words).isupper():
        return {word.lower(): 1.0 for word in words}
    telling = {word: 1.0 for word in words[1:] if word.islower()}
    if not words or (len(words[0]) > 1 and words[0].isupper()):
        return telling
    before_a_name = "".join(words[1:2]).istitle()
    return {words[0].lower(): _HALF if before_a_name else 1.0} | telling


def _known_words(code: str, words: Mapping[str, float]) -> dict[str, float]:
    listed = _load_lists()[code]
    return {
        word: weight
        for place, (word, weight) in enumerate(words.items())
        if word in listed or (place == 0 and f"^{word}" in listed)
    }


def _score_language(code: str, own: Mapping[str, float], text: str) -> float:
    """Letters that English lacks help where several words are there: names have them as well."""
    if code == ENGLISH:
        return sum(own.values())
    also_english = _load_lists()["also-english"]
    score = sum(_HALF if word in also_english else weight for word, weight in own.items())
    helped = len(own) > 1 and set(_LETTERS[code]) & set(text.lower())
    return score + _HALF if helped else score


def _by_endings(codes: list[str], words: Mapping[str, float]) -> str:
    """Return the language whose endings most words have; '' if there is no single one."""
    counts = {code: sum(bool(_ENDINGS[code].search(w)) for w in words) for code in codes}
    best = [code for code, count in counts.items() if count == max(counts.values())]
    return best[0] if len(best) == 1 else ""


@cache
def _load_lists() -> MappingProxyType[str, frozenset[str]]:
    text = (Path(__file__).parent / "data" / "function_words.txt").read_text("utf-8")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    return MappingProxyType({code: frozenset(words) for code, *words in lines})
