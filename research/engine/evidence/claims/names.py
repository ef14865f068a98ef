"""Compare the names of a claim with those of its quote: unknown names and exchanged ones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import lru_cache

from research.engine.evidence.claims.clauses import (
    clauses_of,
    closest_part,
    parts_of,
    sentences_of,
)
from research.engine.text import entities
from research.engine.text.language import code_of
from research.engine.text.tokens import STOP_WORDS, term_set
from research.engine.text.units import find_unit

SAME_STEM = 4
"""Letters that a country and its people share: Sweden, Swedish."""
SAME_REST = 0.6
"""Share of a claim's other words that its quote has where the one that opens it may be a name."""

_NO_SUBJECT = re.compile(r"(?:ed|ing|ly|s|tion)$")
_ACRONYM = re.compile(r"\b[A-Z][A-Za-z]{0,4}[A-Z]\b")
_INITIAL = re.compile(r"[^\W\d_][\w'’]*")
_MOST_WORDS = 8
_IDENTIFIER = re.compile(r"(?<!\w)[^\W_]+(?:_[^\W_]+)+(?!\w)")


def is_misnamed(claim: str, quote: str, context: str) -> bool:
    """Return whether the claim has a name that neither quote nor context gives, or puts one in
    the place of the quote's own subject.
    """
    return has_foreign_name(claim, quote, context) or _has_another_subject(
        claim, quote, f"{quote} {context}"
    )


def has_foreign_name(claim: str, quote: str, context: str) -> bool:
    """Return whether the claim has a name that neither quote nor context contains."""
    return any(True for _ in foreign_names(claim, quote, context))


def foreign_names(claim: str, quote: str, context: str) -> Iterator[str]:
    """Yield the names of the claim that neither quote nor context contains."""
    allowed = f"{quote} {context}"
    known = _Known(allowed, allowed.casefold(), term_set(allowed) | _expanded(claim, allowed))
    names = (*_names(claim), *_replaced_subject(claim, quote))
    yield from (name for name in names if not known.has(name))


def lent_by_page(claim: str, quote: str, context: str, page: str) -> str:
    """Return the names of a claim that its page has, though neither quote nor context does, and in
    small letters the words that open parts of the quote and that the page has within sentences,
    too: these are no names.
    """
    named = [word.split("'")[0] for n in foreign_names(claim, quote, context) for word in n.split()]
    opening = [word.lower() for part in parts_of(quote) for word in bare_subject(part)]
    return " ".join(word for word in (*named, *opening) if _has_word(page, word))


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def exchanges_identifiers(claim: str, quote: str, context: str) -> bool:
    """Return whether a claim says of an identifier what its quote says of one that contains it, or
    that it contains ("vacuum_age", "autovacuum_age"): it stands in neither quote nor context, or a
    number of its clause stands only in sentences of the quote on the other one.
    """
    quoted = identifiers_in(quote)
    known = quoted | identifiers_in(context)
    for clause in clauses_of(claim):
        told = identifiers_in(clause)
        for name in told:
            like = {other for other in quoted - told if _is_part(name, other)}
            if like and (name not in known or _gives_value_of(clause, name, like, quote)):
                return True
    return False


def identifiers_in(text: str) -> frozenset[str]:
    """Return the words of a text that are joined by underscores (`vacuum_cost_limit`), in lower
    case.
    """
    return frozenset(found.lower() for found in _IDENTIFIER.findall(text))


def _is_part(one: str, other: str) -> bool:
    return one != other and (one in other or other in one)


def _gives_value_of(clause: str, name: str, like: Set[str], quote: str) -> bool:
    """Return whether all sentences with a number of a clause name one of these, not this one."""
    sentences = [(each, identifiers_in(each)) for each in sentences_of(quote)]
    for number in entities.find_numbers(_IDENTIFIER.sub(" ", clause)):
        named = [found for each, found in sentences if number in entities.find_numbers(each)]
        if named and all(name not in found and found & like for found in named):
            return True
    return False


def adds_nothing_to(text: str, known: str, language: str) -> bool:
    """Return whether all names and numbers of a text stand in what is known."""
    if not {*entities.find_numbers(text)} <= {*entities.find_numbers(known)}:
        return False
    return not has_unknown_name(text, known, language)


def has_unknown_name(text: str, known: str, language: str) -> bool:
    """Return whether a text has a name that isn't known. In German, where each noun is written like
    a name, single words of small letters behind a capital are none.
    """
    return any(True for _ in unknown_names(text, known, language))


def unknown_names(text: str, known: str, language: str) -> Iterator[str]:
    """Yield the names of a text that aren't known."""
    named = _without_nouns(text) if code_of(language).partition("-")[0] == "de" else text
    yield from foreign_names(named, known, "")


def _without_nouns(text: str) -> str:
    words = text.split()
    capital = [at > 0 and word.strip("\"“„('")[:1].isupper() for at, word in enumerate(words)]
    return " ".join(
        word.lower() if word[1:].islower() and not (before or behind) else word
        for word, before, behind in zip(
            words, [False, *capital], [*capital[1:], False], strict=False
        )
    )


