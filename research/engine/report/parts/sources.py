"""Name and render sources with publisher, kind and date, and mark doubtful statements."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.origin import origin_of
from research.engine.evidence.titles import shorten_titles
from research.engine.journal.forms import Form
from research.engine.ports import SourceKind
from research.engine.records import Evidence, QuoteSource, Source
from research.engine.report.disputes import is_beside, says_half_of
from research.engine.report.draft import Statement
from research.engine.report.parts.dating import DAY, MONTH, YEAR, newest_date
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.report_i18n import Labels
from research.engine.text.tokens import term_set, unique_texts

_NO_KINDS = frozenset({"unknown", "document"})
_WEAK_KINDS = ("blog", "forum")
LEAST_BOOKS = 2
"""Fewest books of a collection whose pages are named with them."""
LONGEST_NAME, MOST_SITES = 60, 2
"""Characters of a publisher's name beside a statement, and publishers that are named there."""


PUBLISHERS: Mapping[str, SourceKind] = {
    "official": "official",
    "scholarly": "academic",
    "news": "news",
    "reference": "reference",
    "association": "association",
    "company": "vendor",
    "blog": "blog",
    "forum": "forum",
}
"""Kinds of sources by the model's words for them."""


def note_kinds(ledger: Ledger, said: Mapping[str, str]) -> None:
    """Note what kind of publisher each source of an unknown kind is, as a model says by host."""
    kinds = {host.strip().lower(): kind.strip().lower() for host, kind in said.items()}
    for source in tuple(ledger.sources.values()):
        kind = PUBLISHERS.get(kinds.get(source.domain, ""))
        if source.kind == "unknown" and kind:
            ledger.put_source(replace(source, kind=kind))


_PARENTHESIS = re.compile(r" ?\([^()]{0,80}\)")
"""Parenthesis within a title, which would be nested in that of an attribution."""


@dataclass(frozen=True)
class SourceName:
    """Title and publisher of a source; "" for a publisher that isn't named with it."""

    title: str
    publisher: str


def source_names(ledger: Ledger, cited: Iterable[str]) -> dict[str, SourceName]:
    """Return the names of the sources with a title, by address: titles without what those of their
    site have in common, the same ones with the section that is quoted. The publisher of (nearly)
    all evidence is named with the first page alone, in the order of those that are `cited`.
    """
    if ledger.began < Form.COMPUTED:
        return {}
    sites: dict[str, list[Source]] = {}
    for url in dict.fromkeys((*cited, *ledger.sources)):
        if ledger.sources[url].title:
            sites.setdefault(ledger.sources[url].domain, []).append(ledger.sources[url])
    sections, lone = _quoted_sections(ledger), _lone_domains(ledger)
    names: dict[str, SourceName] = {}
    for domain, pages in sites.items():
        known = {
            each.url: ledger.pages[each.url].site for each in pages if each.url in ledger.pages
        }
        site = next(filter(None, known.values()), "")
        short = shorten_titles({each.url: each.title for each in pages}, site)
        often, told = Counter(short.titles.values()), set[str]()
        for page in pages:
            title = short.titles[page.url]
            section = sections.get(page.url, "") if often[title] > 1 else ""
            title = title if section in ("", title) else f"{title} › {section}"
            is_file = page.url.startswith("file:") and ledger.began >= Form.EDITED
            publisher = known.get(page.url) or ("" if is_file else site) or short.common
            names[page.url] = SourceName(title, "" if publisher in told else publisher)
            told |= {publisher} if domain in lone else set()
    return names


def _quoted_sections(ledger: Ledger) -> dict[str, str]:
    """Return the section of each page that is quoted, by address: of several the first and the last
    on the page ("8.21 afftdn – 8.65 bandreject"), before `Form.EDITED` the one quoted first.
    """
    found = dict[str, dict[int, str]]()
    for record in ledger.evidence:
        for source in record.sources:
            if source.section:
                found.setdefault(source.url, {}).setdefault(source.start, source.section)
    if ledger.began < Form.EDITED:
        return {url: next(iter(each.values())) for url, each in found.items()}
    return {url: _range_of([each[start] for start in sorted(each)]) for url, each in found.items()}


def _range_of(sections: Sequence[str]) -> str:
    """Return the section that quotes stand in, or the first and the last of their main ones."""
    tops = [section.partition(" › ")[0] for section in sections]
    if tops[0] != tops[-1]:
        return f"{tops[0]} – {tops[-1]}"
    return sections[0] if len({*sections}) == 1 else tops[0]


def _lone_domains(ledger: Ledger) -> set[str]:
    """Return the domains of the site that (nearly) all evidence is from, or its collection."""
    sources = (source for record in ledger.evidence for source in record.sources)
    lone = ledger.lone_origin
    return {each.domain for each in sources if origin_of(each.independence_key) == lone}


