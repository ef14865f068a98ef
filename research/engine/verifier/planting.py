"""Compose a verifier call: statements with their quotes, and canaries among them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from random import Random

from research.engine.config import ResearchConfig
from research.engine.evidence.claim_check import check_claim
from research.engine.evidence.claims.closed_classes import SPEAKS
from research.engine.evidence.claims.operands import ASKED as QUESTION
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.quotes import quote_source
from research.engine.journal.forms import Form
from research.engine.llm_tasks.verify import Verdict
from research.engine.ports import Page
from research.engine.records import Evidence, Qualification, QuoteSource, VerifierUse
from research.engine.report.checking.statement_check import calculate_formulas, rests_on_question
from research.engine.report.draft import Statement
from research.engine.run import Run
from research.engine.text.dates import find_dates
from research.engine.text.entities import find_names, find_numbers
from research.engine.text.offload import run_in_thread
from research.engine.text.sentences import Sentence
from research.engine.text.tokens import term_set
from research.engine.verifier.canaries import Vouched, make_canaries, passages_of, usable_passages
from research.engine.verifier.pairs import CONCLUSION, CitedQuote, LabelledPair, Pair
from research.engine.verifier.qualification import PlantedResult, count_errors, is_plausible

MOST_QUOTES = 4
"""Most quotes of a record that are shown."""
LEAST_LETTERS = 4
"""Fewest letters of a word by which a statement may name a site."""
ASKED, COMPUTED, TOLD_BEFORE = "question", "computed by code", "earlier report"
"""The names of what stands beside quotes: the question, and calculations."""
MOST_PASSAGES = 120
"""Sentences of pages that canaries are chosen from."""


@dataclass(frozen=True)
class Asked:
    """The items of a call in the order in which it shows them."""

    items: tuple[Statement | LabelledPair, ...]
    by_statement: Mapping[Statement, Pair]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The items as the prompt shows them."""
        return tuple(
            each.pair if isinstance(each, LabelledPair) else self.by_statement[each]
            for each in self.items
        )


@dataclass(frozen=True)
class Judged:
    """The result of a call of the verifier; `other` are statements that say something else than
    their quotes.
    """

    use: VerifierUse
    carried: frozenset[Statement] = frozenset()
    planted: int = 0
    found: int = 0
    other: frozenset[Statement] = frozenset()


async def plant(
    run: Run, undecided: Sequence[Statement], beside: Sequence[CitedQuote] = ()
) -> Asked:
    """Return the call on these statements, shuffled with canaries of the run. Each statement is
    shown with the `beside` quotes after its own.
    """
    pairs = [shown_pair(each, run.ledger) for each in undecided]
    pairs = [replace(p, quotes=tuple(dict.fromkeys((*p.quotes, *beside)))) for p in pairs]
    chance = Random(_seed(run, pairs))
    canaries = await run_in_thread(plant_canaries, run.ledger, pairs, run.config, chance)
    items: list[Statement | LabelledPair] = [*undecided, *canaries]
    chance.shuffle(items)
    return Asked(tuple(items), dict(zip(undecided, pairs, strict=True)))


def judge_verdicts(
    run: Run, asked: Asked, verdicts: Sequence[Verdict], known: Qualification
) -> Judged:
    """Return the verdicts of a call, or none if its canaries refute them.

    They are judged by the first look alone, like the qualification; the second one can only take
    away from what is carried.
    """
    said = list(zip(asked.items, verdicts, strict=True))
    planted = result_of([(each, v.carried) for each, v in said if isinstance(each, LabelledPair)])
    counts = planted.false_pairs, planted.found
    if not is_plausible(planted, known, run.config.verifier_least_probability):
        return Judged("disbelieved", frozenset(), *counts)
    carried = frozenset(
        each
        for each, verdict in said
        if isinstance(each, Statement) and verdict.carried and not verdict.is_faulty
    )
    other = frozenset(each for each, v in said if isinstance(each, Statement) and v.is_other)
    return Judged("believed", carried, *counts, other)


