"""The line on trust: what a report rests on, how that was checked, and what no page says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from research.engine.assessment.answer_status import is_judged_by_code, supporting
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.titles import shorten_titles
from research.engine.journal.forms import Form
from research.engine.report.parts.dating import DAY, MONTH, YEAR
from research.engine.report.rendering.markdown_escape import escape_markdown
from research.engine.report.rendering.markers import Markers
from research.engine.report.report_i18n import Labels

MOST_WORKS, LONGEST_TITLE = 3, 80
"""Works that are named, those with most quotes, and characters of each name."""
_FILE = "file:"


def render_trust(marks: Markers, concluded: int) -> str:
    """Return the line, with a sentence on conclusions if there are any; "" before `Form.EDITED`,
    and where nothing was found that may answer.
    """
    ledger, words = marks.ledger, marks.words
    is_close = is_judged_by_code(ledger) and not supporting(ledger)
    if ledger.began < Form.EDITED or is_close or not marks.quoted:
        return ""
    is_own = all(url.startswith(_FILE) for url in marks.urls)
    works = _name_works(marks)
    told = [words["rests_on_own" if is_own else "rests_on"].format(works=works)]
    told += [words["concludes"].format(mark=words["concluded"])] if concluded else []
    return f"*{' '.join(told)}*"


def _name_works(marks: Markers) -> str:
    """Return the main works, documents with their dates, and how many more there are."""
    ledger, words = marks.ledger, marks.words
    names = _works(ledger, marks.urls)
    quotes = Counter(names[url] for _, url in marks.quoted)
    works = [work for work, _ in quotes.most_common()]
    pages: dict[str, list[str]] = {}
    for url, work in names.items():
        pages.setdefault(work, []).append(url)
    told = []
    for work in works[:MOST_WORKS]:
        name = escape_markdown(_shortened(work))
        if pages[work][0].startswith(_FILE):
            date = _date_of(work, pages[work], ledger, words, marks.layout.today)
            name = f"“{name}”" + (f" ({date})" if date else "")
        told.append(name)
    shown, more = ", ".join(told), len(works) - MOST_WORKS
    if more <= 0:
        return shown
    noun = "and_titles" if any(url.startswith(_FILE) for url in names) else "and_sites"
    return words.count(noun, more, names=shown)


def _works(ledger: Ledger, cited: Iterable[str]) -> Mapping[str, str]:
    """Return the work that each cited page is part of: its site, or the book of a document, what
    most titles beside it have in common, or its own title.
    """
    titles: dict[str, dict[str, str]] = {}
    for source in ledger.sources.values():
        if source.title and source.url.startswith(_FILE):
            titles.setdefault(source.domain, {})[source.url] = source.title
    common = {domain: shorten_titles(each).common for domain, each in titles.items()}
    named = {}
    for source in map(ledger.sources.__getitem__, sorted(cited)):
        page = ledger.pages.get(source.url)
        is_file = source.url.startswith(_FILE)
        part = common.get(source.domain, "")
        own = (part if part in source.title else "") or source.title if is_file else ""
        named[source.url] = (page.site if page else "") or own or source.domain
    return named


def _date_of(work: str, urls: Iterable[str], ledger: Ledger, words: Labels, today: str) -> str:
    """Return the month of the pages of a work, of several the years; "" where none is known, or
    the name of the work has it.
    """
    dates = ((ledger.sources[url].published or "")[:DAY] for url in urls)
    months = sorted({day[:MONTH] for day in dates if day and (not today or day <= today)})
    years = list(dict.fromkeys(month[:YEAR] for month in (*months[:1], *months[-1:])))
    if any(year in work for year in years):
        return ""
    return words.date(months[0]) if len(months) == 1 else "–".join(years)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_TITLE else f"{name[:LONGEST_TITLE].rstrip()}…"
