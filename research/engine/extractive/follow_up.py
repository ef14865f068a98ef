"""Whether a new turn of a conversation goes on with its topic, read off its words alone.

Rule D13 of `docs/requirements.md`: turns that share a word are of one topic unless the new one
says that it leaves it; turns that share none are not, unless the new one says that it goes on.
Markers are English; in other languages only shared words count, and none that
only hold a sentence together: German "war" is no war.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.engine import features
from research.engine.function_words import function_words
from research.engine.languages import ENGLISH, language_of
from research.engine.text import normalise, term_set

_LEAVES = re.compile(
    r"\b(?:instead(?! of)|switch(?:ing)?|different(?! (?:from|than|to)\b)|forget"
    r"|(?:new|another|other) (?:topic|subject|question)|change (?:of|the) (?:topic|subject)"
    r"|unrelated)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\b(?:also|expand|deeper|further|more (?:on|about|details?|depth|sources?|examples?)"
    r"|elaborate|continue|go on|(?:what|how) about|additionally|in addition)\b"
    r"|^(?:and|but|so|then|why)\b",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:its?|they|them|their|theirs|he|him|his|she|hers?|this|that|these|those|there"
    r"|the (?:same|former|latter|above))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Turn:
    """A new turn read: `question` is what it asks, worded so that it can be understood alone.

    Where the topic shifts that is the turn as it was said.
    """

    same_topic: bool
    question: str


def read_turn(question: str, summary: str, said: str) -> Turn:
    """What was `said` after `question`, whose research is told in `summary` ('' if unknown)."""
    said = normalise(said)
    if not _goes_on(question, summary, said):
        return Turn(False, said)
    return Turn(True, _self_standing(normalise(question), said))


def _terms(text: str, language: str) -> frozenset[str]:
    """Stop words of English are no terms anyway."""
    if language == ENGLISH:
        return term_set(text)
    return term_set(text) - term_set(" ".join(function_words(language)))


def _goes_on(question: str, summary: str, said: str) -> bool:
    """A turn without a word of its own ("How so?") has no other topic."""
    before, own = f"{question} {summary}", _terms(said, language_of(said))
    if _terms(before, language_of(question)) & own:
        return not _leaves(before, said)
    return not own or _refers(said)


def _refers(said: str) -> bool:
    """Whether a marker says that it goes on; in German "also" is none."""
    marked = _GOES_ON.search(said) or _REFERS_BACK.search(said)
    return marked is not None and language_of(said) == ENGLISH


def _leaves(before: str, said: str) -> bool:
    """A marker that was said before is a word of the topic, not a marker."""
    if language_of(said) != ENGLISH:
        return False
    held = before.casefold()
    return any(match.group().casefold() not in held for match in _LEAVES.finditer(said))


def _self_standing(question: str, said: str) -> str:
    """The turn; in brackets the earlier question's subject, where the turn leaves it out."""
    if features.names(said) and not _refers(said):
        return said
    held = term_set(said)
    named = [name for name in features.names(question) if term_set(name)]
    missing = [part for part in named or question.split() if term_set(part) - held]
    if not missing:
        return said
    mark = said[-1] if said[-1:] in {"?", "!", "."} else ""
    about = ", ".join(missing) if named else _from_to(question.split(), missing)
    return f"{said.removesuffix(mark)} ({about}){mark}"


def _from_to(words: list[str], missing: list[str]) -> str:
    """The words between the first and the last that are missing, so that they read as written."""
    last = len(words) - words[::-1].index(missing[-1])
    return " ".join(words[words.index(missing[0]) : last]).rstrip("?!. ")
