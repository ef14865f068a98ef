"""A citation: its quotes highlighted in the stored page text, and the checks of its claims."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote as percent_encode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard import words
from dashboard.contexts.evidence import says_itself, support_line
from dashboard.contexts.quotes import bearing_span
from dashboard.contexts.run import run_head
from dashboard.queries.queries import CitationRows
from research.models import EvidenceSource

Span = tuple[int, int]
"""Start and end in a page's text."""

PAGE_BLOCKS = 40
PANEL_BLOCKS = 6
NAMES = {
    "numbers": gettext_lazy("numbers"),
    "names": gettext_lazy("names"),
    "negations": gettext_lazy("negations"),
}
COMPARED = {
    "numbers": "number_differs",
    "names": "name_differs",
    "negations": "negation_differs",
}


def citation_context(rows: CitationRows, around: int = PAGE_BLOCKS) -> dict[str, Any]:
    """Return the context of a citation page or panel.

    `around` is the number of text blocks shown on each side of the quotes.
    """
    first = rows.quotes[0]
    blocks, before, after = stored_blocks(rows, around)
    place = rows.numbers.index(rows.number)
    return {
        "run": run_head(rows.run),
        "citation": {
            "number": rows.number,
            "at": "" if rows.place is None else f"?place={rows.place}",
            "previous": rows.numbers[place - 1] if place else None,
            "next": rows.numbers[place + 1] if place + 1 < len(rows.numbers) else None,
            "title": first.title or first.domain,
            "site": words.short_place(first.url),
            "place": words.readable_url(first.url),
            "published": words.format_partial_date(first.published) if first.published else "",
            "fetched": first.fetched_at,
            "kept": first.fetched_at < rows.run.created_at,
            "claims": [checked_claim(quotes, rows) for quotes in by_evidence(rows.quotes)],
            "calculations": rows.calculations,
            "support": _("The statement rests on %(sources)s.") % {"sources": support_of(rows)},
            "live": live_link(first),
            "blocks": blocks,
            "before": before,
            "after": after,
        },
    }


def support_of(rows: CitationRows) -> str:
    """Return the sources behind the statement, as the mark below its numbers counts them."""
    return support_line(row for each in rows.together for row in each.evidence.quotes.all())


def by_evidence(quotes: Sequence[EvidenceSource]) -> list[list[EvidenceSource]]:
    """Group quotes by evidence record, as a claim can rest on several passages of one page."""
    found: dict[int, list[EvidenceSource]] = {}
    for row in quotes:
        found.setdefault(row.evidence_id, []).append(row)
    return list(found.values())


def checked_claim(quotes: Sequence[EvidenceSource], rows: CitationRows) -> dict[str, Any]:
    """Return a claim with the outcome of its checks.

    Quotes are compared with the stored copy again; the other checks were made during the run.
    `shown` is True if the highlighted quote already contains the claim.
    """
    evidence = quotes[0].evidence
    flags = set(evidence.uncertainty)
    is_quoted = says_itself(evidence.claim, quotes)
    checks = [
        word_for_word(quotes, rows),
        *comparison_states(flags, is_quoted=is_quoted),
        words.State(_("nothing rephrased"), "check", "good")
        if is_quoted
        else words.State(_("meaning: not assessed"), "circle", "idle"),
    ]
    said = rows.verdicts.get(evidence.pk)
    checks += [words.VERDICT[said]] if said else []
    return {
        "text": evidence.claim,
        "shown": rows.page is not None and is_quoted,
        "checks": checks,
    }


def word_for_word(quotes: Sequence[EvidenceSource], rows: CitationRows) -> words.State:
    if rows.page is None:
        return words.State(_("copy no longer stored"), "none", "idle")
    if all(rows.page.text[row.start : row.end] == row.quote for row in quotes):
        return words.State(_("quote word for word"), "check", "good")
    return words.State(_("quote not in the stored copy"), "cross", "bad")


