"""Detection of unreadable text: encoded data, and characters decoded wrongly."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SAMPLE = 50_000
# A run of 60 characters without a space or full stop is not a word.
# base64 and the like: "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ="
_ENCODED = re.compile(r"[A-Za-z0-9+/=_%-]{60,}")
_ODD = frozenset({"Cc", "Cn", "Co", "Cs"})
_MOST_ODD = 0.1
_MOST_ENCODED = 0.5


def is_junk(text: str) -> bool:
    """Return whether over 10 % of the characters are invalid or half are in encoded runs."""
    shown = "".join(text[:_SAMPLE].split())
    if not shown:
        return False
    odd = sum(count for character, count in Counter(shown).items() if _is_odd(character))
    encoded = sum(len(run) for run in _ENCODED.findall(text[:_SAMPLE]) if _is_encoded(run))
    return odd > _MOST_ODD * len(shown) or encoded > _MOST_ENCODED * len(shown)


def _is_odd(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in _ODD


def _is_encoded(run: str) -> bool:
    """Return whether a run has letters and digits, unlike a line of dashes."""
    return any(map(str.isdigit, run)) and any(map(str.isalpha, run))
