"""Points of a sentence for looking like an instruction to a program that reports on its page.

The points were fitted by logistic regression to orders and to honest text (manuals, encyclopedia
articles, news) and rounded to halves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from research.engine.text.folding import folded
from research.engine.untrusted.addresses import addresses_in, without_mailboxes
from research.engine.untrusted.order_words import OrderWords, order_words

_KIND_POINTS: Mapping[str, float] = {
    "writer": 0.5, "drop": 1.0, "say": 0.5, "act": 1.0, "output": 1.5, "task": 1.5, "must": 1.0,
}  # fmt: skip
_PAIR_POINTS: Mapping[tuple[str, str], float] = {
    ("machine", "say"): 1.0,
    ("writer", "output"): 1.5,
    ("say", "output"): 1.0,
    ("act", "task"): 0.5,
}
_SEVERAL_POINTS: Mapping[str, float] = {"task": 3.5, "output": 3.5}
"""For two and more words of a kind."""
OPENING_POINTS = 2.0
ADDRESS_POINTS = 3.5
QUOTED_POINTS = 0.5
LONG_POINTS = -2.0
LONG_CHARACTERS = 300
_VERBS = frozenset({"drop", "say", "cite", "act"})
_CLAUSE_START = re.compile(
    r"(?:^|[.!?:;,。！？：；，、“«「『(\-–—>\]|\t]\s*|\b(?:please|and|then|now|und|bitte|nun|et|puis|y|e|и|و)\s+)"
)
_QUOTED = re.compile(r"[“«「『\"„][^”»」』\"“]{3,400}[”»」』\"“]")
"""Such as “nothing was found”."""


def order_points(text: str, asked: str = "") -> float:
    """Return the points of a sentence; words of the question `asked` don't count."""
    return max((part for _, part in _points(text, asked)), default=0.0)


@lru_cache(maxsize=8_000)
def _points(text: str, asked: str) -> tuple[tuple[str, float], ...]:
    plain = folded(text)
    found = order_words(plain)
    if not found:
        return ()
    beside = LONG_POINTS * (len(plain) > LONG_CHARACTERS)
    beside += QUOTED_POINTS * bool(_QUOTED.search(text))
    beside += ADDRESS_POINTS * bool(addresses_in(without_mailboxes(text)))
    starts = {match.end() for match in _CLAUSE_START.finditer(plain)}
    used = order_words(folded(asked))
    return tuple(
        (language, beside + _of_language(held, starts, used.get(language)))
        for language, held in found.items()
    )


def _has_both(kinds: Mapping[str, frozenset[str]], one: str, other: str) -> bool:
    """Return whether words of both kinds occur, not only one word of both kinds."""
    return one in kinds and other in kinds and len(kinds[one] | kinds[other]) > 1


def _of_language(held: OrderWords, starts: set[int], used: OrderWords | None) -> float:
    known = frozenset[str]().union(*used.by_kind.values()) if used else frozenset()
    kinds = {kind: words - known for kind, words in held.by_kind.items() if words - known}
    points = sum(_KIND_POINTS.get(kind, 0.0) for kind in kinds)
    points += sum(each for pair, each in _PAIR_POINTS.items() if _has_both(kinds, *pair))
    points += sum(p for kind, p in _SEVERAL_POINTS.items() if len(kinds.get(kind, ())) > 1)
    opens = any(held.starts[at] & _VERBS & kinds.keys() for at in starts & held.starts.keys())
    return points + OPENING_POINTS * opens
