"""Passages that can stand alone as a quotation: neighbouring whole sentences of one section."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache

from research.engine.directives import is_order, orders
from research.engine.extractive.lines import Line, lines
from research.engine.extractive.procedures import steps
from research.engine.extractive.tables import told_rows
from research.engine.quotes import MAX_QUOTE
from research.engine.sentences import QUESTION_MARKS, Sentence
from research.engine.text import term_set, words_in
from research.engine.tools import Page

SHORTEST = 4
FRAGMENT = 10
PASSAGE_WORDS = 25

_DANGLING = re.compile(
    r"^(?:it|its|this|these|those|that|they|their|them|he|she|his|her|him|such|both|however"
    r"|but|and|or|so|therefore|thus|hence|also|then|otherwise|instead|moreover|furthermore"
    r"|additionally|in addition|for example|for instance|similarly|likewise|conversely"
    r"|as a result|consequently|nevertheless|still|yet|again|finally|here|another|one of them"
    r"|there(?! (?:is|are|was|were)\b)|the (?:former|latter|same|first|second|third|other)"
    r"|where|which|in this case|if so|if not)\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[a-z]\w*(?:[_.(]\w|\d|[A-Z]|\(\))")
_FIRST_PERSON = re.compile(r"\b(?:I|we|my|our|us|me)\b")
_POINTER = re.compile(
    r"\b(?:see (?:table|figure|section|chapter|also|the)|click|subscribe|sign up|cookie|newsletter"
    r"|(?:described|discussed|documented|explained|listed|shown|summari[sz]ed) in"
    r" (?:table|section|chapter|figure)"
    r"|(?:description|details|discussion|explanation|information) can be found in"
    r"|all rights reserved|copyright|read more|share this|learn more"
    r"|(?:posted|written|published|edited|updated) (?:on|by)"
    r"|by .{3,30} on \w+ \d)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"^(?:table|section|chapter|figure) [\w.]+ (?:contains|describes|lists|provides|shows"
    r"|summari[sz]es)\b|^(?:added|changed|deprecated|new) in version [\d.]+(?::.{0,60})?\.$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Passage:
    """Whole sentences of one page and section: `page.text[start:end]`, at most `MAX_QUOTE` long.

    `number` is that of the sentence that it is about, `claim` the text of that sentence (with
    the one it refers to, if it opens with a pronoun). `label` are the offsets of the defined
    term, or of the head of the table, that the passage stands under, if any. `terms` are those
    of the passage itself, `subject` those of heading, table's head and title.
    """

    page: Page
    number: int
    start: int
    end: int
    claim: str
    section: str
    label: tuple[int, int] | None
    terms: frozenset[str]
    subject: frozenset[str]
    is_item: bool

    @property
    def text(self) -> str:
        return " ".join(self.page.text[self.start : self.end].split())


def passages(page: Page) -> list[Passage]:
    """A passage for every sentence that may open one, in the page's order."""
    found = lines(page.text)
    told = orders(tuple(line.sentence for line in found))
    title = term_set(page.title)
    rows, listed = told_rows(page.text, found), steps(page.text, found)
    result: list[Passage] = []
    for line in found:
        sentence, passage = line.sentence, None
        if sentence.number in told or sentence.kind == "code":
            continue
        if sentence.number in rows:
            passage = _row(page, title, line, rows[sentence.number])
        elif sentence.block in listed:
            passage = _passage(page, found, title, sentence, _step(found, sentence, told))
        elif _speaks(sentence.text):
            passage = _passage(page, found, title, sentence, _reach(found, sentence))
        if passage is not None:
            result.append(passage)
    return result


def _row(page: Page, title: frozenset[str], row: Line, head: Line | None) -> Passage | None:
    """A row stands for itself, however short it is."""
    sentence = row.sentence
    end = _fitting(page.text, sentence.start, sentence.end)
    if not _states(sentence.text) or end <= sentence.start:
        return None
    return Passage(
        page=page,
        number=sentence.number,
        start=sentence.start,
        end=end,
        claim=sentence.text,
        section=sentence.section,
        label=(head.sentence.start, head.sentence.end) if head else sentence.label,
        terms=row.words,
        subject=title | row.heading | (head.words if head else frozenset()),
        is_item=False,
    )


def _step(found: Sequence[Line], opening: Sentence, told: Set[int]) -> tuple[int, int] | None:
    """A whole step, which its first sentence opens; no other one opens a passage."""
    first = last = opening.number
    if first and found[first - 1].sentence.block == opening.block:
        return None
    for line in found[first + 1 :]:
        following = line.sentence
        is_of_it = following.block == opening.block and following.number not in told
        if not is_of_it or following.end - opening.start > MAX_QUOTE:
            break
        last = following.number
    return first, last


