"""Parts of a report that only repeat what its page has already said, which are left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from markdown_it.token import Token

from dashboard.markdown.parsing import MARKER, STATEMENT, in_italics, plain_text, sections_of
from research.engine.report.report_i18n import labels_for

OPENING_NAMES = re.compile(r"^(?:\*\*[^*]*[.:?？]\*\*\s*)+")  # "**Short answer.** **Eggs:** "


def without_repeated_standings(blocks: Sequence[list[Token]]) -> Iterator[list[Token]]:
    """Yield blocks without lines in italics that repeat the one before, of another section."""
    said = ""
    for block in blocks:
        if block[0].type == "paragraph_open" and in_italics(block[1]):
            if block[1].content == said:
                continue
            said = block[1].content
        yield block


def says_unjudged(block: Sequence[Token], language: str) -> bool:
    said = block[1].content.strip("*") if block[0].type == "paragraph_open" else ""
    return said == labels_for(language)["unjudged"]


def without_reference_back(blocks: list[list[Token]], language: str) -> list[list[Token]]:
    """Return the blocks of a body without a beginning that only refers back to the answer."""
    again = labels_for(language)["quoted_above"]
    first = next((n for n, block in enumerate(blocks) if block[0].tag == "h2"), len(blocks))
    told = [block[1] for block in blocks[:first] if block[0].type == "paragraph_open"]
    said = [MARKER.sub("", text.content).strip() for text in told if not in_italics(text)]
    only = bool(said) and all(text.endswith(f":** {again}") for text in said)
    return blocks[first:] if only else blocks


def without_repetitions(
    blocks: Sequence[list[Token]], answer: Sequence[Token]
) -> Iterator[list[Token]]:
    """Yield the blocks of a body without sections that say nothing but what the answer says, from
    the same sources.
    """
    told: dict[str, set[str]] = {}
    for statement, markers in _statements(answer):
        told.setdefault(statement, set()).update(markers)
    for section in sections_of(blocks):
        texts = [token for block in section[section[0][0].tag == "h2" :] for token in block]
        said = list(_statements(texts))
        is_table = any(token.type == "table_open" for token in texts)
        known = all(statement in told and markers <= told[statement] for statement, markers in said)
        if is_table or not said or not known or is_disputed(texts):
            yield from section


def _statements(tokens: Sequence[Token]) -> Iterator[tuple[str, set[str]]]:
    """Yield the words of each statement with the numbers of its citations.

    Bold text that opens a text names its subject, text in italics its support.
    """
    for token in tokens:
        if token.type != "inline" or in_italics(token):
            continue
        for text, markers in STATEMENT.findall(OPENING_NAMES.sub("", token.content)):
            if words := " ".join(re.findall(r"\w+", text.casefold())):
                yield words, set(MARKER.findall(markers))


def is_disputed(tokens: Sequence[Token]) -> bool:
    return any(re.match(r"\*+\s*⚠", token.content) for token in tokens if token.type == "inline")


def repeats_title(block: Sequence[Token], known: Collection[str]) -> bool:
    return block[0].tag == "h2" and bare_title(plain_text(block[1])) in known


def bare_title(text: str) -> str:
    return " ".join(text.casefold().rstrip("?. ").split())
