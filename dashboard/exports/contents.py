"""What every export is made of: the report and the passages behind its citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from dashboard import words
from dashboard.contexts.evidence import support
from dashboard.queries import cited_rows
from dashboard.run_rows import RunRows, labels_cited
from research.models import EvidenceSource, PageText, Report, Run

AROUND = 300
LONGEST_LINK = 2_000
"""Characters of an address that becomes a link: Word allows some 2,080, Typst 8,000."""
REJECTED = "A reviewer rejected evidence that this report rests on; it was not revised since."

# XML 1.0 has no place for these, and no other format has a use for them; a page may hold some
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")


@dataclass(frozen=True)
class Passage:
    """A quote and the words around it in the stored page, '' where the copy is gone."""

    before: str
    quote: str
    after: str


@dataclass(frozen=True)
class Citation:
    """A marker of the report. `published` is the page's own date as it gives it, or ''."""

    number: int
    title: str
    url: str
    domain: str
    section: str
    published: str
    fetched: datetime
    sources: str
    passages: tuple[Passage, ...]

    @property
    def on_the_web(self) -> bool:
        return self.url.startswith(("http:", "https:"))

    @property
    def link(self) -> str:
        """The address, or '' where it is too long for a link."""
        return self.url if len(self.url) <= LONGEST_LINK else ""

    @property
    def dated(self) -> str:
        read = f"read {words.day(self.fetched)}"
        return f"{words.published(self.published)}, {read}" if self.published else read


@dataclass(frozen=True)
class Contents:
    """`markdown` is '' and `citations` are none where no report was written."""

    run: Run
    markdown: str
    citations: tuple[Citation, ...]

    @property
    def title(self) -> str:
        return printable(self.run.question)

    @property
    def language(self) -> str:
        """The report's language tag; English where the run has none that is well-formed."""
        return self.run.language if _LANGUAGE.fullmatch(self.run.language) else "en"

    def pages(self) -> Iterator[tuple[Citation, ...]]:
        """The citations of each cited page, in the order in which pages are first cited."""
        first = {entry.url: entry.number for entry in reversed(self.citations)}
        ordered = sorted(self.citations, key=lambda entry: (first[entry.url], entry.number))
        for _, group in groupby(ordered, key=lambda entry: entry.url):
            yield tuple(group)


def contents(run: Run) -> Contents:
    """Of the newest report; the number of queries does not grow with the run."""
    report = run.reports.order_by("-number").first()
    if report is None or not report.markdown:
        return Contents(run, "", ())
    rests_on = labels_cited(report) & RunRows(run).rejected
    text = marked(report.markdown) if rests_on else report.markdown
    return Contents(run, printable(text), tuple(citations(run, report)))


def printable(text: str) -> str:
    """The text without control characters and lone surrogates."""
    return _UNPRINTABLE.sub("", text)


def marked(markdown: str) -> str:
    """The report with a note under its title that it rests on rejected evidence."""
    title, _, rest = markdown.partition("\n\n")
    return f"{title}\n\n> {REJECTED}\n\n{rest}"


def citations(run: Run, report: Report) -> Iterator[Citation]:
    texts = dict(PageText.objects.filter(uses__run=run).values_list("sha256", "text"))
    for number, rows in sorted(cited_rows(run, report).items()):
        if rows:
            yield citation(number, rows, texts)


def citation(number: int, rows: Sequence[EvidenceSource], texts: dict[str, str]) -> Citation:
    first = rows[0]
    places = {(row.start, row.end): row for row in rows}
    return Citation(
        number=number,
        title=printable(first.title or first.domain),
        url=printable(first.url),
        domain=printable(first.domain),
        section="" if first.section == first.title else printable(first.section),
        published=printable(first.published or ""),
        fetched=first.fetched_at,
        sources=support(first.evidence.quotes.all()),
        passages=tuple(passages(places.values(), texts)),
    )


def passages(rows: Iterable[EvidenceSource], texts: dict[str, str]) -> Iterator[Passage]:
    for row in rows:
        text = texts.get(row.text_sha256)
        if text is None or text[row.start : row.end] != row.quote:
            yield Passage("", printable(row.quote), "")
        else:
            yield in_context(text, row.start, row.end)


def in_context(text: str, start: int, end: int) -> Passage:
    """The quote within its paragraph, of which at most `AROUND` characters a side are kept."""
    before = text[:start].rpartition("\n\n")[2]
    after = text[end:].partition("\n\n")[0]
    if len(before) > AROUND:
        before = "… " + before[-AROUND:].partition(" ")[2]
    if len(after) > AROUND:
        after = after[:AROUND].rpartition(" ")[0] + " …"
    return Passage(*map(printable, (before, text[start:end], after)))
