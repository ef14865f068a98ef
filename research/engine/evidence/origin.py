"""The site or collection that (nearly) all evidence of a run comes from.

Then that each statement rests on one site is true of the whole report, so it is said once. Titles
of the pages of one site are told without what they have in common.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

LEAST_RECORDS, LEAST_SHARE = 5, 0.9
"""Fewest records, and the share of them, that have a lone origin."""
_FILE = "file:///"
LEAST_PAGES, LEAST_COMMON = 3, 2 / 3
"""Fewest pages of a site, and the share of them, that have a part of their titles in common."""
_SEPARATOR = re.compile(r"(\s(?:[—–|·»›]|-|::)\s|:\s)")


def origin_of(independence_key: str) -> str:
    """Return the site of an independent source, of a document its collection as `file:///NAME`."""
    if not independence_key.startswith(_FILE):
        return independence_key
    return _FILE + independence_key.removeprefix(_FILE).partition("/")[0]


def is_collection(origin: str) -> bool:
    return origin.startswith(_FILE)


def collection_name(origin: str) -> str:
    return unquote(origin.removeprefix(_FILE))


def lone_origin(records: Iterable[Collection[str]]) -> str:
    """Return the one origin that at least nine in ten records rest on alone, given as their
    independence keys; "" if there is none.
    """
    found = [{*map(origin_of, keys)} for keys in records]
    counts = Counter(origin for origins in found if len(origins) == 1 for origin in origins)
    if len(found) < LEAST_RECORDS or not counts:
        return ""
    [(origin, most)] = counts.most_common(1)
    return origin if most >= LEAST_SHARE * len(found) else ""


@dataclass(frozen=True)
class ShortTitles:
    """Titles by address, and the longest part that was cut from most of them."""

    titles: Mapping[str, str]
    common: str = ""


def shorten_titles(titles: Mapping[str, str], site: str = "") -> ShortTitles:
    """Return the titles of the pages of one site without the parts at their beginning and end that
    most of them have in common, or that name the `site`: "25.1 Vacuuming" of "PostgreSQL 15: 25.1
    Vacuuming — PostgreSQL 15". Titles that differ stay different.
    """
    parts = {url: _SEPARATOR.split(title) for url, title in titles.items()}
    cut = Counter[str]()
    while True:
        shortened = _without_common(parts, site, 0, cut) or _without_common(parts, site, -1, cut)
        if not shortened:
            break
        parts = shortened
    common = max((part for part, n in cut.items() if 2 * n > len(titles)), key=len, default="")
    return ShortTitles({url: "".join(each) for url, each in parts.items()}, common)


def _without_common(
    parts: Mapping[str, list[str]], site: str, end: int, cut: Counter[str]
) -> dict[str, list[str]] | None:
    """Return the titles without a part at one end, 0 or -1, counting it in `cut`; None where they
    have none that may go.
    """
    ends = Counter(each[end].casefold() for each in parts.values())
    known = {site.casefold()}
    for part, count in ends.most_common(1):
        if count >= max(LEAST_PAGES, LEAST_COMMON * len(parts)):
            known.add(part)
    kept = slice(2, None) if end == 0 else slice(None, -2)
    shortened = {
        url: each[kept] if len(each) > 1 and each[end].casefold() in known else each
        for url, each in parts.items()
    }
    if shortened == parts or _count(shortened) < _count(parts):
        return None
    cut.update(each[end] for url, each in parts.items() if shortened[url] != each)
    return shortened


def _count(parts: Mapping[str, list[str]]) -> int:
    return len({tuple(each) for each in parts.values()})