def render_source(
    ledger: Ledger, source: Source, words: Labels, today: str = "", name: SourceName | None = None
) -> str:
    """Return title, publisher, kind, date and address of a source, and what became of it; title and
    publisher by its `name`, if it has one. A date after `today`, if that is given, is called later
    than the report.
    """
    page = ledger.pages.get(source.url)
    called = name or SourceName(source.title or source.url, page.site if page else "")
    title = escape_markdown(called.title.replace("[", "(").replace("]", ")"))
    publisher = called.publisher if called.publisher not in {called.title, source.title} else ""
    is_file = source.url.startswith("file:") and ledger.began >= Form.EDITED
    day = (source.published or "")[:DAY]
    date = words.date(day)
    told = [
        escape_markdown(publisher),
        "" if is_file else source.domain,  # its address has it
        "" if source.kind in _NO_KINDS else words[f"kind_{source.kind}"],
        words["dated_later"].format(date=date) if today and day > today else date,
    ]
    is_read = source.status in {"cited", "read"} and ledger.began >= Form.EDITED
    is_told = not is_read or (page is not None and source.reason == page.note)
    reason = f": {source.reason}" if source.reason and is_told else ""
    return f"{', '.join(filter(None, (title, *told)))}: <{source.url}>{reason}"


def unused_sources(ledger: Ledger, cited: Container[str]) -> list[Source]:
    """Return the pages that were read but aren't cited, as lists and counts have them."""
    read = (each for each in ledger.sources.values() if each.status in {"read", "cited"})
    return [each for each in read if each.url not in cited]


def doubt_mark(
    statement: Statement,
    ledger: Ledger,
    words: Labels,
    is_dated: bool = True,
    told: Set[str] = frozenset(),
) -> str:
    """Return a mark for a statement that another source contradicts, if `is_dated` with the date of
    that one where it is the newer; "" where nothing does, where the statement gives both sides, and
    where all that contradict it are `told` beside it.
    """
    records = ledger.book.records
    cited = [records[i] for i in statement.evidence if i in records]
    if not _takes_side(statement, cited) or is_beside(statement, ledger):
        return ""
    rivals = [
        records[i]
        for record in cited
        for i in record.contradicts
        if i in records and i not in statement.evidence
    ]
    if statement.quoted or told >= {record.id for record in rivals}:
        return ""
    own, other = max(map(newest_date, cited)), max(map(newest_date, rivals))
    is_newer = is_dated and own and other > own
    said = words["otherwise"].format(date=words.date(other)) if is_newer else words["disagree"]
    return f" (⚠ {said})"


def _takes_side(statement: Statement, cited: Sequence[Evidence]) -> bool:
    """Return whether a statement takes one side of a dispute instead of only mentioning it."""
    disputed = [record for record in cited if record.contradicts]
    is_on_both = any(i in record.contradicts for record in disputed for i in statement.evidence)
    is_all = len(disputed) == len(cited)
    return not is_on_both and (is_all or any(says_half_of(statement, each) for each in disputed))


def weak_kind(statement: Statement, ledger: Ledger) -> str:
    """Return the kind of the sources of a statement that only forums or only blogs support; "" for
    any other.
    """
    records = ledger.book.records
    quoted = {s.url for i in statement.evidence if i in records for s in records[i].sources}
    kinds = {ledger.sources[url].kind for url in quoted if url in ledger.sources}
    return next((kind for kind in _WEAK_KINDS if kinds == {kind}), "")


def publisher_of(source: QuoteSource, ledger: Ledger) -> str:
    """Return the name of a source's site, or its host, as Markdown."""
    return escape_markdown(site_name(source, ledger))


def lone_titles(ledger: Ledger) -> dict[str, str]:
    """Return the titles of pages by address, without parentheses, of the one site or collection
    that (nearly) all evidence is from, behind their book where it has several; {} where there are
    several sites.
    """
    lone = _lone_domains(ledger) if ledger.began >= Form.COMPUTED else set[str]()
    names = source_names(ledger, ()) if lone else {}
    own = {url: name for url, name in names.items() if ledger.sources[url].domain in lone}
    titles = {url: _PARENTHESIS.sub("", name.title) or name.title for url, name in own.items()}
    books = {url: ledger.pages[url].site for url in own if url in ledger.pages}
    if ledger.began < Form.EDITED or len({*books.values()} - {""}) < LEAST_BOOKS:
        return titles
    return {url: ", ".join(filter(None, (books.get(url), each))) for url, each in titles.items()}


def site_name(source: QuoteSource, ledger: Ledger) -> str:
    """Return the name of a source's site, or its host."""
    page = ledger.pages.get(source.url)
    return (page.site if page else "")[:LONGEST_NAME] or source.domain