def _reach(found: Sequence[Line], opening: Sentence) -> tuple[int, int] | None:
    """From which sentence to which a passage goes; None where it can't stand alone."""
    first = _head(found, opening)
    if _dangles(found[first].sentence.text) and not _of_its_term(found, first):
        return None
    last = _tail(found, first, opening)
    return None if last is None else (first, last)


def _passage(
    page: Page,
    found: Sequence[Line],
    title: frozenset[str],
    opening: Sentence,
    reach: tuple[int, int] | None,
) -> Passage | None:
    if reach is None:
        return None
    first, last = reach
    start = found[first].sentence.start
    end = _fitting(page.text, start, found[last].sentence.end)
    if end <= start:
        return None
    return Passage(
        page=page,
        number=opening.number,
        start=start,
        end=end,
        claim=" ".join(line.sentence.text for line in found[first : opening.number + 1]),
        section=opening.section,
        label=opening.label,
        terms=frozenset().union(*(line.words for line in found[first : last + 1])),
        subject=title | found[opening.number].heading,
        is_item=opening.kind == "item",
    )


def _fitting(text: str, start: int, end: int) -> int:
    """Where a quote ends that is cut at a word if it would be too long."""
    return end if end - start <= MAX_QUOTE else start + text[start : start + MAX_QUOTE].rfind(" ")


def _of_its_term(found: Sequence[Line], first: int) -> bool:
    """Whether "this" or "it" is the defined term that the sentence opens the definition of."""
    line = found[first]
    opens = first == 0 or found[first - 1].sentence.section != line.sentence.section
    return opens and bool(line.label)


@lru_cache(maxsize=4096)
def _speaks(text: str) -> bool:
    """No fragment, question, byline, pointer, note of a change, first person
    or order to a machine."""
    return words_in(text) >= SHORTEST and not _is_fragment(text) and _states(text)


def _states(text: str) -> bool:
    if text.endswith(QUESTION_MARKS):
        return False
    told = (_POINTER.search(text), _ASIDE.search(text), _FIRST_PERSON.search(text))
    return not any(told) and not is_order(text)


def _is_fragment(text: str) -> bool:
    """A short line without an end, such as a byline or a caption."""
    return words_in(text) < FRAGMENT and text[-1:] not in ".!:;…。！：；\"'”’)」』）"


def _head(found: Sequence[Line], opening: Sentence) -> int:
    """Where the passage opens: a loose pronoun takes along what it refers to, and any sentence
    one that is too short to stand alone, of the same paragraph."""
    first = opening.number
    while first > 0 and opening.number - first < 2 and _dangles(found[first].sentence.text):
        before = found[first - 1].sentence
        item = "item" in {before.kind, found[first].sentence.kind}
        if before.section != opening.section or item or not _speaks(before.text):
            break
        first -= 1
    if first > 0 and _is_too_short(found[first - 1].sentence, found[first].sentence):
        first -= 1
    return first


def _is_too_short(before: Sentence, following: Sentence) -> bool:
    text = before.text
    stands = not (text.endswith(QUESTION_MARKS) or _dangles(text) or is_order(text))
    return before.block == following.block and words_in(text) < SHORTEST and stands


def _tail(found: Sequence[Line], first: int, opening: Sentence) -> int | None:
    """Where it ends: a short sentence takes along what follows in its paragraph, and one that
    ends in a colon its list; None where there is no such list."""
    last = opening.number
    words = sum(words_in(line.sentence.text) for line in found[first : last + 1])
    start = found[first].sentence.start
    if opening.text.endswith(":"):
        return _list_end(found, last, start)
    for line in found[last + 1 :]:
        following = line.sentence
        words += words_in(following.text)
        fits = words <= PASSAGE_WORDS and following.end - start <= MAX_QUOTE
        if following.block != opening.block or not fits or not _speaks(following.text):
            break
        if following.text.endswith(":"):
            break
        last = following.number
    return last


def _list_end(found: Sequence[Line], colon: int, start: int) -> int | None:
    """The last item of the list or code that a sentence with a colon announces."""
    section, last = found[colon].sentence.section, colon
    for line in found[colon + 1 :]:
        announced = line.sentence
        if announced.kind not in {"item", "code"} or announced.section != section:
            break
        if announced.end - start > MAX_QUOTE:
            return None
        last = announced.number
    return last if last > colon else None


def reads_well(text: str) -> bool:
    """A bounded, balanced quotation of 5 to 80 words with no loose pronoun at its head."""
    return not _dangles(text) and _complete(text)


def _dangles(text: str) -> bool:
    """Whether it opens with a loose pronoun or connective, or in the middle of a sentence."""
    if _DANGLING.match(text) or text.startswith("("):
        return True
    return text[:1].islower() and not _IDENTIFIER.match(text)


def _complete(text: str) -> bool:
    return is_closed(text) and text[-1:] in ".!…。！\"'”’)」』）" and 5 <= words_in(text) <= 80


def is_closed(text: str) -> bool:
    """Whether every bracket in it is closed."""
    return all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
