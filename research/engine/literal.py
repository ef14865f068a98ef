"""Words of pages and people in Markdown: shown as they are written, never as marks.

Otherwise `__init__` would be a bold "init", and a page could put links, pictures and headings of
its own into a report. Only what Markdown would take for a mark gets a backslash.
"""

from __future__ import annotations

import re

_MARKS = (
    r"\\(?=[!-/:-@\[-`{-~])"
    r"|\[(?=\d+\])|(?<=\d)\](?!\()|\](?=[(\[])"
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)"
    r"|(?<![^\W_])_|_(?![^\W_])"
)
_MARK = re.compile(_MARKS + r"|[`~]|\*(?!\s)|(?<!\s)\*")
_FOREIGN_MARK = re.compile(_MARKS)
_BLOCK = re.compile(r"(?:#{1,6}|[-+>]|={3,})(?=\s|$)|\d{1,9}(?=[.)]\s)")
_CODE = re.compile(r"(`[^`]+`)")


def literal(text: str) -> str:
    """A text of a page or a person, in one line."""
    return _opened(_MARK.sub(r"\\\g<0>", text))


def sentence(text: str) -> str:
    """A sentence of a model: its code and emphasis stay, links, pictures and tags are shown."""
    parts = _CODE.split(text)
    parts[::2] = [_FOREIGN_MARK.sub(r"\\\g<0>", part) for part in parts[::2]]
    return _opened("".join(parts))


def _opened(text: str) -> str:
    """Without what would make a heading, a list or a quotation of it where it opens a line."""
    opening = _BLOCK.match(text)
    if opening is None:
        return text
    if opening[0][0].isdigit():
        return f"{opening[0]}\\{text[opening.end() :]}"
    return f"\\{text}"
