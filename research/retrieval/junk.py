"""Text that nobody could read: encoded data, and letters that came out as no letters."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_SAMPLE = 50_000
# A longer run without a space or full stop is no word; a SHA-256 in hex has 64 characters.
_ENCODED = re.compile(r"[A-Za-z0-9+/=_%-]{60,}")
_ODD = frozenset({"Cc", "Cn", "Co", "Cs"})
_MOST_ODD = 0.1
_MOST_ENCODED = 0.5


def is_junk(text: str) -> bool:
    """Whether a tenth of the characters are none, or half of them lie in encoded runs."""
    shown = "".join(text[:_SAMPLE].split())
    if not shown:
        return False
    odd = sum(count for character, count in Counter(shown).items() if _is_odd(character))
    encoded = sum(len(run) for run in _ENCODED.findall(text[:_SAMPLE]) if _is_encoded(run))
    return odd > _MOST_ODD * len(shown) or encoded > _MOST_ENCODED * len(shown)


def _is_odd(character: str) -> bool:
    return character == "\ufffd" or unicodedata.category(character) in _ODD


def _is_encoded(run: str) -> bool:
    """Letters and digits in one run; a line of dashes is no data."""
    return any(map(str.isdigit, run)) and any(map(str.isalpha, run))
