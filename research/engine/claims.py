"""Does a quote carry the claim made of it? A true quote under a false claim is found by code.

Rules F1 and C11 of `docs/requirements.md`. Each clause of the claim is compared with the
clause or sentence of the quote that shares most of its words, so that a negation elsewhere
in the quote neither hides a false one nor makes a true claim look false. Compared are
figures with what they measure, dates, names, negation, direction and words that exclude each
other, who did it to whom, and certainty.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations
from pathlib import Path

from research.engine import features
from research.engine.figures import figures, foreign, misdated
from research.engine.text import STOP_WORDS, normalise, stem, term_set

SUPPORTED_SHARE = 0.4
_OPPOSITES = tuple(
    tuple(frozenset(member.split()) for member in line.split("|"))
    for line in (Path(__file__).parent / "data" / "opposites_en.txt").read_text().splitlines()
)
_SENTENCE = re.compile(r"(?<=[.!?…])[\"”’)\]]*\s+(?=[\"“‘(\[]?[^\W_a-z])|\n\s*\n")
_ASIDE = re.compile(
    r",\s(?:which|who|whose|where)\b[^,;]*(?=,)|\([^()]*\)|\s[—–]\s[^—–]*\s(?=[—–]\s)"
)
_CLAUSE = re.compile(
    r"(?:(?<!\s)\s+)?[;:]\s+|(?<!\s)\s+[—–]\s+"
    r"|(?:,|(?<!\s))\s+(?=(?:but|whereas|while|although|though|because|unless|yet)\b)"
    r"|,\s+(?=(?:and|or|not|nor|which|who|where|so)\b)"
    r"|(?<!\s)\s+"
    r"(?=and (?:can|may|might|could|is|are|was|were|has|have|had|does|did|will|not|never)\b)",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]+")
_FUNCTION = frozenset(
    (
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "has", "have", "had", "it"),
        *("its", "of", "to", "in", "on", "at", "by", "for", "from", "with", "as", "and", "or"),
        *("that", "which", "who", "did", "does", "do", "s"),
    )
)
_MUTUAL = frozenset(map(stem, (
    "married", "borders", "merged", "met", "equals", "differs", "resembles", "matches",
    "adjoins", "between", "together", "same", "like", "versus", "agreed", "rivals",
)))  # fmt: skip
"""Stems of what two do to each other alike: who stands first makes no difference."""
_BY = re.compile(r"\bby\b", re.IGNORECASE)
_IS_A = re.compile(r"\b(?:is|are|was|were) an?\b")
_THAN = re.compile(r"\bthan\b", re.IGNORECASE)
_NO_SUBJECT = re.compile(r"(?:ed|ing|ly|s|tion)$")


def differences(claim: str, quote: str, context: str) -> tuple[str, ...]:
    """What the claim says otherwise than its quote, in plain words; empty where nothing.

    `context` (title and section of the page, and the question) may lend names, since a
    claim names what its quote calls "it"; numbers must stand in the quote itself.
    """
    if _verbatim(claim, quote):
        return ()
    said, quoted = figures(claim), figures(quote)
    found = {
        "number differs": foreign(said, quoted),
        "date differs": misdated(said, quoted),
        "name differs": _misnamed(claim, quote, context),
    }
    for clause, part in _matched(claim, quote):
        swapped = _swapped(clause, part)
        opposed = features.direction(clause) * features.direction(part) < 0
        for reason, holds in {
            "negation differs": _negated_otherwise(clause, part),
            "direction differs": (opposed and not swapped) or _opposite(clause, part),
            "roles differ": swapped and not opposed,
        }.items():
            found[reason] = found.get(reason, False) or holds
    return tuple(reason for reason, holds in found.items() if holds)


def stronger(claim: str, quote: str) -> bool:
    """Whether the claim is more certain or more general than its quote: it drops a "may" or a
    "some of", or adds an "only", an "all" or a superlative.
    """
    if _verbatim(claim, quote):
        return False
    return _overstated(claim, quote) or any(
        features.hedged(p) and not features.hedged(c) for c, p in _matched(claim, quote)
    )


def contrary(one: str, other: str) -> bool:
    """Whether two claims differ in words that exclude each other, or in who did it to whom."""
    return _opposite(one, other) or _swapped(one, other)


def share_supported(claim: str, quote: str, context: str) -> float:
    """The share (0-1) of the claim's words that stand in its quote; those that only the context
    has are not counted.
    """
    words, quoted = term_set(claim), term_set(quote)
    own = words - (term_set(context) - quoted)
    return len(own & quoted) / len(own) if own else 0.0


def _verbatim(claim: str, quote: str) -> bool:
    """Whether the claim is whole sentences of the quote."""
    whole = rf"(?:^|[.!?…][\"”’)\]]*\s){re.escape(normalise(claim))}(?:\s|$)"
    return claim.rstrip('"”’)')[-1:] in set(".!?…") and bool(re.search(whole, normalise(quote)))


# --- clauses --------------------------------------------------------------------------------


def _matched(claim: str, quote: str) -> Iterator[tuple[str, str]]:
    """Each clause of the claim with the part of the quote that says most of it."""
    parts = _parts(quote)
    for clause in _clauses(claim):
        yield clause, _closest(term_set(clause), parts) or quote


def _closest(words: frozenset[str], parts: Sequence[str]) -> str:
    """The part with the most of these words, the shortest of several; "" for none."""
    shared = {part: len(words & term_set(part)) for part in parts}
    best = max(parts, key=lambda part: (shared[part], -len(part)), default="")
    return best if shared.get(best) else ""


@lru_cache(maxsize=1024)
def _parts(quote: str) -> tuple[str, ...]:
    """The quote's sentences, those without their asides, and their clauses."""
    found: list[str] = []
    for sentence in _SENTENCE.split(quote):
        plain = _ASIDE.sub("", sentence)
        found += [sentence, plain, *_ASIDE.findall(sentence)]
        found += _CLAUSE.split(plain)
    return tuple(dict.fromkeys(filter(None, map(normalise, found))))


