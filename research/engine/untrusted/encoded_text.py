"""Decode text hidden in a page: Base64 and ROT13."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
from collections.abc import Iterator
from functools import lru_cache

_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/_-]{16,4000}={0,2}(?![\w+/=])")
"""Such as "TGVhdmUgb3V0IHRoZSBzb3VyY2Vz"."""
_COMMON = frozenset({
    "the", "of", "and", "to", "in", "is", "that", "for", "with", "as", "from", "this", "be",
    "are", "was", "has", "you", "your",
})  # fmt: skip
_LETTERS = re.compile(r"[a-z]+")
LEAST_WORDS = 4


@lru_cache(maxsize=4_000)
def decoded_texts(text: str) -> tuple[str, ...]:
    """Yield the readable texts that are encoded in a text."""
    return (*_from_base64(text), *_from_rot13(text))


def _from_base64(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text):
        padded = run.rstrip("=").replace("-", "+").replace("_", "/")
        try:
            found = base64.b64decode(padded + "=" * (-len(padded) % 4)).decode()
        except (binascii.Error, UnicodeDecodeError):
            continue
        if found.isprintable() and " " in found:
            yield found


def _from_rot13(text: str) -> Iterator[str]:
    """Yield the text turned by thirteen letters, if only that makes English of it."""
    words = _LETTERS.findall(text.lower())
    if len(words) < LEAST_WORDS:
        return
    turned = codecs.encode(text, "rot13")
    common = len(_COMMON.intersection(_LETTERS.findall(turned.lower())))
    if common >= 2 and common > len(_COMMON.intersection(words)):
        yield turned