def comparison_states(flags: Container[str], *, is_quoted: bool) -> Iterator[words.State]:
    """Yield one state for all features that match the quote, then one for each that differs; that a
    quote matches itself is not said.
    """
    same = [what for what, flag in COMPARED.items() if flag not in flags]
    if same and not (is_quoted and len(same) == len(COMPARED)):
        names = words.join_words([str(NAMES[what]) for what in same])
        yield words.State(_("%(names)s match") % {"names": names}, "check", "good")
    for what in COMPARED:
        if what not in same:
            yield words.State(_("%(names)s differ") % {"names": NAMES[what]}, "cross", "bad")


def live_link(row: EvidenceSource) -> str:
    """Return a link to the live page that scrolls to the quote; '' for a local document.

    The text fragment of a quote of more than 12 words has only its first and last six words.
    """
    if not words.is_on_the_web(row.url):
        return ""
    told = row.quote.split()
    ends = (told[:6], told[-6:]) if len(told) > 12 else (told,)
    fragment = ",".join(
        percent_encode(" ".join(part), safe="").replace("-", "%2D") for part in ends
    )
    return f"{row.url.partition('#')[0]}#:~:text={fragment}"


def stored_blocks(rows: CitationRows, around: int) -> tuple[list[dict[str, Any]], int, int]:
    """Return the text blocks around the quotes and the number omitted before and after them."""
    if rows.page is None:
        return [], 0, 0
    spans = sorted((row.start, row.end) for row in rows.quotes)
    bearing = sorted(bearing_spans(rows.quotes))
    found = list(split_blocks(rows.page.text))
    held = [
        number
        for number, (start, end) in enumerate(found)
        if any(start < stop and begin < end for begin, stop in spans)
    ] or [0]
    first = max(0, held[0] - around)
    last = min(len(found), held[-1] + around + 1)
    text = rows.page.text
    shown = [block_context(text, *block, spans, bearing) for block in found[first:last]]
    mark_first(shown)
    return shown, first, len(found) - last


def bearing_spans(quotes: Sequence[EvidenceSource]) -> Iterator[tuple[int, int]]:
    """Yield where in the stored page the words of each quote are that bear its claim."""
    for row in quotes:
        start, end = bearing_span(row.quote, row.evidence.claim)
        yield row.start + start, row.start + end


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) offsets of the blocks between blank lines."""
    # "One\ntwo\n\nthree" has the blocks "One\ntwo" and "\nthree"
    for match in re.finditer(r"(?:(?!\n[ \t]*\n).)+", text, re.DOTALL):
        if match[0].strip():
            yield match.span()


def block_context(
    text: str, start: int, end: int, spans: Sequence[Span], bearing: Sequence[Span]
) -> dict[str, Any]:
    content = text[start:end]
    lead = len(content) - len(content.lstrip("\n"))
    start += lead
    kind = block_kind(content[lead:])
    if kind == "heading":
        start += len(re.match(r"#{1,6} +", content[lead:])[0])  # type: ignore[index]
    return {"kind": kind, "pieces": list(split_at_quotes(text, start, end, spans, bearing))}


def block_kind(content: str) -> str:
    if re.match(r"#{1,6} +\S", content):  # "## Results"
        return "heading"
    if content.startswith("    "):
        return "code"
    return "lines" if "\n" in content.strip() or "\t" in content else "text"


def split_at_quotes(
    text: str, start: int, end: int, spans: Sequence[Span], bearing: Sequence[Span]
) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a block: `quoted` if they are in a quote, `marked` if they bear its
    claim.
    """
    ends = {place for span in (*spans, *bearing) for place in span if start < place < end}
    for begin, stop in pairwise([start, *sorted(ends), end]):
        if begin < stop:
            yield {
                "text": text[begin:stop],
                "quoted": _is_within(begin, spans),
                "marked": _is_within(begin, bearing),
            }


def _is_within(place: int, spans: Sequence[Span]) -> bool:
    return any(begin <= place < stop for begin, stop in spans)


def mark_first(blocks: Sequence[dict[str, Any]]) -> None:
    """Flag the first highlighted piece: it is the target of the anchor `#quote`."""
    marked = (piece for each in blocks for piece in each["pieces"] if piece["marked"])
    first = next(marked, None)
    if first is not None:
        first["first"] = True
