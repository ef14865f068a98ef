"""Decodes page bytes to text: by byte order mark, header, the page's own declaration, or a guess.

Labels follow the WHATWG encoding standard ("latin-1" means windows-1252). If the bytes
contradict a label, the next one is tried. Text that was decoded wrongly, or that is encoded data,
is recognised as junk.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ALIASES = {
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "us-ascii": "cp1252",
    "ascii": "cp1252",
    "iso-8859-9": "cp1254",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "x-sjis": "cp932",
    "tis-620": "cp874",
}
# 'text/html; charset="utf-8"'
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([A-Za-z0-9_:.-]+)", re.I)
# '<meta charset="utf-8">', '<?xml version="1.0" encoding="utf-8"?>'
_IN_PAGE = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([A-Za-z0-9_:.-]+)"
    rb"|^\s*<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([A-Za-z0-9_:.-]+)",
    re.I,
)
_DECLARED_WITHIN = 4_096
_GUESSED_FROM = 32_768
_AS_WESTERN = ("cp1250", "iso8859_2", "cp1254", "latin_1", "iso8859_15", "mac_roman")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BROKEN_SHARE = 0.1
_SAMPLE = 50_000
# A run of 60 characters without a space or full stop is not a word.
# base64 and the like: "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQgaGVsbG8gd29ybGQ="
_ENCODED = re.compile(r"[A-Za-z0-9+/=_%-]{60,}")
_ODD = frozenset({"Cc", "Cn", "Co", "Cs"})
_MOST_ODD = 0.1
_MOST_ENCODED = 0.5


def decode_page(body: bytes, content_type: str | None) -> str:
    """Return the text of `body`; undecodable bytes become U+FFFD."""
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(encoding, "replace")
    labels = list(_labels(body, content_type))
    for encoding in (*_by_evidence(body, labels), *labels):
        if (strict := _strictly(body, encoding)) is not None:
            return strict
    if labels and _hardly_broken(text := body.decode(labels[0], "replace")):
        return text
    return body.decode(_guess(body), "replace")


def _by_evidence(body: bytes, labels: list[str]) -> tuple[str, ...]:
    """Try UTF-8 before any label: other encodings hardly ever form valid multi-byte UTF-8."""
    if labels and body.isascii():
        return ()
    return ("utf-8",)


def _labels(body: bytes, content_type: str | None) -> Iterator[str]:
    in_header = _IN_HEADER.search(content_type or "")
    if in_header and (known := _known(in_header[1])):
        yield known
    in_page = _IN_PAGE.search(body[:_DECLARED_WITHIN])
    if in_page and (known := _known((in_page[1] or in_page[2]).decode("ascii"))):
        # A label that was readable as ASCII rules out UTF-16, whatever the label is.
        yield "utf-8" if known.startswith(("utf-16", "utf-32")) else known


def _known(label: str) -> str | None:
    label = label.lower()
    try:
        info = codecs.lookup(_ALIASES.get(label, label))
    except LookupError:
        return None
    return info.name if getattr(info, "_is_text_encoding", True) else None


def _strictly(body: bytes, encoding: str) -> str | None:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError:
        return None


def _hardly_broken(text: str) -> bool:
    """Return whether a label fits except for a few bytes, as in a page pasted together from two."""
    beyond_ascii = sum(not character.isascii() for character in text)
    return text.count(_REPLACEMENT) <= _BROKEN_SHARE * beyond_ascii


def _guess(body: bytes) -> str:
    """Guess the encoding from letter frequencies; western wins over central European encodings,
    which the frequencies don't separate reliably.
    """
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_GUESSED_FROM]).best()
    return best.encoding if best and best.encoding not in _AS_WESTERN else "cp1252"


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
