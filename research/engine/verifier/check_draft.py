"""The draft's statements that code can't vouch for: carried by the model's verdict, or quoted.

The verifier is believed only if it is qualified and does as well on this call's canaries as it did
then. What it does not carry, and all that it was asked about if it is not believed, becomes a
quotation. Nothing of this is known to the assessments of the rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import check_claim
from research.engine.evidence.ledger import Ledger
from research.engine.llm_tasks.prompting.ask import TaskFailed
from research.engine.llm_tasks.verify import VERIFY, ask_verdicts
from research.engine.records import Evidence, QuoteSource, VerifierUse
from research.engine.report.draft import Draft, Statement, check_statement
from research.engine.run import Run
from research.engine.text.offload import run_in_thread_if_long
from research.engine.text.tokens import term_set
from research.engine.verifier.canaries import Vouched, make_canaries, passages_of, usable_passages
from research.engine.verifier.known_verifier import qualification_of
from research.engine.verifier.pairs import CitedQuote, LabelledPair, Pair
from research.engine.verifier.qualification import (
    PlantedResult,
    count_errors,
    is_plausible,
    is_qualified,
)
from research.engine.verifier.quote_instead import quote_instead

QUOTES_PER_RECORD = 2
MOST_PASSAGES = 120
"""Sentences of pages that canaries are chosen from."""


@dataclass(frozen=True)
class Verified:
    """The draft as it may be shown; `carried` are the statements that only a believed verifier
    vouches for. `refused` counts those that it did not carry.
    """

    draft: Draft
    carried: frozenset[Statement] = frozenset()
    refused: int = 0
    planted: int = 0
    planted_found: int = 0
    use: VerifierUse = ""


@dataclass(frozen=True)
class _Judged:
    """What a call of the verifier came to."""

    use: VerifierUse
    carried: frozenset[Statement] = frozenset()
    planted: int = 0
    found: int = 0


async def verify_draft(run: Run, draft: Draft) -> Verified:
    """Return the draft with quotations in the place of statements that nothing vouches for."""
    stated = dict.fromkeys(s for s in draft.statements if s.evidence and not s.quoted)
    outcomes = {each: check_statement(each, run.ledger).outcome for each in stated}
    undecided = [each for each, outcome in outcomes.items() if outcome == "undecided"]
    refused = [each for each, outcome in outcomes.items() if outcome == "refused"]
    if not undecided:
        return Verified(quote_instead(draft, refused, run.ledger))
    judged = await _judge(run, undecided)
    replaced = [*refused, *(each for each in undecided if each not in judged.carried)]
    return Verified(
        quote_instead(draft, replaced, run.ledger),
        judged.carried,
        len(replaced) if judged.use == "believed" else 0,
        judged.planted,
        judged.found,
        judged.use,
    )


async def _judge(run: Run, undecided: Sequence[Statement]) -> _Judged:
    if not run.has_model or not run.config.has_verifier:
        return _Judged("off")
    known = await qualification_of(run)
    if known is None or not is_qualified(known, run.config.verifier_most_errors):
        return _Judged("unqualified")
    run.report_action("Checking statements against their quotes")
    pairs = [_shown_pair(each, run.ledger) for each in undecided]
    chance = Random(_seed(run, pairs))
    canaries = await run_in_thread_if_long(
        run.ledger.pages.values(), plant_canaries, run.ledger, pairs, run.config, chance
    )
    items: list[Statement | LabelledPair] = [*undecided, *canaries]
    chance.shuffle(items)
    by_statement = dict(zip(undecided, pairs, strict=True))
    asked = [each.pair if isinstance(each, LabelledPair) else by_statement[each] for each in items]
    try:
        verdicts = await ask_verdicts(run, f"{run.report_place}/verify", asked)
    except TaskFailed as failed:
        run.fell_back(VERIFY.name, failed.cause)
        return _Judged("failed")
    said = list(zip(items, verdicts, strict=True))
    planted = result_of([(each, yes) for each, yes in said if isinstance(each, LabelledPair)])
    counts = planted.false_pairs, planted.found
    if not is_plausible(planted, known, run.config.verifier_least_probability):
        return _Judged("disbelieved", frozenset(), *counts)
    carried = frozenset(each for each, yes in said if yes and isinstance(each, Statement))
    return _Judged("believed", carried, *counts)


def result_of(judged: Sequence[tuple[LabelledPair, bool]]) -> PlantedResult:
    """Count a call's errors on its canaries."""
    found = count_errors([each for each, _ in judged], [carried for _, carried in judged], "")
    return PlantedResult(found.false_pairs, found.missed, found.faithful_pairs, found.refused)


# --- pairs ----------------------------------------------------------------------------------


def _shown_pair(statement: Statement, ledger: Ledger) -> Pair:
    """Return the pair with few quotes of each record: that with most words of the statement, and a
    second one if it has others.
    """
    said, quotes = term_set(statement.text), dict[CitedQuote, None]()
    for record_id in statement.evidence:
        sources = ledger.book.records[record_id].sources
        nearest = sorted(sources, key=lambda source: -len(said & term_set(source.quote)))
        best, *others = nearest[:QUOTES_PER_RECORD]
        missing = said - term_set(best.quote)
        further = (source for source in others if missing & term_set(source.quote))
        quotes |= dict.fromkeys(map(_cited, (best, *further)))
    return Pair(statement.text, tuple(quotes))


def _cited(source: QuoteSource) -> CitedQuote:
    named = _named(source.title, source.section, source.domain)
    return CitedQuote(" ".join(source.quote.split()), named)


def _named(title: str, section: str, domain: str) -> str:
    """Title and section, which may name what a pronoun refers to; the site where there is none."""
    return ", ".join(filter(None, dict.fromkeys((title, section)))) or domain


def _seed(run: Run, pairs: Sequence[Pair]) -> str:
    """Return a digest of what the run asks and found: whoever wrote one of its pages can't foresee
    it.
    """
    found = (run.question.text, run.question.today, *map(repr, pairs), *sorted(run.ledger.pages))
    return hashlib.sha256("\0".join(found).encode()).hexdigest()


# --- canaries of a run ----------------------------------------------------------------------


def plant_canaries(
    ledger: Ledger, pairs: Sequence[Pair], config: ResearchConfig, chance: Random
) -> list[LabelledPair]:
    """Return the canaries for a call on these pairs, half of them unfaithful."""
    fewest, most = config.verifier_min_canaries, config.verifier_max_canaries
    taken = [quote.text for pair in pairs for quote in pair.quotes]
    records = [each for record in ledger.evidence for each in _vouched(record, ledger, taken)]
    known = [*taken, *(each.quote.text for each in records)]
    read = [
        passage
        for _, page in sorted(ledger.pages.items())
        for passage in passages_of(page.text, _named(page.title, "", page.domain), chance, known)
    ]
    read = chance.sample(read, min(MOST_PASSAGES, len(read)))
    spare = usable_passages([*records, *read], taken)
    return make_canaries(spare, pairs, min(most, max(fewest, len(pairs) // 2)), chance)


def _vouched(record: Evidence, ledger: Ledger, taken: Collection[str]) -> Iterator[Vouched]:
    """Yield the claim of a record with a quote that is not taken and for which code vouches that it
    carries the claim.
    """
    for cited in map(_cited, record.sources):
        context = f"{ledger.question} {cited.source}"
        is_free = cited.text not in taken
        if is_free and check_claim(record.claim, cited.text, context).outcome == "carried":
            yield Vouched(record.claim, cited)
            return
