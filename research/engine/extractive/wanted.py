"""What kind of thing answers a question, and whether a sentence holds it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from research.engine import features
from research.engine.extractive.interrogatives import Kind
from research.engine.extractive.question import Asked
from research.engine.extractive.signs import (
    asks_price,
    opposes,
    people,
    tells_price,
    tells_where,
    tells_why,
)
from research.engine.text import STOP_WORDS, term_set, terms, tokens

_IDENTIFIER = re.compile(
    r"(?<!\w)\w+_\w+|(?<!\w)\w+\(\)|--?[a-z][\w-]+|\b[a-z]+[A-Z]\w*|\b[A-Z]{3,}\b|\b\w+\.\w+\b|\\\w+"
    r"|\b[A-Z][a-z]+[A-Z]\w+|%\w+"
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|tall|big|large|high|often|fast|deep|heavy|close|fine)\b"
    r"|\blimit|\bmost\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\bhow (?:many|much)\s+(?P<rest>.+)", re.IGNORECASE)
NEAR_ITS_NUMBER = 4
RIGHT_BEFORE = 2
_COMPOUND = re.compile(r"[\w]-[^\W\d]")
_ASKS_DEFAULT = re.compile(
    r"\bdefault|\bunless\b|\bout of the box|\bfresh|\bleave (?:it|the)\b|\bno \w+ given"
    r"|\bif i (?:don't|do not|change nothing|leave|give no)|\bwithout (?:saying|telling)"
    r"|\b(?:give|name|say|pass|set)s? (?:no|none|nothing)\b"
    r"|\b(?:don't|do not) (?:say|name|pass|choose|set|give|pick|specify)\b",
    re.IGNORECASE,
)
_DEFAULT = re.compile(
    r"\bdefaults?\b|\bunless\b|\bomitted\b|\bunspecified\b|\bif (?:it is )?not\b"
    r"|\bnot (?:specified|given|provided|set|supplied)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\bwhen (?:did|was|were)\b|\b(?:what|which) \w+\b"
    r"|\bwann (?:wurden?|waren?|hatten?|begann|starb|entstand)|\bquand (?:a|ont|fut|était|furent)\b"
    r"|\bcuándo (?:fue|se|nació|murió)\b|\bquando (?:è stat|fu|foi|nacque|morì|nasceu|morreu)"
    r"|\bwanneer (?:werd|was)\b|\b(?:welche\w*|quel\w*|qué|che|que|welke?) \w+\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:when|whenever|if|once|after|before|until|unless|while|as soon as|only|every|each|wenn"
    r"|sobald|nachdem|bevor|falls|jede[rsn]?|quand|lorsque|dès|après|avant|chaque|cuando|después"
    r"|antes|cada|quando|dopo|prima|depois|wanneer|zodra|nadat|voordat|elke?)\b",
    re.IGNORECASE,
)

_ASKS_OUTCOME = re.compile(
    r"\bwhat (?:if|happens|becomes|trouble|does|do)\b|\bif i\b|\bdoes\b|\bwill\b", re.IGNORECASE
)
_IF = re.compile(r"\b(?:if|when|unless|otherwise|whenever|in case|once)\b", re.IGNORECASE)

_DEFINES = re.compile(
    r"\b(?:(?:is|are|was|were) (?:an?|the|one|any|used|called|known)|means|refers? to"
    r"|stands? for)\b"
)
OPENING = 100
LONGEST_SUBJECT = 4
"""Words before the verb beside those of the term that is defined."""
SHORT_QUESTION = 3
_VERSION_NOTE = re.compile(
    r"^(?:new|added|changed|deprecated|removed) (?:in|since)\b", re.IGNORECASE
)


@dataclass(frozen=True)
class Need:
    """What a sub-question asks for: its terms and the kinds of thing that answer it."""

    text: str
    kind: Kind
    terms: tuple[str, ...]
    names: frozenset[str]
    asks_number: bool
    asks_default: bool
    asks_outcome: bool

    @classmethod
    def of(cls, asked: Asked) -> Need:
        return cls(
            text=asked.text,
            kind=asked.kind,
            terms=asked.terms,
            names=frozenset().union(
                *(term_set(name) for name in (*asked.names, *_IDENTIFIER.findall(asked.text)))
            ),
            asks_number=bool(_ASKS_NUMBER.search(asked.text)),
            asks_default=bool(_ASKS_DEFAULT.search(asked.text)),
            asks_outcome=bool(_ASKS_OUTCOME.search(asked.text)),
        )

    @property
    def known(self) -> frozenset[str]:
        return frozenset(self.terms)


@dataclass(frozen=True)
class Holds:
    """What a sentence holds that may answer some kind of question."""

    people: tuple[frozenset[str], ...]
    number: bool
    date: bool
    default: bool
    condition: bool


@lru_cache(maxsize=20_000)
def holds(text: str) -> Holds:
    return Holds(
        people=tuple(term_set(name) for name in people(text)),
        number=bool(features.numbers(text)),
        date=bool(features.dates(text)),
        default=bool(_DEFAULT.search(text)),
        condition=bool(_IF.search(text)),
    )


@dataclass(frozen=True)
class Brought:
    """Which kinds of thing a passage brings that the question asks for."""

    number: bool
    counted: bool
    default: bool
    condition: bool


def brings_kind(text: str, need: Need) -> Brought:
    """What of that which the question asks for a passage holds."""
    held = holds(text)
    return Brought(
        number=need.asks_number and held.number,
        counted=held.number and _gives_count(text, counted(need.text)),
        default=need.asks_default and held.default,
        condition=need.asks_outcome and held.condition,
    )


def defines(text: str, need: Need) -> bool:
    """Whether a passage opens by saying what the one thing asked for is."""
    if need.kind != "what" or len(need.terms) > SHORT_QUESTION:
        return False
    found = _DEFINES.search(text, 0, OPENING)
    subject = text[: found.start()] if found else ""
    short = len(tokens(subject)) <= len(need.terms) + LONGEST_SUBJECT
    return found is not None and short and need.known <= term_set(subject)


def is_version_note(text: str) -> bool:
    """Whether a passage says since when something is so, rather than what is."""
    return _VERSION_NOTE.search(text) is not None


def decides(text: str, need: Need) -> bool:
    """Whether a short answer may rest on it: a date for "when", a number near what is counted
    for "how many", a name for "who", a reason for "why", a place for "where", an amount for a
    price, two of its words for a comparison; other kinds have no such sign. Nothing rests on
    what is said of the last where the first is asked for."""
    if opposes(text, need.text) or (asks_price(need.text) and not tells_price(text)):
        return False
    held = holds(text)
    if need.kind == "how_many":
        return held.number and counts(text, counted(need.text))
    if need.kind == "when":
        return tells_when(text, need.text)
    if need.kind == "who":
        return any(not name & need.known for name in held.people)
    if need.kind == "why":
        return tells_why(text, need.text)
    if need.kind == "where":
        return tells_where(text, need.text, need.known)
    if need.kind == "comparison":
        return len(term_set(text) & need.known) > 1
    return True


def counted(asked: str) -> frozenset[str]:
    """The terms of what a "how many" question counts; none for "how long" and the like."""
    match = _COUNTED.search(asked)
    words = tokens(match["rest"]) if match else []
    return frozenset(
        term
        for word in takewhile(lambda word: word.lower() not in STOP_WORDS, words)
        for term in terms(word)
    )


def counts(text: str, things: frozenset[str]) -> bool:
    """Whether a number stands within a few words of one of the things, if there are any.

    One in a compound ("zero-column", "64-bit") counts nothing, nor does "one" ("at least one").
    """
    words = tokens(text)
    numbers = [at for at, word in enumerate(words) if features.numbers(word) and _tells(word)]
    return not things or any(
        things & term_set(" ".join(words[max(0, at - NEAR_ITS_NUMBER) : at + NEAR_ITS_NUMBER + 1]))
        for at in numbers
    )


def _gives_count(text: str, things: frozenset[str]) -> bool:
    """Whether a number stands right before one of the things; that of a version does not count."""
    if is_version_note(text):
        return False
    words = tokens(text)
    return any(
        things & term_set(" ".join(words[at + 1 : at + RIGHT_BEFORE + 1]))
        for at, word in enumerate(words)
        if features.numbers(word) and _tells(word)
    )


def _tells(number: str) -> bool:
    return number.lower() != "one" and not _COMPOUND.search(number)


def tells_when(text: str, asked: str) -> bool:
    """Whether a text holds a date or, where nothing past is asked for, a condition."""
    happened = _PAST.search(asked) is not None
    return bool(features.dates(text)) or (not happened and bool(_CONDITION.search(text)))
