"""A section's sentences as paragraphs and lists."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from research.engine.report.draft import Draft, Statement
from research.engine.report.rendering.tables import render_table
from research.engine.text.dates import find_dates
from research.engine.text.tokens import capitalize_heading

MOST_SENTENCES = 5
LEAST_DATED = 3
"""Fewest items with dates that are a table."""
MOST_OF_A_NAME = 4
"""Words of an event, with its citations, that is a name and no sentence."""
LONGEST_NAME = 6
"""Words of what an item is on, before its colon."""
_NAME = re.compile(r"(?:[^.;!?()\[\]“”]|(?<=\d)\.(?=\d))+")
_STOP = re.compile(r"\.(\s[^\w\s]|$)")
_LABEL = re.compile(r"(?:\*\*)?([^:：|]{3,90})[:：](?:\*\*)?\s+(?=\S)")


def render_paragraphs(
    statements: Sequence[Statement],
    shown: Sequence[str],
    most: int = MOST_SENTENCES,
    heads: tuple[str, str] | None = None,
) -> str:
    """Return the sentences as Markdown: parallel items as a list, others in paragraphs of at most
    `most` sentences, cut into parts of about the same length. An item that is left alone is a
    sentence, and what introduced the list without evidence is left out.

    `shown` has the sentences as they are rendered, place by place; without `statements` none of
    them is an item. With `heads`, items that each begin with a date and a colon are a table.
    """
    blocks: list[str] = []
    items = [each.is_item for each in statements] or [False] * len(shown)
    alone = [at for at, near in enumerate(_with_neighbours(items)) if near == (False, True, False)]
    loose = [at - 1 for at in alone if at and _only_introduces(statements[at - 1])]
    begun, told = 0, list[tuple[bool, int, str]]()
    for at, (is_item, text) in enumerate(zip(items, shown, strict=True)):
        is_listed = is_item and at not in alone
        begun += bool(statements) and statements[at].opens_paragraph and not is_listed
        if at not in loose:
            told.append((is_listed, 0 if is_listed else begun, text))
    for (is_item, _), group in groupby(told, key=lambda each: each[:2]):
        texts = [text for *_, text in group]
        if is_item:
            rows = [_dated(text) for text in texts] if heads else [None]
            if heads and len(rows) >= LEAST_DATED and all(rows):
                blocks.append(render_table([[*heads], *filter(None, rows)]))
            else:
                blocks.append("\n".join(f"- {with_bold_name(text)}" for text in texts))
        else:
            blocks += (" ".join(part) for part in _even_parts(texts, most))
    return "\n\n".join(blocks)


def with_bold_name(text: str, small: Container[str] = ()) -> str:
    """Return a text whose name, the few words before its first colon, is bold, and that goes on
    with a capital unless its first word is one of these in `small` letters.
    """
    label = _LABEL.match(text)
    if label is None or len(label[1].split()) > LONGEST_NAME or not _NAME.fullmatch(label[1]):
        return text
    said = text[label.end() :]
    said = said if said.partition(" ")[0] in small else capitalize_heading(said)
    return f"**{label[1].strip('* ')}:** {said}"


def _dated(text: str) -> list[str] | None:
    """Return the date that opens an item, and what happened then; None without one."""
    label = _LABEL.match(text)
    if label is None or not find_dates(label[1]):
        return None
    said = capitalize_heading(text[label.end() :])
    if len(said.split()) <= MOST_OF_A_NAME:
        said = _STOP.sub(r"\1", said)
    return [label[1].strip("* "), said]


def course_items(draft: Draft) -> list[Statement]:
    """Return the items of lists that tell a course of events: without one it would have a gap."""
    found: list[Statement] = []
    for section in draft.sections:
        for is_item, run in groupby(section.statements, key=lambda each: each.is_item):
            items = [*run] if is_item else []
            if len(items) >= LEAST_DATED and all(_dated(each.text) for each in items):
                found += items
    return found


def with_lone_items_as_sentences(statements: Sequence[Statement]) -> list[Statement]:
    """Return statements, those that are the only item of a list beginning like sentences."""
    items = [each.is_item for each in statements]
    return [
        replace(said, text=capitalize_heading(said.text))
        if near == (False, True, False) and not (at and statements[at - 1].text.endswith(":"))
        else said
        for at, (said, near) in enumerate(zip(statements, _with_neighbours(items), strict=True))
    ]


def without_told(
    statements: Sequence[Statement], told: Collection[Statement], may_lead_on: bool
) -> tuple[Statement, ...]:
    """Return the statements that aren't `told`. What introduced some that are ("They were these:")
    goes with them, or if it cites evidence ends as a sentence, unless it `may_lead_on`.
    """
    kept = list[Statement]()
    for place, said in enumerate(statements, 1):
        behind = statements[place:]
        items = [*takewhile(lambda each: each.is_item, behind)] or behind[:1]
        is_loose = not may_lead_on and said.text.endswith(":") and any(i in told for i in items)
        if said in told or (is_loose and not said.evidence):
            continue
        kept.append(replace(said, text=f"{said.text[:-1]}.") if is_loose else said)
    return tuple(kept)


def _with_neighbours(items: Sequence[bool]) -> Iterator[tuple[bool, bool, bool]]:
    yield from zip([False, *items[:-1]], items, [*items[1:], False], strict=True)


def _only_introduces(said: Statement) -> bool:
    return said.text.endswith(":") and not said.evidence


def _even_parts(texts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    count = -(-len(texts) // most)
    size, longer = divmod(len(texts), max(1, count))
    start = 0
    for place in range(count):
        end = start + size + (place < longer)
        yield texts[start:end]
        start = end
