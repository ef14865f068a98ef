"""Decide by code which findings are outdated or disputed: what a model calls so is accepted if
dates, quotes and sources confirm it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from research.engine.evidence.claims.names import adds_nothing_to
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import id_in
from research.engine.records import Evidence
from research.engine.report.disputes import holders_by_quotes
from research.engine.report.parts.dating import (
    Stale,
    amounts_of,
    counts_otherwise,
    first_date,
    first_seen,
    is_alike,
    is_other_value,
    recalls,
    stated_date,
    tells_in_order,
)
from research.engine.text.tokens import (
    normalise_space,
    term_set,
    unique_texts,
    words_in,
)

SHARED_TERMS, LONGEST_MATTER = 2, 8


def find_replaced(ledger: Ledger, pairs: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the outdated records with the newest one of their chain.

    A pair is accepted if both claims share words, or count other numbers of the same things for
    one sub-question, and the newer value appeared later, its claim recalls the older value or a
    third claim gives both, the older first. A value appeared with the oldest page, or stated date,
    of all records that give it and are paired with the same record or have like words, quotations
    among them: later pages may repeat what has been replaced. What gives the value of an outdated
    record in like words is outdated as well, and so is a quotation of an older value than that of
    a like claim.
    """
    newer: dict[str, str] = {}
    every = list(ledger.book.records.values())
    known = [pair for pair in known_pairs(ledger, pairs) if _may_replace(*pair, by_count=True)]
    known = [pair[::-1] if recalls(*pair) else pair for pair in known]
    for old, new in known:
        dates = _first_seen(old, new, known, every), _first_seen(new, old, known, every)
        is_later = bool(dates[0]) and dates[0] < dates[1]
        is_told = any(tells_in_order(each, old, new) for each in every)
        if is_later or is_told or recalls(new, old):
            newer.setdefault(old.id, new.id)
    said_newer = {new.id for _, new in known}
    newer |= _likewise_replaced([r for r in every if r.id not in said_newer], newer, ledger)
    newer |= _outdated_quotations(ledger, newer)
    return {old: _end_of_chain(old, newer) for old in newer}


def _likewise_replaced(
    every: Iterable[Evidence], newer: Mapping[str, str], ledger: Ledger
) -> dict[str, str]:
    """Return the records that repeat the value of an outdated one, with the newer record; not where
    they date it later than that.
    """
    records, found = ledger.book.records, dict[str, str]()
    for record in every:
        amounts = amounts_of(record.claim)
        for old, new in newer.items():
            is_same = bool(amounts) and amounts == amounts_of(records[old].claim)
            if record.id in newer or not is_same:
                continue
            is_newer = bool(stated := stated_date(record)) and stated > first_date(records[new])
            if is_alike(record, records[old]) and not is_newer:
                found.setdefault(record.id, new)
    return found


def _may_replace(old: Evidence, new: Evidence, by_count: bool = False) -> bool:
    is_same = _share_terms(old, new) or (by_count and counts_otherwise(old, new))
    return is_same and old.claim != new.claim


def _first_seen(
    record: Evidence,
    other: Evidence,
    pairs: Iterable[tuple[Evidence, Evidence]],
    every: Iterable[Evidence],
) -> str:
    """Return when the value of a record first appeared, in any record with the same amounts that is
    paired with the other one, or of `every` one has like words.
    """
    own = amounts_of(record.claim)
    paired = [one if two.id == other.id else two for one, two in pairs if other in (one, two)]
    paired += [each for each in every if is_alike(each, record)]
    same = [each for each in paired if own and amounts_of(each.claim) == own]
    return min(filter(None, map(first_date, (record, *same))), default="")


def _outdated_quotations(ledger: Ledger, replaced: Mapping[str, str]) -> dict[str, str]:
    """Return the quotations of a value that is older than that of a like claim, with its record.

    No comparison shows them to a model, so their words and dates alone decide. None of them makes
    another record outdated.
    """
    found: dict[str, str] = {}
    current = [record for record in ledger.statable if record.id not in replaced]
    for quoted in ledger.evidence:
        if not quoted.is_dictated or quoted.id in replaced or not (date := first_date(quoted)):
            continue
        newer = [r for r in current if first_date(r) > date and is_other_value(quoted, r)]
        if newer:
            found[quoted.id] = max(newer, key=first_date).id
    return found


