"""Two claims on the same thing: do they say the same, or do they exclude each other?

Rule D5 of `docs/requirements.md`. Like claims are twins where nothing sets them apart: number,
name, negation, direction, certainty, or who does it to whom. They contradict each other where
they speak of the same names and one negates the other or gives another figure for the same
measure; of one thing, so not where each sets it apart by a word of its own ("bell tower", "gate
tower"). Claims worded otherwise contradict each other where both fill the same slot of their
sub-question with a different amount.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from research.engine.evidence import claim_check
from research.engine.text import entities
from research.engine.text.quantities import Figures, figures_conflict, parse_figures, same_figures
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import STOP_WORDS, split_tokens, stem, term_set

SAME_CLAIM = 0.6
OPPOSED_ALIKE = 0.75
SLOT_WORDS = 3
SLOT_SHARE = 0.5
SAID_SHARE = 0.5

_VERB_FORMS = frozenset(
    ("is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "to")
)
"""What follows one ("was first lit") tells how or when, not which."""

Slot = tuple[frozenset[str], str]
"""The words that a claim shares with its sub-question, and what its one amount measures."""


@dataclass(frozen=True)
class Signature:
    """What of a claim is compared; numbers within names ("FIPS 204") belong to the names."""

    claim: str
    words: frozenset[str]
    figures: Figures
    names: frozenset[str]
    negated: bool
    uncertain: bool
    direction: int

    @classmethod
    def of(cls, claim: str) -> Signature:
        named = entities.extract_fields(claim).names
        bare = claim
        for name in named:
            bare = bare.replace(name, " ")
        counted = parse_figures(bare)
        return cls(
            claim,
            term_set(claim) - frozenset(entities.find_numbers(bare)),
            counted,
            term_set(" ".join(named)),
            entities.is_negated(claim),
            entities.is_uncertain(claim),
            entities.change_direction(claim),
        )


def word_overlap(one: Signature, other: Signature) -> float:
    """Return how much of their words two claims share, 0-1; numbers aside."""
    return jaccard(one.words, other.words)


def claims_agree(one: Signature, other: Signature) -> bool:
    """Return whether two claims that are alike in words say the same."""
    if not same_figures(one.figures, other.figures) or _is_opposed(one, other):
        return False
    if one.names - other.words and other.names - one.words:
        return False
    return one.uncertain == other.uncertain and not claim_check.is_contrary(one.claim, other.claim)


def claims_conflict(one: Signature, other: Signature) -> bool:
    """Return whether two claims that are alike in words exclude each other; of the same
    names only.
    """
    if one.names != other.names or _on_two_things(one, other):
        return False
    if _is_opposed(one, other):
        return (
            one.figures.values == other.figures.values and word_overlap(one, other) >= OPPOSED_ALIKE
        )
    return figures_conflict(one.figures, other.figures)


def _is_opposed(one: Signature, other: Signature) -> bool:
    return one.negated != other.negated or one.direction * other.direction < 0


def find_slot(claim: Signature, asked: frozenset[str]) -> Slot | None:
    """Return the slot of a sub-question of these terms that a claim with one measured amount fills.

    Names alone are none, unless the claim says little else: two prices of one company need not
    be prices of the same thing.
    """
    amounts = claim.figures.amounts
    if len(amounts) != 1 or not amounts[0].measures or claim.negated:
        return None
    words = claim.words & asked
    filled = len(words) >= max(SLOT_WORDS, SLOT_SHARE * len(asked))
    if not words - claim.names and len(words) < SAID_SHARE * len(claim.words):
        return None
    return (words, amounts[0].measures) if filled else None


def fill_differently(one: Signature, other: Signature) -> bool:
    """Return whether two claims state different amounts for the same slot."""
    apart = claim_check.is_contrary(one.claim, other.claim) or one.uncertain != other.uncertain
    return not (apart or _on_two_things(one, other)) and figures_conflict(
        one.figures, other.figures
    )


def _on_two_things(one: Signature, other: Signature) -> bool:
    """Return whether each claim has a different word before the same noun."""
    mine, theirs = _set_apart(one), _set_apart(other)
    return any(
        mine[noun] - other.words and theirs[noun] - one.words for noun in mine.keys() & theirs
    )


def _set_apart(claim: Signature) -> dict[str, set[str]]:
    """Return each word of a claim with the words before it that may qualify it."""
    found: dict[str, set[str]] = defaultdict(set)
    words = [word.lower() for word in split_tokens(claim.claim)]
    for before, word, noun in zip(["", *words], words, words[1:], strict=False):
        if before not in _VERB_FORMS and noun not in STOP_WORDS and _may_tell_which(word):
            found[stem(noun)] |= term_set(word)
    return found


def _may_tell_which(word: str) -> bool:
    """No number, and no "rose" or "fell" before "sharply"."""
    return (
        word.isalpha() and not entities.find_numbers(word) and not entities.change_direction(word)
    )
