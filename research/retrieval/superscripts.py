"""Superscripts of a page: exponents as characters of their own, marks of notes not at all.

Done before a page is parsed, so that all readings of it see the same: taken for plain text,
10<sup>9</sup> would be another number.
"""

from __future__ import annotations

import re
from html import unescape

_RAISED = re.compile(r"<sup\b[^<>]*>((?:[^<]|<(?!/?sup\b)[^<>]*>){0,300})</sup\s*>", re.I)
_TAG = re.compile(r"<[^<>]*>")
_EXPONENT = re.compile(r"[-+−–0-9n]{1,12}")
_SUPERSCRIPTS = str.maketrans("-+−–0123456789n", "⁻⁺⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ")
_FIGURE = re.compile(r"[-+−–]?\d[\d.,/]*\Z")
# "[2]", "[a]", "[note 3]", "[1][2]"
_BRACKETED = re.compile(r"(?:\[(?:[^\W\d]{1,12}\s)?\w{1,3}\][\s,]*)+")
_SHORT = re.compile(r"[\w*†‡§¶]{1,3}")
_LINK = r"<a\s[^<>]*\bhref\s*=\s*[\"']?[^\"'<>\s]*#[^<>]*>"
_LINKED = re.compile(_LINK, re.I)
_LINK_BEFORE = re.compile(_LINK + r"\s*\Z", re.I)
_LINK_ENDS = re.compile(r"\s*</a\b", re.I)
_NEAR = 500


def with_superscripts(content: str) -> str:
    """The page with its exponents and without its marks of notes; other superscripts stay."""
    has_any = "<sup" in content or "<SUP" in content
    return _RAISED.sub(_read, content) if has_any else content


def _read(raised: re.Match[str]) -> str:
    text = " ".join(unescape(_TAG.sub("", raised[1])).split())
    if _BRACKETED.fullmatch(text) or (_SHORT.fullmatch(text) and _is_linked(raised)):
        return ""
    if _EXPONENT.fullmatch(text):
        return text.translate(_SUPERSCRIPTS)
    behind_number = raised.string[raised.start() - 1 : raised.start()].isdigit()
    return f"^{text}" if behind_number and _FIGURE.match(text) else raised[0]


def _is_linked(raised: re.Match[str]) -> bool:
    """Whether it is a link to a place in a page, or all that there is of such a link."""
    if _LINKED.search(raised[1]):
        return True
    page, start = raised.string, raised.start()
    before = _LINK_BEFORE.search(page, max(0, start - _NEAR), start)
    return before is not None and _LINK_ENDS.match(page, raised.end()) is not None
