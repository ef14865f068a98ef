"""Adversarial inputs for a regular expression, derived from its own parts, to detect ReDoS.

For each repetition there are texts that match up to the repetition, go on with characters it
accepts, and then fail: super-linear backtracking shows there.
"""

from __future__ import annotations

import gc
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

ALPHABET = " a1,A\n.\"-_(\t;:'!?)[]<>{}/\\#*|=&@%$+~`^—…“”«•zZ09éЖ漢的あ한"
BREAK = "\x00"
SAMPLES = 6
UNITS = (
    " ", "a", "1", ",", '"', "(", "[", "<", "\n", "-", "_", ".", "a ", "a, ", "1,", "[a", "(a ",
    "<a ", "' ", "A ", "a.", ". ", "\\", "*", "`", "|", "&a", "{", "x_", "漢", "E1, ",
)  # fmt: skip
FEW, MANY = 2_000, 16_000
SURELY_FAST_SECONDS = 0.002
"""For twice the initial length: quadratic patterns take ten times as long."""
FAST_SECONDS = 0.02
MOST_GROWTH = 3.0 * MANY / FEW
TOO_LONG_SECONDS = 0.3
ENDLESS_SECONDS = 3.0
SURE_GROWTH = 2 * MOST_GROWTH
"""Seconds, and growth, after which a measurement is not repeated."""
EXPONENTIAL = range(16, 34, 2)
"""Numbers of characters: an exponential pattern takes too long at one of them on any machine."""
MOST_ATTACKS = 60

Match = Callable[[str], object]


@dataclass(frozen=True)
class Attack:
    """An input: `start`, then `unit` repeated, then `end`."""

    start: str
    unit: str
    end: str

    def text(self, length: int) -> str:
        return self.start + self.unit * (length // len(self.unit)) + self.end


def attacks(pattern: str, flags: int = 0) -> list[Attack]:
    """Return inputs that may be slow: from the pattern's repetitions, then generic units."""
    parsed = list(re._parser.parse(pattern, flags))  # type: ignore[attr-defined]
    found: list[tuple[str, str]] = []
    for start, unit in _repeated(parsed, [""]):
        found += [(start, unit), ("", start + unit), ("", unit + start), ("", unit)]
    own = list(dict.fromkeys((start, unit) for start, unit in found if unit))[:MOST_ATTACKS]
    tried = dict.fromkeys([*own, *(("", unit) for unit in UNITS)])
    return [Attack(start, unit, BREAK) for start, unit in tried]


def _repeated(nodes: Iterable[Any], starts: list[str]) -> Iterator[tuple[str, str]]:
    """Return (prefix, repeated item) for each unbounded repetition, including nested ones."""
    for kind, value in nodes:
        name = str(kind)
        if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            if value[1] > 20:
                yield from product(starts[:2], _samples(value[2]))
            yield from _repeated(value[2], starts)
        elif name == "SUBPATTERN":
            yield from _repeated(value[3], starts)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from _repeated(branch, starts)
        elif name in {"ASSERT", "ASSERT_NOT"}:
            yield from _repeated(value[1], starts)
        elif name == "ATOMIC_GROUP":
            yield from _repeated(value, starts)
        starts = _cut(one + more for one in starts for more in _sample(name, value))


def _samples(nodes: Iterable[Any]) -> list[str]:
    """Return a few texts that a sequence matches."""
    found = [""]
    for kind, value in nodes:
        found = _cut(one + more for one in found for more in _sample(str(kind), value))
    return found


def _cut(texts: Iterable[str]) -> list[str]:
    found: dict[str, None] = {}
    for text in texts:
        found[text] = None
        if len(found) == SAMPLES:
            break  # a branch may have hundreds of words
    return list(found)


def _sample(name: str, value: Any) -> list[str]:
    if name == "LITERAL":
        return [chr(value)]
    if name == "NOT_LITERAL":
        return [char for char in ALPHABET if ord(char) != value][:SAMPLES]
    if name == "ANY":
        return ["a", " ", "."]
    if name == "IN":
        return _cut(char for char in ALPHABET if _holds(value, char)) or [_first(value)]
    if name == "BRANCH":
        return _cut(text for branch in value[1] for text in _samples(branch))
    if name == "SUBPATTERN":
        return _samples(value[3])
    if name == "ATOMIC_GROUP":
        return _samples(value)
    if name in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
        return _cut(text * max(value[0], 1) for text in _samples(value[2]))
    return [""]


def _holds(members: Iterable[Any], char: str) -> bool:
    members = list(members)
    negated = bool(members) and str(members[0][0]) == "NEGATE"
    return negated != any(_is(str(kind), value, char) for kind, value in members[negated:])


def _is(kind: str, value: Any, char: str) -> bool:
    if kind == "LITERAL":
        return ord(char) == value
    if kind == "RANGE":
        return bool(value[0] <= ord(char) <= value[1])
    category = str(value).removeprefix("CATEGORY_")
    plain = {
        "SPACE": char.isspace(),
        "DIGIT": char.isdigit(),
        "WORD": char.isalnum() or char == "_",
    }
    return plain.get(category, not plain.get(category.removeprefix("NOT_"), False))


def _first(members: Iterable[Any]) -> str:
    """Return the first character of a set without any character of the alphabet."""
    values = (value for _, value in members if value is not None)
    value = next(values)
    return chr(value[0] if isinstance(value, tuple) else value)


# --- how it grows ---------------------------------------------------------------------------


def growth(match: Match, attack: Attack) -> str:
    """Return '' if matching is linear on this attack, else the measured times.

    CPU time of this thread counts, the best of several measurements, so that a busy machine has
    little influence. Short times always pass.
    """
    with collector_off():
        return _growth(match, attack)


def _growth(match: Match, attack: Attack) -> str:
    for length in (*EXPONENTIAL, FEW // 4):
        if (took := seconds(match, attack.text(length))) > TOO_LONG_SECONDS:
            return f"{took:.1f} s for {length} characters"
    twice = attack.text(FEW * 2)
    if any(seconds(match, twice) < SURELY_FAST_SECONDS for _ in range(2)):
        return ""
    for _ in range(3):
        many = seconds(match, attack.text(MANY))
        few = seconds(match, attack.text(FEW), 4)
        if many < FAST_SECONDS or many <= MOST_GROWTH * few:
            return ""
        if many > ENDLESS_SECONDS or many > SURE_GROWTH * few:
            break
    return f"{few * 1000:.2f} ms for {FEW} characters, {many * 1000:.0f} ms for {MANY}"


def seconds(match: Match, text: str, again: int = 0) -> float:
    """Return the best CPU time of this thread."""
    best = float("inf")
    for _ in range(1 + again):
        began = time.thread_time()
        match(text)
        best = min(best, time.thread_time() - began)
    return best


@contextmanager
def collector_off() -> Iterator[None]:
    """Disable the garbage collector: collecting the garbage of other tests may take 0.3 s."""
    gc.collect(0)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