def are_of_one_site(records: Iterable[Evidence], ledger: Ledger) -> bool:
    """Return whether all sources of several records are pages of one site or collection."""
    return len({site_name(each, ledger) for record in records for each in record.sources}) == 1


def holder_of_side(
    statement: Statement, ledger: Ledger, words: Labels, holder: str, *, by_page: bool = False
) -> str:
    """Return as Markdown who holds the view of a statement, what kind of publisher it is, and of
    when its source is: the `holder` that it names, otherwise the sites of its sources, or their
    titles if `by_page`. Of a publisher none of whose pages is a source it says that others report
    it.
    """
    quoted = _sources_of(statement, ledger)
    own = [source for source in quoted if _publishes(holder, source, ledger)]
    name, kind, date = _published(own if holder else quoted, ledger, words, by_page=by_page)
    if holder:
        name, kind = escape_markdown(holder), kind_of_holder(holder, ledger, words)
    date = words["as_reported"] if holder and kind and not own else date
    details = ", ".join(filter(None, (kind, date)))
    return f"**{name}**" + (f" ({details})" if details else "")


def _sources_of(statement: Statement, ledger: Ledger) -> list[QuoteSource]:
    records = ledger.book.records
    return [source for i in statement.evidence if i in records for source in records[i].sources]


def _publishes(holder: str, source: QuoteSource, ledger: Ledger) -> bool:
    return bool(holder) and term_set(holder) <= term_set(site_name(source, ledger))


def _published(
    sources: Sequence[QuoteSource], ledger: Ledger, words: Labels, *, by_page: bool
) -> tuple[str, str, str]:
    """Return the names of the sites of sources as Markdown, their kind, if they have one, and their
    month, or the years from the first to the last.
    """
    titles = lone_titles(ledger) if ledger.began >= Form.EDITED else {}
    if by_page:  # all sides are of one work, which needn't be named
        titles = {each.url: each.title for each in sources} | titles
        works = {each.url: f"{site_name(each, ledger)}, " for each in sources}
        titles = {url: titles[url].removeprefix(work) for url, work in works.items()}
    sites = unique_texts(titles.get(each.url) or site_name(each, ledger) for each in sources)
    names = escape_markdown(", ".join(sites[:MOST_SITES]))
    if more := len(sites) - MOST_SITES if len(sites) > MOST_SITES else 0:
        names = words["and_more"].format(names=names, n=more)
    pages = (ledger.sources.get(source.url) for source in sources)
    kinds = {page.kind if page else "unknown" for page in pages}
    kind = words[f"kind_{kinds.pop()}"] if len(kinds) == 1 and not kinds & _NO_KINDS else ""
    months = sorted({source.day[:MONTH] for source in sources if source.day})
    years = list(dict.fromkeys(month[:YEAR] for month in (*months[:1], *months[-1:])))
    date = words.date(months[0]) if len(months) == 1 else "–".join(years)
    return names, "" if kind.casefold() in names.casefold() else kind, date


def kind_of_holder(holder: str, ledger: Ledger, words: Labels) -> str:
    """Return what kind of publisher the holder of a view is, if it is the publisher of a source
    and its name doesn't say so; "" if it isn't known.
    """
    wanted = term_set(holder)
    kinds = {
        source.kind
        for source in ledger.sources.values()
        if source.kind not in _NO_KINDS and source.site and wanted <= term_set(source.site)
    }
    kind = words[f"kind_{kinds.pop()}"] if len(kinds) == 1 else ""
    return "" if kind.casefold() in holder.casefold() else kind


def told_by(statement: Statement, ledger: Ledger, words: Labels, precision: int = DAY) -> str:
    """Return who says a statement, and when, in so many characters of the date: the publisher where
    it rests on one source, otherwise how many there are; "" for a quotation, whose source is named
    already.
    """
    records = ledger.book.records
    quoted = [s for i in statement.evidence if i in records for s in records[i].sources]
    if statement.quoted or not quoted:
        return ""
    days = sorted(filter(None, (source.day for source in quoted)))
    sources = len({source.independence_key for source in quoted})
    if sources > 1:
        years = list(dict.fromkeys(day[:YEAR] for day in (days[:1] + days[-1:])))
        return ", ".join(filter(None, (words.count("sources_told", sources), "–".join(years))))
    source = ledger.sources.get(quoted[0].url)
    publisher = site_name(quoted[0], ledger)
    is_named = publisher.casefold() in statement.body.casefold()
    kind = source.kind if source else "unknown"
    called = "" if kind in _NO_KINDS else words[f"kind_{kind}"]
    if called.casefold() in publisher.casefold():
        called = ""
    told = (
        "" if is_named else escape_markdown(publisher),
        called,
        words.date(days[0][:precision]) if days and days[0] not in statement.body else "",
    )
    return ", ".join(filter(None, told))
