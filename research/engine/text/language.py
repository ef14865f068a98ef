"""Language of a short text, by its script and its function words (rule F11).

Used for planning without a model; the fallback is the user's setting, else English. Comparisons
without a model use English stems only, and `language_limits` says so. Of Latin scripts, a word that
also occurs in English texts, as a word ("in", "die") or in names ("van", "de"), counts half, and so
does a first word before a name ("São Paulo"): neither identifies a language alone.
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


_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
)
_NAMES = {
    "ja": "Japanese", "ko": "Korean", "zh": "Chinese", "ru": "Russian", "el": "Greek",
    "he": "Hebrew", "ar": "Arabic", "hi": "Hindi", "th": "Thai", "de": "German", "fr": "French",
    "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
}  # fmt: skip
_UNSPACED = frozenset({"ja", "zh", "th"})
_CODE = re.compile("[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,3}")
_LEAST_SHARE = 0.3
"""Of the characters: a foreign name in an English question does not make it foreign."""


def language_of(text: str, otherwise: str = ENGLISH) -> str:
    """Return an ISO 639-1 code, or `otherwise` if the words identify no language."""
    letters = sum(map(str.isalpha, text)) or 1
    for code, script in _SCRIPTS:
        if len(script.findall(text)) >= _LEAST_SHARE * letters:
            return "ja" if code == "zh" and _SCRIPTS[0][1].search(text) else code
    return language_by_words(text, otherwise)


def code_of(written: str) -> str:
    """Return the code in a language tag; '' if it is none, such as a language's name."""
    code = written.strip().replace("_", "-")
    return code if _CODE.fullmatch(code) else ""


def language_limits(language: str) -> str:
    """Return a note on what works less well without a model than in English; '' if nothing does."""
    if language == ENGLISH:
        return ""
    name = _NAMES.get(language, "this language")
    if language in _UNSPACED:
        return f"In {name} words are not told apart: text is compared in pairs of characters."
    return f"In {name} words are compared as written: their endings and everyday words count too."
