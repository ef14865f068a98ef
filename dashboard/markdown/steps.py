"""The numbered steps of an answer ("What to do"): their label, their notes and their commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from django.utils.translation import gettext
from markdown_it.token import Token

from dashboard.markdown.parsing import html_token, span_token

LONG_COMMAND = 30
"""Characters from which code with a space stands on a line of its own."""
ENDS = (".", ",", ";", ":", "。")
"""Marks behind a command that would open the next line."""


def make_label(inline: Token) -> None:
    """Make the bold name that opens a text ("Short answer.") a label that shows no period."""
    every = inline.children or []
    children = [child for child in every if child.content or child.nesting]
    kinds = [child.type for child in children[:3]]
    if kinds == ["strong_open", "text", "strong_close"] and children[1].content.endswith(
        (".", "。")
    ):
        children[0].attrSet("class", "opening")
        period = span_token("hidden", children[1].content[-1])
        children[1].content = children[1].content[:-1]
        every.insert(every.index(children[2]), period)


def mark_steps(answer: Sequence[Token]) -> None:
    """Set a class on the numbered list of an answer, and on the text above it, whose bold name
    becomes a label; what that and the steps say in italics are notes.
    """
    for place, token in enumerate(answer):
        if token.type == "ordered_list_open" and token.level == 0:
            token.attrSet("class", "todo")
            if place > 2 and answer[place - 1].type == "paragraph_close":
                answer[place - 3].attrSet("class", "todo-head")
                make_label(answer[place - 2])
                _mark_notes(answer[place - 2], all_italics=True)
            for step in _texts_of(answer[place:]):
                _mark_notes(step)


def _texts_of(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the texts of the list that the tokens begin with."""
    for token in tokens:
        if token.type == "ordered_list_close" and token.level == 0:
            return
        if token.type == "inline":
            yield token


def _mark_notes(inline: Token, *, all_italics: bool = False) -> None:
    """Set a class on texts in italics that are in brackets, or on all."""
    for opening, text in pairwise(inline.children or ()):
        if opening.type == "em_open" and (all_italics or text.content.startswith(("(", "（"))):
            opening.attrSet("class", "note")


def set_commands(tokens: Sequence[Token], *, copies: bool = False) -> None:
    """Set long commands of numbered lists on lines of their own, with buttons that copy them."""
    depth = 0
    for token in tokens:
        if token.type in ("ordered_list_open", "ordered_list_close"):
            depth += token.nesting
        elif depth and token.type == "inline" and token.children:
            token.children = list(_with_commands(token.children, copies))


def _with_commands(children: Sequence[Token], copies: bool) -> Iterator[Token]:
    before = None
    for child in children:
        is_command = child.type == "code_inline" and _is_command(child.content)
        if is_command:
            yield html_token(f'<span class="command">{_button() if copies else ""}')
            yield child
            yield html_token("</span>")
        elif before is not None and child.type == "text" and child.content.startswith(ENDS):
            yield span_token("hidden", child.content[:1])
            child.content = child.content[1:]
            yield child
        else:
            yield child
        before = child if is_command else None


def _is_command(code: str) -> bool:
    return " " in code.strip() and len(code) > LONG_COMMAND


def _button() -> str:
    done, name = gettext("Copied"), gettext("Copy")
    return (
        f'<button type="button" class="quiet" data-copy="" data-done="{done}">'
        f"<span>{name}</span></button>"
    )
