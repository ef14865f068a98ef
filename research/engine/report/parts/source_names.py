"""Names of sources in their list: what tells the pages of one site apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.origin import origin_of
from research.engine.journal.forms import Form
from research.engine.records import Source
from research.engine.text.titles import shorten_titles


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
            publisher = known.get(page.url) or site or short.common
            names[page.url] = SourceName(title, "" if publisher in told else publisher)
            told |= {publisher} if domain in lone else set()
    return names


def _quoted_sections(ledger: Ledger) -> dict[str, str]:
    """Return the section of the first quote of each page that has one, by address."""
    found: dict[str, str] = {}
    for record in ledger.evidence:
        for source in record.sources:
            if source.section:
                found.setdefault(source.url, source.section)
    return found


def _lone_domains(ledger: Ledger) -> set[str]:
    """Return the domains of the site that (nearly) all evidence is from, or its collection."""
    sources = (source for record in ledger.evidence for source in record.sources)
    lone = ledger.lone_origin
    return {each.domain for each in sources if origin_of(each.independence_key) == lone}
