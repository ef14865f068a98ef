"""Superscripts: converts exponents to Unicode superscripts and removes footnote marks.

Done before parsing, so that both readings of a page see the same text: as plain text,
10<sup>9</sup> would turn into another number.
"""

from __future__ import annotations

import re
from html import unescape

# "<sup>9</sup>", '<sup><a href="#fn1">[1]</a></sup>'
_RAISED = re.compile(r"<sup\b[^<>]*>((?:[^<]|<(?!/?sup\b)[^<>]*>){0,300})</sup\s*>", re.I)
# "<b>"
_TAG = re.compile(r"<[^<>]*>")
# "-3", "n", "2n+1"
_EXPONENT = re.compile(r"[-+−–0-9n]{1,12}")
_SUPERSCRIPTS = str.maketrans("-+−–0123456789n", "⁻⁺⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")
# a number right before the superscript: "10", "-1.5"
_FIGURE = re.compile(r"[-+−–]?\d[\d.,/]*\Z")
# "[2]", "[a]", "[note 3]", "[1][2]"
_BRACKETED = re.compile(r"(?:\[(?:[^\W\d]{1,12}\s)?\w{1,3}\][\s,]*)+")
# "*", "a", "12"
_SHORT = re.compile(r"[\w*†‡§¶]{1,3}")
# '<a href="#cite_note-1">'
_LINK = r"<a\s[^<>]*\bhref\s*=\s*[\"']?[^\"'<>\s]*#[^<>]*>"
_LINKED = re.compile(_LINK, re.I)
_LINK_BEFORE = re.compile(_LINK + r"\s*\Z", re.I)
_LINK_ENDS = re.compile(r"\s*</a\b", re.I)
_NEAR = 500


def with_superscripts(content: str) -> str:
    """Return the page with Unicode exponents, without footnote marks, otherwise unchanged."""
    has_any = "<sup" in content or "<SUP" in content
    return _RAISED.sub(_replace_superscript, content) if has_any else content


def _replace_superscript(raised: re.Match[str]) -> str:
    text = " ".join(unescape(_TAG.sub("", raised[1])).split())
    if _BRACKETED.fullmatch(text) or (_SHORT.fullmatch(text) and _is_linked(raised)):
        return ""
    if _EXPONENT.fullmatch(text):
        return text.translate(_SUPERSCRIPTS)
    behind_number = raised.string[raised.start() - 1 : raised.start()].isdigit()
    return f"^{text}" if behind_number and _FIGURE.match(text) else raised[0]


def _is_linked(raised: re.Match[str]) -> bool:
    """Return whether a superscript contains a link to an anchor, or is such a link's text."""
    if _LINKED.search(raised[1]):
        return True
    page, start = raised.string, raised.start()
    before = _LINK_BEFORE.search(page, max(0, start - _NEAR), start)
    return before is not None and _LINK_ENDS.match(page, raised.end()) is not None
