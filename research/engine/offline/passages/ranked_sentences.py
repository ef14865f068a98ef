"""The sentences of a page as the ranking sees them, those that may be quoted, and rows of tables.

Navigation, contents, notices of licence or date and orders may not be quoted. A row is informative
together with its table's header.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from research.engine.text.entities import NUMBER
from research.engine.text.sentences import Sentence, split_sentences
from research.engine.text.tokens import split_terms, term_set, words_in
from research.engine.untrusted.prompt_injection import ruled_orders

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
_CODE_WORD = re.compile(r"\w[_:/=.(]+\w")
"""`Option: Aptitude::CmdLine::Progress` isn't made of names of people."""
_OPENS_FIELD = re.compile(r"default\b|since\b", re.IGNORECASE)
"""`Default TRUE`, `Since GHC 9.2` belong to an entry."""
_TARGET_ENDS = re.compile(r"[,;\[(]")


@dataclass(frozen=True)
class RankedSentence:
    """A sentence with its terms in order and as a set, its heading's terms, and the defined term
    that it explains.
    """

    sentence: Sentence
    terms: tuple[str, ...]
    words: frozenset[str]
    heading: frozenset[str]
    label: str


@lru_cache(maxsize=64)
def ranked_sentences(text: str) -> tuple[RankedSentence, ...]:
    """Return the sentences of a page's text, with their terms."""
    return tuple(
        RankedSentence(
            sentence,
            found := tuple(split_terms(sentence.text)),
            frozenset(found),
            term_set(sentence.section),
            text[slice(*sentence.label)] if sentence.label else "",
        )
        for sentence in split_sentences(text)
    )


def quotable_lines(found: Sequence[RankedSentence], rows: Container[int]) -> list[RankedSentence]:
    """Return the sentences of a page that may be quoted; of rows those in `rows`."""
    told = ruled_orders(tuple(line.sentence for line in found))
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
        return True
    is_field = _CODE_WORD.search(text) or _OPENS_FIELD.match(text)
    is_byline = line.sentence.kind == "prose" and _is_byline(text) and not is_field
    return bool(words_in(text)) and not (is_byline or _NOTICE.search(text))


def _is_byline(text: str) -> bool:
    """Return whether a line consists mostly of names: "Written by Florian Riedl"."""
    words = text.split()
    if not 2 <= len(words) <= LONGEST_BYLINE or text[-1] in ".:;!?":
        return False
    return sum(word[0].isupper() for word in words[1:]) * 2 >= len(words)


def told_rows(text: str, found: Sequence[RankedSentence]) -> dict[int, RankedSentence | None]:
    """Return all rows except headers, by number, each with its table's header if known.

    A first row without a number is a header if it names three columns or each row below it has a
    number; otherwise it may be a row like the others.
    """
    told: dict[int, RankedSentence | None] = {}
    for first, *others in _find_tables(text, found):
        opens = bool(others) and not _has_number(first)
        heads = opens and (_count_cells(text, first) > 2 or all(map(_has_number, others)))
        told |= {row.sentence.number: first if heads else None for row in others}
        if not heads:
            told[first.sentence.number] = None
    return told


def _find_tables(text: str, found: Sequence[RankedSentence]) -> Iterator[list[RankedSentence]]:
    """Rows on following lines."""
    table: list[RankedSentence] = []
    for line in found:
        if line.sentence.kind != "row":
            continue
        if table and text[table[-1].sentence.end : line.sentence.start].count("\n") != 1:
            yield table
            table = []
        table.append(line)
    if table:
        yield table


def _count_cells(text: str, row: RankedSentence) -> int:
    return text.count("\t", row.sentence.start, row.sentence.end) + 1


def _has_number(row: RankedSentence) -> bool:
    return NUMBER.search(row.sentence.text) is not None
