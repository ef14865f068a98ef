"""Renders a report's Markdown as sanitized HTML with linked citation markers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from django.utils.safestring import SafeString
from django.utils.translation import gettext
from markdown_it.token import Token

from dashboard.markdown.answer import render_answer, render_trust
from dashboard.markdown.dates import put_days_in_words
from dashboard.markdown.disputes import mark_disputes
from dashboard.markdown.folding import (
    render_body,
    render_folded,
    render_tokens,
    set_apart_quotations,
    set_commands,
)
from dashboard.markdown.markers import FindLink, link_markers
from dashboard.markdown.parsing import (
    MARKER,
    in_italics,
    keep_short_code,
    parse_with_places,
    plain_text,
    span_token,
    text_token,
    top_blocks,
)
from dashboard.markdown.repetitions import (
    bare_title,
    repeats_title,
    says_unjudged,
    without_reference_back,
    without_repeated_standings,
    without_repetitions,
)
from dashboard.markdown.sources import link_titles, set_documents, shorten_addresses
from dashboard.markdown.tables import keep_identifiers, transpose_wide_tables
from dashboard.titles import without_lead
from research.engine.report.parts.comparison import MISSING
from research.engine.report.report_i18n import Labels, labels_for
from research.engine.text.language import ENGLISH
from research.engine.text.tokens import capitalize_heading

QUOTATION = re.compile(r"[“„«][^“„«»”]*[”“»][.。]?[\s\d\[\]]*")
"""A quotation that is all a text says, with its markers."""
STEPS = "what-to-do"
"""Anchor of the label above the next steps."""
PARAGRAPH = 3
"""Tokens of a paragraph: its opening, its text and its end."""
OPEN = "open"
"""Anchor of the first place that tells what a report leaves open."""
QUESTION_ENDS = 7
"""Last place at which bold text ends that opens a text, maybe behind the name of the answer."""


@dataclass(frozen=True)
class Heading:
    anchor: str
    text: str


@dataclass(frozen=True)
class Rendered:
    html: SafeString
    headings: tuple[Heading, ...]


@dataclass(frozen=True)
class RenderedParts:
    """The answer at the top of a report, and its sections; `disputes` are the sentences that
    sources contradict, with the anchors of their places.
    """

    answer: SafeString
    body: SafeString
    headings: tuple[Heading, ...]
    disputes: tuple[Heading, ...] = ()


def render_markdown(markdown: str, link: FindLink, language: str = ENGLISH) -> Rendered:
    """Render a report, which is in this language."""
    tokens = parse_with_places(markdown)
    headings = tuple(_anchor_headings(tokens, language))
    _prepare_tokens(tokens, link, language)
    return Rendered(render_tokens(tokens, language), headings)


def render_in_parts(
    markdown: str,
    link: FindLink,
    titles: Collection[str] = (),
    language: str = ENGLISH,
    *,
    folds: bool = False,
    lead: str = "",
    site_names: Mapping[str, str] | None = None,
) -> RenderedParts:
    """Render a report for a page that shows the question and the facts of the run itself.

    The title, headings that repeat one of `titles`, the line of facts and sections that only repeat
    the answer are left out, and addresses are shortened. Lists of pages that nothing cites are
    folded, and texts that only quote a page say so. With `folds` each section shows one passage,
    and opens the others, no section says what the one before it said of its support, and none says
    beside an answer that no model judged it. Texts lose the `lead` with which most sub-questions
    begin. `site_names` are those of its pages, by address.
    """
    known = {bare_title(title) for title in titles}
    blocks = list(top_blocks(transpose_wide_tables(parse_with_places(markdown))))
    if folds:
        blocks = list(without_repeated_standings(blocks))
    end = next((n for n, block in enumerate(blocks) if _begins_body(block[0])), len(blocks))
    answer = [token for block in blocks[:end] if _is_answer(block) for token in block]
    kept = [block for block in blocks[end:] if not repeats_title(block, known)]
    if folds:
        kept = without_reference_back(kept, language)
    if folds and answer:
        kept = [block for block in kept if not says_unjudged(block, language)]
    kept = list(without_repetitions(kept, answer))
    body = [token for block in kept for token in block]
    _drop_lead([*answer, *body], lead)
    headings = tuple(_anchor_headings(body, language))
    link_titles(body, link, site_names or {})
    set_documents(body, link)
    shorten_addresses(body)
    for first in [token for token in answer if token.type == "inline"][:1]:
        _make_label(first)
    headings = (*_mark_steps(answer), *headings)
    _mark_steps(body)
    disputes = _prepare_tokens(
        [*answer, *body], link, language, tells_quoting=not folds, copies=True
    )
    _link_labels(answer, headings)
    render = render_folded if folds else render_tokens
    html = render_body(list(top_blocks(body)), render, language)
    listed = tuple(Heading(anchor, text) for anchor, text in disputes)
    told = render_answer(answer, language) + render_trust(blocks[:end], language)
    return RenderedParts(told, html, headings, listed)


def _drop_lead(tokens: Sequence[Token], lead: str) -> None:
    for token in tokens:
        for child in token.children or ():
            if child.type == "text":
                child.content = without_lead(child.content, lead)


def _make_label(inline: Token) -> None:
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


def _link_labels(answer: Sequence[Token], headings: Sequence[Heading]) -> None:
    """Let the names that open the items of an answer lead to the sections of these headings."""
    anchors = {heading.text: heading.anchor for heading in headings}
    for token in answer:
        every = token.children or []
        children = [child for child in every if child.content or child.nesting][:3]
        if [child.type for child in children] != ["strong_open", "text", "strong_close"]:
            continue
        anchor = anchors.get(children[1].content.rstrip(":："))
        if anchor and token.level > 1:
            opens = Token("link_open", "a", 1, attrs={"href": f"#{anchor}"})
            place = every.index(children[1])
            every[place : place + 1] = [opens, children[1], Token("link_close", "a", -1)]


def _mark_steps(answer: Sequence[Token]) -> list[Heading]:
    """Set a class on the numbered lists of an answer or of sections, on the bold names above them,
    and on the text above the first, whose name becomes a label; what that and the steps say in
    italics are notes. Return the name as a heading.
    """
    found, is_first = list[Heading](), True
    for place, token in enumerate(answer):
        if token.type != "ordered_list_open" or token.level:
            continue
        token.attrSet("class", "todo")
        at = place - PARAGRAPH
        if _is_name(answer, at):
            answer[at].attrSet("class", "todo-part")
            at -= PARAGRAPH
        if is_first and at >= 0 and answer[at].type == "paragraph_open":
            found += _mark_head(answer[at], answer[at + 1])
        is_first = False
        for step in _texts_of(answer[place:]):
            _mark_notes(step)
    return found


def _mark_head(opening: Token, text: Token) -> Iterator[Heading]:
    """Set a class and an anchor on the text above the first steps; yield its bold name, if any."""
    opening.attrSet("class", "todo-head")
    opening.attrSet("id", STEPS)
    _make_label(text)
    _mark_notes(text, all_italics=True)
    children = text.children or []
    if any(child.type == "strong_open" for child in children):
        yield Heading(STEPS, next(child.content for child in children if child.content))


def _is_name(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a paragraph is nothing but a bold name."""
    if at < 0 or tokens[at].type != "paragraph_open":
        return False
    kinds = [each.type for each in tokens[at + 1].children or () if each.content or each.nesting]
    return kinds == ["strong_open", "text", "strong_close"]


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


