"""Titles and snippets as plain text: some providers send HTML, others text that looks like it."""

from __future__ import annotations

import html
import re

from research.extract.extract import strip_unstorable

MOST_CHARACTERS = 4_000

_INLINE = "a|abbr|b|big|cite|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr"
_BLOCKS = "blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul"
# '<b>', '</span>', '<br/>'; not "vector<int>"
_TAG = re.compile(rf"<(/?)({_INLINE}|{_BLOCKS}|script|style)\b[^<>]*>", re.IGNORECASE)
_BLOCK = re.compile(_BLOCKS)
# "<script>alert(1)</script>"
_UNSHOWN = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
# "&amp;", "&#39;", "&#x27;"
_ENTITY = re.compile(r"&(?:[a-z][a-z0-9]*|#[0-9]+|#x[0-9a-f]+);", re.IGNORECASE)


def plain_words(text: str) -> str:
    """Return plain text; treat it as HTML only if some tag is both opened and closed.

    "<b>: the element" is a title, and "vector<int>" is not markup.
    """
    text = text[:MOST_CHARACTERS]
    tags = [(match[1], match[2].lower()) for match in _TAG.finditer(text)]
    opened, closed = ({name for sign, name in tags if sign == which} for which in ("", "/"))
    return strip_html(text) if opened & closed else _squeezed(_decoded(text))


def strip_html(text: str) -> str:
    """Return the text of an HTML fragment."""
    text = _UNSHOWN.sub(" ", text[:MOST_CHARACTERS])
    return _squeezed(_decoded(_TAG.sub(_in_place, text)))


def _in_place(tag: re.Match[str]) -> str:
    return " " if _BLOCK.fullmatch(tag[2].lower()) else ""


def _decoded(text: str) -> str:
    """Decode character references once: "&amp;lt;" becomes "&lt;"."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _squeezed(text: str) -> str:
    return strip_unstorable(" ".join(text.split()))
