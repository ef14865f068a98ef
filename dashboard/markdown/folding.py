"""Sanitized HTML of a report's blocks, long lists and further passages folded, long commands and
quotations set apart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from markdown_it.token import Token

from dashboard.charts import Chart, draw_charts
from dashboard.markdown.parsing import (
    COLONS,
    ENDS,
    MARKER,
    PARSER,
    STOPS,
    html_token,
    in_lines,
    is_command,
    plain_text,
    span_token,
    table_texts,
    text_token,
    top_blocks,
)
from dashboard.markdown.tables import is_transposed, transposed
from dashboard.words import format_number
from research.engine.report.parts.comparison import MISSING
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
    "p": {"class", "id"},
    "span": {"class", "aria-hidden"},
    "strong": {"class"},
    "sup": {"class", "id"},
    "table": {"class"},
    "td": {"class", "data-label"},
    "th": {"class"},
}
CALCULATIONS_SHOWN = 3
"""Calculations that need no folding."""
LISTED_FIRST = 10
"""Cited sources that are shown; a few more stay, the others are folded behind them."""
SCRIPT_SHOWN = 6
"""Lines of a command that need no folding."""
LONG_QUOTATION = 40
"""Words from which a quotation is a block."""
MARKS = re.compile(r"(?=“)|(?<=”)")
SPACES = re.compile(r"(\s+)")
ATTRIBUTION = re.compile(r"\s*(?:\([^()]{1,200}\))?[.,;]?\s*")
"""Attribution between a quotation and its citation markers: " (trees.test). "."""
OMISSION = " … "
"""Ellipsis between quoted sentences that are not adjacent on their page."""


def render_tokens(tokens: Sequence[Token], language: str) -> SafeString:
    """Return sanitized HTML, with the charts of a table behind it and the note on its dashes: code
    draws them from its texts, so that they need no sanitizing.
    """
    pieces, pending, drawn = list[str](), list[Token](), list[str]()
    for block in top_blocks(tokens):
        if drawn and not _tells_dashes(block):
            pieces += (_clean(pending), *drawn)
            pending, drawn = [], []
        pending += block
        texts = table_texts(block)
        if charts := draw_charts(transposed(texts) if is_transposed(block) else texts, language):
            first, *others = map(_figure, charts)
            drawn = [first]
            if others:
                told = ngettext("%(n)s more chart", "%(n)s more charts", len(others))
                drawn.append(fold(told % {"n": len(others)}, "".join(others)))
    return mark_safe("".join((*pieces, _clean(pending), *drawn)))


def _tells_dashes(block: Sequence[Token]) -> bool:
    return block[0].type == "paragraph_open" and block[1].content.startswith(f"*{MISSING}")


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
            pieces.append(fold(told, render_tokens(more, language)))
            more.clear()

    for block in top_blocks(tokens):
        opens, goes_on = _is_passage(block), seen and block[0].type == "bullet_list_open"
        if seen and (opens or (goes_on and more)):
            number = number + opens if more else 1
            more += block
            continue
        close()
        if block[0].type == "blockquote_open":
            pieces.append(fold(plain_text(block[2]), _clean(block[4:-1])))
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
            pieces.append(fold(title, _clean(block)))
        elif is_list and _has_places(block) and len(items) > LISTED_FIRST * 3 // 2:
            end = items[LISTED_FIRST]
            pieces.append(render([*pending, *block[:end], block[-1]], language))
            pending.clear()
            more = len(items) - LISTED_FIRST
            told = ngettext("%(n)s more source", "%(n)s more sources", more)
            rest = [block[0], *block[end:]]
            pieces.append(fold(told % {"n": format_number(more)}, _clean(rest)))
        elif (
            len(items) > CALCULATIONS_SHOWN
            and before
            and before[0].tag == "h2"
            and plain_text(before[1]) == labels["calculations"]
        ):
            pieces.append(render(pending, language))
            pending.clear()
            told = ngettext("%(n)s calculation", "%(n)s calculations", len(items))
            pieces.append(fold(told % {"n": format_number(len(items))}, _clean(block)))
        elif block[0].type == "paragraph_open" and block[1].content.startswith(tried):
            pieces.append(render(pending, language))
            pending.clear()
            pieces.append(fold(tried.rstrip(":： "), _clean(block)))
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


def fold(title: str, html: str) -> SafeString:
    """Return sanitized HTML behind a title that opens it."""
    folded = '<details class="passages"><summary>{}</summary>{}</details>\n'
    return format_html(folded, title, mark_safe(html))


def _clean(tokens: Sequence[Token]) -> str:
    raw = PARSER.renderer.render(tokens, PARSER.options, {})
    return nh3.clean(
        raw, tags=TAGS, attributes=ATTRIBUTES, url_schemes={"http", "https"}, link_rel="noreferrer"
    )


# --- set apart ---------------------------------------------------------------------------


def set_commands(tokens: Sequence[Token], *, copies: bool = False) -> None:
    """Set commands of numbered lists on lines of their own, with buttons that copy them."""
    depth = 0
    for token in tokens:
        if token.type in ("ordered_list_open", "ordered_list_close"):
            depth += token.nesting
        elif depth and token.type == "inline" and token.children:
            token.children = list(_with_commands(token.children, copies))


def _with_commands(children: Sequence[Token], copies: bool) -> Iterator[Token]:
    before, commands = None, _commands_among(children)
    for at, child in enumerate(children):
        is_apart = at in commands
        if is_apart:
            button = _button() if copies else ""
            lines = in_lines(child.content)
            shown = (
                f'<span class="command">{button}<code>{_with_whole_options(lines)}</code></span>'
            )
            yield html_token(_folded_script(shown, lines.count("\n") + 1) if copies else shown)
        elif before is not None and child.type == "text" and child.content.startswith(ENDS):
            yield span_token("hidden", child.content[:1])
            child.content = child.content[1:]
            yield child
        else:
            yield child
        before = child if is_apart else None


def _folded_script(shown: str, lines: int) -> str:
    """Return a command as it is `shown`, folded if it is a script of many lines."""
    if lines <= SCRIPT_SHOWN:
        return shown
    told = ngettext("Script of %(n)s line", "Script of %(n)s lines", lines) % {"n": lines}
    return f'<details class="script"><summary>{escape(told)}</summary>{shown}</details>'


def _with_whole_options(command: str) -> str:
    """Return a command as HTML in which no line ends within an option, behind a hyphen."""
    return "".join(
        f'<span class="option">{escape(part)}</span>' if part.startswith("-") else escape(part)
        for part in SPACES.split(command)
    )


def _commands_among(children: Sequence[Token]) -> set[int]:
    """Return the places of commands: long code, and short code behind a colon, a sentence or
    another command that no prose follows, such as `ANALYZE`.
    """
    code = [at for at, child in enumerate(children) if child.type == "code_inline"]
    commands = {at for at in code if is_command(children[at].content)}
    for at in code:
        if not at or children[at - 1].type != "text":
            continue
        said = children[at - 1].content.strip()
        is_aside = said.rfind("(") > said.rfind(")")
        is_behind = _before(at, children) in commands or _is_marker(children[at - 2])
        is_next = (said.endswith((*COLONS, *STOPS)) and not is_aside) or (not said and is_behind)
        after = children[at + 1] if at + 1 < len(children) else None
        is_last = after is None or after.type != "text" or not _is_prose(after.content)
        if is_next and is_last:
            commands.add(at)
    return commands


def _is_marker(child: Token) -> bool:
    return child.type == "html_inline" and 'class="cite' in child.content


def _before(at: int, children: Sequence[Token]) -> int:
    """Return the place before the space at which code may stand, leaving out a note on it."""
    before = at - 2
    opening = next((n for n in range(before, 0, -1) if children[n].type == "em_open"), before)
    return opening - 2 if children[before].type == "em_close" else before


def _is_prose(text: str) -> bool:
    return any(map(str.isalnum, MARKER.sub("", text)))


def _button() -> str:
    done, name = gettext("Copied"), gettext("Copy")
    return (
        f'<button type="button" class="quiet" data-copy="" data-done="{done}">'
        f"<span>{name}</span></button>"
    )


def set_apart_quotations(tokens: Sequence[Token]) -> None:
    """Set long quotations of paragraphs as blocks, with who says them and their markers, each part
    of what was omitted between on a line of its own. Passages behind a name are blocks already.
    """
    for opening, inline in pairwise(tokens):
        is_paragraph = opening.type == "paragraph_open" and opening.level == 0
        if is_paragraph and inline.children and not _has_lead_in(inline.children):
            inline.children = list(_with_blocks(list(_split_at_marks(inline.children))))


def _has_lead_in(children: Sequence[Token]) -> bool:
    return any("lead-in" in str(child.attrGet("class") or "") for child in children)


def _split_at_marks(children: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens of a text, those of quotations apart from the others."""
    for child in children:
        if child.type == "text" and ("“" in child.content or "”" in child.content):
            yield from map(text_token, filter(None, MARKS.split(child.content)))
        else:
            yield child


