"""Title of a text file: a heading, a first line that looks like a title, or the file name.

A first line that runs on as a sentence is not a title: reports would cite half a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote, urlsplit

MAX_TITLE = 200
MAX_LINE = 100
LOOKED_AT = 50

# "```python", "~~~"
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
# "## Usage ##"
HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*)$")

# "=====", "- - -", "* * *"
_RULE = re.compile(r"[ \t]*([=\-~*_#^+\"'.:])(?:[ \t]?\1){2,}[ \t]*")
_BLANK = re.compile(r"\n\s*\n")
# "It was built in 1742.", "First of all,", "完成。"
_SENTENCE_END = re.compile(r"[.,;:!…。、，；：！]\W*$|\w{4,}[.!?]\s|[。！？]")
# "- item", "// comment", "<html", "1. first", "key: value", "Subject: hello", "a | b", "----"
_NO_TITLE = re.compile(
    r"[-*+>|]\s|//|<|\d+[.)]\s+[a-zß-ÿ]|.*(?:\t|\||://|\S = )|[A-Z][\w-]*: |[\W\d_]*$", re.DOTALL
)
# indented code, '<img src="logo.png">', "![logo](x.png)", "[![CI](badge.svg)](ci)"
_DECORATION = re.compile(r" {4}|\s*(?:$|<|!\[|\[!\[|\[[^\]]*\](?:\(|:))")
# "[text](https://example.org)", "![alt](logo.png)"
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# "**strong**", "_slanted_", "`code`"
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(?=\S)(.+?)(?<=\S)\1")


def title_of(text: str, url: str, *, markdown: bool) -> str:
    """Return the title, or the last part of the address if nothing looks like one."""
    lines = [line[:MAX_TITLE] for line in text.split("\n", LOOKED_AT)[:LOOKED_AT]]
    lines = list(_outside_of_code(lines)) if markdown else lines
    found = (markdown and _heading(lines)) or _first_line(lines, markdown=markdown)
    return (found or unquote(urlsplit(url).path.rpartition("/")[2]))[:MAX_TITLE]


def heading_words(heading: re.Match[str]) -> str:
    """Return the text of a `HEADING` match without closing "#" signs."""
    return str(heading[2]).rstrip("#").rstrip(" \t")


def _heading(lines: Sequence[str]) -> str:
    """Return the first heading of level 1, or one that no text precedes."""
    told = False
    for line in lines:
        heading = HEADING.match(line)
        words = heading_words(heading) if heading else ""
        if heading and words and (len(heading[1]) == 1 or not told):
            return _strip_markup(words)
        told = told or not (heading or _DECORATION.match(line))
    return ""


def _first_line(lines: Sequence[str], *, markdown: bool) -> str:
    """Return the first line if it is separate or underlined and reads like a title, else ""."""
    parted = "\n".join("" if _RULE.fullmatch(line) else line for line in lines).strip()
    first, *others = _BLANK.split(parted)
    if not others or "\n" in first or (markdown and _DECORATION.match(first)):
        return ""
    line = _strip_markup(first) if markdown else first.lstrip("# ")
    fits = len(line) <= MAX_LINE and not _SENTENCE_END.search(line)
    return line if fits and not _NO_TITLE.match(line) else ""


def _outside_of_code(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines outside code fences."""
    fence = ""
    for line in lines:
        match = FENCE.match(line)
        if not fence or (match and match[1].startswith(fence)):
            yield line
        if match and (not fence or match[1].startswith(fence)):
            fence = "" if fence else match[1]


def _strip_markup(line: str) -> str:
    """Return a line of Markdown without link and emphasis syntax."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", line)).strip()