@dataclass(frozen=True)
class _Known:
    """Names in the quote and its context."""

    text: str
    folded: str
    terms: frozenset[str]

    def has(self, name: str) -> bool:
        """Return whether the name is known as it is, by its acronym, or by each of its words."""
        if name.casefold() in self.folded or _is_abbreviated(name, self.text):
            return True
        return all(self._has_word(word) for word in name.split() if not word.islower())

    def _has_word(self, word: str) -> bool:
        known = word.casefold() in self.folded or term_set(word) <= self.terms
        idle = word.isdigit() or find_unit(word) or entities.MONTH_NAME.fullmatch(word)
        return bool(
            known or idle or _is_abbreviated(word, self.text) or _is_derived(word, self.text)
        )


def _expanded(claim: str, allowed: str) -> frozenset[str]:
    """Return the terms of the claim's words that an acronym of the text abbreviates."""
    acronyms = {found.upper() for found in _ACRONYM.findall(allowed)}
    if not acronyms:
        return frozenset()
    words = _INITIAL.findall(claim)
    runs = (words, [word for word in words if word[0].isupper()])
    found = [
        " ".join(run[at : at + size])
        for run in runs
        for size in range(2, _MOST_WORDS)
        for at in range(len(run) - size + 1)
        if "".join(word[0] for word in run[at : at + size]).upper() in acronyms
    ]
    return term_set(" ".join(found))


def bare_subject(claim: str) -> list[str]:
    """Return the one word that opens the claim, if it may be a name."""
    first = claim.split(maxsplit=1)[0] if claim else ""
    ordinary = not first[:1].isupper() or not first.isalpha() or first.lower() in STOP_WORDS
    return [] if ordinary or _NO_SUBJECT.search(first) or len(first) < 3 else [first]


def _names(claim: str) -> Iterator[str]:
    """Yield the names that are no dates, figures or units."""
    dated = " ".join(entities.find_dates(claim))
    for name in entities.find_names(claim):
        opens = claim.startswith(name) and name.split()[-1].isdigit()
        if name not in dated and not name[:1].isdigit() and not opens:
            yield name


def _replaced_subject(claim: str, quote: str) -> list[str]:
    """Return the word that opens the claim, if it is otherwise worded like the quote: a plain noun
    opens many sentences.
    """
    rest = term_set(claim.partition(" ")[2])
    shared = len(rest & term_set(quote)) >= SAME_REST * len(rest)
    return bare_subject(claim) if shared and bare_subject(quote) else []


def _is_abbreviated(name: str, allowed: str) -> bool:
    """Return whether a name is the acronym of words in the text, or has its own acronym there."""
    if _ACRONYM.fullmatch(name):
        return name.upper() in _initials(allowed)
    acronyms = {found.upper() for found in _ACRONYM.findall(allowed)}
    return bool(acronyms) and not acronyms.isdisjoint(_initials(name))


@lru_cache(maxsize=256)
def _initials(text: str) -> frozenset[str]:
    """Return the initials of each run of words, of all of them and of the capitalised ones
    alone.
    """
    words = _INITIAL.findall(text)
    capitals = [word for word in words if word[0].isupper()]
    found = set()
    for run in (words, capitals):
        initials = "".join(word[0] for word in run).upper()
        for size in range(2, _MOST_WORDS):
            found |= {initials[at : at + size] for at in range(len(initials) - size + 1)}
    return frozenset(found)


def _is_derived(name: str, allowed: str) -> bool:
    """Return whether a name is that of a place whose people the text names, or the other
    way round.
    """
    stem = name[:SAME_STEM]
    return (
        " " not in name
        and len(name) > SAME_STEM
        and bool(re.search(rf"\b{re.escape(stem)}", allowed))
    )


def _has_another_subject(claim: str, quote: str, known: str) -> bool:
    """Return whether the quote says it of another name than the claim, both opening with it."""
    opening = _subject(claim, known)
    subject = term_set(opening)
    rest = term_set(claim) - term_set(" ".join((*entities.find_names(claim), opening)))
    part = closest_part(rest, parts_of(quote))
    own_name = _subject(part, known)
    own = term_set(own_name)
    close = len(rest & term_set(part)) >= SAME_REST * len(rest)
    differs = bool(subject and own and own - term_set(claim) and subject - term_set(part)) and close
    return differs and not _is_abbreviated(opening, own_name) and not _expanded(claim, own_name)


def _subject(text: str, known: str) -> str:
    """Return the name that opens a text; a single word counts if it is in `known`, but not in small
    letters.
    """
    opening = re.sub(r"^(?:the|an?)\s+", "", text, flags=re.IGNORECASE)
    single = [
        word
        for word in bare_subject(opening)
        if _has_word(known, word) and not _has_word(known, word.lower())
    ]
    named = [
        name
        for name in entities.find_names(opening)
        if opening.startswith(name) and not entities.find_dates(name)
    ]
    return max((*single, *named), key=len, default="")