def with_doubts(ledger: Ledger, relations: Relations, pairs: Iterable[Sequence[str]]) -> Relations:
    """Return the relations with the records that a pair calls outdated though nothing dates them,
    unless more independent sources give their figure than the other one. Its claims share words
    or answer the same sub-question.

    Figures that a quotation recalls are doubted as well, but not its newest, and only those that
    are known to be older than another of its figures are called earlier ones.
    """
    doubted = {
        old.id: new.id
        for old, new in known_pairs(ledger, pairs)
        if not {old.id, new.id} & relations.replaced.keys()
        and (_may_replace(old, new) or _answer_the_same(old, new))
        and len(old.keys) <= len(new.keys)
    }
    recalled = dict(relations.recalled)
    recalling = _recalled_by_quotations(ledger)
    for quoted, old, is_older in _without_newest(ledger, relations.replaced, recalling):
        if is_older:
            known = recalled.get(quoted.id, frozenset())
            recalled[quoted.id] = known | amounts_of(old.claim)
        if old.id not in relations.replaced:
            doubted.setdefault(old.id, quoted.id)
    return replace(relations, doubted=doubted, recalled=recalled)


def _recalled_by_quotations(ledger: Ledger) -> Iterator[tuple[Evidence, Evidence]]:
    """Yield the quotations that give the figure of an older claim on the same beside one of their
    own, with that claim.
    """
    for quoted in ledger.evidence:
        if quoted.is_dictated and (date := first_date(quoted)):
            for old in ledger.statable:
                shared = len(term_set(quoted.claim) & term_set(old.claim))  # a figure among them
                if ledger.began >= Form.EDITED and shared <= SHARED_TERMS:
                    continue
                if recalls(quoted, old) and first_date(old) < date and is_alike(quoted, old):
                    yield quoted, old


def _without_newest(
    ledger: Ledger,
    replaced: Mapping[str, str],
    recalling: Iterable[tuple[Evidence, Evidence]],
) -> Iterator[tuple[Evidence, Evidence, bool]]:
    """Yield the quotations and older claims without the claims whose figure is the quotation's own:
    one that has replaced another of its figures, or appeared last where claims give them all. With
    each stands whether its figure is known to be an earlier one: where no claim gives the
    quotation's own figure, only that of a claim from long before.
    """
    by_quotation: dict[str, list[Evidence]] = {}
    for quoted, old in recalling:
        by_quotation.setdefault(quoted.id, []).append(old)
    for quoted_id, claims in by_quotation.items():
        quoted = ledger.book.records[quoted_id]
        newer = {replaced[each.id] for each in claims if each.id in replaced}
        own = _amounts(ledger.book.records[i] for i in newer)
        if not own and _amounts(claims) == amounts_of(quoted.claim):
            seen = [(first_seen(each, ledger), each) for each in claims]
            last = max(date for date, _ in seen)
            own = _amounts(each for date, each in seen if date == last)
            own = frozenset() if own == amounts_of(quoted.claim) else own
        long_before = Stale.on(first_date(quoted)).figures
        for each in claims:
            if not amounts_of(each.claim) <= own:
                yield quoted, each, bool(own) or first_seen(each, ledger) < long_before


def _amounts(records: Iterable[Evidence]) -> frozenset[str]:
    return frozenset(amount for record in records for amount in amounts_of(record.claim))