def result_of(judged: Sequence[tuple[LabelledPair, bool]]) -> PlantedResult:
    """Count a call's errors on its canaries."""
    found = count_errors([each for each, _ in judged], [carried for _, carried in judged], "")
    return PlantedResult(found.false_pairs, found.missed, found.faithful_pairs, found.refused)


# --- pairs ----------------------------------------------------------------------------------


def shown_pair(statement: Statement, ledger: Ledger) -> Pair:
    """Return the pair with few quotes of each record, first the one that has most of it."""
    said, quotes = term_set(statement.text), dict[CitedQuote, None]()
    for record_id in statement.evidence:
        record = ledger.book.records[record_id]
        if ledger.began >= Form.EDITED:
            telling = _telling(statement.text, record)
            quotes |= dict.fromkeys(_cited(each, ledger, statement.text) for each in telling)
            continue
        sources = record.sources
        nearest = sorted(sources, key=lambda source: -len(said & term_set(source.quote)))
        told = said
        if ledger.began >= Form.COMPUTED:  # the words of the finding, which the writer saw
            told = said | term_set(record.claim)
        shown = _covering(told, nearest)
        if ledger.began >= Form.COMPUTED:
            own = [each for each in nearest if each.url == nearest[0].url]
            shown = [*dict.fromkeys((*own[:MOST_QUOTES], *shown))]
        quotes |= dict.fromkeys(_cited(each, ledger, statement.text) for each in shown)
    beside = _computed(statement, ledger)
    if statement.concludes:
        before = (CitedQuote(line, TOLD_BEFORE) for line in ledger.lines_before(statement.text))
        asked = dict.fromkeys((*quotes, *beside, *before, CitedQuote(ledger.asked, ASKED)))
        return Pair(f"{CONCLUSION} {statement.text}", tuple(asked))
    return Pair(statement.text, (*quotes, *beside))


def _computed(statement: Statement, ledger: Ledger) -> list[CitedQuote]:
    """Return the question, where a statement rests on it, and the calculations of its formulas."""
    if not rests_on_question(statement, ledger):
        return []
    made = calculate_formulas(statement, ledger)
    asked = any(operand.evidence == QUESTION for each in made for operand in each.operands)
    shown = [
        CitedQuote(each.formula.replace(f"({QUESTION})", f"({ASKED})"), COMPUTED) for each in made
    ]
    return [CitedQuote(ledger.asked, ASKED), *shown] if asked or not made else shown


def _telling(text: str, record: Evidence) -> list[QuoteSource]:
    """Return the quotes of a record that give the figures and names of a statement, each at least
    once, and up to `MOST_QUOTES` for what else it says, the rarest words first; a second one beside
    a quote that reports speech, and those of the same page.
    """
    terms = {source: term_set(source.quote) for source in record.sources}
    held = Counter(term for each in terms.values() for term in each)
    figures = term_set(" ".join((*find_numbers(text), *find_names(text))))
    said = term_set(text)
    missing = said | term_set(record.claim)  # the words of the finding, which the writer saw
    shown: list[QuoteSource] = []

    def gain(source: QuoteSource) -> tuple[int, Fraction, int]:
        new = missing & terms[source]
        rarity = sum((Fraction(1, held[term]) for term in new), Fraction(0))
        return len(new & figures), rarity, len(said & terms[source])

    while left := [each for each in terms if each not in shown]:
        best = max(left, key=gain)
        is_needed = missing & terms[best] & (missing if len(shown) < MOST_QUOTES else figures)
        if shown and not is_needed:
            break
        shown.append(best)
        missing = missing - terms[best]
    first = shown[0]
    others = sorted(terms, key=lambda source: -len(said & terms[source]))
    is_reported = bool(SPEAKS.search(first.quote))
    beside = [*others[: 2 * is_reported], *(each for each in others if each.url == first.url)]
    more = [each for each in dict.fromkeys(beside) if each not in shown]
    return [*shown, *more[: max(0, MOST_QUOTES - len(shown))]]


