"""Sentences that may be quoted: no navigation, contents, notices of licence or date, no orders."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from itertools import groupby

from research.engine.evidence.prompt_injection import find_orders, is_order
from research.engine.offline.passages.ranked_sentence import RankedSentence
from research.engine.text.tokens import words_in

_NOTICE = re.compile(
    r"^(?:by )?\w[^,]{2,40}, \d{1,2} \w+ \d{4}\W*$"
    r"|^(?:last (?:modified|updated|changed)\b|copyright\b|©|\(c\) (?:19|20)\d\d"
    r"|(?:page )?(?:generated|created|updated) (?:on|by|at)\b"
    r"|(?:previous|prev|next|up|top|home|index|contents|table of contents|back to top"
    r"|return to \w+|note|tip|warning|caution|important)\W*$)"
    r"|^(?:page|text|written|edited|posted|published|reviewed|updated) (?:by|on) (?-i:[A-Z\d])"
    r"[^.,;]{1,50}(?:, [^.,;]*\d{4})?\W*$"
    r"|\ball rights reserved\b|\bpermission is (?:hereby )?granted\b"
    r"|\b(?:licensed|released|distributed) under the\b.{0,60}\blicen[cs]e\b"
    r"|\bwithout (?:any )?(?:express or implied )?warranty\b"
    r"|\b(?:accept (?:all )?cookies|subscribe to|sign up for|privacy policy)\b",
    re.IGNORECASE,
)
"""`By A. Keeper, 11 May 2025`, `Edited by A. Keeper on 3 May 2025`, `Copyright © 2020 …`, `Next`"""
_CONTENTS = re.compile(
    r"^(?:(?:Figure |Fig\. |Table )?\d+(?:\.\d+)*\.?|[A-Z]\.\d*)\s+\S.{0,80}$"
    r"|(?<!\.)(?<!\.\s)(?:\.\s?){4,}\s*\d+$"
)
"""`25.1. Routine Vacuuming`, `Introduction . . . . . 12`, `Figure 3.2. The dialog`"""


FEWEST_ENTRIES = 12
"""Entries from which a page may be judged to be an index."""
LONGEST_BYLINE = 6
"""Words of a line that names an author or a site."""
_TARGET_ENDS = re.compile(r"[,;\[(]")


def quotable_lines(found: Sequence[RankedSentence], rows: Container[int]) -> list[RankedSentence]:
    """Return the sentences of a page that may be quoted; of rows those in `rows`."""
    told = find_orders(tuple(line.sentence for line in found))
    if is_index(found):
        found = [line for line in found if not (line.sentence.label or line.sentence.kind == "row")]
    kept: list[RankedSentence] = []
    for _, group in groupby(found, key=lambda line: line.sentence.block):
        block = list(group)
        if not _is_of_contents(block):
            kept += block
    return [
        line
        for line in kept
        if line.sentence.number not in told
        and (line.sentence.kind != "row" or line.sentence.number in rows)
        and is_quotable(line)
    ]


def is_index(found: Sequence[RankedSentence]) -> bool:
    """Return whether a page lists entries with the sections that they are in.

    Such entries are no sentences, and many of them share a section: `command_group`, "The
    queryprogram router". The definitions of a glossary differ.
    """
    entries = [line.sentence.text for line in found if line.sentence.label]
    entries += [
        cells[1]
        for line in found
        if line.sentence.kind == "row" and len(cells := line.sentence.text.split("\t")) == 2
    ]
    if len(entries) < FEWEST_ENTRIES or any(entry[-1:] in ".?!:" for entry in entries):
        return False
    sections = {_TARGET_ENDS.split(entry, maxsplit=1)[0].strip() for entry in entries}
    words = sum(len(section.split()) for section in sections)
    return len(sections) <= len(entries) / 2 and words >= 2 * len(sections)


def _is_of_contents(block: Sequence[RankedSentence]) -> bool:
    """Return whether a block is a line of a table of contents."""
    text = " ".join(line.sentence.text for line in block)
    is_text = block[0].sentence.kind in {"prose", "item"}
    return is_text and bool(_CONTENTS.search(text)) and text[-1] not in ".:;!?)"


def is_quotable(line: RankedSentence) -> bool:
    """Return whether a sentence is about its page's subject."""
    text = line.sentence.text
    if line.sentence.kind == "code":
        return not is_order(text)
    is_byline = line.sentence.kind == "prose" and _is_byline(text)
    return bool(words_in(text)) and not (is_byline or _NOTICE.search(text) or is_order(text))


def _is_byline(text: str) -> bool:
    """Return whether a line consists mostly of names: "Written by Florian Riedl"."""
    words = text.split()
    if not 2 <= len(words) <= LONGEST_BYLINE or text[-1] in ".:;!?":
        return False
    return sum(word[0].isupper() for word in words[1:]) * 2 >= len(words)
