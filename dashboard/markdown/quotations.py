"""Long quotations within paragraphs, which are set as blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it.token import Token

from dashboard.markdown.parsing import html_token, text_token

LONG_QUOTATION = 40
"""Words from which a quotation is a block."""
MARKS = re.compile(r"(?=“)|(?<=”)")
ATTRIBUTION = re.compile(r"\s*(?:\([^()]{1,200}\))?[.,;]?\s*")
"""What stands between a quotation and its markers: " (trees.test). "."""
OMISSION = " … "
"""What stands between quoted sentences that are apart on their page."""


def set_apart_quotations(tokens: Sequence[Token]) -> None:
    """Set long quotations of paragraphs as blocks, with who says them and their markers, each part
    of what was omitted between on a line of its own. Passages behind a name are blocks already.
    """
    for opening, inline in pairwise(tokens):
        is_paragraph = opening.type == "paragraph_open" and opening.level == 0
        if is_paragraph and inline.children and not _is_passage(inline.children):
            inline.children = list(_with_blocks(list(_split_at_marks(inline.children))))


def _is_passage(children: Sequence[Token]) -> bool:
    return any("lead-in" in str(child.attrGet("class") or "") for child in children)


def _split_at_marks(children: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a text, those of quotations apart from the others."""
    for child in children:
        if child.type == "text" and ("“" in child.content or "”" in child.content):
            yield from map(text_token, filter(None, MARKS.split(child.content)))
        else:
            yield child


def _with_blocks(children: list[Token]) -> Iterator[Token]:
    place = 0
    while place < len(children):
        end = _end_of_quotation(children, place)
        quoted = children[place:end]
        if len("".join(each.content for each in quoted).split()) < LONG_QUOTATION:
            yield children[place]
            place += 1
            continue
        yield html_token('<span class="quotation">')
        for each in quoted:
            yield from _in_lines(each)
        place = _end_of_markers(children, end)
        yield from children[end:place]
        yield html_token("</span>")


def _end_of_quotation(children: Sequence[Token], start: int) -> int:
    """Return the end of the quotation that starts there; `start` if none does, or not wholly."""
    depth = 0
    if children[start].type != "text" or not children[start].content.startswith("“"):
        return start
    for place in range(start, len(children)):
        depth += children[place].nesting
        if children[place].type == "text" and children[place].content.endswith("”"):
            return start if depth else place + 1
    return start


def _end_of_markers(children: Sequence[Token], place: int) -> int:
    """Return the end of the markers behind a quotation, or the place itself if there are none."""
    end = place
    for n, child in enumerate(children[place:], place + 1):
        is_marker = child.type == "html_inline" and 'class="cite' in child.content
        is_named = child.type == "html_inline" and 'class="told-by' in child.content
        if is_marker:
            end = n
        elif not (is_named or (child.type == "text" and ATTRIBUTION.fullmatch(child.content))):
            break
    return end


def _in_lines(token: Token) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    *parts, last = token.content.split(OMISSION)
    for part in parts:
        yield from (text_token(f"{part}{OMISSION}"), html_token("<br>"))
    yield text_token(last)
