"""Lines of the list of sources: linked title, site, date, quote; and which of them are shared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from markdown_it.token import Token

from dashboard.markdown.dates import DATE, DATED, date_in_words
from dashboard.markdown.markers import NO_PLACE, FindLink
from dashboard.markdown.parsing import MARKER, html_token, span_token, text_token
from dashboard.words import Site, format_partial_date, readable_url, site_of, without_folder
from research.engine.text.dates import find_dates
from research.fetch.url_policy import AddressRules

QUOTE_LINE = 2
"""Line of a tooltip that has the first quote, behind title and facts."""
LOCAL = re.compile(rf"(?:, ({DATE}))?: <(file:[^<>\s]+)>")  # ": <file:///a/b.md>"

FILE = re.compile(r"<(file:[^<>\s]+)>")
NOT_CITED = re.compile(r"^- (?!\[\d+\] ).*<([^<>\s]+)>.*\n?", re.MULTILINE)
"""A line of a page that is listed, but not cited: "- Oak, trees.test: <https://trees.test/oak>"."""
EMPTY_LIST = re.compile(r"^### .*\n\s*(?=^#|\Z)", re.MULTILINE)


def shareable(markdown: str) -> str:
    """Return a report without the private pages that it lists but doesn't cite, and without the
    folders of the documents that it cites.
    """
    private_hosts = AddressRules(frozenset(settings.FETCH_ALLOW_PRIVATE_HOSTS))

    def keep(line: re.Match[str]) -> str:
        is_private = line[1].startswith("file:") or private_hosts.lists(line[1])
        return "" if is_private else line[0]

    kept = NOT_CITED.sub(keep, markdown)
    if kept != markdown:
        kept = EMPTY_LIST.sub("", kept)
    return FILE.sub(lambda found: f"<{without_folder(found[1])}>", kept)


def without_file_addresses(markdown: str) -> str:
    """Return a report whose list of sources has the titles and dates of documents alone: their
    addresses and collections say nothing outside the installation that read them.
    """
    return "".join(map(_without_file_address, markdown.splitlines(keepends=True)))


def _without_file_address(line: str) -> str:
    found = LOCAL.search(line) if line.startswith("- ") else None
    if found is None:
        return line
    collection, *folders = unquote(urlsplit(found[2]).path).strip("/").split("/")
    named = line[: found.start()]
    for place in ("/".join((collection, *folders[:1])), collection):
        named = named.removesuffix(f", {place}")
    return f"{named}{f', {found[1]}' if found[1] else ''}{line[found.end() :]}"


def link_titles(tokens: list[Token], link: FindLink, site_names: Mapping[str, str]) -> None:
    """Link the title of each source and hide the address at the end of its line.

    A line is "[1] Title, publisher, site, kind, date: <address>". Behind the title it becomes a
    line of facts, with the date in words, and the first quote of a cited source is folded below.
    """
    for token in tokens:
        children = token.children or []
        opens = next((n for n, each in enumerate(children) if _is_address(each)), 0)
        before = "".join(each.content for each in children[:opens])
        if not opens or any(each.nesting for each in children[:opens]):
            continue
        address = str(children[opens].attrs["href"])
        site = (urlsplit(address).hostname or "").removeprefix("www.")
        marker = MARKER.match(before)
        title, named, facts = before[marker.end() if marker else 0 :].rpartition(f", {site}")
        dated = DATED.search(facts)
        if not site or not named or dated is None:
            continue
        target = link(int(marker[1]), NO_PLACE) if marker else None
        note = target.note.split("\n") if target else []
        named_site = site_names.get(address, "")
        title, publisher = _split_publisher(title.strip(), note[0] if note else "", named_site)
        shown = site_of(address, publisher or named_site)
        kinds = filter(None, facts[: dated.start()].split(", "))
        told = [
            format_html(
                '<span class="initial" aria-hidden="true">{}</span>{}',
                shown.name[0].upper(),
                site_in_html(shown),
            ),
            *([_published(dated[1])] if dated[1] else []),
            *(format_html('<span class="kind">{}</span>', kind) for kind in kinds),
        ]
        opening, _, closing, *rest = children[opens:]
        opening.info, opening.attrs = "", {"href": address, "title": readable_url(address)}
        first = children[:1] if marker else []
        for each in first:
            each.content = f"{marker[0]} " if marker else ""
            each.meta["is_listed"] = True
        place = html_token(f'<span class="place">{" · ".join(told)}</span>')
        quote = [html_token(_folded_quote(note[QUOTE_LINE]))] if note[QUOTE_LINE:] else []
        token.children = [*first, opening, text_token(title), closing, place, *quote, *rest]


def _published(day: str) -> str:
    """Return when a page was published, in the reader's language: reports have days in theirs."""
    date = next((each.date for each in find_dates(day) if each.date[0]), ())
    plain = "-".join(f"{part:02}" for part in date if part) or day
    return escape(gettext("published %(date)s") % {"date": format_partial_date(plain)})


