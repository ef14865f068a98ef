"""Citation markers as links, and what a statement says of its sources beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, repeat

from django.utils.html import escape
from django.utils.translation import gettext
from markdown_it.token import Token

from dashboard.markdown.dates import DATE, EARLIER, days_in_words
from dashboard.markdown.parsing import MARKER, groups_of, html_token, span_token, text_token
from research.engine.report.report_i18n import labels_for, translated_languages

NO_PLACE = 1_000_000
"""Occurrence of a marker that only the display produced, such as a decoded address."""
NARROW_SPACE = "\u202f"
"""Non-breaking: keeps a marker on the line of the word before it."""
ATTACHED = re.compile(r"[.,;:!?)”»’…]")
"""What follows a marker without a space."""
WITH_ITS_WORD = re.compile(r"(?<=\S) $")  # the space before the marker in "was found [3]"
TOLD_BY = re.compile(
    rf"\((?:[^()“”\"]{{2,80}}, (?:{DATE})|\d{{1,3}} [^()\d,]{{3,20}}, \d{{4}}(?:[–-]\d{{4}})?)\)"
    r"(?=[.!?]?\s*$)"
)
"""Who says a statement, at its end: "(Hot Rocks, October 2019)", "(3 sources, 2015–2026)"."""
DOUBTS = (
    "older_figure", "older_source", "may_be_outdated", "undated", "only_forum", "only_blog",
    "concluded",
)  # fmt: skip
"""Labels of what a report says against the sources of a statement, at its end."""
DOUBTED = re.compile(r"^\s*(?:\((⚠ [^()]+)\)|(⚠ [^():]{3,60}:))")
""""(⚠ Sources disagree) The next sentence", "⚠ Sources disagree: The other side"."""
CONCLUSION = "∴"
REJECTED = '<span class="rejected">'
OPENS_QUOTE, ENDS_QUOTE = re.compile(r"[“„«]"), re.compile(r"[”»][.,]?\s*$")
SENTENCE_END = re.compile(r"[.!?][\"”’)]*\s+(?=\S)")  # ".” " in "“It fell.” Then it rose."


@dataclass(frozen=True)
class Link:
    """The target of a marker; `note` is its tooltip, `sources` are the independent ones behind it.

    If all markers of a sentence are `rejected`, it is struck out; if only some are, it keeps the
    other sources, and only these markers say so.
    """

    address: str
    note: str = ""
    sources: frozenset[str] = frozenset()
    rejected: bool = False


FindLink = Callable[[int, int], Link | None]
"""Return the target of a marker by its number and occurrence, counted from 0; None if it is not a
citation.
"""


def link_markers(tokens: list[Token], link: FindLink) -> None:
    """Link markers in running text, but not in code or within the text of a link."""
    seen: set[int] = set()
    for token in tokens:
        children: list[Token] = []
        within_link = 0
        for child in token.children or ():
            within_link += child.nesting if child.type.startswith("link_") else 0
            if child.type == "text" and not within_link:
                pieces = _split(child, link, seen, follows=bool(children))
                if _ends_rejected_quote(pieces):
                    _strike_from_opening(children)
                children.extend(pieces)
            else:
                children.append(
                    text_token(child.content) if child.type == "text_special" else child
                )
        if token.children is not None:
            token.children = children


def _ends_rejected_quote(pieces: Sequence[Token]) -> bool:
    """Return whether a rejected quote ends in the first pieces and has begun before them."""
    struck = next((each.content for each in pieces[:2] if REJECTED in each.content), "")
    said = struck.removeprefix(REJECTED).removesuffix("</span>")
    return bool(ENDS_QUOTE.search(said)) and not OPENS_QUOTE.search(said)


def _strike_from_opening(children: list[Token]) -> None:
    """Mark the texts from the last opening quotation mark on."""
    for n in range(len(children) - 1, -1, -1):
        text = children[n]
        if text.type != "text":
            continue
        marks = list(OPENS_QUOTE.finditer(text.content))
        start = marks[-1].start() if marks else 0
        struck = span_token("rejected", text.content[start:])
        children[n : n + 1] = [text_token(text.content[:start]), struck]
        if marks:
            return


def _split(text: Token, link: FindLink, seen: set[int], *, follows: bool) -> list[Token]:
    """Return the tokens of a text node, which may continue an inline code node."""
    pieces: list[Token] = []
    position = 0
    places = chain(text.meta.get("places", ()), repeat(NO_PLACE))
    markers = zip(MARKER.finditer(text.content), places, strict=False)
    found = [(match, link(int(match[1]), place), place) for match, place in markers]
    known = [(match, target) for match, target, _ in found if target is not None]
    occurrences = [place for _, target, place in found if target is not None]
    groups = groups_of(text.content, [match for match, _ in known])
    support: dict[int, set[str]] = {}
    for group, (_, target) in zip(groups, known, strict=True):
        support.setdefault(group, set()).update(target.sources)
    for place, (match, target) in enumerate(known):
        before = WITH_ITS_WORD.sub(NARROW_SPACE, text.content[position : match.start()])
        if before == " " and follows and not position:
            before = NARROW_SPACE
        is_struck = _is_struck(known[place:])
        pieces += _flag_last_sentence(before) if is_struck else _soften(before)
        is_single = len(support[groups[place]]) == 1
        if text.meta.get("is_listed"):  # its quote is below
            target, is_single = replace(target, note=""), False
        is_later = 0 < occurrences[place] < NO_PLACE and not text.meta.get("is_listed")
        anchor = f"cite-{match[1]}-{occurrences[place]}" if is_later else ""
        is_further = place > 0 and position == match.start()
        position = match.end()
        kinds = ["single"] * is_single + ["attached"] * bool(ATTACHED.match(text.content, position))
        kinds += ["further"] * is_further
        pieces.append(_marker(int(match[1]), target, seen, anchor, kinds))
        if text.meta.get("is_disputed") and text.content[position : position + 1].isspace():
            pieces.append(html_token("<br>"))
    pieces += _soften(text.content[position:])
    return [piece for piece in pieces if piece.content]


def _soften(text: str) -> list[Token]:
    """Set what a text says of its sources apart: a doubt at its beginning, and who says it, with
    the day in words, at its end.
    """
    pieces = []
    if doubted := DOUBTED.match(text):
        doubt = days_in_words(doubted[1] or doubted[2])
        pieces = [text_token("\u00a0"), span_token("doubted", doubt)]
        text = text[doubted.end() :]
    text = EARLIER.sub(lambda found: days_in_words(found[0]), text)
    told = TOLD_BY.search(text) or _marks().search(text)
    if told is None:
        return [*pieces, text_token(text)]
    if told[0] in _conclusions():
        said = f"{text[: told.start()].rstrip()}{text[told.end() :]}"
        return [*pieces, text_token(said), _conclusion()]
    by = span_token("told-by", days_in_words(told[0]))
    return [*pieces, text_token(text[: told.start()]), by, text_token(text[told.end() :])]


@cache
def _conclusions() -> frozenset[str]:
    """Return what a report says beside a conclusion, in any language."""
    return frozenset(f"({labels_for(code)['concluded']})" for code in translated_languages())


def _conclusion() -> Token:
    told = escape(gettext("Conclusion from what is cited; no source says it"))
    return html_token(f'<abbr class="concluded" title="{told}">{CONCLUSION}</abbr>')


@cache
def _marks() -> re.Pattern[str]:
    """Return what finds "(2018; older figure)" at the end of a statement, in any language."""
    words = (labels_for(code)[key] for code in sorted(translated_languages()) for key in DOUBTS)
    known, beside = "|".join(map(re.escape, dict.fromkeys(words))), r"[^()“”\"]{1,60}"
    told = rf"\((?:{beside}; )?(?:{known})(?:[;,] {beside})?\)"
    return re.compile(rf"{told}(?=[.!?。]?\s*$)")


def _is_struck(markers: Sequence[tuple[re.Match[str], Link]]) -> bool:
    """Return whether all markers of the adjacent group that starts with the first are rejected."""
    end = markers[0][0].start()
    for match, target in markers:
        if match.start() != end:
            break
        if not target.rejected:
            return False
        end = match.end()
    return True


def _flag_last_sentence(text: str) -> list[Token]:
    """Mark the last sentence of a text, or a whole quote, as resting on rejected evidence."""
    lead = len(text) - len(text.lstrip())
    ends = ENDS_QUOTE.search(text)
    begun = OPENS_QUOTE.finditer(text) if ends else SENTENCE_END.finditer(text)
    start = max((match.start() if ends else match.end() for match in begun), default=lead)
    sentence = text[start:].rstrip()
    if not sentence:
        return [text_token(text)]
    after = text_token(text[start + len(sentence) :])
    return [text_token(text[:start]), span_token("rejected", sentence), after]


def _marker(number: int, target: Link, seen: set[int], anchor: str, kinds: Sequence[str]) -> Token:
    """Return the link of a marker. The first of its number has the anchor of the citation, and
    those of later occurrences have an `anchor` of their own.
    """
    place = f' id="{anchor}"' if anchor else ""
    identity = "" if number in seen else f' id="cite-{number}"'
    seen.add(number)
    kinds = ["cite", *kinds, *["rejected"] * target.rejected]
    told = (
        gettext("Citation %(number)s, rejected")
        if target.rejected
        else gettext("Citation %(number)s")
    )
    label = escape(told % {"number": number})
    note = f' title="{escape(target.note)}"' if target.note else ""
    return html_token(
        f'<sup class="{" ".join(kinds)}"{place}>'
        f'<a href="{escape(target.address)}"{identity} '
        f'aria-label="{label}"{note}>{number}</a></sup>'
    )
