"""Markdown as it reads when rendered: emphasis, code and links by their words, tables as rows.

Lines that are indented as code stay to the letter, and so do links that are all of a line or an
item, and what would make a heading or an item of its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

_ESCAPED = r"\\(?P<escaped>[*_`|~<>])"
_CODE = r"(?<!`)(?P<ticks>`+)(?!`) ?(?P<code>.{1,1000}?) ?(?<!`)(?P=ticks)(?!`)"
_IMAGE = r"(?P<image>!\[[^\[\]]*\]\([^()]*\))"
_LINK = (
    r"(?<![\w\]])\[(?P<link>(?:!\[[^\[\]]*\]\([^()]*\)|[^\[\]]){0,500})\]"
    r"\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"]*\")?\)"
)
# Not within words of Latin letters: 2*3*4, snake_case. `__init__` is a name as well.
_STARS = (
    r"(?<![A-Za-z0-9*])(?P<stars>\*{1,3})(?=[^\s*])(?P<strong>.{1,1000}?)(?<=[^\s*\\])(?P=stars)"
    r"(?![A-Za-z0-9*])"
)
_LINES = (
    r"(?<!\w)(?!__[a-z0-9_]+__)(?P<lines>_{1,3})(?=[^\s_])(?P<slanted>.{1,1000}?)(?<=[^\s_\\])"
    r"(?P=lines)(?!\w)"
)
_MARK = re.compile("|".join((_ESCAPED, _CODE, _IMAGE, _LINK, _STARS, _LINES)), re.S)
_MARKER = re.compile(r"\s*(?:(?:[-+*•]|\d{1,3}[.)])\s+)?")
_NESTED = ("link", "strong", "slanted")
_OPENS_BLOCK = re.compile(r"(?:#{1,6}|[-+*•])(?:\s|$)|\*\*\*|[>|]|\s|```|~~~")
_INDENTED = re.compile(r" {4}|\t")
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")
_DELIMITER = re.compile(r"[ ]{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*(?:\|\s*)?")


def without_marks(lines: Iterable[str]) -> list[str]:
    """Lines outside of code fences, with a blank line around each table."""
    done: list[str] = []
    for is_text, run in groupby(lines, lambda line: bool(line) and not _INDENTED.match(line)):
        told = list(run)
        done += _paragraph(told) if is_text else told
    return done


def _paragraph(lines: Sequence[str]) -> list[str]:
    for at, line in enumerate(lines[1:], start=1):
        if _delimits(line, lines[at - 1]):
            rows = [_row(row) for row in (lines[at - 1], *lines[at + 1 :])]
            return [*_read("\n".join(lines[: at - 1])).split("\n"), "", *rows, ""]
    return _read("\n".join(lines)).split("\n")


def _delimits(line: str, head: str) -> bool:
    """Whether a line divides the head of a table from its rows."""
    is_rule = "|" in line and "|" in head and _DELIMITER.fullmatch(line)
    return bool(is_rule) and len(_cells(line)) == len(_cells(head))


def _row(line: str) -> str:
    cells = (cell.replace("\\|", "|") for cell in _cells(line))
    return "\t".join(" ".join(_read(cell, opens=False).split()) for cell in cells)


def _cells(line: str) -> list[str]:
    return _BETWEEN_CELLS.split(line.strip().removeprefix("|").removesuffix("|"))


def _read(text: str, *, opens: bool = True) -> str:
    """A text by its words; `opens` says whether it stands at the beginning of a line."""

    def read(mark: re.Match[str]) -> str:
        first = opens if mark.start() == 0 else text[mark.start() - 1] == "\n"
        words = next(
            _read(inner, opens=first) if name in _NESTED else inner
            for name, inner in mark.groupdict().items()
            if inner is not None and name not in ("ticks", "stars", "lines")
        )
        if (mark["link"] and _is_alone(mark)) or (first and _OPENS_BLOCK.match(words)):
            return mark[0]
        return "" if mark["image"] else words

    return _MARK.sub(read, text)


def _is_alone(link: re.Match[str]) -> bool:
    """Whether nothing but a link stands in its line: it is an index's, and tells nothing."""
    begins = link.string.rfind("\n", 0, link.start()) + 1
    after = link.string[link.end() :].partition("\n")[0]
    return not after.strip() and _MARKER.fullmatch(link.string, begins, link.start()) is not None
