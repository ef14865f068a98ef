"""Comparative words, and the side of the comparison on which each of two things is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from research.engine.text.tokens import STOP_WORDS, term_set

_COMPARATIVE = re.compile(
    r"\b(?:more|less|fewer|before|after|than|worse|better|[a-z]{2,}(?<!wat)(?<!oth)(?<!numb)er)\b",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:more|larger|bigger|greater|higher|longer|heavier|taller|wider|deeper|dearer|warmer"
    r"|hotter"
    r"|later|younger|after|stronger|costlier|newer|rose|risen|rise|rises|rising|gr[eo]w\w*|gain\w*"
    r"|increas\w*|climb\w*|went up|gone up|up|expan\w*|doubl\w*|tripl\w*|jump\w*|exceed\w*|extra"
    r"|most"
    r"|longest|largest|biggest|highest|greatest|heaviest|tallest|widest|deepest|latest|youngest"
    r"|maximum|dearest|warmest|hottest|newest)\b",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"\b(?:less|fewer|smaller|lower|shorter|lighter|cheaper|colder|cooler|weaker|earlier|older"
    r"|before"
    r"|narrower|shallower|fell|fall\w*|los[et]\w*|los(?:s|es|ing)|decreas\w*|declin\w*|drop\w*"
    r"|shrank"
    r"|shrink\w*|shrunk|cut|cuts|reduc\w*|went down|gone down|down|halv\w*|sank|fewest|least"
    r"|smallest"
    r"|lowest|shortest|lightest|cheapest|coldest|earliest|oldest|minimum|narrowest|shallowest)\b",
    re.IGNORECASE,
)
_FASTER = re.compile(r"\b(?:faster|quicker|fastest|quickest|ahead of|sooner)\b", re.IGNORECASE)
_SLOWER = re.compile(r"\b(?:slower|slowest|behind)\b", re.IGNORECASE)
_PIVOT = re.compile(  # between the thing that is compared and what it is compared with
    r"\b(?:than|ahead of|behind|before|after|those (?:in|of|at)|that (?:in|of|at)"
    r"|compared (?:with|to)|times (?:the|that|those))\b",
    re.IGNORECASE,
)
_IN_TIME = re.compile(r"\b(before|after)\b", re.IGNORECASE)
_AS = re.compile(r"\bas\b", re.IGNORECASE)
_COUNTS = re.compile(
    r"\b(?:as many|fewer|the most|the fewest) (?P<noun>[^\W\d_]{3,})", re.IGNORECASE
)
_EXTENTS = {
    "height": frozenset(("high", "higher", "highest", "tall", "taller", "tallest", "height")),
    "width": frozenset(("wide", "wider", "widest", "broad", "broader", "width")),
    "length": frozenset(("long", "longer", "longest", "length", "short", "shorter", "shortest")),
    "depth": frozenset(("deep", "deeper", "deepest", "depth", "shallower")),
    "weight": frozenset(("heavy", "heavier", "heaviest", "weighs", "weight", "lighter")),
    "age": frozenset(("older", "younger", "oldest", "youngest", "aged")),
}
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_COUNTED = frozenset(("first", "second", "third", "fourth", "fifth", "last", "new", "old"))


def comparatives(text: str) -> frozenset[str]:
    """Return the words by which a text compares: "more", "faster", "before"."""
    return frozenset(match[0].lower() for match in _COMPARATIVE.finditer(text))


def polarity(text: str, is_time: bool) -> int:
    """Return 1 where a text says more, -1 for less, 0 for neither or both; who is faster takes
    less time.
    """
    more, less = bool(_MORE.search(text)), bool(_LESS.search(text))
    fast, slow = bool(_FASTER.search(text)), bool(_SLOWER.search(text))
    if is_time:
        fast, slow = slow, fast
    return (more or fast) - (less or slow)


def without_comparing(text: str) -> str:
    """Return a text without the words for more and less."""
    for form in (_MORE, _LESS, _FASTER, _SLOWER):
        text = form.sub(" ", text)
    return text


def sides_of(text: str) -> tuple[str, str] | None:
    """Return the text before and after the comparison, if there is one."""
    match = _pivot(text)
    return (text[: match.start()], text[match.end() :]) if match else None


def up_to_comparison(text: str) -> str:
    """Return a text without what follows the comparison."""
    match = _pivot(text)
    return text[: match.end()] if match else text


def told_order(text: str, texts: Sequence[str]) -> list[tuple[int, int]]:
    """Return pairs of several texts, the earlier one first, that a text puts in time by "before"
    and "after": "A came after B and before C"; none where it doesn't name each of them in one
    place, one alone in front. What two equal words join is a chain.
    """
    words = _IN_TIME.split(text)
    parts, pivots = words[::2], [word.lower() for word in words[1::2]]
    placed = list[int]()
    for own in own_words(texts):
        told = [mentions(part, own) for part in parts]
        if max(told) == 0 or told.count(max(told)) > 1:
            return []
        placed.append(told.index(max(told)))
    if placed.count(0) != 1:
        return []
    pairs = list[tuple[int, int]]()
    for one, other in permutations(range(len(texts)), 2):
        at, to = placed[one], placed[other]
        is_chained = 0 < at == to - 1 and pivots[at - 1] == pivots[to - 1]
        if at < to and (at == 0 or is_chained):
            pairs.append((one, other) if pivots[to - 1] == "before" else (other, one))
    return pairs


def _pivot(text: str) -> re.Match[str] | None:
    pair = list(_AS.finditer(text))  # "as many copies as in 2020"
    return pair[1] if len(pair) > 1 else _PIVOT.search(text)


def measures_the_same(text: str, known: str) -> bool:
    """Return whether a text counts ("as many lamps") and measures ("wider") what another does."""
    terms = term_set(known)
    counted = [term_set(match["noun"]) for match in _COUNTS.finditer(text)]
    if any(noun and not noun & terms for noun in counted):
        return False
    own, other = _extents(text), _extents(known)
    return not own or not other or bool(own & other)


def _extents(text: str) -> frozenset[str]:
    """Return the kinds of extent that a text names: "height", "width"."""
    words = {word.lower() for word in _WORD.findall(text)}
    return frozenset(name for name, forms in _EXTENTS.items() if words & forms)


def own_words(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the words, in lower case, that each text has and no other one."""
    words = [frozenset(_plain(text)) for text in texts]
    return [
        mine.difference(*(other for at, other in enumerate(words) if at != place))
        for place, mine in enumerate(words)
    ]


def _plain(text: str) -> Iterator[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return (word for word in words if word not in STOP_WORDS or word in _COUNTED)


def own_names(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the names and numbers among their distinct words."""
    named = [{w.lower() for w in _WORD.findall(text) if not w.islower()} for text in texts]
    return [own & names for own, names in zip(own_words(texts), named, strict=True)]


def mentions(text: str, words: frozenset[str]) -> int:
    """Return how often a text has one of these words."""
    return sum(word.lower() in words for word in _WORD.findall(text))


def compared_first(text: str, texts: Sequence[str]) -> int | None:
    """Return which of two texts is about the thing before the comparison; None where the words
    of neither are on one side alone.
    """
    sides = sides_of(text)
    if sides is None:
        return None
    before, after = sides
    for words in (own_names(texts), own_words(texts)):
        leaning = [mentions(before, own) - mentions(after, own) for own in words]
        if leaning[0] != leaning[1]:
            return 0 if leaning[0] > leaning[1] else 1
    return None
