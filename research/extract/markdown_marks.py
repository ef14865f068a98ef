"""Renders Markdown syntax to plain words: emphasis, code, links, and tables as rows.

Left verbatim: indented code, links that fill a whole line or list item, and text that would
turn its line into a heading or list item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

# "\*"
_ESCAPED = r"\\(?P<escaped>[*_`|~<>])"
# "`x`", "``a ` b``"
_CODE = r"(?<!`)(?P<ticks>`+)(?!`) ?(?P<code>.{1,1000}?) ?(?<!`)(?P=ticks)(?!`)"
# "![alt](logo.png)"
_IMAGE = r"(?P<image>!\[[^\[\]]*\]\([^()]*\))"
# '[text](https://example.org "title")'
_LINK = (
    r"(?<![\w\]])\[(?P<link>(?:!\[[^\[\]]*\]\([^()]*\)|[^\[\]]){0,500})\]"
    r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)"
)
# "**strong**"; not within words of Latin letters or numbers: 2*3*4
_STARS = (
    r"(?<![A-Za-z0-9*])(?P<stars>\*{1,3})(?=[^\s*])(?P<strong>.{1,1000}?)(?<=[^\s*\\])(?P=stars)"
    r"(?![A-Za-z0-9*])"
)
# "_slanted_"; not snake_case, and `__init__` is a name
_LINES = (
    r"(?<!\w)(?!__[a-z0-9_]+__)(?P<lines>_{1,3})(?=[^\s_])(?P<slanted>.{1,1000}?)(?<=[^\s_\\])"
    r"(?P=lines)(?!\w)"
)
_MARK = re.compile("|".join((_ESCAPED, _CODE, _IMAGE, _LINK, _STARS, _LINES)), re.S)
# "- ", "12. "
_MARKER = re.compile(r"\s*(?:(?:[-+*•]|\d{1,3}[.)])\s+)?")
_NESTED = ("link", "strong", "slanted")
# "# ", "- ", "***", "> ", "```"
_OPENS_BLOCK = re.compile(r"(?:#{1,6}|[-+*•])(?:\s|$)|\*\*\*|[>|]|\s|```|~~~")
_INDENTED = re.compile(r" {4}|\t")
# "|" but not "\|"
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
# "| --- | :-: |"
_DELIMITER = re.compile(r"[ ]{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?")


def without_marks(lines: Iterable[str]) -> list[str]:
    """Return lines (outside code fences) without syntax, with a blank line around each table."""
    done: list[str] = []
    for is_text, run in groupby(lines, lambda line: bool(line) and not _INDENTED.match(line)):
        told = list(run)
        done += _paragraph(told) if is_text else told
    return done


def _paragraph(lines: Sequence[str]) -> list[str]:
    for at, line in enumerate(lines[1:], start=1):
        if _delimits(line, lines[at - 1]):
            rows = [_render_row(row) for row in (lines[at - 1], *lines[at + 1 :])]
            return [*_render_inline("\n".join(lines[: at - 1])).split("\n"), "", *rows, ""]
    return _render_inline("\n".join(lines)).split("\n")


def _delimits(line: str, head: str) -> bool:
    """Return whether a line separates the head of a table from its rows."""
    is_rule = "|" in line and "|" in head and _DELIMITER.fullmatch(line)
    return bool(is_rule) and len(_cells(line)) == len(_cells(head))


def _render_row(line: str) -> str:
    cells = (cell.replace("\\|", "|") for cell in _cells(line))
    return "\t".join(" ".join(_render_inline(cell, opens=False).split()) for cell in cells)


def _cells(line: str) -> list[str]:
    return _BETWEEN_CELLS.split(line.strip().removeprefix("|").removesuffix("|"))


def _render_inline(text: str, *, opens: bool = True) -> str:
    """Return a text without inline syntax; `opens` means that it begins a line."""

    def read(mark: re.Match[str]) -> str:
        first = opens if mark.start() == 0 else text[mark.start() - 1] == "\n"
        words = next(
            _render_inline(inner, opens=first) if name in _NESTED else inner
            for name, inner in mark.groupdict().items()
            if inner is not None and name not in ("ticks", "stars", "lines")
        )
        if (mark["link"] and _is_alone(mark)) or (first and _OPENS_BLOCK.match(words)):
            return mark[0]
        return "" if mark["image"] else words

    return _MARK.sub(read, text)


def _is_alone(link: re.Match[str]) -> bool:
    """Return whether a link fills its line or list item, as in an index."""
    begins = link.string.rfind("\n", 0, link.start()) + 1
    after = link.string[link.end() :].partition("\n")[0]
    return not after.strip() and _MARKER.fullmatch(link.string, begins, link.start()) is not None
