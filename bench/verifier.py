"""How the verifier of statements fares with models that err at known rates.

    python -m bench.verifier                 # all of it, on the tuning part of bench/claims
    python -m bench.verifier --part held_out_4  # its claims only, for the published figure
    python -m bench.verifier --show KIND     # examples of one kind of canary, to be labelled

A stub knows the labels and errs on a share of the pairs, and again on a share at its second look.
With the correlation c its second look repeats the first one in that share of pairs and is free in
the others: 0 is what two independent judges would do, 1 makes a second look worthless. What is
measured: who is believed at qualification; how many unfaithful claims reach a report as
statements; how many faithful ones are lost; whether canaries can be told from statements by simple
features.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from statistics import mean

from bench.claim_check import PARTS
from bench.page import table
from bench.verifier_canaries import Row, labelled_examples, rows_by_field, spotted_share
from bench.world.verifying import CONSTANT, ERROR_RATES
from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import RefusesBy, check_claim
from research.engine.records import Qualification
from research.engine.rounds.findings import find_claim_fault
from research.engine.verifier.canaries import make_canaries, passages_of, usable_passages
from research.engine.verifier.pairs import CitedQuote, LabelledPair, Pair
from research.engine.verifier.planting import result_of
from research.engine.verifier.qualification import (
    count_errors,
    is_plausible,
    is_qualified,
    shuffled_pairs,
)

SEEDS = 2000
CALLS_SEEDS = 3
DISCRIMINATOR_SEEDS = 10
STATEMENTS = 12
HONEST, GOOD = "honest", "good"
RATES = {GOOD: 0.02, **ERROR_RATES}
"""Shares of pairs on which a stub errs. The good one mostly misses so few that it is believed on
details as well.
"""
CONFIG = ResearchConfig()
CORRELATIONS = (0.0, 0.5, 1.0)
"""Between the errors of the two looks of the honest stub; no figure of a real model is known."""
Judge = Callable[[LabelledPair], bool]


def judge_of(name: str, seed: int, look: str = "") -> Judge:
    """Return a stub that knows labels: constant, or erring at its rate, alike on the same pair."""
    if name in CONSTANT:
        return lambda labelled: CONSTANT[name]
    rate = RATES[name]

    def judge(labelled: LabelledPair) -> bool:
        errs = Random(f"{seed} {look}{labelled.pair.statement}").random() < rate
        return labelled.faithful is not errs

    return judge


def looks_twice(name: str, seed: int, correlation: float) -> Judge:
    """Return a stub that finds a pair carried only if both looks do."""
    first, second = judge_of(name, seed), judge_of(name, seed, "again ")

    def judge(labelled: LabelledPair) -> bool:
        repeats = Random(f"{seed} repeats {labelled.pair.statement}").random() < correlation
        return first(labelled) and (repeats or second(labelled))

    return judge


def qualification_by(judge: Judge) -> Qualification:
    pairs = shuffled_pairs()
    return count_errors(pairs, [judge(each) for each in pairs], "")


def believed_share(name: str, seeds: int = SEEDS) -> float:
    """Return in what share of seeds a stub is believed after its qualification."""
    found = (qualification_by(judge_of(name, seed)) for seed in range(seeds))
    return sum(is_qualified(each, CONFIG.verifier_most_errors) for each in found) / seeds


# --- claims that reach a report -----------------------------------------------------------------


@dataclass(frozen=True)
class Fate:
    """What became of a labelled claim: "statement", "quotation" or "lost"."""

    row: Row
    became: str


def fates(part: str, name: str | None, seed: int, correlation: float = 0.0) -> Iterator[Fate]:
    """Yield what becomes of each claim of a part; `name` None is no verifier at all."""
    for paragraphs in rows_by_field(part).values():
        claims = [row for paragraph in paragraphs for row in paragraph.claims]
        judge = judge_of(name, seed) if name else None
        twice = looks_twice(name, seed, correlation) if name else None
        known = qualification_by(judge) if judge else None
        chance = Random(f"{seed} {part} {claims[0].statement}")
        chance.shuffle(claims)
        for at in range(0, len(claims), STATEMENTS):
            chosen = claims[at : at + STATEMENTS]
            texts = [paragraph.text for paragraph in paragraphs]
            yield from _fates_of_call(chosen, texts, judge, twice, known, chance)


def _fates_of_call(
    rows: Sequence[Row],
    texts: Sequence[str],
    judge: Judge | None,
    twice: Judge | None,
    known: Qualification | None,
    chance: Random,
) -> Iterator[Fate]:
    undecided, near = [], set()
    sees_details = known is not None and known.missed <= CONFIG.verifier_most_missed_details
    for row in rows:
        by: RefusesBy = "things" if sees_details else "likeness"
        check = check_claim(row.statement, row.quote, row.context, by=by)
        if sees_details and find_claim_fault(row.statement, row.quote, row.context, by=by):
            yield Fate(row, "quotation")  # it gave way to its quote when its page was read
        elif check.outcome == "undecided":
            undecided.append(row)
            if check.is_near:
                near.add(row.statement)
        else:
            yield Fate(row, "statement" if check.outcome == "carried" else "quotation")
    is_believed = bool(undecided) and _is_believed(undecided, texts, judge, known, chance)
    if sees_details:
        near = set()
    for row in undecided:
        may_carry = twice is not None and is_believed and row.statement not in near
        carried = may_carry and twice is not None and twice(_labelled(row))
        yield Fate(row, "statement" if carried else "quotation")


def _is_believed(
    undecided: Sequence[Row],
    texts: Sequence[str],
    judge: Judge | None,
    known: Qualification | None,
    chance: Random,
) -> bool:
    """Return whether the stub is qualified and does well enough on the canaries of this call."""
    if judge is None or known is None or not is_qualified(known, CONFIG.verifier_most_errors):
        return False
    stated = [_labelled(row).pair for row in undecided]
    taken = [row.quote for row in undecided]
    read = [each for text in texts for each in passages_of(text, chance, taken)]
    count = min(CONFIG.verifier_max_canaries, max(CONFIG.verifier_min_canaries, len(stated) // 2))
    canaries = make_canaries(usable_passages(read, taken), stated, count, chance)
    result = result_of([(each, judge(each)) for each in canaries])
    return is_plausible(result, known, CONFIG.verifier_least_probability)


def _labelled(row: Row) -> LabelledPair:
    return LabelledPair(Pair(row.statement, (CitedQuote(row.quote),)), row.faithful, row.kind)


def claims_table(part: str, seeds: int) -> str:
    """Return what reaches a report with each stub, as shares with their denominators over the
    seeds.
    """
    rows = []
    often = [(name, each) for name in (HONEST, GOOD) for each in CORRELATIONS]
    once = [(name, 0.0) for name in (None, *ERROR_RATES, *CONSTANT) if name != HONEST]
    for name, correlation in (*often, *once):
        counts: Counter[tuple[bool, str]] = Counter()
        for seed in range(seeds if name in RATES else 1):
            found = fates(part, name, seed, correlation)
            counts.update((each.row.faithful, each.became) for each in found)
        shown = f"{name}, correlation {correlation}" if name in RATES else name or "none"
        rows.append([shown, *(_share(counts, *place) for place in PLACES)])
    head = ["verifier", "unfaithful shown as statements", "faithful kept as statements",
            "faithful lost"]  # fmt: skip
    return table(head, rows)


PLACES = ((False, "statement"), (True, "statement"), (True, "lost"))


def _share(counts: Counter[tuple[bool, str]], faithful: bool, became: str) -> str:
    whole = sum(count for (label, _), count in counts.items() if label is faithful)
    found = counts[faithful, became]
    return f"{found} of {whole} ({found / whole:.1%})"


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.verifier", description=__doc__.splitlines()[0])
    parser.add_argument("--part", choices=PARTS, default="tuning")
    parser.add_argument("--show", metavar="KIND")
    options = parser.parse_args()
    if options.show:
        for labelled in labelled_examples(options.show):
            print(f"{labelled.pair.statement}\n    {labelled.pair.quotes[0].text}")
        return
    if not rows_by_field(options.part):
        parser.error(f"there are no claims of the part {options.part}")
    if options.part != "tuning":
        print(claims_table(options.part, CALLS_SEEDS))
        return
    print(table(["verifier", f"believed in {SEEDS:,} qualifications"],
                [[n, f"{believed_share(n):.2%}"] for n in (*RATES, *CONSTANT)]))  # fmt: skip
    print()
    print(claims_table("tuning", CALLS_SEEDS))
    spotted = mean(map(spotted_share, range(DISCRIMINATOR_SEEDS)))
    print(f"\nCanaries told from statements by a discriminator: {spotted:.1%}")


if __name__ == "__main__":
    main()