def contested_pairs(ledger: Ledger, pairs: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return the pairs of different figures for one thing whose dates don't tell which is newer."""
    return [
        [old.id, new.id]
        for old, new in known_pairs(ledger, pairs)
        if old.id not in ledger.relations.replaced
        and _share_terms(old, new)
        and old.fields.numbers != new.fields.numbers
    ]


def _end_of_chain(record_id: str, newer: dict[str, str]) -> str:
    passed = {record_id}
    while newer.get(record_id, record_id) not in passed:
        passed.add(record_id := newer[record_id])
    return record_id


def find_disagreements(
    ledger: Ledger, pairs: Iterable[Sequence[str]]
) -> list[tuple[Evidence, Evidence]]:
    """Return the pairs from independent sources on one thing, neither of them outdated. One site
    may tell both sides if others tell each of them, or if two holders are named.
    """
    replaced, holders = ledger.relations.replaced, ledger.relations.holders
    may_share = ledger.began >= Form.COMPUTED

    def are_apart(one: Evidence, other: Evidence) -> bool:
        own, others = set(one.keys), set(other.keys)
        if not may_share:
            return own.isdisjoint(others)
        held = {holders.get(each.id, "").casefold() for each in (one, other)} - {""}
        are_named = len(held) > 1 and ledger.began >= Form.EDITED
        return are_named or bool(own - others and others - own)

    return [
        (one, other)
        for one, other in known_pairs(ledger, pairs)
        if not {one.id, other.id} & replaced.keys()
        and are_apart(one, other)
        and (_share_terms(one, other) or _answer_the_same(one, other))
    ]


def carried_over(
    ledger: Ledger, pairs: Iterable[Sequence[str]], replaced: Mapping[str, str]
) -> list[list[str]]:
    """Return pairs that disagree, with what follows their ids: a record that another one has
    replaced gives its place to that one, unless both are then one or have an amount in common.
    """
    found = []
    for one, other, *told in (pair for pair in pairs if len(pair) > 1):
        carried = [replaced.get(i, i) for i in (id_in(one), id_in(other))]
        is_as_told = carried == [id_in(one), id_in(other)]
        shared = [amounts_of(r.claim) for pair in known_pairs(ledger, [carried]) for r in pair]
        if is_as_told or (shared and shared[0].isdisjoint(shared[1])):
            found.append([*carried, *told])
    return found


def matters_of(ledger: Ledger, told: Iterable[Sequence[str]]) -> dict[tuple[str, str], str]:
    """Return the subject of each disagreement that the model names after a pair of ids, by pair;
    one that is too long, or has a name or number that neither claim has, is dropped.
    """
    found = {}
    for pair in told:
        matter = normalise_space(" ".join(pair[2:3])).rstrip(".")
        for one, other in known_pairs(ledger, [pair[:2]]):
            claims, language = f"{one.claim} {other.claim}", ledger.plan.language
            if 0 < words_in(matter) <= LONGEST_MATTER and adds_nothing_to(matter, claims, language):
                found[one.id, other.id] = matter
    return found


def named_holders(ledger: Ledger, told: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return who holds the view of each record, by names after a pair of ids and the matter."""
    named = [(both, pair[3:]) for pair in told for both in known_pairs(ledger, [pair[:2]])]
    return {i: who for both, names in named for i, who in holders_by_quotes(both, names).items()}


def settle_suspected_disputes(ledger: Ledger, compared: Collection[str]) -> None:
    """Take back suspected disputes of `compared` records; of figures since the prompt has them."""
    is_shown, known = ledger.began >= Form.EDITED, {*compared}
    for pair in ledger.book.suspected_disputes(with_figures=is_shown):
        if known.issuperset(pair):
            ledger.book.settle_dispute(*pair)


def _answer_the_same(one: Evidence, other: Evidence) -> bool:
    return not {*one.answers}.isdisjoint(other.answers)


def known_pairs(
    ledger: Ledger, pairs: Iterable[Sequence[str]]
) -> Iterable[tuple[Evidence, Evidence]]:
    records = ledger.book.records
    for pair in pairs:
        known = [records[i] for i in unique_texts(map(id_in, pair)) if i in records]
        if len(known) == len(pair) == 2:
            yield known[0], known[1]


def _share_terms(one: Evidence, other: Evidence) -> bool:
    return len(term_set(one.claim) & term_set(other.claim)) >= SHARED_TERMS