def _with_blocks(children: list[Token]) -> Iterator[Token]:
    place = 0
    while place < len(children):
        end = _end_of_quotation(children, place)
        quoted = children[place:end]
        if len("".join(each.content for each in quoted).split()) < LONG_QUOTATION:
            yield children[place]
            place += 1
            continue
        yield html_token('<span class="quotation">')
        for each in quoted:
            yield from _in_lines(each)
        place = _end_of_markers(children, end)
        yield from children[end:place]
        yield html_token("</span>")


def _end_of_quotation(children: Sequence[Token], start: int) -> int:
    """Return the end of the quotation that starts there; `start` if none does, or not wholly."""
    depth = 0
    if children[start].type != "text" or not children[start].content.startswith("“"):
        return start
    for place in range(start, len(children)):
        depth += children[place].nesting
        if children[place].type == "text" and children[place].content.endswith("”"):
            return start if depth else place + 1
    return start


def _end_of_markers(children: Sequence[Token], place: int) -> int:
    """Return the end of the markers behind a quotation, or the place itself if there are none."""
    end = place
    for n, child in enumerate(children[place:], place + 1):
        is_marker = _is_marker(child)
        is_named = child.type == "html_inline" and 'class="told-by' in child.content
        if is_marker:
            end = n
        elif not (is_named or (child.type == "text" and ATTRIBUTION.fullmatch(child.content))):
            break
    return end


def _in_lines(token: Token) -> Iterator[Token]:
    if token.type != "text":
        yield token
        return
    *parts, last = token.content.split(OMISSION)
    for part in parts:
        yield from (text_token(f"{part}{OMISSION}"), html_token("<br>"))
    yield text_token(last)
