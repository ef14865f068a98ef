"""The site or collection that (nearly) all evidence of a run comes from.

Then that each statement rests on one site is true of the whole report, so it is said once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from urllib.parse import unquote

LEAST_RECORDS, LEAST_SHARE = 5, 0.9
"""Fewest records, and the share of them, that have a lone origin."""
_FILE = "file:///"


def origin_of(independence_key: str) -> str:
    """Return the site of an independent source, of a document its collection as `file:///NAME`."""
    if not independence_key.startswith(_FILE):
        return independence_key
    return _FILE + independence_key.removeprefix(_FILE).partition("/")[0]


def work_of(url: str) -> str:
    """Return the work that a document is part of: its first folder in its collection, such as that
    of one of several manuals, or the collection; other addresses as `origin_of` does.
    """
    if not is_collection(url):
        return origin_of(url)
    name, _, path = url.removeprefix(_FILE).partition("/")
    folder, _, file = path.partition("/")
    return f"{_FILE}{name}/{folder}" if file else f"{_FILE}{name}"


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
