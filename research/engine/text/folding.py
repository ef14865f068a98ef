"""Texts as a reader sees them, for comparison only: what is stored and shown stays as written.

Compatibility forms, letters that look like others, digits in the place of letters, invisible
characters and spaced letters are undone. Sources: Unicode Standard Annex 15 (normalization forms)
and Technical Standard 39 (confusable characters).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_LATIN = "aceopxyijshkmtbdgqwnuvl"
_CYRILLIC = "асеорхуіјѕһкмтвԁɡԛԝпцѵӏ"
_GREEK = "αβεικνορτυχγημ"
_AS_GREEK = "abeiknoptuxynm"
_TO_LATIN = str.maketrans(_CYRILLIC + _GREEK, _LATIN + _AS_GREEK)
_TO_CYRILLIC = str.maketrans("aceopxykmtbhn", "асеорхукмтвнп")
_WORD = re.compile(r"[^\W_]+")
_HAS_LATIN = re.compile(r"[a-z]")
_HAS_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_HAS_GREEK = re.compile(r"[\u0370-\u03ff]")
_DIGITS_AS_LETTERS = str.maketrans("0134578@$", "oieastbas")
_MIXED = re.compile(r"(?<!\w)[^\W0134578]*[0134578]\w*")
"""A word with digits that may stand for letters, such as "1nstruct10ns"."""
_HAS_DIGIT = re.compile("[0134578]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_SPACED = re.compile(r"(?<!\w)[^\W_](?: {1,3}[^\W_](?!\w)){7,}")
"""Letters with spaces between them, such as "I G N O R E  T H I S"."""
_TWO_SPACED = re.compile(r" [^\W_] {1,3}[^\W_] ")
"""A part of each such run, which is found faster."""
_SET_APART = re.compile(r"(?<!\w)[^\W\d_]([.·*~|_-])[^\W\d_](?:\1[^\W\d_]){3,}(?!\w)")
"""A word with marks between its letters, such as "i-g-n-o-r-e"."""
_TWO_SET_APART = re.compile(r"[.·*~|_-][^\W\d_][.·*~|_-]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters without a glyph that no script needs to be read."""
_JOINER = re.compile("[\u200c\u200d]")
_NEEDS_JOINERS = re.compile(
    "[\u0600-\u06ff\u0700-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\u1800-\u18af"
    "\u2190-\u2bff\ufb50-\ufdff\ufe00-\ufe0f\ufe70-\ufefc\U0001f000-\U0001faff]"
)
"""Arabic and its relatives, the scripts of India and its neighbours, Mongolian, and emoji."""


def without_invisible(text: str) -> str:
    """Return the text without characters that have no glyph and no use; joiners stay in the
    scripts, and between the emoji, that need them.
    """
    text = _INVISIBLE.sub("", text)
    return _JOINER.sub(_kept_joiner, text) if _JOINER.search(text) else text


def _kept_joiner(found: re.Match[str]) -> str:
    text, at = found.string, found.start()
    before, after = text[max(0, at - 1) : at], text[at + 1 : at + 2]
    joins = _NEEDS_JOINERS.match(before) and _NEEDS_JOINERS.match(after)
    return found[0] if joins else ""


def canonical(text: str) -> str:
    """Return the text as it is stored: composed (NFC), without invisible characters."""
    return without_invisible(unicodedata.normalize("NFC", text))


@lru_cache(maxsize=4_000)
def folded(text: str) -> str:
    """Return the text as it looks, in lower case and without accents."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _JOINER.sub("", _INVISIBLE.sub("", text)))
    plain = text.casefold()
    if _TWO_SPACED.search(plain):
        plain = _SPACED.sub(lambda run: run[0].replace(" ", ""), plain)
    if _TWO_SET_APART.search(plain):
        plain = _SET_APART.sub(lambda word: word[0].replace(word[1], ""), plain)
    if not plain.isascii():
        if _HAS_CYRILLIC.search(plain) or _HAS_GREEK.search(plain):
            plain = _WORD.sub(lambda word: _one_script(word[0]), plain)
        plain = _NOT_ASCII.sub(lambda letter: _without_mark(letter[0]), plain)
    if _HAS_DIGIT.search(plain):
        plain = _MIXED.sub(lambda word: _letters(word[0]), plain)
    return " ".join(plain.split())


def spaced_letters(text: str) -> list[str]:
    """Return the runs of letters with spaces between them, without the spaces, in lower case."""
    return [run[0].replace(" ", "").casefold() for run in _SPACED.finditer(text)]


def words_set_apart(text: str) -> list[str]:
    """Return the words with marks between their letters, without the marks."""
    return [word[0].replace(word[1], "") for word in _SET_APART.finditer(text)]


@lru_cache(maxsize=4_000)
def _without_mark(letter: str) -> str:
    """A Latin or Cyrillic letter without its marks; those of other scripts are letters."""
    part = unicodedata.normalize("NFD", letter)
    return part[0] if "\u0300" <= part[1:2] <= "\u036f" else letter


def _one_script(word: str) -> str:
    """Return a word of mixed scripts in the one that it is meant in."""
    if word.isascii():
        return word
    is_latin, is_cyrillic = _HAS_LATIN.search(word), _HAS_CYRILLIC.search(word)
    if is_latin and is_cyrillic:
        latin = word.translate(_TO_LATIN)
        return word.translate(_TO_CYRILLIC) if _HAS_CYRILLIC.search(latin) else latin
    return word.translate(_TO_LATIN) if is_latin and _HAS_GREEK.search(word) else word


def _letters(word: str) -> str:
    """Return a word with digits in the place of letters, if most of it are letters or it
    is long.
    """
    digits = sum(letter.isdigit() for letter in word)
    return word.translate(_DIGITS_AS_LETTERS) if 0 < digits <= len(word) / 2 else word
