"""Quotes: the words that bear their claim, their places in the stored copy of a page, and the
statements of a report that rest on them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, pairwise
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.addresses import anchor_of, is_shared
from dashboard.markdown.statements import CitedText
from dashboard.queries.citation_queries import CitationRows, CitedStatement
from research.engine.evidence.claim_check import check_claim
from research.engine.evidence.quotes import plain_quote
from research.engine.report.parts.comparison import gives_value
from research.engine.report.report_i18n import labels_for
from research.engine.text.entities import find_numbers
from research.engine.text.sentences import split_sentences
from research.engine.text.tokens import term_set
from research.models import Evidence, EvidenceSource, PageText
from research.models.journal import PUBLIC

LEAD_LENGTH = 80
"""Maximum characters that a card shows of a quote before the words that matter."""
_DATE_BEHIND = re.compile(r"\s\([^()]*\d{4}\)$")
"""The date that a table has in brackets behind a value."""
FENCE = re.compile(r"^(?:```|~~~).*$", re.MULTILINE)
"""A line before or behind code."""
WRAPPED = 50
"""Fewest characters of the lines of a paragraph that was wrapped at a width."""
Span = tuple[int, int]
"""Start and end in a page's text."""

PAGE_BLOCKS = 200
PANEL_BLOCKS = 6
"""Blocks of text on each side of the quotes that a page or a panel has."""
SHORT, SHORT_IN_PANEL = 300, 160
"""Most characters that stand unfolded before a quote, so that it is seen without scrolling."""


def bearing_span(quote: str, claim: str) -> tuple[int, int]:
    """Return the offsets of the claim's own words or, if it is reworded, of the sentence that has
    most of its terms; of the whole quote if none has any.
    """
    start = quote.find(claim) if claim else -1
    if start >= 0:
        return start, start + len(claim)
    wanted = term_set(claim)
    shared = [(len(wanted & term_set(each.text)), each) for each in split_sentences(quote)]
    most, sentence = max(shared, key=lambda pair: pair[0], default=(0, None))
    return (sentence.start, sentence.end) if sentence and most else (0, len(quote))


def quote_pieces(quote: str, claim: str, *, whole: bool = True) -> list[dict[str, Any]]:
    """Return a quote without list marks, in pieces; the one that bears the claim is `marked`,
    unless it is all there is. What comes before it is shortened if not `whole`.
    """
    start, end = bearing_span(quote, claim)
    before, bearing, after = map(plain_quote, (quote[:start], quote[start:end], quote[end:]))
    if not before and not after:
        return [{"text": bearing, "marked": False}]
    if not whole and len(before) > LEAD_LENGTH:
        before = f"… {before[-LEAD_LENGTH:].partition(' ')[2]}"
    pieces = ((f"{before} ", False), (bearing, True), (f" {after}", False))
    return [{"text": text, "marked": marked} for text, marked in pieces if text.strip()]


# --- the stored copy ----------------------------------------------------------------------


def shown_page(rows: CitationRows) -> PageText | None:
    """Return the stored copy, unless it is private and the report is shared."""
    is_private = rows.page is not None and rows.page.scope != PUBLIC
    return None if is_private and is_shared() else rows.page


