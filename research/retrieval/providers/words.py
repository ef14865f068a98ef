"""Titles and snippets as words: providers send some as HTML, and some that only look like it."""

from __future__ import annotations

import html
import re

from research.retrieval.extract import storable

MOST_CHARACTERS = 4_000

_INLINE = "a|abbr|b|big|cite|code|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr"
_BLOCKS = "blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul"
_TAG = re.compile(rf"<(/?)({_INLINE}|{_BLOCKS}|script|style)\b[^<>]*>", re.IGNORECASE)
_BLOCK = re.compile(_BLOCKS)
_UNSHOWN = re.compile(r"<(script|style)\b[^<>]*>.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_ENTITY = re.compile(r"&(?:[a-z][a-z0-9]*|#[0-9]+|#x[0-9a-f]+);", re.IGNORECASE)


def plain(text: str) -> str:
    """Words that should be plain ones; HTML all the same where a tag is opened and closed.

    "<b>: the element" is a title like any other, and "vector<int>" is no markup.
    """
    text = text[:MOST_CHARACTERS]
    tags = [(match[1], match[2].lower()) for match in _TAG.finditer(text)]
    opened, closed = ({name for sign, name in tags if sign == which} for which in ("", "/"))
    return unmarked(text) if opened & closed else _squeezed(_decoded(text))


def unmarked(text: str) -> str:
    """The words of HTML."""
    text = _UNSHOWN.sub(" ", text[:MOST_CHARACTERS])
    return _squeezed(_decoded(_TAG.sub(_in_place, text)))


def _in_place(tag: re.Match[str]) -> str:
    return " " if _BLOCK.fullmatch(tag[2].lower()) else ""


def _decoded(text: str) -> str:
    """What `&amp;` and the like stand for, once: "&amp;lt;" is about "&lt;"."""
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _squeezed(text: str) -> str:
    return storable(" ".join(text.split()))
