"""Quotes: slices of the stored page, taken by code from the sentences that are pointed at.

Rule F1 of `docs/requirements.md`. What is claimed of a quote is checked in `claim_check.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from functools import partial
from itertools import takewhile

from research.engine.ports import Page
from research.engine.records import QuoteSource
from research.engine.text.sentences import Sentence
from research.engine.text.tokens import normalise_space, term_set

MAX_QUOTE = 400
_ITEM_MARK = re.compile(r"^[^\S\n]*[-*•]\s+|(?<![\w,(]\n)^[^\S\n]*\d{1,3}[.)]\s+", re.MULTILINE)
"""`- Open it.`, `2. Shut it.`; a number that goes on with the line above it stays."""
_STOP = re.compile(r"[.!?][\"”’)]*\s+(?=[\"“(]?[A-Z0-9])")
_WORD = re.compile(r"\S+")
_LINE_END = re.compile(r"\n\s*")
_VERSION = re.compile(r"\b[vV](?=\d)")


def quote_span(
    sentences: Sequence[Sentence], text: str, by_section: bool = False
) -> tuple[int, int] | None:
    """Offsets of the first run of neighbouring sentences that makes a quote of fit length; with
    `by_section` it ends where the section of its first sentence does, and goes on with the items of
    a list.

    A sentence longer than `MAX_QUOTE` characters is cut at a word.
    """
    run = _first_run(sentences, by_section)
    return _cut(text, *run) if run else None


def _first_run(sentences: Sequence[Sentence], by_section: bool) -> tuple[int, int] | None:
    if not sentences:
        return None
    run = [sentences[0]]
    for sentence in sentences[1:]:
        joined = sentence.end - run[0].start
        if sentence.number != run[-1].number + 1 or joined > MAX_QUOTE:
            break
        is_list = run[-1].kind == "item" or run[-1].text.endswith((":", "："))
        if sentence.kind == "item" and not (by_section and is_list):
            break
        if by_section and sentence.section != run[0].section:
            break
        run.append(sentence)
    return run[0].start, run[-1].end


def _cut(text: str, start: int, end: int, claim: str = "") -> tuple[int, int] | None:
    """Return the offsets of a passage; of one that is too long for a quote those of the sentences
    within it that tell most of a `claim`, or up to a word. What `split_sentences` takes for code
    may be indented prose, such as that of manual pages.
    """
    if end - start > MAX_QUOTE:
        if claim and (told := _telling(text, start, end, term_set(claim))):
            return told
        end = _last_space(text, start, start + MAX_QUOTE, end)
    return (start, end) if end > start else None


def _last_space(text: str, start: int, at: int, end: int) -> int:
    """Return where the last whole word before this place ends, of a passage."""
    while start < at < end and not text[at].isspace():
        at -= 1
    return start + len(text[start:at].rstrip())


def _telling(text: str, start: int, end: int, wanted: Set[str]) -> tuple[int, int] | None:
    """Return the offsets of the neighbouring sentences within a passage that fit into a quote and
    have most of the wanted terms, the shortest of these, or of its lines if these have more: of a
    list without stops what is wanted may be the last line. Where neither fits it is what follows a
    word that is wanted, None if there is none.
    """
    windows = [
        window
        for ends in (_STOP, _LINE_END)
        for window in _windows(text, start, end, [*ends.finditer(text, start, end)])
    ]
    windows = windows or [
        (word.start(), _last_space(text, word.start(), min(end, word.start() + MAX_QUOTE), end))
        for word in _WORD.finditer(text, start, end)
        if not wanted.isdisjoint(term_set(word.group()))
    ]
    return max(
        windows,
        key=lambda each: (len(wanted & term_set(text[slice(*each)])), each[0] - each[1]),
        default=None,
    )


def _windows(
    text: str, start: int, end: int, stops: Sequence[re.Match[str]]
) -> Iterator[tuple[int, int]]:
    """Yield the offsets of the neighbouring parts between stops that fit into a quote."""
    if not stops:
        return
    starts = [start, *(stop.end() for stop in stops)]
    ends = [*(stop.start() + len(stop.group().rstrip()) for stop in stops), end]
    for at, one in enumerate(starts):
        for other in takewhile(partial(_fits_from, one), ends[at : at + MAX_QUOTE]):
            if other > one:
                yield one, other


def _fits_from(start: int, end: int) -> bool:
    return end - start <= MAX_QUOTE


def quote_spans(
    sentences: Sequence[Sentence],
    text: str,
    most: int,
    by_section: bool = False,
    claim: str = "",
) -> list[tuple[int, int]]:
    """Offsets of at most so many quotes, one for each run of neighbouring sentences, in the order
    in which they are named: the first of them, or those that tell most of a `claim`, none that has
    no word of it.
    """
    spans: list[tuple[int, int]] = []
    rest = list(sentences)
    while rest and (claim or len(spans) < most):
        run = _first_run(rest, by_section)
        span = _cut(text, *run, claim) if run else None
        if run is None or span is None:
            break
        spans.append(span)
        rest = [each for each in rest if not (run[0] <= each.start < run[1])]
    wanted, chosen = term_set(claim), set[tuple[int, int]]()
    told = {span: term_set(text[slice(*span)]) for span in spans}
    telling = [span for span in spans if wanted & told[span]] or spans
    missing = wanted
    while len(chosen) < min(most, len(telling)):
        left = [span for span in telling if span not in chosen]
        best = max(left, key=lambda span: len(missing & told[span]))
        chosen.add(best)
        missing = missing - told[best]
    return [each for each in spans if each in chosen]


def plain_quote(quote: str) -> str:
    """Return a quote as people read it: white space folded, list and table marks dropped."""
    return normalise_space(_ITEM_MARK.sub("", quote))


def without_version_marks(text: str) -> str:
    """Return a heading with "5.5" for "v5.5", so that its number can be found."""
    return _VERSION.sub("", text)


def quote_source(page: Page, start: int, end: int, section: str) -> QuoteSource:
    """Return the quote at these offsets of a stored page."""
    return QuoteSource(
        url=page.url,
        title=page.title,
        domain=page.domain,
        independence_key=page.independence_key,
        quote=page.text[start:end],
        start=start,
        end=end,
        text_sha256=page.sha256,
        fetched_at=page.fetched_at,
        section=section,
        published=page.published,
    )
