"""A report's Markdown as safe HTML with links for its citation markers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "ul", "ol", "li", "strong", "em", "code", "pre", "br", "hr",
    "blockquote", "a", "sup", "span", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "class", "id", "aria-label", "title"},
    "h2": {"id"},
    "ol": {"start"},
    "span": {"class"},
    "strong": {"class"},
    "sup": {"class"},
}
MARKER = re.compile(r"\[(\d{1,4})\]")
NARROW_SPACE = "\u202f"
"""No line breaks at it: a marker stands beside what it is for."""
WITH_ITS_WORD = re.compile(r"(?<=\S) $")
SENTENCE_END = re.compile(r"[.!?][\"”’)]*\s+(?=\S)")


def new_parser() -> MarkdownIt:
    """A parser of reports that threads may share: its rules are compiled before it is handed out.

    A quoted page may hold "[1]: address", which would give the marker another target. An escaped
    "\\[1]" is a quote's own bracket; joined into the text it would look like a marker.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.disable(["reference", "text_join"])
    parser.parse("The first parse compiles the rules of *blocks*.\n\n- And of `lists`.")
    return parser


PARSER = new_parser()


@dataclass(frozen=True)
class Link:
    """Where a marker leads, and what a glance at it tells: `note` in words, `single` by a mark.

    The sentence before a `rejected` one is marked.
    """

    address: str
    note: str = ""
    single: bool = False
    rejected: bool = False


@dataclass(frozen=True)
class Heading:
    anchor: str
    text: str


@dataclass(frozen=True)
class Rendered:
    html: SafeString
    headings: tuple[Heading, ...]


def render(markdown: str, link: Callable[[int], Link | None]) -> Rendered:
    """`link` gives where a marker leads, None where the report has no such citation."""
    tokens = PARSER.parse(markdown)
    headings = tuple(_anchor_headings(tokens))
    _mark_lead_ins(tokens)
    _link_markers(tokens, link)
    raw = PARSER.renderer.render(tokens, PARSER.options, {})
    safe = nh3.clean(
        raw, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer"
    )
    return Rendered(mark_safe(safe), headings)


def _anchor_headings(tokens: list[Token]) -> list[Heading]:
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            heading = Heading(f"section-{len(found) + 1}", _plain(inline))
            opening.attrSet("id", heading.anchor)
            found.append(heading)
    return found


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or ())


def _mark_lead_ins(tokens: list[Token]) -> None:
    """Bold text that ends in a colon names where a quote is from: the quote matters more."""
    for token in tokens:
        opening = None
        for text, child in pairwise(token.children or ()):
            opening = text if text.type == "strong_open" else opening
            if opening and child.type == "strong_close" and text.content.endswith(":"):
                opening.attrSet("class", "lead-in")


def _link_markers(tokens: list[Token], link: Callable[[int], Link | None]) -> None:
    """Only in running text: a marker in code or within a link's own text stays as it is."""
    seen: set[int] = set()
    for token in tokens:
        children: list[Token] = []
        within_link = 0
        for child in token.children or ():
            within_link += child.nesting if child.type.startswith("link_") else 0
            if child.type == "text" and not within_link:
                children.extend(_split(child, link, seen))
            else:
                children.append(_text(child.content) if child.type == "text_special" else child)
        if token.children is not None:
            token.children = children


def _split(text: Token, link: Callable[[int], Link | None], seen: set[int]) -> list[Token]:
    pieces: list[Token] = []
    position = 0
    found = [(match, link(int(match[1]))) for match in MARKER.finditer(text.content)]
    known = [(match, target) for match, target in found if target is not None]
    for place, (match, target) in enumerate(known):
        before = WITH_ITS_WORD.sub(NARROW_SPACE, text.content[position : match.start()])
        pieces += _said(before) if _is_refused(known[place:]) else [_text(before)]
        pieces.append(_marker(int(match[1]), target, seen))
        position = match.end()
    pieces.append(_text(text.content[position:]))
    return [piece for piece in pieces if piece.content]


def _is_refused(markers: Sequence[tuple[re.Match[str], Link]]) -> bool:
    """Whether one of the markers that stand together, from the first of these on, is rejected."""
    end = markers[0][0].start()
    for match, target in markers:
        if match.start() != end:
            return False
        if target.rejected:
            return True
        end = match.end()
    return False


def _said(text: str) -> list[Token]:
    """The text with its last sentence marked as resting on what was rejected."""
    lead = len(text) - len(text.lstrip())
    start = max((match.end() for match in SENTENCE_END.finditer(text)), default=lead)
    sentence = text[start:].rstrip()
    if not sentence:
        return [_text(text)]
    marked = f'<span class="rejected">{escape(sentence)}</span>'
    after = _text(text[start + len(sentence) :])
    return [_text(text[:start]), Token("html_inline", "", 0, content=marked), after]


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _marker(number: int, target: Link, seen: set[int]) -> Token:
    """The first of its number carries the id that the citation's page leads back to."""
    identity = "" if number in seen else f' id="cite-{number}"'
    seen.add(number)
    kinds = ["cite", *["single"] * target.single, *["rejected"] * target.rejected]
    note = f' title="{escape(target.note)}"' if target.note else ""
    return Token(
        "html_inline",
        "",
        0,
        content=f'<sup class="{" ".join(kinds)}">'
        f'<a href="{escape(target.address)}"{identity} '
        f'aria-label="Citation {number}"{note}>{number}</a></sup>',
    )
