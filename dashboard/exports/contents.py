"""The input of every export: the report and the passages behind its citations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from types import MappingProxyType

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard import words
from dashboard.addresses import is_shared
from dashboard.contexts.evidence import count_sources
from dashboard.markdown.sources import without_file_addresses
from dashboard.markdown.statements import cited_texts
from dashboard.queries.run_rows import (
    RunRows,
    cited_rows,
    labels_at,
    labels_cited,
    latest_report,
    site_names,
    stored_texts,
)
from dashboard.queries.thread_queries import Correction, find_corrections, later_questions
from dashboard.titles import in_plain_words, title_of
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.models import EvidenceSource, Report, Run

AROUND = 120
LONGEST_LINK = 2_000
"""Maximum characters of a linked URL: Word allows about 2,080, Typst 8,000."""
REJECTED = _("A reviewer rejected evidence that this report rests on; it was not revised since.")
NEWER = _("A follow-up of %(date)s has newer values. Citation numbers here: %(numbers)s.")
DISPUTED = _(
    "A follow-up of %(date)s found sources that disagree. Citation numbers here: %(numbers)s."
)

# Not allowed in XML 1.0 (Word), and useless in all other formats. "a\x00b" → "ab"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_HEADING_MARK = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)  # "## Ports"
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")  # "en", "zh-Hant-TW"


@dataclass(frozen=True)
class Passage:
    """A quote with its context in the stored page; the context is '' if the copy was deleted.

    `section` is the one of the page that it was taken from, or ''. `sources` counts the independent
    sites (or documents) of its claim, `statements` are those of the report that cite it, behind
    their sections.
    """

    before: str
    quote: str
    after: str
    sources: str = ""
    section: str = ""
    statements: tuple[str, ...] = ()


@dataclass(frozen=True)
class Citation:
    """A cited page. `published` is the date as the page states it, or ''.

    `publisher` is the name that the page gives its site, or its domain, or the collection of a
    document. `places` has the index of the passage behind each occurrence of the number in the
    report.
    """

    number: int
    title: str
    url: str
    domain: str
    published: str
    fetched: datetime
    passages: tuple[Passage, ...]
    places: tuple[int, ...] = ()
    publisher: str = ""

    @property
    def section(self) -> str:
        """Return the section that all passages are from; '' if they are from several."""
        first, *others = {each.section for each in self.passages} or {""}
        return "" if others else first

    @property
    def headed_passages(self) -> Iterator[tuple[str, Passage]]:
        """Yield each passage behind its heading: the section, or the title of the page if it is
        from none; '' where the passage before has the same one, or all have.
        """
        last = self.section
        for passage in self.passages:
            is_same, last = passage.section == last, passage.section
            yield "" if is_same else passage.section or self.title, passage

    @property
    def on_the_web(self) -> bool:
        return self.url.startswith(("http:", "https:"))

    @property
    def address(self) -> str:
        """Return the URL of a web page, or for lists of references a document's path in its
        collection: its own address opens nowhere but in the installation that read it. Texts to
        read name a document by its title.
        """
        return self.url if self.on_the_web else words.readable_url(self.url)

    @property
    def web_link(self) -> str:
        """Return the URL; '' if it is none of the web, or too long for a link."""
        return self.url if self.on_the_web and len(self.url) <= LONGEST_LINK else ""

    @property
    def dated(self) -> str:
        read = gettext("read %(date)s") % {"date": words.format_day(self.fetched)}
        return f"{words.format_partial_date(self.published)}, {read}" if self.published else read


@dataclass(frozen=True)
class Contents:
    """Report and citations of a run; '' and () if no report was written.

    Unless it `has_quotes`, a text to read ends with the report: its numbers lead to the pages.
    """

    run: Run
    markdown: str
    citations: tuple[Citation, ...]
    has_quotes: bool = True

    @property
    def title(self) -> str:
        """Return the question, or of a long one the title that its pages have."""
        return strip_unprintable(title_of(self.run))

    @property
    def language(self) -> str:
        """Return the language tag of the report; "en" if the run's tag is malformed."""
        return self.run.language if _LANGUAGE.fullmatch(self.run.language) else "en"

    @property
    def page_links(self) -> dict[int, str]:
        """Return the URLs to which the numbers of citations lead where their quotes are left out,
        "" for a page that isn't on the web; {} if the numbers lead to the quotes.
        """
        return {} if self.has_quotes else {each.number: each.web_link for each in self.citations}

    def pages(self) -> Iterator[tuple[Citation, ...]]:
        """Yield the citations of each cited page, in the order in which pages are first cited."""
        first = {entry.url: entry.number for entry in reversed(self.citations)}
        ordered = sorted(self.citations, key=lambda entry: (first[entry.url], entry.number))
        for _url, group in groupby(ordered, key=lambda entry: entry.url):
            yield tuple(group)


def load_contents(run: Run, *, has_quotes: bool = True) -> Contents:
    """Load the latest report of a run. The number of queries is constant."""
    report = latest_report(run)
    if report is None or not report.markdown:
        return Contents(run, "", ())
    rows = RunRows(run)
    notes = [REJECTED] if labels_cited(report) & rows.rejected else []
    notes += (_told(each, rows) for each in find_corrections(rows, later_questions(run)))
    text = _with_notes(without_file_addresses(report.markdown), list(map(str, notes)))
    titled = strip_unprintable(with_title(text, title_of(run), run.question))
    return Contents(run, titled, tuple(load_citations(run, report)), has_quotes)


