"""Signs that a passage gives a reason, a place, a person or a price, where one is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from research.engine import features
from research.engine.figures import figures
from research.engine.languages import ENGLISH, language_of
from research.engine.text import terms, tokens

_REASON = re.compile(
    r"\b(?:because|due to|owing to|thanks to|on account of|since(?! (?:\d|then\b|the \d))"
    r"|caus(?:e[ds]?|ing)|reasons?|so that|so as to|in order to|to (?:avoid|prevent|protect|ensure"
    r"|allow|keep|save|reduce|improve)|therefore|thus|hence|consequently|as a result"
    r"|result(?:s|ed|ing)? (?:from|in)|leads? to|led to|why|means that|otherwise|lest|for fear"
    r"|for want of|prevents?|prevented)\b|, (?:as|so|for) \w+",
    re.IGNORECASE,
)
_REASON_ELSEWHERE = re.compile(
    r"\b(?:weil|denn|da|wegen|aufgrund|grund|gründen?|deshalb|deswegen|daher|darum|damit|um"
    r"|parce qu\w*|car|puisqu\w*|en raison|à cause|grâce à|afin|raisons?|pour"
    r"|porque|debido|puesto que|ya que|a causa|por eso|para|raz(?:ón|ones|ão|ões)|motivos?"
    r"|perché|poiché|dovut\w|per|motiv[oi]|pois|devido|por isso"
    r"|omdat|doordat|vanwege|wegens|daarom|zodat|redenen?|om)\b",
    re.IGNORECASE,
)
_IN_A_PLACE = re.compile(
    r"\b(?:under|underneath|beneath|behind|beside|above|below|near|opposite|inside|outside|between"
    r"|along|next to|close to|in front of|(?:north|south|east|west)\w* of"
    r"|(?:is|are|was|were|stands?|stood|lies?|lay|sits?|hangs?|(?:is|are|was|were)(?: \w+ly)?"
    r" (?:located|situated|kept|stored|found|placed|put|mounted|held|written|saved))"
    r" (?:in|on|at))\s+(?:an?|the|its|their|your)\s+[^\W\d]"
    r"|\b(?:in|at|under|to|from)(?: the)?(?: [a-z]+)? (?:~?/\w|[^\W\d]\w*[./]\w)",
    re.IGNORECASE,
)
_BEFORE_A_NAME = re.compile(
    r"\b(?:in|on|at|off|from|to|near|by|under|behind|beside|opposite|outside|between|around|across"
    r"|over|(?:north|south|east|west)\w* of)(?: (?:an?|the))?(?: [a-z]+)?\s+[\"“]?$",
    re.IGNORECASE,
)
_ASKS_PRICE = re.compile(
    r"\bhow much\b(?:(?!\bhow much\b).)*\bcosts?\b|^what (?:do|does|did|will|would)\b.*\bcosts?\b"
    r"|^what(?:'s| is| was| are| were) the (?:\w+ ){0,2}(?:costs?|prices?|fees?|fares?|charges?)\b",
    re.IGNORECASE,
)
_PRICED = re.compile(r"\b(?:cost|price|fee|fare|charge|paid|pay|sold|worth)", re.IGNORECASE)
_FREE = re.compile(
    r"\bfree\b|\b(?:no|without) (?:charge|cost|fee)\b|\bcosts? nothing\b", re.IGNORECASE
)
_MONEY = frozenset("$€£")
_EXCLUSIVE = (
    (("first", "earliest"), ("second",), ("third",), ("last", "final", "latest")),
    (("oldest",), ("youngest", "newest")),
    (("largest", "biggest", "greatest"), ("smallest",)),
    (("highest", "tallest"), ("lowest", "shortest")),
    (("longest",), ("shortest",)),
    (("maximum",), ("minimum",)),
    (("most",), ("least", "fewest")),
    (("best",), ("worst",)),
)
"""Words that a thing can't have at once: what is said of the last one is no answer on the first."""


def people(text: str) -> tuple[str, ...]:
    """Names that may be a person's or a body's: no dates, nothing with a digit."""
    return tuple(n for n in features.fields(text).names if not any(map(str.isdigit, n)))


def tells_why(text: str, asked: str) -> bool:
    """Whether a text gives a reason, as far as a word shows it."""
    sign = _REASON if language_of(asked) == ENGLISH else _REASON_ELSEWHERE
    return sign.search(text) is not None


def tells_where(text: str, asked: str, known: frozenset[str]) -> bool:
    """Whether a text says a place: something beneath or beside a thing, or a name, not one that
    is known, behind a preposition; where a city, a country or the like is asked for, any name.
    It is read off English alone."""
    if language_of(text) != ENGLISH or _IN_A_PLACE.search(text):
        return True
    named = [
        name
        for name in features.fields(text).names
        if not known >= set(terms(name)) and not re.match(rf"{features.MONTH}\b", name)
    ]
    if not re.search(r"\bwhere\b", asked, re.IGNORECASE):
        return bool(named)
    return any(
        _BEFORE_A_NAME.search(text[: match.start()])
        for name in named
        for match in re.finditer(re.escape(name), text)
    )


def asks_price(asked: str) -> bool:
    return _ASKS_PRICE.search(asked) is not None


def tells_price(text: str) -> bool:
    """Whether a text holds an amount that may be one of money, or says that there is none."""
    priced = _PRICED.search(text) is not None
    return _FREE.search(text) is not None or any(
        each.unit in _MONEY or (not each.unit and (priced or not each.noun))
        for each in figures(text).amounts
    )


def opposes(text: str, asked: str) -> bool:
    """Whether a text says of a thing what excludes the question's word on it: "the last keeper"
    where the first one is asked for."""
    said = _ranked(tokens(text))
    return any(
        (rival, thing) in said and not any((same, thing) in said for same in group)
        for word, thing in _ranked(tokens(asked))
        for axis in _EXCLUSIVE
        for group in axis
        if word in group
        for other in axis
        if other is not group
        for rival in other
    )


def _ranked(words: Sequence[str]) -> frozenset[tuple[str, str]]:
    """Each word of `_EXCLUSIVE` with the first term behind it."""
    ranks = {word for axis in _EXCLUSIVE for group in axis for word in group}
    lower = [word.lower() for word in words]
    return frozenset(
        (word, thing)
        for word, following in pairwise(lower)
        if word in ranks
        for thing in terms(following)
    )