def site_in_html(site: Site) -> SafeString | str:
    """Return the name of a site, with its domain behind it in small type."""
    if not site.domain:
        return site.name
    return format_html('{} <span class="domain">{}</span>', site.name, site.domain)


def _split_publisher(text: str, title: str, publisher: str) -> tuple[str, str]:
    """Return title and publisher of "Title, publisher", as far as one of them is known."""
    if publisher and text.endswith(f", {publisher}"):
        return text.removesuffix(f", {publisher}"), publisher
    rest = text[len(title) :]
    if title and text.startswith(title) and rest.startswith(", "):
        return title, rest[2:]
    return text, ""


def _folded_quote(quote: str) -> str:
    return format_html(
        '<details class="quote"><summary>{}</summary><blockquote>{}</blockquote></details>',
        gettext("Quote"),
        quote,
    )


def _is_address(token: Token) -> bool:
    return token.type == "link_open" and token.info == "auto"


def set_documents(tokens: list[Token], link: FindLink) -> None:
    """Show the title of each listed document, its date and path in a line of facts, and the first
    quote of a cited one folded below, as `link_titles` does with pages of the web.
    """
    for token in tokens:
        children = token.children or []
        if any(each.type not in ("text", "text_special") for each in children):
            continue
        line = "".join(each.content for each in children)
        found = LOCAL.search(line)
        if found is None or found.end() != len(line):
            continue
        marker = MARKER.match(line)
        named = line[marker.end() if marker else 0 : found.start()].strip()
        collection = unquote(urlsplit(found[2]).path.split("/")[1])
        title = named.removesuffix(f", {collection}")
        target = link(int(marker[1]), NO_PLACE) if marker else None
        note = target.note.split("\n") if target else []
        first = children[:1] if marker else []
        for each in first:
            each.content = f"{marker[0]} " if marker else ""
            each.meta["is_listed"] = True
        told = [*([_published(found[1])] if found[1] else []), escape(readable_url(found[2]))]
        place = html_token(f'<span class="place">{" · ".join(told)}</span>')
        quote = [html_token(_folded_quote(note[QUOTE_LINE]))] if note[QUOTE_LINE:] else []
        token.children = [*first, span_token("source-title", title), place, *quote]


def shorten_addresses(tokens: list[Token]) -> None:
    """Show bare addresses without scheme and query, and the date before them in words.

    The parser makes no links of the addresses of local files, which no browser would follow.
    """
    for token in tokens:
        children = token.children or []
        for child in children:
            child.content = LOCAL.sub(_local_file, child.content)
        for opening, text in pairwise(children):
            if opening.type == "link_open" and opening.info == "auto":
                opening.attrSet("class", "place")
                text.content = readable_url(str(opening.attrs["href"]))
        for before, opening in pairwise(children):
            if opening.type == "link_open" and opening.info == "auto":
                before.content = DATED.sub(date_in_words, before.content)


def _local_file(found: re.Match[str]) -> str:
    return f"{date_in_words(found)} · {readable_url(found[2])}"
