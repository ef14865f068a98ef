"""Manual pages as text ("ntpd(8)   System Manager's Manual   ntpd(8)"), as light Markdown.

Their text is indented as a whole, which Markdown takes for code: here sections become headings,
what is said becomes paragraphs, and only what has no words of sentences stays code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, zip_longest

from research.engine.text.tokens import is_stop_word
from research.extract.html.blocks import END_OF_TERMS, TERM

_PAGE = re.compile(r"^(\S{1,60})(\(\d\w{0,4}\))\s.{1,200}\s\1\2$")
"""The first line of a manual page: "DVGRAB(1)   General Commands Manual   DVGRAB(1)"."""
_PURPOSE = re.compile(r"^\s+(\S.{0,99}?) [-–—]{1,2} (\S.{0,99})$")
"""The line below its heading NAME: "dvgrab - capture digital video"."""
_NAME = re.compile(r"\S{1,60}\(\d\w{0,4}\)")
"""The last word of its footer: "chrony 4.3   2022-08-31   CHRONYC(1)"."""
_TAGGED = re.compile(r"(\S.{0,60}?)\s{2,}(?=\S)")
"""A tag and the gap before its description on the same line: "-n     Don't wait"."""
_BULLET = re.compile(r"^[•*o-]\s+(?=\S)")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HYPHENATED = re.compile("(?<=[^\\W\\d_])\N{HYPHEN} (?=[^\\W\\d_])")
SUBSECTION, BODY, NO_TERMS = 3, 5, -1
"""Columns of a subsection's heading, and from which on text is no heading."""
LEAST_WORDS, LEAST_SHARE, WIDE = 4, 0.15, 50
"""Of sentences: words, the share of them that are function words ("the", "of"), and characters of a
line that is not set by itself.
"""
ENDS = (".", ":", ";", ",", ")", "?")
LONGEST_TAG = 6


def page_name(lines: Sequence[str]) -> tuple[str, str] | None:
    """Return the name and the section of a manual page by its first line; None of other texts."""
    first = next((line.strip() for line in lines if line.strip()), "")
    found = _PAGE.match(first)
    return (found[1], found[2]) if found else None


def manual_title(lines: Sequence[str]) -> str:
    """Return the name of a manual page with its purpose, "ntpd(8) – Network Time Protocol daemon";
    "" for other texts.
    """
    named = page_name(lines)
    if named is None:
        return ""
    name, section = named
    told = [line.rstrip() for line in lines if line.strip()]
    below = next((text for head, text in pairwise(told) if head.strip() == "NAME"), "")
    purpose = _PURPOSE.match(below)
    names = purpose[1].split(", ") if purpose else []
    own = next((each for each in names if each.casefold() == name.casefold()), name)
    return f"{own}{section} – {purpose[2]}" if purpose else f"{own}{section}"


def manual_markdown(lines: Sequence[str]) -> list[str]:
    """Return the lines of a manual page as light Markdown, without its header and footer.

    A line above a further indented paragraph, such as an option, becomes a term.
    """
    told = [line.expandtabs().rstrip() for line in lines]
    at = [n for n, line in enumerate(told) if line.strip()]
    width = len(told[at[0]])
    told = told[at[0] + 1 : at[-1] + 1]
    if told and "  " in told[-1].strip() and _NAME.fullmatch(told[-1].split()[-1]):
        del told[-1]
    done, terms = list[str](), NO_TERMS
    for is_text, run in groupby(told, bool):
        parts = [*_parts(list(run))] if is_text else []
        for part, following in zip_longest(parts, parts[1:]):
            if following and part.is_term_of(following):
                done += ["", f"{TERM}{part.words}"]
                terms = part.indent
                continue
            if part.indent <= terms:
                done += ["", END_OF_TERMS] if part.indent >= BODY else []
                terms = NO_TERMS
            for paragraph in part.paragraphs(width):
                done += ["", *paragraph]
    return done


@dataclass(frozen=True)
class _Part:
    """Lines of one indent; `is_tagged` if the first one starts with a tag, such as an option."""

    indent: int
    lines: tuple[str, ...]
    is_tagged: bool = False

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.lines).split())

    @property
    def is_prose(self) -> bool:
        """Return whether these are sentences: they have function words, and wide or ended lines, or
        lead to something ("For example:").
        """
        words = _WORD.findall(self.words)
        if self.words[:1].isupper() and self.words.endswith((".", ":")) and words:
            return True
        share = sum(map(is_stop_word, words))
        is_wide = max(len(line.strip()) for line in self.lines) >= WIDE
        is_said = is_wide or self.words.endswith(ENDS)
        return len(words) >= LEAST_WORDS and share >= LEAST_SHARE * len(words) and is_said

    def is_term_of(self, other: _Part) -> bool:
        is_short = len(self.lines) == 1 and not self.is_tagged and not self.is_prose
        return is_short and other.indent > self.indent >= BODY and other.is_prose

    def paragraphs(self, width: int) -> list[list[str]]:
        """Return a heading, paragraphs, an item, or code with its lines. A paragraph ends where the
        next word would have fitted into its line, which is of this width.
        """
        if self.indent < BODY:
            level = "##" if self.indent < SUBSECTION else "###"
            return [[f"{level} {self.words}"]]
        if _BULLET.match(self.words):
            return [[_BULLET.sub("- ", _HYPHENATED.sub("", self.words), count=1)]]
        if not (self.is_tagged or self.is_prose):
            return [[f"    {line.strip()}" for line in self.lines]]
        told = [[self.lines[0]]]
        for line, following in pairwise(self.lines):
            if _is_broken(line, following, width):
                told.append([])
            told[-1].append(following)
        return [[_HYPHENATED.sub("", " ".join(" ".join(part).split()))] for part in told]


def _is_broken(line: str, following: str, width: int) -> bool:
    """Return whether a line ends before its time; behind a sentence two spaces may be due."""
    room = width - len(line) - len("  ")
    return len(following.split(maxsplit=1)[0]) <= room and not line.endswith("\N{HYPHEN}")


def _parts(block: Sequence[str]) -> Iterator[_Part]:
    """Yield the lines of a block without a blank one, those of one indent together."""
    start = 0
    while start < len(block):
        indent, end = _indent(block[start]), start + 1
        column = _column(block[start:])
        while end < len(block) and _indent(block[end]) == (column or indent) >= BODY:
            end += 1
        yield _Part(indent, tuple(block[start:end]), bool(column))
        start = end


def _column(lines: Sequence[str]) -> int:
    """Return the column at which the description of a tag starts, 0 if the first line has no tag.

    The next line starts at the same column, or the tag is a short option or a bullet.
    """
    first = lines[0].lstrip()
    tagged = _TAGGED.match(first)
    if tagged is None:
        return 0
    column = len(lines[0]) - len(first) + tagged.end()
    goes_on = len(lines) > 1 and _indent(lines[1]) == column
    is_option = len(tagged[1]) <= LONGEST_TAG and tagged[1].startswith(("-", "•"))
    return column if goes_on or is_option else 0


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