def _covering(said: Set[str], nearest: Sequence[QuoteSource]) -> list[QuoteSource]:
    """Return the first source, the second too if the first reports speech, and those whose quotes
    have most of the terms that are still missing.
    """
    shown = [*nearest[: 1 + bool(SPEAKS.search(nearest[0].quote))]]
    missing = said - {term for each in shown for term in term_set(each.quote)}

    def gain(source: QuoteSource) -> int:
        return len(missing & term_set(source.quote))

    while len(shown) < MOST_QUOTES and gain(best := max(nearest, key=gain)):
        shown.append(best)
        missing = missing - term_set(best.quote)
    return shown


def _cited(source: QuoteSource, ledger: Ledger, said: str) -> CitedQuote:
    """Return the quote, its source named as for a statement that `said` so."""
    return CitedQuote(" ".join(source.quote.split()), _source_of(source, ledger, said))


def _source_of(source: QuoteSource, ledger: Ledger, said: str) -> str:
    """Return the name of a source: with its site only if a statement that `said` a name may mean
    it, and with the date of its page if it gives dates.
    """
    site = _site_of(source.url, ledger)
    site = site if site is not None and _may_name(said, f"{site} {source.domain}") else None
    named = _named(source.title, source.section, source.domain, site)
    return f"{named}, {source.day}" if source.day and find_dates(said) else named


def _named(title: str, section: str, domain: str, site: str | None) -> str:
    """Return title and section, which may name the referent of a pronoun, and the site, by which
    who writes may name a speaker: its name and domain, each unless the others have it; before
    `Form.EDITED`, where no `site` is given, only the domain of what has no heads.
    """
    heads = filter(None, dict.fromkeys((title, section)))
    if site is None:
        return ", ".join(heads) or domain
    told = [*heads]
    for name in (domain, site):
        letters = _letters(name)
        if letters and not any(letters in _letters(each) for each in told):
            told.append(name)
    return ", ".join(told)


def _may_name(said: str, site: str) -> bool:
    """Return whether any word of a name in a statement occurs in `site`, its name and domain."""
    words = (word for name in find_names(said) for word in name.split())
    return any(len(word) >= LEAST_LETTERS and _letters(word) in _letters(site) for word in words)


def _site_of(url: str, ledger: Ledger) -> str | None:
    """Return the name that a page's site gives itself, "" for none; None before `Form.EDITED`."""
    if ledger.began < Form.EDITED:
        return None
    page = ledger.pages.get(url)
    return page.site if page else ""


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text)).casefold()


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
        for passage in passages_of(page.text, chance, known, partial(_name_of, page, ledger))
    ]
    read = chance.sample(read, min(MOST_PASSAGES, len(read)))
    spare = usable_passages([*records, *read], taken)
    count = min(most, max(fewest, len(pairs) // 2))
    return make_canaries(spare, pairs, count, chance, ledger.began)


def _name_of(page: Page, ledger: Ledger, sentence: Sentence) -> str:
    """Return the name of a sentence's source, which tells no canary from a statement."""
    if ledger.began < Form.EDITED:
        return _named(page.title, "", page.domain, None)
    source = quote_source(page, sentence.start, sentence.end, sentence.section)
    return _source_of(source, ledger, sentence.text)


def _vouched(record: Evidence, ledger: Ledger, taken: Collection[str]) -> Iterator[Vouched]:
    """Yield the claim of a record with a quote that is not taken and for which code vouches that it
    carries the claim.
    """
    for source in record.sources:
        cited = _cited(source, ledger, record.claim if ledger.began >= Form.EDITED else "")
        if cited.text in taken:
            continue
        context = f"{ledger.question} {cited.source}"
        check = check_claim(record.claim, cited.text, context, by=ledger.refuses_by)
        if check.outcome == "carried":
            yield Vouched(record.claim, cited)
            return
