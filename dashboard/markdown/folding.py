"""Sanitized HTML of a report's blocks, long lists and further passages folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import ngettext
from markdown_it.token import Token

from dashboard.charts import Chart, draw_charts
from dashboard.markdown.parsing import MARKER, PARSER, plain_text, table_texts, top_blocks
from dashboard.words import format_number
from research.engine.report.report_i18n import labels_for

TAGS = {
    "p", "h1", "h2", "h3", "h4", "h5", "ul", "ol", "li", "strong", "em", "code", "pre", "br", "hr",
    "blockquote", "a", "sup", "span", "table", "thead", "tbody", "tr", "th", "td",
    "details", "summary", "button",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "class", "id", "aria-label", "title"},
    "blockquote": {"class", "id"},
    "button": {"type", "class", "data-copy", "data-done"},
    "details": {"class"},
    "em": {"class"},
    "h2": {"id"},
    "li": {"class"},
    "ol": {"start", "class"},
    "p": {"class"},
    "span": {"class", "aria-hidden"},
    "strong": {"class"},
    "sup": {"class", "id"},
    "table": {"class"},
    "td": {"class", "data-label"},
    "th": {"class"},
}
ANSWERS_FIRST = 12
"""Answers to sub-questions that are shown; a few more stay, the others are folded behind them."""
CALCULATIONS_SHOWN = 3
"""Calculations that need no folding."""
LISTED_FIRST = 10
"""Cited sources that are shown; a few more stay, the others are folded behind them."""


def render_tokens(tokens: Sequence[Token], language: str) -> SafeString:
    """Return sanitized HTML, with the charts of a table behind it: code draws them from its texts,
    so that they need no sanitizing.
    """
    pieces, pending = list[str](), list[Token]()
    for block in top_blocks(tokens):
        pending += block
        if charts := draw_charts(table_texts(block), language):
            first, *others = map(_figure, charts)
            pieces += (_clean(pending), first)
            if others:
                told = ngettext("%(n)s more chart", "%(n)s more charts", len(others))
                pieces.append(_fold(told % {"n": len(others)}, "".join(others)))
            pending = []
    return mark_safe("".join((*pieces, _clean(pending))))


def render_answer(tokens: Sequence[Token], language: str) -> SafeString:
    """Return HTML in which the end of a long list of answers is folded."""
    pieces, pending = list[str](), list[Token]()
    for block in top_blocks(tokens):
        is_item = (token.type == "list_item_open" and token.level == 1 for token in block)
        items = [place for place, found in enumerate(is_item) if found]
        if len(items) <= ANSWERS_FIRST * 3 // 2:
            pending += block
            continue
        end, more = items[ANSWERS_FIRST], len(items) - ANSWERS_FIRST
        pieces.append(render_tokens([*pending, *block[:end], block[-1]], language))
        pending = []
        told = ngettext("%(n)s more sub-question", "%(n)s more sub-questions", more)
        rest = [block[0], *block[end:]]
        pieces.append(_fold(told % {"n": format_number(more)}, render_tokens(rest, language)))
    return mark_safe("".join((*pieces, render_tokens(pending, language))))


def _figure(chart: Chart) -> str:
    title = f"<figcaption>{escape(chart.name)}</figcaption>"
    return f'<figure class="chart">{title}{chart.svg}</figure>\n'


def render_folded(tokens: Sequence[Token], language: str) -> SafeString:
    """Return HTML in which the passages behind the first of a section are folded, and those that
    answer nothing, which are block quotations under a line in italics.
    """
    pieces, more, number, seen = list[SafeString](), list[Token](), 0, False

    def close() -> None:
        if more:
            told = ngettext("%(n)s more passage", "%(n)s more passages", number) % {"n": number}
            pieces.append(_fold(told, render_tokens(more, language)))
            more.clear()

    for block in top_blocks(tokens):
        opens, goes_on = _is_passage(block), seen and block[0].type == "bullet_list_open"
        if seen and (opens or (goes_on and more)):
            number = number + opens if more else 1
            more += block
            continue
        close()
        if block[0].type == "blockquote_open":
            pieces.append(_fold(plain_text(block[2]), _clean(block[4:-1])))
        else:
            pieces.append(render_tokens(block, language))
        seen = opens or goes_on
    close()
    return mark_safe("".join(pieces))


def render_body(
    blocks: Sequence[list[Token]],
    render: Callable[[Sequence[Token], str], SafeString],
    language: str,
) -> SafeString:
    """Return HTML in which a list of pages that nothing cites is folded under its heading, and the
    end of a long list of cited ones. The searches that found nothing are folded, too, and the
    calculations, if there are many.
    """
    pieces, pending = list[str](), list[Token]()
    labels = labels_for(language)
    tried, _, _ = labels["tried"].partition("{queries}")
    for before, block in pairwise([[], *blocks]):
        is_list = bool(before) and before[0].tag == "h3" and block[0].type == "bullet_list_open"
        items = [place for place, token in enumerate(block) if token.type == "list_item_open"]
        if is_list and _is_uncited(block):
            del pending[-len(before) :]
            pieces.append(render(pending, language))
            pending.clear()
            title = f"{plain_text(before[1])} ({format_number(len(items))})"
            pieces.append(_fold(title, _clean(block)))
        elif is_list and _has_places(block) and len(items) > LISTED_FIRST * 3 // 2:
            end = items[LISTED_FIRST]
            pieces.append(render([*pending, *block[:end], block[-1]], language))
            pending.clear()
            more = len(items) - LISTED_FIRST
            told = ngettext("%(n)s more source", "%(n)s more sources", more)
            rest = [block[0], *block[end:]]
            pieces.append(_fold(told % {"n": format_number(more)}, _clean(rest)))
        elif (
            len(items) > CALCULATIONS_SHOWN
            and before
            and before[0].tag == "h2"
            and plain_text(before[1]) == labels["calculations"]
        ):
            pieces.append(render(pending, language))
            pending.clear()
            told = ngettext("%(n)s calculation", "%(n)s calculations", len(items))
            pieces.append(_fold(told % {"n": format_number(len(items))}, _clean(block)))
        elif block[0].type == "paragraph_open" and block[1].content.startswith(tried):
            pieces.append(render(pending, language))
            pending.clear()
            pieces.append(_fold(tried.rstrip(":： "), _clean(block)))
        else:
            pending += block
    return mark_safe("".join((*pieces, render(pending, language))))


def _has_places(block: Sequence[Token]) -> bool:
    return any('class="place"' in child.content for t in block for child in t.children or ())


def _is_uncited(block: Sequence[Token]) -> bool:
    """Return whether a block is a list of addresses without a marker."""
    items = [token.content for token in block if token.type == "inline"]
    is_list = block[0].type == "bullet_list_open"
    return is_list and all("://" in item and not MARKER.search(item) for item in items)


def _is_passage(block: Sequence[Token]) -> bool:
    """Return whether a block is a passage behind the name of its source."""
    if block[0].type != "paragraph_open":
        return False
    first = next((each for each in block[1].children or () if each.content or each.nesting), None)
    return first is not None and first.attrGet("class") == "lead-in"


def _fold(title: str, html: str) -> SafeString:
    """Return sanitized HTML behind a title that opens it."""
    folded = '<details class="passages"><summary>{}</summary>{}</details>\n'
    return format_html(folded, title, mark_safe(html))


def _clean(tokens: Sequence[Token]) -> str:
    raw = PARSER.renderer.render(tokens, PARSER.options, {})
    return nh3.clean(
        raw, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer"
    )
