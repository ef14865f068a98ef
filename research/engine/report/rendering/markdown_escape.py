"""Escape text of pages and people for Markdown.

Otherwise `__init__` would be a bold "init", and a page could put links, pictures and headings of
its own into a report. Only what Markdown, or
a program that finds addresses in it, would take for a mark gets a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Set

from research.engine.text.tokens import term_set

PLACE_START, PLACE_END = "\ue000", "\ue001"
"""Private characters around a marker that is not placed yet; no text of a page keeps them."""
_PRIVATE = str.maketrans("", "", PLACE_START + PLACE_END)
_MARKS = (
    r"\\(?=[!-/:-@\[-`{-~])"
    r"|\[(?=\d+\])|(?<=\d)\](?!\()|\](?=[(\[])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|(?<=[A-Za-z]):(?=//)|(?<=\bwww)\.|(?<=\bWWW)\.|(?<=\bmailto):|(?<=\bxmpp):"
)
_MARK = re.compile(_MARKS + r"|[`~]|\*(?!\s)|(?<!\s)\*")
_FOREIGN_MARK = re.compile(_MARKS)
_BLOCK = re.compile(r"(?:#{1,6}|[-+>]|={3,})(?=\s|$)|\d{1,9}(?=[.)]\s)")
_WORD = re.compile(r"[^\W_]+(?:[._'’-][^\W_]+)*")
"""`pg_stat_activity`, `vacuum`: words as `escape_markdown` leaves them."""
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w.-]{1,254}")
"""A mailbox, which some programs turn into a link regardless of the preceding characters."""
_CODE = re.compile(r"(`[^`]+`)")
_IDENTIFIER = re.compile(
    r"(?<![\w./@\\-])(?=[\w.]{1,80}[^\W_]_[^\W_])[^\W\d_]\w{0,60}(?:\.\w{1,60}){0,3}(?:\(\))?"
    r"(?![\w/@-])"
)
"""`pg_stat_activity`, `pg_class.oid`, `pg_stat_reset()`: words joined by underscores."""


def escape_markdown(text: str) -> str:
    """Return a text of a page or a person, in one line."""
    return _escape_opening(_MARK.sub(r"\\\g<0>", text.translate(_PRIVATE)))


def marked_words(escaped: str, wanted: Set[str]) -> str:
    """Return a text of `escape_markdown` with the words in bold that have one of these stems."""
    return _WORD.sub(
        lambda word: f"**{word[0]}**" if term_set(word[0]) & wanted else word[0], escaped
    )


def unlinked(text: str) -> str:
    """Return a text of a page in one line, in which no program finds a link."""
    parts = _MAIL.split(text)
    mails = _MAIL.findall(text)
    shown = escape_markdown(parts[0])
    for mail, part in zip(mails, parts[1:], strict=True):
        shown += f"`{mail}`" + _MARK.sub(r"\\\g<0>", part)
    return shown


def escape_sentence(text: str) -> str:
    """Return a sentence of a model: its code and emphasis stay, and identifiers become code; links,
    pictures and tags are shown.
    """
    parts = _CODE.split(text.translate(_PRIVATE))
    plain = (_FOREIGN_MARK.sub(r"\\\g<0>", part) for part in parts[::2])
    parts[::2] = [_IDENTIFIER.sub(r"`\g<0>`", part) for part in plain]
    return _escape_opening("".join(parts))


def _escape_opening(text: str) -> str:
    """Without what would make a heading, a list or a quotation of it where it opens a line."""
    opening = _BLOCK.match(text)
    if opening is None:
        return text
    if opening[0][0].isdigit():
        return f"{opening[0]}\\{text[opening.end() :]}"
    return f"\\{text}"
