"""Passages that can stand alone as a quotation: neighbouring whole sentences of one section."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from research.engine.directives import is_order, orders
from research.engine.quotes import MAX_QUOTE
from research.engine.text import Sentence, sentence_terms, sentences, term_set, words_in
from research.engine.tools import Page

SHORTEST = 4
FRAGMENT = 10
NEIGHBOURS = 4

_DANGLING = re.compile(
    r"^(?:it|its|this|these|those|that|they|their|them|he|she|his|her|him|such|both|however"
    r"|but|and|or|so|therefore|thus|hence|also|then|otherwise|instead|moreover|furthermore"
    r"|additionally|in addition|for example|for instance|similarly|likewise|conversely"
    r"|as a result|consequently|nevertheless|still|yet|again|finally|here|another|one of them"
    r"|there(?! (?:is|are|was|were)\b)|the (?:former|latter|same|first|second|third|other)"
    r"|where|which|in this case|if so|if not)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:I|we|my|our|us|me)\b")
_POINTER = re.compile(
    r"\b(?:see (?:table|figure|section|chapter|also|the)|click|subscribe|sign up|cookie|newsletter"
    r"|all rights reserved|copyright|read more|share this|learn more"
    r"|(?:posted|written|published|edited|updated) (?:on|by)"
    r"|by .{3,30} on \w+ \d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passage:
    """Whole sentences of one page and section: `page.text[start:end]`, at most `MAX_QUOTE` long.

    `claim` is the text of its first sentence (with the one it refers to, if it opens with a
    pronoun). `label` are the offsets of the defined term that the passage stands under, if
    any. `terms` are those of the passage itself, `subject` those of heading and title,
    `near` those of the neighbouring sentences.
    """

    page: Page
    start: int
    end: int
    claim: str
    section: str
    label: tuple[int, int] | None
    terms: frozenset[str]
    near: frozenset[str]
    subject: frozenset[str]
    is_item: bool
    opens_section: bool

    @property
    def text(self) -> str:
        return " ".join(self.page.text[self.start : self.end].split())


def passages(page: Page) -> list[Passage]:
    """A passage for every sentence that may open one, in the page's order."""
    found = sentences(page.text)
    told = orders(found)
    bags = sentence_terms(page.text)
    title = term_set(page.title)
    result: list[Passage] = []
    for sentence in found:
        if sentence.number not in told and sentence.kind != "code" and _speaks(sentence.text):
            opens = not result or result[-1].section != sentence.section
            passage = _passage(page, found, bags, title, sentence, opens)
            if passage is not None:
                result.append(passage)
    return result


def _passage(
    page: Page,
    found: Sequence[Sentence],
    bags: Sequence[frozenset[str]],
    title: frozenset[str],
    opening: Sentence,
    opens_section: bool,
) -> Passage | None:
    first = _head(found, opening)
    if _dangles(found[first].text):
        return None
    last = _tail(found, first, opening)
    start, end = found[first].start, found[last].end
    if end - start > MAX_QUOTE:
        end = start + page.text[start : start + MAX_QUOTE].rfind(" ")
    if end <= start:
        return None
    low, high = _same_section(found, first, -1), _same_section(found, last, 1)
    return Passage(
        page=page,
        start=start,
        end=end,
        claim=" ".join(sentence.text for sentence in found[first : opening.number + 1]),
        section=opening.section,
        label=opening.label,
        terms=frozenset().union(*bags[first : last + 1]),
        near=frozenset().union(*bags[low : high + 1]),
        subject=title | term_set(opening.section),
        is_item=opening.kind == "item",
        opens_section=opens_section,
    )


@lru_cache(maxsize=4096)
def _speaks(text: str) -> bool:
    """No fragment, question, byline, pointer, first person or order to a machine."""
    if words_in(text) < SHORTEST or text.endswith("?") or _is_fragment(text):
        return False
    return not (_POINTER.search(text) or _FIRST_PERSON.search(text) or is_order(text))


def _is_fragment(text: str) -> bool:
    """A short line without an end, such as a byline or a caption."""
    return words_in(text) < FRAGMENT and text[-1:] not in ".!:;…\"'”’)"


def _head(found: Sequence[Sentence], opening: Sentence) -> int:
    """Where the passage opens: a loose pronoun takes along what it refers to."""
    first = opening.number
    while first > 0 and opening.number - first < 2 and _dangles(found[first].text):
        before = found[first - 1]
        item = "item" in {before.kind, found[first].kind}
        if before.section != opening.section or item or not _speaks(before.text):
            break
        first -= 1
    return first


def _tail(found: Sequence[Sentence], first: int, opening: Sentence) -> int:
    """Where it ends: as many whole sentences of the section as a quote holds; an item alone."""
    last = opening.number
    while last + 1 < len(found):
        following = found[last + 1]
        fits = following.end - found[first].start <= MAX_QUOTE
        alone = following.kind == "item" and following.block != found[last].block
        left = opening.kind == "item" and following.block != opening.block
        left |= following.kind == "prose" and not _speaks(following.text)
        if not fits or alone or left or following.section != opening.section:
            break
        last += 1
    return last


def _same_section(found: Sequence[Sentence], number: int, step: int) -> int:
    """The furthest of `NEIGHBOURS` sentences in one direction that is of the same section."""
    reached = number
    for _ in range(NEIGHBOURS):
        beyond = reached + step
        if not 0 <= beyond < len(found) or found[beyond].section != found[number].section:
            break
        reached = beyond
    return reached


def reads_well(text: str) -> bool:
    """A bounded, balanced quotation of 8 to 80 words with no loose pronoun at its head."""
    return not _dangles(text) and _complete(text)


def _dangles(text: str) -> bool:
    return bool(_DANGLING.match(text)) or text[:1].islower()


def _complete(text: str) -> bool:
    balanced = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    return balanced and text[-1:] in ".!…\"'”’)" and 8 <= words_in(text) <= 80
