"""Dates of statements and sources, and which of two values is the newer one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from research.engine.assessment.answer_status import voice_noun
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Cell
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.report_i18n import Labels
from research.engine.text import entities
from research.engine.text.amounts import find_amounts
from research.engine.text.dates import clauses_in, find_dates, latest_date, without_dates
from research.engine.text.quantities import (
    gives_quantity,
    parse_figures,
    tells_event,
    written_amounts,
)
from research.engine.text.tokens import term_set, unique_texts

_CHANGES = re.compile(
    r"\b(?:(?:has|have|had) (?:\w+ ){0,2}changed|chang(?:ed?|es|ing) (?:since|over)|years? ago"
    r"|over (?:time|the (?:years|decades))|timeline|chronolog\w+|history of|used to be"
    r"|(?:have|has) been replaced|compared with (?:\w+ ){0,3}(?:19|20)\d\d"
    r"|(?:ge|ver)ändert (?:hat|haben)|vor \w+ jahren|im vergleich zu (?:19|20)\d\d|zeitleiste"
    r"|chronik|geschichte de[rs]|il y a \w+ ans|(?:a|ont) changé|chronologie|histoire d[ue]"
    r"|hace \w+ años|ha(?:n)? cambiado|cronolog\w+|historia del?|\w+ anni fa"
    r"|(?:è|sono) cambiat[oaie]|storia d\w+|há \w+ anos|mud(?:ou|aram)|história d[aeo]"
    r"|jaar geleden|tijdlijn|geschiedenis van|(?:is|zijn) veranderd)\b",
    re.IGNORECASE,
)
# "server-2019-08-11", "2015-05-08 21:40:19.88", "2016/1/1 assets:cash", "For example, in 2008"
_PRINTED = re.compile(
    r"(?:(?<=[^\W\d])|(?<=[^\W\d][-_.:/]))\d{4}-\d\d-\d\d"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d"
    r"|\d{4}[-/]\d{1,2}[-/]\d{1,2}(?= [^.\n]{0,60}\w:\w)"
    r"|\b(?:[Ff]or (?:example|instance)|e\.g\.)[^.;]{0,120}"
)
DAY, MONTH, YEAR = 10, 7, 4
"""Characters of a date such as `2026-03-01`, of its month and of its year."""
HALF_ALIKE, MOST_ALIKE = 0.5, 2 / 3
"""Shares of the words of the shorter of two claims."""
FIGURES_AGE, SOURCES_AGE, DATED_AGE, HISTORY_AGE = 3, 5, 10, 30
"""Years after which a figure may have changed, a source without a figure may have been overtaken, a
figure is old though its sentence dates it, and all of this is history.
"""


@dataclass(frozen=True)
class Stale:
    """Days before which a figure, a source without one, or a figure that its sentence dates is an
    old one; what is older than `history` is history. A figure without a date is marked if it
    `tells_undated`.
    """

    figures: str
    sources: str
    dated: str
    history: str
    tells_undated: bool = False

    @classmethod
    def on(cls, today: str, tells_undated: bool = False) -> Stale:
        """Return the days of a report that is written today."""
        year, rest = int(today[:YEAR]), today[YEAR:]
        ages = (FIGURES_AGE, SOURCES_AGE, DATED_AGE, HISTORY_AGE)
        figures, sources, dated, history = (f"{year - age:04}{rest}" for age in ages)
        return cls(figures, sources, dated, history, tells_undated)


def stale_in(ledger: Ledger, today: str) -> Stale:
    """Return what counts as old; nothing where most documents have no date and may be older."""
    is_dated = 2 * sum(bool(page.published) for page in ledger.pages.values()) > len(ledger.pages)
    if ledger.began >= Form.EDITED and not is_dated and voice_noun(ledger) == "document":
        return Stale("", "", "", "")
    return Stale.on(today, tells_undated=is_dated)


def asks_for_changes(question: str) -> bool:
    """Return whether a question asks what was before, as a timeline does, or says that things have
    changed.
    """
    return bool(_CHANGES.search(question))


def newest_date(record: Evidence) -> str:
    """Return the newest day on which a source of a claim was published; "" if none is dated."""
    return max(source.day for source in record.sources)


def first_date(record: Evidence) -> str:
    """Return the date that a claim itself states, otherwise that of its oldest page; "" if it has
    neither.
    """
    days = filter(None, (source.day for source in record.sources))
    return stated_date(record) or min(days, default="")


def date_of_statement(record: Evidence) -> str:
    """Return the date that a claim itself states, otherwise that of its newest page."""
    return stated_date(record) or newest_date(record)


def first_seen(record: Evidence, ledger: Ledger) -> str:
    """Return the date with which the amounts of a claim first appeared, in any claim with like
    words.
    """
    own = amounts_of(record.claim)
    same = (
        each
        for each in ledger.book.records.values()
        if amounts_of(each.claim) == own and is_alike(each, record)
    )
    return min(filter(None, map(first_date, (record, *same))), default="")


@lru_cache(maxsize=4096)
def amounts_of(text: str) -> frozenset[str]:
    """Return the numbers of a text without those of its dates."""
    return frozenset(entities.find_numbers(without_dates(text)))


def recalls(new: Evidence, old: Evidence) -> bool:
    """Return whether a claim gives the amounts of another one beside its own: it knows the other
    one's value.
    """
    known = amounts_of(old.claim)
    return bool(known) and known < amounts_of(new.claim)


def earlier_amounts(said: str, cited: Iterable[str], ledger: Ledger) -> list[str]:
    """Return the amounts of a sentence, as written, that another of its amounts has replaced: its
    evidence gives both, and the ledger knows the older one as replaced by the newer, or as one that
    the evidence only recalls.
    """
    recalled = ledger.relations.recalled
    if not recalled and not ledger.relations.replaced:
        return []
    records, own = ledger.book.records, amounts_of(said)
    earlier = {value for i in cited for value in recalled.get(i, ()) if value in own}
    for old, new in ledger.relations.replaced.items():
        was, now = (amounts_of(records[i].claim) for i in (old, new))
        told = (amounts_of(records[i].claim) for i in cited if is_alike(records[i], records[old]))
        if was and any(was < amounts and (now - was) & amounts for amounts in told):
            earlier |= was & own
    if not earlier or not own - earlier:
        return []
    return unique_texts(text for value, text in written_amounts(said) if value in earlier)


def is_alike(one: Evidence, other: Evidence, share: float = HALF_ALIKE) -> bool:
    """Return whether the shorter of two claims shares at least half of its words with the other (or
    another `share`), amounts aside, and they don't each name something that the other doesn't.
    """
    words, others = (_words_of(each.claim) for each in (one, other))
    named, also = (term_set(" ".join(entities.find_names(e.claim))) for e in (one, other))
    if named - others and also - words:
        return False
    return len(words & others) >= max(1, share * min(len(words), len(others)))


def is_other_value(one: Evidence, other: Evidence) -> bool:
    """Return whether two claims that share most of their words give different values of one
    measure.
    """
    mine, theirs = (
        {(a.measures, a.value) for a in parse_figures(each.claim).amounts if a.measures}
        for each in (one, other)
    )
    measures = {measure for measure, _ in mine} & {measure for measure, _ in theirs}
    return bool(measures) and not mine & theirs and is_alike(one, other, MOST_ALIKE)


def counts_otherwise(one: Evidence, other: Evidence) -> bool:
    """Return whether two claims on one sub-question give different numbers of one kind of thing,
    whatever else they say.
    """
    mine, theirs = (
        {(a.noun, a.value) for a in parse_figures(each.claim).amounts if a.noun}
        for each in (one, other)
    )
    nouns = {noun for noun, _ in mine} & {noun for noun, _ in theirs}
    return bool(nouns) and not mine & theirs and bool({*one.answers} & {*other.answers})


def _words_of(claim: str) -> frozenset[str]:
    return frozenset(term for term in term_set(claim) if term.isalpha())


def tells_in_order(record: Evidence, old: Evidence, new: Evidence) -> bool:
    """Return whether a claim contains the amounts of two similar claims, the older first."""
    was, now = amounts_of(old.claim), amounts_of(new.claim)
    told = [value for value, _ in written_amounts(record.claim)]
    if not was or not now or was & now or not (was | now) <= set(told):
        return False
    is_about_both = is_alike(record, old) and is_alike(record, new)
    return is_about_both and max(map(told.index, was)) < min(map(told.index, now))


def stated_date(record: Evidence) -> str:
    """Return the latest date that a claim itself states, of its figures if it has any; "" if it
    states none. The days in names and in what a program prints date nothing.
    """
    claim = _PRINTED.sub(" ", record.claim)
    return figure_date(claim) if record.dates_clauses else latest_date(claim)


def figure_date(claim: str, value: str = "") -> str:
    """Return the latest date in a claim; of one with figures the latest of the clauses that give
    them, or give a `value`, or go on from one with a date; "" where one of them is undated: it
    holds when its page was written.
    """
    wanted, dates, date = amounts_of(value), [], ""
    for clause in clauses_in(claim):
        date = latest_date(clause) or date
        amounts = amounts_of(clause)
        dates += [date] if amounts and wanted <= amounts else []
    if not dates:
        return latest_date(claim)
    return max(dates) if all(dates) else ""


def age_mark(
    said: Statement, ledger: Ledger, stale: Stale, words: Labels, is_named: bool = False
) -> str:
    """Return that a statement gives a figure, or rests on sources, that may have been overtaken,
    and of when; "" where it gives a recent or a computed one, concludes, or tells an event or what
    is final. The number of a rule is no figure: it is as old as its source.

    Nor is anything marked where the sentence dates its figure to the last years, or gives the one
    that replaced it as well. Without `is_named` the year stands beside the mark, unless the
    sentence has it.
    """
    if said.computed is not None or said.concludes:
        return ""
    relations = ledger.relations
    records = [ledger.book.records[i] for i in said.evidence if i in ledger.book.records]
    newer = {relations.replaced[i] for i in said.evidence if i in relations.replaced}
    if not records or not newer.isdisjoint(said.evidence):
        return ""
    if relations.replaced.keys() >= set(said.evidence) or _is_final(records, ledger, stale):
        return ""
    language = ledger.plan.language
    if any(r.id in relations.doubted and _gives_figure(said, r) for r in records):
        return "" if tells_event(said.body, language) else words["may_be_outdated"]
    told = [found.date for found in find_dates(said.body)]
    date = max(map(date_of_statement, records))
    cells = {i for cell in ledger.relations.cells.values() for i in cell.evidence}
    is_compared = not cells.isdisjoint(said.evidence) or _tells_property(said, ledger)
    has_figure = bool(amounts_of(said.body))
    if not is_compared:
        has_figure = has_figure and gives_quantity(said.body)
    if stale.tells_undated and has_figure and not date:
        return words["undated"]
    has_figure = has_figure and _may_change(said.body)
    dated = figure_date(said.body) if has_figure and told else ""
    if has_figure and not dated:
        seen = filter(None, (first_seen(each, ledger) for each in records))
        date = max(seen, default=date)
    least = stale.figures if has_figure or is_compared else stale.sources
    is_old = stale.history < date < least
    if not is_old or (told and not has_figure) or any(month for _, month, _ in told):
        return ""
    if dated >= stale.dated:
        return ""
    is_plain = not (has_figure or is_compared)
    if is_plain and tells_event(said.body, language):
        return ""
    sites = {key for record in records for key in record.keys}
    if len(sites) > 1 and not (has_figure or is_compared):
        return ""
    mark = words["older_figure" if has_figure else "older_source"]
    is_told = bool(dated if has_figure else told) or date[:YEAR] in said.body
    return mark if is_told or is_named else f"{mark}, {date[:YEAR]}"


def _may_change(text: str) -> bool:
    """Return whether a text has a figure that may be another one later: not "two" of "two full
    backups are kept", nor "one" of "one learns".
    """
    digits = set(re.findall(r"\d+", text))
    return any(len(each) > 1 or each in digits for each in amounts_of(text) - {"1"})


def _is_final(records: Iterable[Evidence], ledger: Ledger, stale: Stale) -> bool:
    """Return whether the comparison calls records final: those that are old enough to be marked,
    and at least one.
    """
    final = ledger.relations.final
    kept = [r for r in records if r.id in final or date_of_statement(r) < stale.figures]
    return bool(kept) and final.issuperset(record.id for record in kept)


def _gives_figure(said: Statement, record: Evidence) -> bool:
    """Return whether a statement has a figure of a record, if that has any."""
    amounts = amounts_of(record.claim)
    return not amounts or not amounts.isdisjoint(amounts_of(said.body))


def _tells_property(said: Statement, ledger: Ledger) -> bool:
    """Return whether a statement names a compared thing and one of the compared properties."""
    told, known = term_set(said.body), ledger.relations
    things, names = (
        [term_set(each) for each in part] for part in (known.entities, known.properties)
    )
    return any(map(told.issuperset, filter(None, things))) and any(
        map(told.issuperset, filter(None, names))
    )


def year_of_cell(cell: Cell, ledger: Ledger, stale: Stale) -> str:
    """Return the year of a compared value that may have been overtaken; "" of a recent one."""
    records = [ledger.book.records[i] for i in cell.evidence]
    is_figure = bool(amounts_of(cell.value))
    dates = (first_seen(r, ledger) if is_figure else date_of_statement(r) for r in records)
    date = max(dates, default="")
    return date[:YEAR] if stale.history < date < stale.figures else ""


def previous_values(ledger: Ledger) -> dict[str, list[Evidence]]:
    """Return the records whose values others have replaced, by the ids of those; not where the
    newer claim recalls them anyway, where no date shows that they are older, nor of what may only
    be quoted.
    """
    records, before = ledger.book.records, dict[str, list[Evidence]]()
    for old, new in ledger.relations.replaced.items():
        if records[old].is_dictated:
            continue
        is_later = first_date(records[old]) >= first_date(records[new])
        if not is_later and not recalls(records[new], records[old]):
            before.setdefault(new, []).append(records[old])
    return before


def with_previous_values(draft: Draft, ledger: Ledger) -> Draft:
    """Return the draft whose sections tell, with each value that replaced another one, what it
    was before; not where the newer claim recalls it anyway, nor with a statement that gives none of
    its amounts. One that the draft gives isn't told again.
    """
    told, before = set[str](), previous_values(ledger)
    records = ledger.book.records

    def gives(said: Statement, record_id: str) -> bool:
        amounts = amounts_of(records[record_id].claim)
        return not amounts or not amounts.isdisjoint(amounts_of(said.body))

    is_read = ledger.began >= Form.COMPUTED
    cited = {i for each in draft.statements for i in each.evidence if not is_read or gives(each, i)}

    def with_earlier(said: Statement) -> Statement:
        given = [record_id for record_id in said.evidence if gives(said, record_id)]
        known = [old for i in given if i not in told for old in before.get(i, ())]
        told.update(given)
        is_told = said.quoted or not cited.isdisjoint(old.id for old in known)
        is_told = is_told or any(_is_given_beside(old, said, draft, ledger) for old in known)
        earlier = () if is_told or not known else (_latest(known).id,)
        return replace(said, earlier=earlier)

    def whole(section: Section) -> Section:
        return replace(section, statements=tuple(map(with_earlier, section.statements)))

    return replace(draft, sections=tuple(map(whole, draft.sections)))


def _is_given_beside(old: Evidence, said: Statement, draft: Draft, ledger: Ledger) -> bool:
    """Return whether another statement of the same section gives the amounts of an earlier value
    that the statement on the newer one lacks.
    """
    if ledger.began < Form.COMPUTED:
        return False
    lacking = _values_of(old.claim) - _values_of(said.body)
    others = (
        other
        for section in draft.sections
        if said in section.statements
        for other in section.statements
        if other is not said
    )
    return bool(lacking) and any(lacking <= _values_of(other.body) for other in others)


def _values_of(text: str) -> frozenset[Fraction]:
    return frozenset(each.base for each in find_amounts(without_dates(text)))


def _latest(known: Iterable[Evidence]) -> Evidence:
    """Return the latest record, of those with the same amounts the earliest."""
    newest_first = sorted(known, key=first_date, reverse=True)
    by_value = {amounts_of(each.claim) or each.id: each for each in newest_first}
    return max(by_value.values(), key=first_date)
