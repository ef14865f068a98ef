"""The forms of fact sentences: how pages state a fact, and how it is parsed.

The oracle knows these forms, but no name, number or fact of any world.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import cache
from typing import Literal

Kind = Literal["value", "authority", "link", "end"]

TYPES = (
    *("Institute", "Observatory", "Foundry", "Works", "Mill", "Guild", "Harbour", "Archive"),
    *("Company", "Nursery", "Lyceum", "Dockyard"),
)
MEASURES = ("depth", "span", "yield", "tonnage", "pitch", "quota", "tariff", "girth")
EMBLEMS = ("emblem", "alloy", "resin", "cipher")
UNITS = ("ells", "drams", "fathoms", "leagues", "crates", "bushels")
RELATIONS = ("guarantor", "licensor", "overseer", "patron", "assayer", "trustee")

FORMS: dict[Kind, tuple[str, ...]] = {
    "value": (
        "The {attribute} of the {subject} is {value}.",
        "At the {subject}, the {attribute} comes to {value}.",
        "For the {subject}, the clerks put the {attribute} at {value}.",
        "Records of the {subject} give {value} as the {attribute}.",
        "The keepers of the {subject} state its {attribute} as {value}.",
        "The {subject} enters {value} under the heading of {attribute}.",
    ),
    "authority": (
        "The {attribute} of the {subject} rests on the {other} survey, filed as {entry}.",
        "It was the {other} survey, file {entry}, that settled the {attribute} of the {subject}.",
        "In file {entry}, the {other} survey vouches for the {attribute} of the {subject}.",
        "The {subject} owes its {attribute} to the {other} survey, kept as file {entry}.",
    ),
    "link": (
        "The {attribute} of the {subject} is the {other}, under entry {entry}.",
        "Under entry {entry}, the {subject} names the {other} as its {attribute}.",
        "The {other} serves the {subject} as its {attribute} (entry {entry}).",
        "As its {attribute} the {subject} lists the {other}, entry {entry}.",
    ),
    "end": (
        "The {subject} is its own {attribute}, under entry {entry}.",
        "Under entry {entry}, the {subject} acts as {attribute} to itself.",
        "The {subject} lists itself as its {attribute}, entry {entry}.",
        "As {attribute} of the {subject}, entry {entry} has the {subject} itself.",
    ),
}
CLAIMS: dict[Kind, str] = {
    "value": "The {subject} shows {value} for its {attribute}.",
    "authority": "The {other} survey (file {entry}) stands behind the {attribute} of the "
    "{subject}.",
    "link": "The {other} is {attribute} to the {subject}, entry {entry}.",
    "end": "With the {subject} the line of each {attribute} ends at its own seal, entry {entry}.",
}
OPENINGS = (
    "",
    "According to the {word} roll, ",
    "By the {word} almanac, ",
    "As the {word} register has it, ",
    "In the words of the {word} papers, ",
)
_TYPE, _RELATION = "|".join(TYPES), "|".join(RELATIONS)
SUBJECT = rf"[A-Z][a-z]+ (?:{_TYPE})"
ATTRIBUTE = rf"[a-z]+ (?:{'|'.join((*MEASURES, *EMBLEMS))})"
_SLOTS = {
    "subject": SUBJECT,
    "attribute": ATTRIBUTE,
    "value": rf"\d{{7}} (?:{'|'.join(UNITS)})|[A-Z][a-z]+",
    "other": "[A-Z][a-z]+",
    "entry": r"\d{7}",
    "word": "[a-z]+",
}
_OF_LINKS = {"attribute": _RELATION, "other": SUBJECT}


@dataclass(frozen=True)
class Statement:
    """The content of a fact sentence. `attribute` is the relation in `link` and `end`."""

    kind: Kind
    subject: str
    attribute: str
    value: str = ""
    other: str = ""
    entry: str = ""

    @property
    def code(self) -> str:
        """Return the string that identifies the fact: its number, or its name if it has none."""
        return self.entry or self.value.split()[0]

    def worded(self, form: str) -> str:
        return form.format(**vars(self))

    def claim(self) -> str:
        """Return the fact in the oracle's wording, which no page uses."""
        return self.worded(CLAIMS[self.kind])


def wordings(statement: Statement, rng: random.Random, words: list[str]) -> list[str]:
    """Return all ways to state a fact, shuffled; `words` fill the openings."""
    found = []
    for form in FORMS[statement.kind]:
        for opening in OPENINGS:
            sentence = statement.worded(form)
            if opening:
                named = sentence.startswith(statement.subject)
                rest = sentence if named else sentence[0].lower() + sentence[1:]
                sentence = opening.format(word=rng.choice(words)) + rest
            found.append(sentence)
    rng.shuffle(found)
    return found


def parse(sentence: str) -> Statement | None:
    """Return the fact that a sentence states; None if it has none of the forms."""
    plain = " ".join(sentence.split())
    for kind, pattern in _patterns():
        if match := pattern.fullmatch(plain):
            return Statement(kind, **match.groupdict())
    return None


@cache
def _patterns() -> tuple[tuple[Kind, re.Pattern[str]], ...]:
    openings = "|".join(_pattern(opening, {}) for opening in OPENINGS if opening)
    return tuple(
        (kind, re.compile(f"(?:{openings})?{_either_case(_pattern(form, _slots(kind)))}"))
        for kind in FORMS
        for form in (*FORMS[kind], CLAIMS[kind])
    )


def _slots(kind: Kind) -> dict[str, str]:
    return _OF_LINKS if kind in {"link", "end"} else {}


def _pattern(form: str, slots: dict[str, str]) -> str:
    """Return a form as a regular expression; repeated slots become back-references."""
    parts, seen = re.split(r"\{(\w+)\}", form), set[str]()
    for at in range(1, len(parts), 2):
        name = parts[at]
        again = f"(?P={name})" if name in seen else f"(?P<{name}>{(_SLOTS | slots)[name]})"
        seen.add(name)
        parts[at] = again if name != "word" else f"(?:{_SLOTS[name]})"
    parts[::2] = [re.escape(part) for part in parts[::2]]
    return "".join(parts)


def _either_case(pattern: str) -> str:
    return f"[{pattern[0]}{pattern[0].lower()}]{pattern[1:]}"


# --- what a question asks for ---------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """An attribute or relation of a subject that a text asks for.

    `authority` asks for the survey as well, `line` for the whole chain of relations.
    """

    subject: str
    attribute: str
    authority: bool = False
    line: bool = False

    @property
    def is_relation(self) -> bool:
        return self.attribute in RELATIONS


def calls(text: str) -> list[Call]:
    """Return what a question or topic asks for, in textual order."""
    subjects = list(dict.fromkeys(re.findall(rf"\b{SUBJECT}\b", text)))
    attributes = list(dict.fromkeys(re.findall(rf"\b{ATTRIBUTE}\b", text)))
    relations = list(dict.fromkeys(re.findall(rf"\b({_RELATION})s?\b", text)))
    authority = re.search(r"\bsurveys?\b", text) is not None
    line = re.search(r"\bline of\b", text) is not None
    return [
        *(Call(s, a, authority=authority) for s in subjects for a in attributes),
        *(Call(s, r, line=line) for s in subjects for r in relations),
    ]