def stored_copy(
    rows: CitationRows, supports: Mapping[str, Sequence[Any]], *, in_panel: bool
) -> dict[str, Any]:
    """Return the text around the quotes in `parts`, and the number of blocks omitted before and
    after; what isn't next to a quote is folded. Below the end of a quote stands what it `supports`,
    by the label of its record.
    """
    page = shown_page(rows)
    if page is None:
        return {"parts": [], "before": 0, "after": 0}
    text, around = page.text, PANEL_BLOCKS if in_panel else PAGE_BLOCKS
    short = SHORT_IN_PANEL if in_panel else SHORT
    spans = sorted((row.start, row.end) for row in rows.quotes)
    bearing = sorted(bearing_spans(rows.quotes))
    found = list(_without_long_lead(text, list(split_blocks(text)), spans[0][0], short))
    held = [
        number
        for number, (start, end) in enumerate(found)
        if any(start < stop and begin < end for begin, stop in spans)
    ] or [0]
    first, last = max(0, held[0] - around), min(len(found), held[-1] + around + 1)
    near = _near(text, found, held, short, {start for start, _ in spans})
    parts: list[dict[str, Any]] = []
    for is_near, grouped in groupby(range(first, last), near.__contains__):
        numbers = list(grouped)
        blocks = [block_context(text, *found[n], spans, bearing) for n in numbers]
        for block, (start, end) in zip(blocks, (found[n] for n in numbers), strict=True):
            ending = [row for row in rows.quotes if start < row.end <= end]
            told = (supports.get(row.evidence.label, ()) for row in ending)
            block["supports"] = list(chain.from_iterable(told))
        parts.append({"blocks": blocks, "fold": "" if is_near else _count_blocks(len(blocks))})
    mark_first(list(chain.from_iterable(part["blocks"] for part in parts)))
    return {"parts": parts, "before": first, "after": len(found) - last}


def _near(
    text: str, blocks: Sequence[Span], held: Sequence[int], most: int, quotes: Container[int]
) -> Container[int]:
    """Return the numbers of the blocks with a quote, of one of at most so many characters before
    each, which is its heading unless the block begins with the quote, and of the one behind it,
    unless that is the next heading.
    """
    told = [text[start:end].strip("\n") for start, end in blocks]
    short = {n for n, block in enumerate(told) if len(block) <= most and re.search(r"\w", block)}
    begins = {n for n, (_, end) in enumerate(blocks) if end - len(told[n]) in quotes}
    titles = {n for n, block in enumerate(told) if block_kind(block) == "heading"}
    before = {n - 1 for n in held if n in begins or n - 1 in titles} & short
    after = {n + 1 for n in held if told[n + 1 :] and block_kind(told[n + 1]) != "heading"}
    return {*held, *before, *after}


def _without_long_lead(text: str, blocks: Sequence[Span], quote: int, most: int) -> Iterator[Span]:
    """Yield the blocks; of a text before the first quote that has more than so many characters, the
    sentences that exceed them are split off.
    """
    for start, end in blocks:
        is_split = start + most < quote < end
        is_split = is_split and block_kind(text[start:end].lstrip("\n")) != "code"
        lead = text[start:quote] if is_split else ""
        ends = [start + found.end() for found in re.finditer(r"\n|[.!?。]\s*", lead)]
        if ends:
            split = next((place for place in ends if quote - place <= most), ends[-1])
            yield start, split
            start = split
        yield start, end


def _count_blocks(number: int) -> str:
    told = ngettext("%(n)s more paragraph", "%(n)s more paragraphs", number)
    return told % {"n": words.format_number(number)}


def bearing_spans(quotes: Sequence[EvidenceSource]) -> Iterator[tuple[int, int]]:
    """Yield where in the stored page the words of each quote are that bear its claim."""
    for row in quotes:
        start, end = bearing_span(row.quote, row.evidence.claim)
        yield row.start + start, row.start + end