def _prepare_tokens(
    tokens: list[Token],
    link: FindLink,
    language: str,
    *,
    tells_quoting: bool = False,
    copies: bool = False,
) -> list[tuple[str, str]]:
    """Set classes, anchors and links on the tokens; return the disputed sentences they have."""
    put_days_in_words(tokens)
    _mark_lead_ins(tokens)
    if tells_quoting:
        for token in tokens:
            _mark_quoting(token)
    disputes = mark_disputes(tokens)
    _mark_standings(tokens)
    _label_cells(tokens, labels_for(language))
    keep_identifiers(tokens)
    keep_short_code(tokens)
    link_markers(tokens, link)
    set_commands(tokens, copies=copies)
    set_apart_quotations(tokens)
    return disputes


def _label_cells(tokens: Sequence[Token], labels: Labels) -> None:
    """Give each cell behind the first of its row the name of its column, which narrow screens show
    beside its value, unless it is the only one, and a class where it is a dash; the tables of
    changes, of events and of a comparison have a class as well.
    """
    names, column, within_head, table = list[str](), 0, False, None
    changes = ["", *(labels[name] for name in ("before", "now"))]
    events = [labels[name] for name in ("date", "event")]
    for token, content in pairwise(tokens):
        if token.type == "table_open":
            table = token
        elif token.type == "tbody_open" and table and names[:3] == changes:
            table.attrSet("class", "changes")
        elif token.type == "tbody_open" and table and names == events:
            table.attrSet("class", "events")
        elif token.type == "tbody_open" and table and names[:1] == [""]:
            table.attrSet("class", "compared")
        elif token.type in ("thead_open", "thead_close"):
            within_head = token.type == "thead_open"
            names = [] if within_head else names
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open" and within_head:
            names.append(MARKER.sub("", plain_text(content)).strip())
        elif token.type == "td_open":
            is_named = column and len(names) > 2 and column < len(names) and names[column]
            if is_named and content.content.strip():
                name = names[column]
                token.attrSet("data-label", capitalize_heading(name))
            if content.content.strip() == MISSING:
                token.attrSet("class", "no-value")
            column += 1


