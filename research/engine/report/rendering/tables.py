"""Markdown tables."""

from __future__ import annotations

from collections.abc import Sequence


def render_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table; the first one is its head."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(map(render_cell, line))} |" for line in lines)


def render_cell(text: str) -> str:
    """Return a text as a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())
