"""Metadata of a page: title, site name, publication date, language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from research.fetch.sites import domain_of

MAX_TITLE = 300

# "Title | Site", "Title – Site"
_SEPARATOR = re.compile(r"(?<!\s)\s+[|·\u2013\u2014«»:-]{1,2}\s+")
_HEADER_SIGNS = "¶#§🔗 "
_WHOLE = frozenset(("home", "start", "top"))
_NO_BOOKS = frozenset(("", "home", "homepage", "home page", "start", "startseite", "index", "top"))
_PUBLISHED_NAMES = (
    *("article:published_time", "datepublished", "citation_publication_date", "citation_date"),
    *("dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date", "dcterms.date"),
    *("date", "pubdate", "publish-date", "parsely-pub-date", "sailthru.date", "og:published_time"),
)
# '"datePublished": "2024-05-06"'
_JSON_LD_DATE = re.compile(r'"datePublished"\s*:\s*"([^"]{4,40})"')
# "2024", "2024-05", "2024/5/6"
_DAY = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")


@dataclass(frozen=True)
class Metadata:
    title: str = ""
    site: str = ""
    published: str | None = None
    language: str | None = None


def read_metadata(tree: Any, url: str) -> Metadata:
    """Read the metadata from the whole tree, before boilerplate removal."""
    names = _meta(tree)
    title, site = _title_and_site(tree, names, url)
    return Metadata(title[:MAX_TITLE], site, _published(tree, names), _language(tree, names))


def iso_date(written: str) -> str | None:
    """Return a date in ISO 8601 with the precision given, or None if it is not a date."""
    written = written.strip()
    try:
        if len(written) > 10:
            return datetime.fromisoformat(written).isoformat()
    except ValueError:
        pass
    match = _DAY.match(written)
    return _day(*match.groups()) if match else None


def _day(year: str, month: str | None, day: str | None) -> str | None:
    try:
        date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    return "-".join([year, *(part.zfill(2) for part in (month, day) if part)])


def _meta(tree: Any) -> dict[str, str]:
    """Return the `<meta>` values by lower-case name; the first of a name wins."""
    names: dict[str, str] = {}
    for element in tree.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop")
        content = " ".join((element.get("content") or "").split())
        if name and content:
            names.setdefault(name.strip().lower(), content)
    return names


def _title_and_site(tree: Any, names: dict[str, str], url: str) -> tuple[str, str]:
    written = _element_text(next(tree.iter("title"), None))
    heading = _element_text(next(tree.iter("h1"), None)).strip(_HEADER_SIGNS)
    site = names.get("og:site_name") or names.get("application-name") or _book(tree)
    title = written or names.get("og:title", "") or heading
    title = title or _element_text(next(tree.iter("h2", "h3"), None)).strip(_HEADER_SIGNS)
    parts = list(_SEPARATOR.finditer(title))
    if not parts:
        return title, site
    return _split_title(title, parts, (site, heading), url)


def _book(tree: Any) -> str:
    """Return the title of the book whose chapter a page is, as DocBook links it; "" for none."""
    for element in tree.iter("link"):
        relations = {*(element.get("rel") or "").lower().split()}
        title = " ".join((element.get("title") or "").split())
        if relations & _WHOLE and title.casefold() not in _NO_BOOKS:
            return title[:MAX_TITLE]
    return ""


def _split_title(
    title: str, parts: list[re.Match[str]], known: tuple[str, str], url: str
) -> tuple[str, str]:
    """Split "title | site" or "site | title" if one of the two is known."""
    site, heading = known
    for part in parts:
        before, after = title[: part.start()], title[part.end() :]
        if _same(after, site) or _same(before, heading):
            return before, site or after
        if _same(before, site):
            return after, site
    first, last = parts[0], parts[-1]
    if _names(domain_of(url), title[last.end() :]):
        return title[: last.start()], site or title[last.end() :]
    if _names(domain_of(url), title[: first.start()]):
        return title[first.end() :], site or title[: first.start()]
    return title, site


def _same(left: str, right: str) -> bool:
    return bool(right) and _squeezed(left) == _squeezed(right)


def _names(domain: str, words: str) -> bool:
    """Return whether `words` spell the domain: "Stack Overflow", "Example.org"."""
    squeezed = _squeezed(words)
    labels = domain.split(".")
    return len(squeezed) > 2 and (squeezed in labels[:-1] or squeezed == _squeezed(domain))


def _squeezed(words: str) -> str:
    return re.sub(r"[\W_]+", "", words).lower()


def _published(tree: Any, names: dict[str, str]) -> str | None:
    for name in _PUBLISHED_NAMES:
        if name in names and (found := iso_date(names[name])):
            return found
    for script in tree.iter("script"):
        if "ld+json" in (script.get("type") or "") and (found := _in_json(script.text or "")):
            return found
    for element in tree.iter("time"):
        if found := iso_date(element.get("datetime") or _element_text(element)):
            return found
    return None


def _in_json(source: str) -> str | None:
    """Find the date by pattern: JSON-LD of real pages is often invalid JSON."""
    match = _JSON_LD_DATE.search(source)
    return iso_date(match[1]) if match else None


def _language(tree: Any, names: dict[str, str]) -> str | None:
    root = tree if tree.tag == "html" else next(tree.iter("html"), tree)
    written = root.get("lang") or root.get("xml:lang") or names.get("og:locale") or ""
    primary = re.split(r"[-_]", written.strip())[0].lower()
    return primary if re.fullmatch(r"[a-z]{2,3}", primary) else None


def _element_text(element: Any) -> str:
    return "" if element is None else " ".join("".join(element.itertext()).split())
