"""HTML of a report's short answer: what concludes is explained, and lines may be folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext
from markdown_it.token import Token

from dashboard.markdown.folding import fold, render_tokens
from dashboard.markdown.markers import CONCLUSION
from dashboard.markdown.parsing import in_italics, plain_text, top_blocks
from dashboard.words import format_number
from research.engine.report.report_i18n import labels_for

ANSWERS_FIRST, ANSWERS_FOLDED, WORDS_OF_LABEL = 12, 3, 6
"""Answers to sub-questions that are shown; a few more stay, the others are folded behind them."""


def render_answer(tokens: Sequence[Token], language: str) -> SafeString:
    """Return HTML that folds the end of a long list of answers, or where verdict and steps answer
    the question all but what concludes.
    """
    pieces, pending = list[str](), list[Token]()
    has_steps = any(token.attrGet("class") == "todo" for token in tokens)
    concluded = f"({labels_for(language)['concluded']})"
    has_conclusion = any(concluded in token.content for token in tokens)
    for block in top_blocks(tokens):
        is_item = (token.type == "list_item_open" and token.level == 1 for token in block)
        items = [place for place, found in enumerate(is_item) if found]
        if items and has_conclusion:
            pieces += [render_tokens(pending, language), _note_on_conclusions()]
            pending, has_conclusion = [], False
        is_short = not has_steps or block[0].type != "bullet_list_open" or not _has_verdict(tokens)
        ends = [*items[1:], len(block) - 1]
        parts = [block[start:end] for start, end in zip(items, ends, strict=True)] if items else []
        rest = [
            part
            for part in parts
            if _names_a_section(part) and not any(concluded in token.content for token in part)
        ]
        if not is_short and len(rest) >= ANSWERS_FOLDED:
            shown = [token for part in parts if part not in rest for token in part]
            folded = [block[0], *(token for part in rest for token in part), block[-1]]
            told = ngettext(
                "In brief, on %(n)s sub-question", "In brief, on %(n)s sub-questions", len(rest)
            ) % {"n": format_number(len(rest))}
            pieces.append(render_tokens([*pending, *_listed(block, shown)], language))
            pieces.append(fold(told, render_tokens(folded, language)))
            pending = []
            continue
        if len(items) <= ANSWERS_FIRST * 3 // 2:
            pending += block
            continue
        end, more = items[ANSWERS_FIRST], len(items) - ANSWERS_FIRST
        pieces.append(render_tokens([*pending, *block[:end], block[-1]], language))
        pending = []
        told = ngettext("%(n)s more sub-question", "%(n)s more sub-questions", more)
        others = render_tokens([block[0], *block[end:]], language)
        pieces.append(fold(told % {"n": format_number(more)}, others))
    pieces.append(render_tokens(pending, language))
    if has_conclusion:
        pieces.append(_note_on_conclusions())
    return mark_safe("".join(pieces))


def _listed(block: Sequence[Token], items: Sequence[Token]) -> list[Token]:
    return [block[0], *items, block[-1]] if items else []


def render_trust(blocks: Iterable[Sequence[Token]], language: str) -> SafeString:
    """Return what a report rests on and how that was checked, from the line on trust among the
    blocks above its sections; "" without one. Conclusions have a note of their own.
    """
    words = labels_for(language)
    openings = {words[key].partition("{works}")[0] for key in ("rests_on", "rests_on_own")}
    concluding = words["concludes"].format(mark=words["concluded"])
    for block in blocks:
        if block[0].type == "paragraph_open" and in_italics(block[1]):
            told = plain_text(block[1])
            if any(told.startswith(each) for each in openings):
                said = told.replace(concluding, "").strip()
                return format_html('<p class="note trust">{}</p>\n', said)
    return mark_safe("")


def _note_on_conclusions() -> SafeString:
    told = gettext(
        "%(mark)s: no source says it; the model concludes it from what it cites, and a check found "
        "that it follows."
    ) % {"mark": CONCLUSION}
    return format_html('<p class="note">{}</p>\n', told)


def _names_a_section(item: Sequence[Token]) -> bool:
    """Return whether an answer opens with the name of a section, to which it leads."""
    children = (token.children or [] for token in item if token.type == "inline")
    return any(child.type == "link_open" for child in next(children, []))


def _has_verdict(tokens: Sequence[Token]) -> bool:
    """Return whether there is more than the label of the answer."""
    before = takewhile(lambda token: token.type != "bullet_list_open", tokens)
    words = " ".join(map(plain_text, before)).split()
    return len(words) > WORDS_OF_LABEL
