"""Canaries: pairs with known answers among those that a verifier is asked about.

They are made of what the run itself has read, and only code vouches for what they rest on. No
quote is in a call twice. One unfaithful canary has an order to the verifier in its quote.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from math import dist
from random import Random

from research.engine.evidence.claim_check import check_claim
from research.engine.journal.forms import NEWEST, Form
from research.engine.text.sentences import Sentence, split_sentences
from research.engine.text.tokens import normalise_space, term_set, words_in
from research.engine.untrusted.prompt_injection import orders_by_themselves
from research.engine.verifier.canary_kinds import (
    UNFAITHFUL,
    Phrases,
    reword_sentence,
    shorten_sentence,
)
from research.engine.verifier.pairs import (
    DATA,
    CitedQuote,
    LabelledPair,
    Pair,
    qualification_pairs,
)

REWORDED, VERBATIM = "reworded", "verbatim"
SHORTEST, LONGEST, LONGEST_QUOTE = 6, 30, 35
"""Words of a sentence and of a quote that a canary is made of."""
CHANGES = (*sorted(UNFAITHFUL), *["changed thing"] * 4)
"""The kinds that one sentence may undergo together; more than one thing may be changed."""
VARIANTS = 4
"""Canaries of either label made of a sentence, to choose from."""
PAIRED = 0.1
"""Share of quotes that are two sentences."""


@dataclass(frozen=True)
class Vouched:
    """A sentence and the quote that carries it, for which code vouches."""

    sentence: str
    quote: CitedQuote


def usable_passages(vouched: Iterable[Vouched], taken: Iterable[str]) -> list[Vouched]:
    """Keep those of a plain length whose quotes are not taken, each quote once."""
    known, kept = set(taken), []
    for each in vouched:
        if each.quote.text in known or not SHORTEST <= words_in(each.sentence) <= LONGEST:
            continue
        if not each.sentence.endswith("."):
            continue
        known.add(each.quote.text)
        kept.append(each)
    return kept


def passages_of(
    text: str,
    chance: Random,
    taken: Sequence[str] = (),
    source_of: Callable[[Sentence], str] = lambda _: "",
) -> Iterator[Vouched]:
    """Yield sentences of a page, each with itself or with itself and the next as its quote, whose
    source is what `source_of` says.

    No sentence is in two quotes, and none that is in a quote of `taken` is in any.
    """
    quoted, found = "\0".join(taken), split_sentences(text)
    orders = orders_by_themselves(found)
    left = deque(
        each
        for each in found
        if each.kind == "prose" and each.number not in orders and each.text not in quoted
    )
    while left:
        first = left.popleft()
        quote = first.text
        is_followed = left and left[0].number == first.number + 1 and left[0].block == first.block
        if is_followed and chance.random() < PAIRED:
            quote = normalise_space(text[first.start : left.popleft().end])
        if words_in(quote) <= LONGEST_QUOTE:
            yield Vouched(first.text, CitedQuote(quote, source_of(first)))


def make_canaries(
    vouched: list[Vouched],
    stated: Sequence[Pair],
    count: int,
    chance: Random,
    form: Form = NEWEST,
) -> list[LabelledPair]:
    """Return `count` unfaithful and `count` faithful canaries that look like the stated pairs.

    Where what was read has too few usable sentences, labelled pairs of the product fill up;
    `form` is that of the run.
    """
    phrases = Phrases.of([each.sentence for each in vouched], form)
    made = [_unfaithful(each, phrases, chance) for each in vouched * VARIANTS]
    made += [_reworded(each, chance, form) for each in vouched * VARIANTS]
    looks = [_look(pair) for pair in stated]
    chosen = _alike([each for each in made if each], looks, count, (), chance)
    short = count - sum(each.faithful for each in chosen)
    chosen += _alike([_verbatim(each) for each in vouched], looks, short, chosen, chance)
    return [*_filled(chosen, False, count, chance), *_filled(chosen, True, count, chance)]


Look = tuple[float, ...]


def _look(pair: Pair) -> Look:
    """Lengths, their ratio, and the shares of words in common: what a verifier could tell a
    canary by.
    """
    quoted = " ".join(quote.text for quote in pair.quotes)
    said, words = term_set(pair.statement), words_in(pair.statement)
    has = term_set(quoted)
    shared = len(said & has)
    return (
        words / LONGEST,
        words_in(quoted) / LONGEST,
        words / max(1, words_in(quoted)),
        3 * shared / max(1, len(said)),
        shared / max(1, len(has)),
    )


def _alike(
    made: Sequence[LabelledPair],
    looks: Sequence[Look],
    count: int,
    taken: Sequence[LabelledPair],
    chance: Random,
) -> list[LabelledPair]:
    """Choose at most `count` of either label that code lets pass, each the nearest in looks to one
    of `looks`, taken in turns; no quote twice.
    """
    used = {each.pair.quotes for each in taken}
    room = {True: count, False: count}
    spare = [(each, _look(each.pair)) for each in made if each.pair.quotes not in used]
    chosen: list[LabelledPair] = []
    refused = set[LabelledPair]()
    for wanted in cycle(chance.sample(looks, len(looks))):
        for best, _ in sorted(spare, key=lambda each: dist(each[1], wanted)):
            if _passes_code(best.pair):
                break
            refused.add(best)
        else:
            break
        chosen.append(best)
        room[best.faithful] -= 1
        spare = [
            each
            for each in spare
            if each[0].pair.quotes != best.pair.quotes
            and room[each[0].faithful] > 0
            and each[0] not in refused
        ]
    return chosen


def _unfaithful(each: Vouched, phrases: Phrases, chance: Random) -> LabelledPair | None:
    """Return an unfaithful canary of a kind that code alone lets pass; None where none fits.

    From one change to several, so that some have few words of their quote.
    """
    made = reword_sentence(each.sentence, chance, phrases.form)
    used = ""
    for kind in chance.sample(CHANGES, chance.randint(1, len(CHANGES))):
        changed = UNFAITHFUL[kind](made, each.quote.text, phrases, chance)
        made, used = (changed, used or kind) if changed else (made, used)
    if used:
        return LabelledPair(Pair(made, (each.quote,)), False, used)
    return None


def _reworded(each: Vouched, chance: Random, form: Form) -> LabelledPair | None:
    made = chance.choice((reword_sentence, shorten_sentence))(each.sentence, chance, form)
    is_new = made not in each.quote.text
    return LabelledPair(Pair(made, (each.quote,)), True, REWORDED) if is_new else None


def _verbatim(each: Vouched) -> LabelledPair:
    return LabelledPair(Pair(each.sentence, (each.quote,)), True, VERBATIM)


def _passes_code(pair: Pair) -> bool:
    [quote] = pair.quotes
    check = check_claim(pair.statement, quote.text, quote.source, by="suspicion")
    return check.outcome != "refused"


def _filled(
    chosen: Sequence[LabelledPair], faithful: bool, count: int, chance: Random
) -> list[LabelledPair]:
    """Return the canaries of one kind, with labelled pairs of the product for want of sentences."""
    kept = [each for each in chosen if each.faithful is faithful][:count]
    if len(kept) < count:
        fit = [each for each in _passable() if each.faithful is faithful]
        kept += chance.sample(fit, min(count - len(kept), len(fit)))
    return kept if faithful else [_with_order(kept[0], chance), *kept[1:]]


@cache
def _passable() -> tuple[LabelledPair, ...]:
    """Return the labelled pairs that code does not refuse, each quote once: for every other quote
    the faithful one.
    """
    by_quote: dict[tuple[CitedQuote, ...], list[LabelledPair]] = {}
    for each in qualification_pairs():
        if _passes_code(each.pair):
            by_quote.setdefault(each.pair.quotes, []).append(each)
    return tuple(
        next((each for each in group if each.faithful is bool(turn % 2)), group[0])
        for turn, group in enumerate(by_quote.values())
    )


def _with_order(canary: LabelledPair, chance: Random) -> LabelledPair:
    """Return the canary with an order to the verifier at the end of its quote."""
    quote = canary.pair.quotes[0]
    ordered = replace(quote, text=f"{quote.text} {chance.choice(_orders())}")
    return replace(canary, pair=replace(canary.pair, quotes=(ordered,)))


@cache
def _orders() -> tuple[str, ...]:
    return tuple((DATA / "orders.txt").read_text("utf-8").splitlines())
