"""Decide by its words alone whether a new turn of a conversation continues the topic.

Rule D13 of `docs/requirements.md`: turns that share a content word have one topic unless the new
one explicitly leaves it; turns that share none don't, unless the new one explicitly continues it or
has one content word in all.
Markers are English; in other languages only shared content words count: German "war" is no war.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from research.engine.text import entities
from research.engine.text.language import ENGLISH, function_words, language_of
from research.engine.text.tokens import normalise_space, term_set, words_in

SHORT = 5
"""Words of a turn that may be understood only with the earlier question."""
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
    """A parsed turn: `question` is its question, worded so that it can be understood alone.

    If the topic changes, it is the turn as typed. `answered_by` are the ids of earlier findings
    that answer all of it; none where more has to be found.
    """

    same_topic: bool
    question: str
    answered_by: tuple[str, ...] = ()


def read_turn(question: str, summary: str, said: str) -> Turn:
    """Parse the turn after `question`, whose research is summarised in `summary` ('' if
    unknown).
    """
    said = normalise_space(said)
    if not _goes_on(question, summary, said):
        return Turn(False, said)
    return Turn(True, _self_standing(normalise_space(question), said))


def _terms_in(text: str, language: str) -> frozenset[str]:
    """Stop words of English are no terms anyway."""
    if language == ENGLISH:
        return term_set(text)
    return term_set(text) - term_set(" ".join(function_words(language)))


def _goes_on(question: str, summary: str, said: str) -> bool:
    """Return whether a turn has no content word ("How so?"), so that its topic can't differ."""
    before, own = f"{question} {summary}", _terms_in(said, language_of(said))
    if _terms_in(before, language_of(question)) & own:
        return not _leaves_topic(before, said)
    return not own or _refers_back(said) or _is_elliptic(said, own)


def _is_elliptic(said: str, own: frozenset[str]) -> bool:
    """Return whether a turn is too short to start a new topic: "How much milk?"."""
    is_short = words_in(said) <= SHORT and len(own) == 1
    return is_short and language_of(said) == ENGLISH and not entities.find_names(said)


def _refers_back(said: str) -> bool:
    """Return whether a marker announces a continuation; German "also" is none."""
    marked = _GOES_ON.search(said) or _REFERS_BACK.search(said)
    return marked is not None and language_of(said) == ENGLISH


def _leaves_topic(before: str, said: str) -> bool:
    """Return whether a marker announces another topic; one of the earlier question is a
    topic word.
    """
    if language_of(said) != ENGLISH:
        return False
    held = before.casefold()
    return any(match.group().casefold() not in held for match in _LEAVES.finditer(said))


def _self_standing(question: str, said: str) -> str:
    """Return the turn with the earlier question's subject in brackets, if the turn omits it."""
    if entities.find_names(said) and not _refers_back(said):
        return said
    held = term_set(said)
    named = [name for name in entities.find_names(question) if term_set(name)]
    missing = [part for part in named or question.split() if term_set(part) - held]
    if not missing:
        return said
    mark = said[-1] if said[-1:] in {"?", "!", "."} else ""
    about = ", ".join(missing) if named else _from_to(question.split(), missing)
    return f"{said.removesuffix(mark)} ({about}){mark}"


def _from_to(words: list[str], missing: list[str]) -> str:
    """Return the words between the first and the last that are missing, so that they read as
    written.
    """
    last = len(words) - words[::-1].index(missing[-1])
    return " ".join(words[words.index(missing[0]) : last]).rstrip("?!. ")
