"""A section's sentences as paragraphs and lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from research.engine.report.draft import Statement

MOST_SENTENCES = 5
SHORTEST_LIST = 2


def render_paragraphs(
    statements: Sequence[Statement], shown: Sequence[str], most: int = MOST_SENTENCES
) -> str:
    """Return the sentences as Markdown: parallel items as a list, others in paragraphs of at most
    `most` sentences, cut into parts of about the same length.

    `shown` has the sentences as they are rendered, place by place; without `statements` none of
    them is an item.
    """
    blocks: list[str] = []
    items = [each.is_item for each in statements] or [False] * len(shown)
    for is_item, group in groupby(zip(items, shown, strict=True), key=lambda pair: pair[0]):
        texts = [text for _, text in group]
        if is_item and len(texts) >= SHORTEST_LIST:
            blocks.append("\n".join(f"- {text}" for text in texts))
        else:
            blocks += (" ".join(part) for part in _even_parts(texts, most))
    return "\n\n".join(blocks)


def _even_parts(texts: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    count = -(-len(texts) // most)
    size, longer = divmod(len(texts), max(1, count))
    start = 0
    for place in range(count):
        end = start + size + (place < longer)
        yield texts[start:end]
        start = end
