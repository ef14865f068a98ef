"""Titles of the pages of one site, without what most of them have in common."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

LEAST_PAGES, LEAST_COMMON = 3, 2 / 3
"""Fewest pages of a site, and the share of them, that have a part of their titles in common."""
_SEPARATOR = re.compile(r"(\s(?:[—–|·»›]|-|::)\s|:\s)")


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