def split_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) offsets of the blocks between blank lines; code between fences is one
    block.
    """
    # "One\ntwo\n\nthree" has the blocks "One\ntwo" and "\nthree"
    code: list[Span] = []
    for match in re.finditer(r"(?:(?!\n[ \t]*\n).)+", text, re.DOTALL):
        if not match[0].strip():
            continue
        is_fenced = len(FENCE.findall(match[0])) % 2 == 1
        if is_fenced and code:
            yield code[0][0], match.end()
            code = []
        elif is_fenced or code:
            code.append(match.span())
        else:
            yield match.span()
    yield from code  # never closed


def block_context(
    text: str, start: int, end: int, spans: Sequence[Span], bearing: Sequence[Span]
) -> dict[str, Any]:
    content = text[start:end]
    lead = len(content) - len(content.lstrip("\n"))
    kind = block_kind(content[lead:])
    if fence := FENCE.match(content, lead):
        last = content.rstrip().rfind("\n", fence.end())
        end = start + last if last > 0 and FENCE.match(content, last + 1) else end
        lead = min(fence.end() + 1, end - start)
    start += lead
    if kind == "heading":
        start += len(re.match(r"#{1,6} +", content[lead:])[0])  # type: ignore[index]
    return {"kind": kind, "pieces": list(split_at_quotes(text, start, end, spans, bearing))}


def block_kind(content: str) -> str:
    if re.match(r"#{1,6} +\S", content):  # "## Results"
        return "heading"
    if content.startswith("    ") or FENCE.match(content):
        return "code"
    return "lines" if "\n" in content.strip() or "\t" in content else "text"


def document_html(text: str) -> SafeString:
    """Return a whole text with its headings, prose and code."""
    return format_html_join("\n", "{}", ((_block_html(text[a:b]),) for a, b in split_blocks(text)))


def _block_html(block: str) -> SafeString:
    content = block.strip("\n")
    kind = block_kind(content)
    if kind == "heading":
        heading, _, rest = content.partition("\n")
        return format_html("<h2>{}</h2>{}", heading.lstrip("# "), _block_html(rest) if rest else "")
    if kind == "code":
        fenced = FENCE.match(content)
        lines = content.split("\n")[1:] if fenced else content.split("\n")
        code = "\n".join(lines[:-1] if fenced and lines and FENCE.match(lines[-1]) else lines)
        return format_html("<pre>{}</pre>", code)
    if kind == "lines" and not _is_wrapped(content):
        return format_html('<p class="lines">{}</p>', content)
    return format_html("<p>{}</p>", " ".join(content.split("\n")))


def _is_wrapped(content: str) -> bool:
    """Return whether the lines are those of a paragraph that was wrapped at a width."""
    lines = content.split("\n")
    if "\t" in content or any(not line[:1].isalpha() for line in lines):
        return False
    return all(len(line) >= WRAPPED for line in lines[:-1])


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


QUOTATION = words.State(_("Statement: a quotation, word for word"), "check", "good")
VALUE = words.State(_("Value: found in the quote by code"), "check", "good")
VALUE_BY_MODEL = words.State(_("Value: judged by the model with its quotes"), "check", "good")
COMPUTED = words.State(_("Statement: computed by code from the quotes’ figures"), "check", "good")
BY_CODE = words.State(_("Statement: checked word for word by code"), "check", "good")
BY_MODEL = words.State(
    _("Statement: judged by the model to follow from the quote"), "check", "good"
)
INFERRED = words.State(
    _("Next step: inferred by the model from this and its other citations"), "circle", "idle"
)
PART_BY_CODE = words.State(_("Marked words: checked word for word by code"), "check", "good")
NOT_CHECKED = words.State(
    _("Statement: not checked whether it follows from the quote"), "circle", "idle"
)


def statement_context(said: CitedStatement, rows: CitationRows) -> dict[str, Any]:
    """Return a statement with its section, a link to its place there, its other citations, and its
    check. Where the number stands behind a clause, the clause is `marked` and has a check of its
    own if code finds it in the quotes of the number alone.
    """
    text, number = said.said, rows.number
    own = [row for row in rows.quotes if row.evidence.label in said.labels]
    pieces = list(_clause_pieces(text, number))
    clause = next((piece["text"] for piece in pieces if piece["marked"]), "")
    is_found = bool(clause) and is_carried(clause, (), own, rows.run.question)
    others = dict[int, int]()
    for each, place in text.markers:
        if each != number:
            others.setdefault(each, place)
    return {
        "text": text.text,
        "pieces": pieces,
        "clause": clause,
        "others": [
            (each, f"{reverse('citation', args=[rows.run.public_id, each])}?place={place}")
            for each, place in others.items()
        ],
        "label": text.label,
        "heading": text.heading or gettext("Short answer"),
        "anchor": anchor_of(number, text.place_of(number) or 0),
        "check": _with_others(check_of(said, rows), text, own, rows),
        "clause_check": PART_BY_CODE if is_found else None,
    }


def _clause_pieces(text: CitedText, number: int) -> Iterator[dict[str, Any]]:
    """Yield the text of a statement in pieces; the clause that a citation number follows is
    `marked` if other citations follow other clauses.
    """
    at = text.clause_of(number)
    if at is None:
        yield {"text": text.text, "marked": False}
        return
    before, (clause, _), after = text.clauses[:at], text.clauses[at], text.clauses[at + 1 :]
    marked = clause.strip(" ,;:–—")
    lead, _, rest = clause.partition(marked)
    yield {"text": "".join(each for each, _ in before) + lead, "marked": False}
    yield {"text": marked, "marked": True}
    yield {"text": rest + "".join(each for each, _ in after), "marked": False}


def _with_others(
    check: words.State, text: CitedText, own: Sequence[EvidenceSource], rows: CitationRows
) -> words.State:
    """Return a check that names the other citations of the statement, if it took their quotes as
    well.
    """
    others = dict.fromkeys(each for each, _place in text.markers if each != rows.number)
    is_alone = check == BY_CODE and is_carried(text.bare, (), own, rows.run.question)
    if not others or is_alone or check not in (BY_CODE, BY_MODEL):
        return check
    named = words.join_words([f"[{each}]" for each in others])
    told = gettext("%(check)s, together with %(others)s") % {"check": check.word, "others": named}
    return replace(check, word=told)


def check_of(said: CitedStatement, rows: CitationRows) -> words.State:
    """Return what found that a statement says what its quotes say.

    What code vouches for is found again, as it was when the report was written; what it doesn't
    vouch for is the model's, by the counts of the report.
    """
    text, checks = said.said, rows.checks
    quotes = [quote for record in said.evidence for quote in record.quotes.all()]
    if text.is_quotation:
        return QUOTATION
    if text.is_step or text.heading == labels_for(rows.run.language)["next_steps"]:
        return INFERRED
    if text.label:
        return _check_of_cell(_DATE_BEHIND.sub("", text.text), said, quotes, checks)
    if any(line.startswith(text.bare.rstrip(".。")) for line in rows.calculations):
        return COMPUTED
    if is_carried(text.bare, said.evidence, quotes, rows.run.question):
        return BY_CODE
    return by_counts(checks)


def _check_of_cell(
    value: str, said: CitedStatement, quotes: Sequence[EvidenceSource], checks: Mapping[str, Any]
) -> words.State:
    """Return what vouches for a value: its quotes, with their claims for words that they lack, or
    the model, which judged it with the statements.
    """
    told = " ".join(quote.quote for quote in quotes)
    claims = " ".join(record.claim for record in said.evidence)
    has_figures = {*find_numbers(value)} <= {*find_numbers(told)}
    around = f"{told} {claims} {said.said.heading} {said.said.label}"
    if value.casefold() in told.casefold() or (has_figures and gives_value(around, value)):
        return VALUE
    return VALUE_BY_MODEL if has_figures and checks.get("by_model") else NOT_CHECKED


def is_carried(
    text: str, records: Sequence[Evidence], quotes: Sequence[EvidenceSource], question: str
) -> bool:
    """Return whether code vouches that the quotes say it: together, or those of one record or
    source alone.
    """
    context = " ".join((question, *(f"{quote.title} {quote.section}" for quote in quotes)))
    by_record = (" ".join(quote.quote for quote in each.quotes.all()) for each in records)
    every = " ".join(quote.quote for quote in quotes)
    texts = dict.fromkeys((every, *by_record, *(quote.quote for quote in quotes)))
    return any(check_claim(text, each, context).outcome == "carried" for each in texts)


def by_counts(checks: Mapping[str, Any]) -> words.State:
    """Return what vouches for a statement that code alone doesn't find in its quotes."""
    if checks.get("by_neither", 0) > checks.get("connections", 0):
        return NOT_CHECKED
    if checks.get("by_model"):
        return BY_MODEL
    return BY_CODE if checks.get("by_code") else NOT_CHECKED
