"""What kind of thing answers a question, and whether a sentence holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from research.engine import features
from research.engine.extractive.question import Asked, Kind
from research.engine.text import term_set

_IDENTIFIER = re.compile(
    r"\w+_\w+|\w+\(\)|--?[a-z][\w-]+|\b[a-z]+[A-Z]\w*|\b[A-Z]{3,}\b|\b\w+\.\w+\b|\\\w+"
    r"|\b[A-Z][a-z]+[A-Z]\w+|%\w+"
)
_THING = re.compile(r"\b(?:which|what)\s+((?:[\w-]+\s+){0,3}?[\w-]+)\b", re.IGNORECASE)
_ASKS_NAME = re.compile(
    r"\b(?:which|what)\s+(?!happens|if|becomes|is|are|was|were|does|do|did)\w+"
    r"|\bhow (?:do|can|would|could|should) (?:i|you|we|one)\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|big|large|high|often|fast|deep|heavy|close|fine)\b"
    r"|\blimit|\bmost\b",
    re.IGNORECASE,
)
_ASKS_DEFAULT = re.compile(
    r"\bdefault|\bunless\b|\bout of the box|\bfresh|\bleave (?:it|the)\b|\bno \w+ given"
    r"|\bif i (?:don't|do not|change nothing|leave|give no)|\bwithout (?:saying|telling)",
    re.IGNORECASE,
)
_DEFAULT = re.compile(
    r"\bdefaults?\b|\bunless\b|\bif (?:it is )?(?:not|omitted|unspecified)\b", re.IGNORECASE
)
_ASKS_REASON = re.compile(r"\bwhy\b|\bwhat causes\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:because|since|so that|in order to|due to|therefore|thus|hence|reason|avoids?|prevents?"
    r"|allows?|otherwise|ensures?|to keep|to make sure|would|cannot|not)\b",
    re.IGNORECASE,
)
_INSTRUCTS = re.compile(
    r"^(?:\w+ly\s)?(?:add|beat|bring|call|choose|combine|cook|cover|create|crack|cut|do|fold|heat"
    r"|install|keep|let|make|melt|mix|open|place|pour|put|remove|repeat|return|run|season|select"
    r"|serve|set|stir|take|turn|use|wait|warm|whisk|write)\b",
    re.IGNORECASE,
)

_PAST = re.compile(r"\bwhen (?:did|was|were)\b|\b(?:what|which) \w+\b", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:when|whenever|if|once|after|before|until|unless|while|as soon as|only|every|each)\b",
    re.IGNORECASE,
)

_IS = re.compile(r"\b(?:is|are|was|were|means|refers to)\b")

NAME = 2.0
NUMBER = 2.0
DEFAULT = 2.0
REASON = 1.0
THING = 1.0
NEW_NAME = 0.7
DEFINITION = 2.0
SHORT_QUESTION = 3
OPENING = 100
FULL = 5.0


@dataclass(frozen=True)
class Need:
    """What a sub-question asks for: its terms and the kinds of thing that answer it."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: frozenset[str]
    thing: frozenset[str]
    asks_name: bool
    asks_number: bool
    asks_default: bool
    asks_reason: bool

    @classmethod
    def of(cls, asked: Asked) -> Need:
        thing = _THING.search(asked.text)
        return cls(
            text=asked.text,
            kind=asked.kind,
            terms=asked.terms,
            names=frozenset().union(
                *(term_set(name) for name in (*asked.names, *_IDENTIFIER.findall(asked.text)))
            ),
            thing=term_set(thing.group(1)) if thing else frozenset(),
            asks_name=bool(_ASKS_NAME.search(asked.text)),
            asks_number=bool(_ASKS_NUMBER.search(asked.text)),
            asks_default=bool(_ASKS_DEFAULT.search(asked.text)),
            asks_reason=bool(_ASKS_REASON.search(asked.text)),
        )

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self.terms)


@dataclass(frozen=True)
class Holds:
    """What a sentence holds that may answer some kind of question."""

    identifiers: tuple[frozenset[str], ...]
    names: tuple[frozenset[str], ...]
    number: bool
    date: bool
    default: bool
    cause: bool


@lru_cache(maxsize=20_000)
def holds(text: str) -> Holds:
    return Holds(
        identifiers=tuple(term_set(found) for found in _IDENTIFIER.findall(text)),
        names=tuple(term_set(name) for name in features.names(text)),
        number=bool(features.numbers(text)),
        date=bool(features.dates(text)),
        default=bool(_DEFAULT.search(text)),
        cause=bool(_CAUSE.search(text)),
    )


def answers_kind(text: str, label: str, words: frozenset[str], need: Need) -> float:
    """0-1: how much of what the kind of question asks for a sentence (or its term) holds."""
    held = holds(text)
    new_name = any(not name & need.known for name in held.identifiers)
    value = NEW_NAME * new_name
    value += NAME * (need.asks_name and (new_name or bool(_IDENTIFIER.search(label))))
    value += NUMBER * (need.asks_number and held.number)
    value += DEFAULT * (need.asks_default and held.default)
    value += REASON * (need.asks_reason and held.cause)
    value += THING * bool(need.thing & words)
    if need.kind in {"who", "where"}:
        value += NAME * any(not name & need.known for name in held.names)
    if need.kind == "when":
        value += NUMBER * held.date
    if need.kind == "what" and len(need.terms) <= SHORT_QUESTION:
        value += DEFINITION * _defines(text, need)
    return min(1.0, value / FULL)


def _defines(text: str, need: Need) -> bool:
    """Whether the question's noun is the subject of an "is" or "means"."""
    found = _IS.search(text, 0, OPENING)
    return found is not None and bool(term_set(text[: found.start()]) & need.known)


def decides(text: str, need: Need) -> bool:
    """Whether a short answer may rest on it: a date for "when", a number for "how many",
    a name for "who", two of its words for a comparison; other kinds have no such sign."""
    held = holds(text)
    if need.kind == "how_many":
        return held.number
    if need.kind == "when":
        return tells_when(text, need.text)
    if need.kind == "who":
        return any(not name & need.known for name in held.names)
    if need.kind == "comparison":
        return len(term_set(text) & need.known) > 1
    return True


def tells_when(text: str, asked: str) -> bool:
    """Whether a text holds a date or, where nothing past is asked for, a condition."""
    happened = _PAST.search(asked) is not None
    return bool(features.dates(text)) or (not happened and bool(_CONDITION.search(text)))


def instructs(text: str) -> bool:
    """Whether a sentence opens by telling what to do."""
    return bool(_INSTRUCTS.search(text))
