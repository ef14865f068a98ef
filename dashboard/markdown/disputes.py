"""Disputed places of a report: their anchors, and the sentence that each is about."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from markdown_it.token import Token

from dashboard.markdown.parsing import MARKER, plain_text
from dashboard.markdown.repetitions import is_disputed

DISPUTE = "dispute"
"""Anchor of the first box or marked paragraph of a section; the others have their number behind."""
DISPUTES = "disputes"
"""Anchor of the list of all of them, which stands beside the report."""
DOUBT = "(⚠ "
"""How the mark after a disputed statement begins."""
# "(⚠ Sources disagree)"
_MARK = re.compile(r"\(⚠ [^()]*\)")
# "⚠ Sources disagree on the age:"
_LABEL = re.compile(r"^⚠ [^:：]{3,120}[:：]\s*")
# "It fell. Then it rose." before the second sentence
_SENTENCE = re.compile(r"[.!?。]\s{1,3}(?=\S)")


def mark_disputes(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Set a class on boxes with a dispute, each side on a line, and an anchor on each box and on
    each paragraph of a section that has the mark. Return an anchor and the disputed sentence for
    every box and mark, in order.
    """
    found: list[tuple[str, str]] = []
    anchored, is_in_section = 0, False
    for opening, (said, inline) in zip(tokens, pairwise(tokens[1:]), strict=False):
        is_in_section = is_in_section or opening.type == "heading_open"
        is_box = opening.type == "blockquote_open" and is_disputed([inline])
        is_marked = opening.type == "paragraph_open" and DOUBT in said.content and is_in_section
        if is_box or is_marked:
            anchored += 1
            anchor = DISPUTE if anchored == 1 else f"{DISPUTE}-{anchored}"
            opening.attrSet("id", anchor)
            told = [_first_side(inline)] if is_box else _before_marks(said)
            found += ((anchor, sentence) for sentence in told)
        if is_box:
            opening.attrSet("class", "dispute")
            for child in inline.children or ():
                child.meta["is_disputed"] = True
    return found


def _first_side(inline: Token) -> str:
    return _SENTENCE.split(_plain(_LABEL.sub("", plain_text(inline))))[0]


def _before_marks(inline: Token) -> Iterator[str]:
    """Yield the sentence before each mark of a paragraph."""
    for before in _MARK.split(plain_text(inline))[:-1]:
        yield _SENTENCE.split(_plain(before))[-1]


def _plain(text: str) -> str:
    return " ".join(MARKER.sub("", text).split()).rstrip(" .")