@lru_cache(maxsize=1024)
def _clauses(claim: str) -> tuple[str, ...]:
    """The claim's clauses; one without words of its own belongs to the one before."""
    clauses: list[str] = []
    for sentence in _SENTENCE.split(claim):
        for clause in filter(None, _CLAUSE.split(sentence)):
            if clauses and not term_set(clause):
                clauses[-1] = f"{clauses[-1]}, {clause}"
            else:
                clauses.append(clause)
    return tuple(clauses)


# --- names ----------------------------------------------------------------------------------


def _misnamed(claim: str, quote: str, context: str) -> bool:
    """A name that nobody said, or one in the place of the quote's own subject."""
    allowed = f"{quote} {context}"
    plain, words = normalise(allowed).casefold(), term_set(allowed)
    dated = " ".join(features.dates(claim))
    for name in (*features.names(claim), *_bare_subject(claim)):
        if name not in dated and name.casefold() not in plain and not term_set(name) <= words:
            return True
    return _another_subject(claim, quote, allowed)


def _another_subject(claim: str, quote: str, known: str) -> bool:
    """Whether the quote says it of another name than the claim, both opening with it."""
    subject = term_set(_subject(claim, known))
    rest = term_set(claim) - term_set(" ".join((*features.names(claim), _subject(claim, known))))
    part = _closest(rest, _parts(quote))
    own = term_set(_subject(part, known))
    return bool(subject and own and own - term_set(claim) and subject - term_set(part))


def _bare_subject(claim: str) -> list[str]:
    """The one word that opens the claim, where it may be a name."""
    first = claim.split(maxsplit=1)[0] if claim else ""
    ordinary = not first[:1].isupper() or not first.isalpha() or first.lower() in STOP_WORDS
    return [] if ordinary or _NO_SUBJECT.search(first) or len(first) < 3 else [first]


def _subject(text: str, known: str) -> str:
    """The name that opens a text; a single word counts where it stands in `known` too."""
    opening = re.sub(r"^(?:the|an?)\s+", "", text, flags=re.IGNORECASE)
    single = [word for word in _bare_subject(opening) if re.search(rf"\b{word}\b", known)]
    named = [
        name
        for name in features.names(opening)
        if opening.startswith(name) and not features.dates(name)
    ]
    return max((*single, *named), key=len, default="")


# --- direction, roles, certainty ------------------------------------------------------------


def _negated_otherwise(clause: str, part: str) -> bool:
    """Whether one negates what the other says; "with no delay" negates nothing but the delay."""
    if features.negated(clause):
        return not features.negated(part)
    return any(term_set(clause) & scope for scope in map(term_set, features.denied(part)))


def _opposite(clause: str, part: str) -> bool:
    """Whether one says a word and the other only one that excludes it."""
    said, quoted = _lower_words(clause), _lower_words(part)
    for group in _OPPOSITES:
        here = [member for member in group if member & said]
        there = [member for member in group if member & quoted]
        if here and there and not any(member in there for member in here):
            return True
    return False


def _lower_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in re.findall(r"\w+", text))


def _swapped(clause: str, part: str) -> bool:
    """Whether both say the same of two things, with the things in each other's place."""
    return _roles_swapped(clause, part) or _compared_the_other_way(clause, part)


def _roles_swapped(clause: str, part: str) -> bool:
    both = [
        name
        for name in {*features.names(clause), *features.names(part), *_bare_subject(clause)}
        if name in clause and name in part
    ]
    for one, other in permutations(sorted(both), 2):
        here, there = _between(clause, one, other), _between(part, other, one)
        if here is None or there is None:
            continue
        said, quoted = _predicate(here), _predicate(there)
        alike = said <= quoted or quoted <= said
        turned = bool(_BY.search(here)) != bool(_BY.search(there))
        if said and quoted and alike and not turned and not _MUTUAL & (said | quoted):
            return True
    return False


def _between(text: str, one: str, other: str) -> str | None:
    start, end = text.find(one) + len(one), text.find(other)
    return text[start:end] if start <= end else None


def _predicate(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORDS.findall(text))
    said = frozenset(stem(word) for word in words if word not in _FUNCTION)
    return said or frozenset(["is a"] if _IS_A.search(text) else [])


def _compared_the_other_way(clause: str, part: str) -> bool:
    here, there = _THAN.search(clause), _THAN.search(part)
    if not here or not there:
        return False
    less, more = term_set(clause[: here.start()]), term_set(clause[here.end() :])
    left, right = term_set(part[: there.start()]), term_set(part[there.end() :])
    return bool((less - more) & (right - left) and (more - less) & (left - right))


def _overstated(claim: str, quote: str) -> bool:
    """Whether the claim leaves no exception where its quote does, or makes a superlative of it."""
    words = _lower_words(quote)
    for absolute in features.absolutes(claim) - features.absolutes(quote):
        base = absolute.removesuffix("est")
        if base == absolute or base in words - STOP_WORDS or words & {f"{base}e", f"{base}er"}:
            return True
    return False