def _begins_body(token: Token) -> bool:
    return token.type == "table_open" or (token.tag == "h2" and token.type == "heading_open")


def _is_answer(block: Sequence[Token]) -> bool:
    """Return whether a block is neither the title nor the line of facts, a paragraph in italics."""
    if block[0].type != "paragraph_open":
        return block[0].tag != "h1"
    return not in_italics(block[1])


def _anchor_headings(tokens: list[Token], language: str) -> list[Heading]:
    found: list[Heading] = []
    still_open, has_open = labels_for(language)["still_open"], False
    for opening, inline in pairwise(tokens):
        if opening.type == "paragraph_open" and _is_left_open(inline, still_open):
            opening.attrSet("class", "left-open")
            if not has_open:
                opening.attrSet("id", OPEN)
            has_open = True
        if opening.type == "heading_open" and opening.tag == "h2":
            text = plain_text(inline)
            is_list = text == still_open and not has_open
            has_open = has_open or is_list
            anchor = OPEN if is_list else f"section-{len(found) + 1}"
            heading = Heading(anchor, text)
            opening.attrSet("id", heading.anchor)
            found.append(heading)
    return found


def _is_left_open(inline: Token, still_open: str) -> bool:
    """Return whether a paragraph is the line of a section that says what is open on it."""
    return bool(in_italics(inline)) and plain_text(inline).startswith(f"{still_open}: ")


def open_points(markdown: str, language: str = ENGLISH) -> list[str]:
    """Return the points under "Still open" of a report in this language."""
    heading, is_open, found = labels_for(language)["still_open"], False, []
    for opening, inline in pairwise(parse_with_places(markdown)):
        if opening.type == "heading_open":
            is_open = plain_text(inline) == heading
        elif is_open and opening.type == "paragraph_open":
            found.append(plain_text(inline))
    return found


def _mark_lead_ins(tokens: list[Token]) -> None:
    """Set a class on bold text ending in a colon, which names the source of a quote, and on a
    question that opens a text, whose answer follows: both are set lighter.
    """
    for token in tokens:
        opening = None
        for place, (text, child) in enumerate(pairwise(token.children or ())):
            opening = text if text.type == "strong_open" else opening
            is_question = place <= QUESTION_ENDS and text.content.endswith(("?", "？"))
            is_name = text.content.endswith(":") or is_question
            if opening and child.type == "strong_close" and is_name:
                opening.attrSet("class", "lead-in")


def _mark_quoting(token: Token) -> None:
    """Say of a paragraph that only quotes a page, behind the name of its site, that it does."""
    parts = [child for child in token.children or () if child.content or child.nesting]
    kinds = [child.type for child in parts]
    is_led = kinds[:3] == ["strong_open", "text", "strong_close"] and bool(parts[0].attrs)
    if not is_led or not {*kinds[3:]} <= {"text", "code_inline"}:
        return
    if QUOTATION.fullmatch("".join(each.content for each in parts[3:]).lstrip()):
        parts[0].attrSet("class", "lead-in quoting")
        told = span_token("told-by", gettext("quoted word for word"))
        parts[1].content = parts[1].content.rstrip(":： ")
        place = (token.children or []).index(parts[2])
        (token.children or []).insert(place, told)
        (token.children or []).insert(place, text_token(" · "))


def _mark_standings(tokens: list[Token]) -> None:
    """Mark lines in italics with a CSS class: they state the support of a section."""
    for token in tokens:
        if inner := in_italics(token):
            inner[0].attrSet("class", "standing")