def strip_unprintable(text: str) -> str:
    """Remove control characters and lone surrogates."""
    return _UNPRINTABLE.sub("", text)


def _with_notes(markdown: str, notes: Sequence[str]) -> str:
    """Return a report with notes below its title on what has become of it."""
    if not notes:
        return markdown
    title, _, rest = markdown.partition("\n\n")
    return "\n\n".join((title, *(f"> {note}" for note in notes), rest))


def _told(correction: Correction, rows: RunRows) -> str:
    """Return what a follow-up corrects in a report, by the numbers of its citations."""
    told = ((correction.newer, NEWER), (correction.disputed, DISPUTED))
    day = words.format_day(correction.at)
    cited = [(sorted({rows.numbers[label] for label in labels}), text) for labels, text in told]
    return " ".join(
        str(text) % {"date": day, "numbers": ", ".join(map(str, numbers))}
        for numbers, text in cited
        if numbers
    )


def with_title(markdown: str, title: str, question: str) -> str:
    """Return a report under its title, with the question as asked below it if that is another."""
    _, _, rest = markdown.partition("\n\n")
    if title == in_plain_words(question):
        return markdown
    asked = " ".join(escape_markdown(question).split())
    return f"# {escape_markdown(title)}\n\n> {asked}\n\n{rest}"


def load_citations(run: Run, report: Report) -> Iterator[Citation]:
    texts = dict(stored_texts(run).values_list("sha256", "text"))
    places = {entry["marker"]: entry.get("places") or () for entry in report.citations}
    statements, names = _statements_by_record(report), site_names(run)
    for number, rows in sorted(cited_rows(run, report).items()):
        if rows:
            made = make_citation(number, rows, texts, places[number], statements[number])
            named = strip_unprintable(names.get(rows[0].url, ""))
            yield replace(made, publisher=named or made.domain)


def _statements_by_record(report: Report) -> dict[int, dict[str, list[str]]]:
    """Return the statements behind each number, by the label of the record that they rest on."""
    citations = {entry["marker"]: entry for entry in report.citations}
    found: dict[int, dict[str, list[str]]] = {number: {} for number in citations}
    for said in cited_texts(report.markdown):
        where = " › ".join(filter(None, (said.heading, said.label)))
        text = strip_unprintable(f"{where}: {said.text}" if where else said.text)
        for number, place in said.markers:
            for label in labels_at(citations[number], place) if number in citations else ():
                told = found[number].setdefault(label, [])
                told += [text] if text not in told else []
    return found


def make_citation(
    number: int,
    rows: Sequence[EvidenceSource],
    texts: dict[str, str],
    places: Iterable[Sequence[str]] = (),
    statements: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Citation:
    first = rows[0]
    shown = {(row.start, row.end): row for row in rows}
    told: dict[tuple[int, int], list[str]] = {span: [] for span in shown}
    for row in rows:
        told[row.start, row.end] += statements.get(row.evidence.label, ())
    indexes = {row.evidence.label: list(shown).index((row.start, row.end)) for row in rows[::-1]}
    return Citation(
        number=number,
        title=strip_unprintable(first.title or first.domain),
        url=strip_unprintable(words.without_folder(first.url) if is_shared() else first.url),
        domain=strip_unprintable(first.domain),
        published=strip_unprintable(first.published or ""),
        fetched=first.fetched_at,
        passages=tuple(
            replace(passage, statements=tuple(dict.fromkeys(told[span])))
            for span, passage in zip(shown, quote_passages(shown.values(), texts), strict=True)
        ),
        places=tuple(indexes.get(labels[0], 0) for labels in places),
        publisher=strip_unprintable(first.domain),
    )


def quote_passages(rows: Iterable[EvidenceSource], texts: dict[str, str]) -> Iterator[Passage]:
    for row in rows:
        text, sources = texts.get(row.text_sha256), count_sources(row.evidence.quotes.all())
        section = "" if row.section == row.title else strip_unprintable(row.section)
        if text is None or text[row.start : row.end] != row.quote:
            passage = Passage("", _plain(row.quote), "")
        else:
            passage = in_context(text, row.start, row.end)
        yield replace(passage, sources=sources, section=section)


def in_context(text: str, start: int, end: int) -> Passage:
    """Return a quote with up to `AROUND` characters of its paragraph on each side."""
    before = text[:start].rpartition("\n\n")[2]
    after = text[end:].partition("\n\n")[0]
    if len(before) > AROUND:
        before = "… " + before[-AROUND:].partition(" ")[2]
    if len(after) > AROUND:
        after = after[:AROUND].rpartition(" ")[0] + " …"
    before, quote, after = map(_plain, (before, text[start:end], after))
    return Passage(before, quote, after)


def _plain(text: str) -> str:
    """Return a text as people read it: stored pages mark their headings with signs."""
    return _HEADING_MARK.sub("", strip_unprintable(text))
