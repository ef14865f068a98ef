"""The findings that open a report: for each sub-question those that answer it most directly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from research.engine.evidence.claims.closed_classes import BY_RECORDS, SPEAKS
from research.engine.evidence.ledger import ANSWERING, Ledger
from research.engine.offline.questions.question import asks_for_course, read_question
from research.engine.report.draft import Section, Statement
from research.engine.report.outline import owner_of
from research.engine.report.parts.dating import YEAR, amounts_of, date_of_statement
from research.engine.report.parts.repetitions import SAME_WORDS
from research.engine.report.parts.subjects import leans_back
from research.engine.text.dates import find_dates
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set

LONGEST = 60
"""Words of a statement that may stand in the summary for its section."""
_ADDS = re.compile(r"\s*(?:[;；]|,?\s?(?:and|und|et|y|e|en)\s(?!only\b|nur\b))")
LEAST_OF_A_CLAUSE = 5
"""Words that a clause needs to be a sentence of its own."""
MOST_OF_A_PART, FEW_PARTS = 2, 2
"""Sentences of the summary on each of more than a few sub-questions."""
_WORDS_OF_ITS_OWN, _WORDS_OF_THE_QUESTION, _SITES = 1.0, 1.5, 1.5
_AMOUNT, _WANTED_AMOUNT, _YEAR_OF_AGE = 0.3, 0.7, 0.1
_EVENT, _OPINION, _LEANING = 1.5, 1.0, 0.5
_MANY_PARTS = 3
_FEWEST, _MOST_TERMS, _ENOUGH_SITES, _MOST_YEARS = 2, 4, 3, 5
_WHEN = re.compile(
    r"\b(?:when|histor|timeline|chronolog|dates?\b|years?\b|began|origin|start|wann|geschicht"
    r"|zeitleiste|chronik|ursprung|quand|origine|cuándo|orígen|quando|storia|wanneer|geschiedenis"
    r"|tijdlijn|oorsprong)",
    re.IGNORECASE,
)
_HOW_MUCH = re.compile(
    r"\b(?:costs?\b|prices?\b|pa(?:y|id|ys)\b|numbers?\b|shares?\b|rates?\b|size|amount|budget"
    r"|figures?\b|income|revenue|kosten|preis|anzahl|anteil|umfang|einnahmen|coût|prix|nombre"
    r"|coste|precio|número|prezz|numero|preço|custo|aantal|prijs)",
    re.IGNORECASE,
)
_SINCE = re.compile(
    r"\b(?:since|as of|effective|seit|ab|depuis|desde|dal|sinds)(?: the)? $", re.IGNORECASE
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur|[Ii]ch|[Mm]eine?|[Ww]ir|[Uu]nsere?|[Jj]e|[Mm]on|[Nn]ous)\b"
)


@dataclass(frozen=True)
class Asked:
    """A sub-question: `own` are the terms that it doesn't share with half of the others, or with
    all of them.
    """

    text: str
    own: frozenset[str]

    @cached_property
    def kind(self) -> str:
        return read_question(self.text).kind

    @cached_property
    def asks_when(self) -> bool:
        return self.kind == "when" or bool(_WHEN.search(self.text))

    @cached_property
    def asks_how_much(self) -> bool:
        return self.kind == "how_many" or bool(_HOW_MUCH.search(self.text))

    def share_of_own(self, terms: Set[str]) -> float:
        wanted = max(_FEWEST, min(len(self.own), _MOST_TERMS))
        return min(1.0, len(terms & self.own) / wanted)


class MainFindings:
    """Ranking of statements by how directly they answer the sub-questions of a ledger.

    Many independent sites, the words of the question, figures where it asks how much, and recent
    ones speak for a statement; an event that nobody asked for, an opinion or a disputed one
    that is no figure, and an opening that needs the sentence before speak against it.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._question = term_set(ledger.question)
        terms = {each.id: term_set(each.text) for each in ledger.aspects.values()}
        counts = Counter(term for own in terms.values() for term in own)
        shared, common = (
            {term for term, n in counts.items() if n > 1 and share * n >= len(terms)}
            for share in (2, 1)
        )
        self._asked = {
            each.id: Asked(each.text, terms[each.id] - shared or terms[each.id] - common)
            for each in ledger.aspects.values()
        }
        self._answered = [a.id for a in ledger.aspects.values() if a.state in ANSWERING]

    def ranked(self, section: Section) -> list[Statement]:
        """Return the cited statements of a section without its quotations, best first."""
        asked = self._asked[section.aspect_id]
        cited = [each for each in section.statements if each.evidence and not each.quoted]
        newest = max(map(self._year, cited), default=0)
        return sorted(cited, key=lambda each: -self._directness(each, asked, newest))

    def most_direct_first(self, found: Iterable[Statement]) -> list[Statement]:
        """Return statements `about` any sub-questions, those that answer theirs best first."""
        every, none = [*found], Asked("", frozenset())
        newest = max(map(self._year, every), default=0)

        def directness(said: Statement) -> float:
            return self._directness(said, self._asked.get(said.about, none), newest)

        return sorted(every, key=directness, reverse=True)

    def is_aside(self, said: Statement, aspect_id: str) -> bool:
        """Return whether a statement reports an event or opinion outside the question, or opens
        with a reference to the sentence before it.
        """
        return bool(self._faults(said, self._asked[aspect_id]))

    def part_of(self, said: Statement) -> str | None:
        """Return the answered sub-question in whose section a statement belongs."""
        if said.part or said.about in self._ledger.aspects:
            return said.part or said.about
        records = self._ledger.book.records
        owners = (owner_of(records[i], self._ledger, self._answered) for i in said.evidence)
        return next(filter(None, owners), None)

    def is_overall(self, said: Statement) -> bool:
        """Return whether a statement rests on evidence of many sub-questions: one finding may have
        been noted for two, and a column is no answer to all of them.
        """
        if said.is_verdict or said.is_column or said.about:
            return said.is_verdict
        records = self._ledger.book.records
        owners = {owner_of(records[i], self._ledger, self._answered) for i in said.evidence}
        return len(owners - {None}) >= min(_MANY_PARTS, len(self._answered))

    def item_of(self, said: Statement) -> str | None:
        """Return what the short answer lists a statement under: its sub-question or its column."""
        return said.text if said.is_column else self.part_of(said)

    def _directness(self, said: Statement, asked: Asked, newest: int) -> float:
        terms, has_amount = term_set(said.body), bool(amounts_of(said.body))
        records = [self._ledger.book.records[i] for i in said.evidence]
        sites = len({key for record in records for key in record.keys})
        return (
            _WORDS_OF_ITS_OWN * asked.share_of_own(terms)
            + _WORDS_OF_THE_QUESTION * _up_to(len(terms & self._question), _ENOUGH_SITES)
            + _SITES * _up_to(sites, _ENOUGH_SITES)
            + has_amount * (_AMOUNT + _WANTED_AMOUNT * asked.asks_how_much)
            - _YEAR_OF_AGE * min(newest - self._year(said), _MOST_YEARS)
            + _EVENT * self._is_of_course(said, asked)
            - self._faults(said, asked)
        )

    def _is_of_course(self, said: Statement, asked: Asked) -> bool:
        """Return whether a statement dates an event that the question's timeline asks for."""
        is_asked = asks_for_course(asked.text, self._ledger.began)
        return is_asked and any(found.date[1] for found in find_dates(said.body))

    def _faults(self, said: Statement, asked: Asked) -> float:
        is_event = not asked.asks_when and any(
            found.date[1] and not _SINCE.search(said.body[: found.start])
            for found in find_dates(said.body)
        )
        is_told = bool(SPEAKS.search(said.body) and not BY_RECORDS.search(said.body))
        is_told = is_told or bool(_FIRST_PERSON.search(said.body))
        is_disputed = any(self._ledger.book.records[i].contradicts for i in said.evidence)
        is_figure = bool(amounts_of(said.body))
        is_opinion = (is_told and not is_figure) or (
            is_disputed and not (is_figure and asked.asks_how_much)
        )
        leans = leans_back(said.body, self._ledger.plan.language, self._question)
        is_asked = bool(term_set(said.body) & asked.own)
        return _EVENT * (is_event and not is_asked) + _OPINION * is_opinion + _LEANING * leans

    def _year(self, said: Statement) -> int:
        dates = (date_of_statement(self._ledger.book.records[i]) for i in said.evidence)
        return int(max(dates, default="")[:YEAR] or 0)


def most_direct(ledger: Ledger) -> dict[str, tuple[str, ...]]:
    """Return the id of the finding that answers each sub-question most directly, with nothing where
    there is none.
    """
    main, found = MainFindings(ledger), dict[str, tuple[str, ...]]()
    for part in ledger.aspects:
        told = [
            Statement(record.claim, (record.id,), about=part)
            for record in ledger.supporting(part)
            if not record.is_dictated and record.id not in ledger.relations.replaced
        ]
        best = main.most_direct_first(told)[:1]
        found[part] = best[0].evidence if best else ()
    return found


def _up_to(number: int, enough: int) -> float:
    return min(number, enough) / enough


def lead_with_findings(
    ledger: Ledger,
    given: Iterable[Statement],
    sections: Sequence[Section],
    most: int,
    columns: Mapping[str, Statement],
    course: Sequence[Statement] = (),
) -> tuple[Statement, ...]:
    """Return the short answer in the order of the sub-questions, with a sentence on each that has a
    section; more of them as far as there is room for so many words.

    A sentence on several sub-questions opens it. Where all that is given on a sub-question are
    asides, the statement of its section that answers most directly comes in their place, or before
    them if they are worded otherwise. `columns` are sentences on the columns of a comparison by
    the evidence of their cells: they come in the place of a statement on one thing, the others
    where there is room for them. `course` are the landmarks that answer a sub-question on the
    course of events, all of them.
    """
    main, parts = MainFindings(ledger), dict[str | None, list[Statement]]()
    overall: list[Statement] = []
    for said in given:
        if not parts and not said.quoted and main.is_overall(said):
            overall.append(said)
        elif said.evidence:
            parts.setdefault(main.part_of(said), []).append(said)
    told: list[Statement] = [*overall]
    course_part = course[0].part if course else None
    for section in sections:
        if section.aspect_id == course_part:
            parts[section.aspect_id] = [*course]
        elif ledger.aspects[section.aspect_id].state in ANSWERING:
            found = _on_part(main, section, parts.get(section.aspect_id, []))
            new = _new_of([_on_column(said, section, columns) for said in found], told)
            new = _new_of(new, course) or new
            short = (said for said in main.ranked(section) if said.words <= LONGEST)
            parts[section.aspect_id] = new or _new_of(short, told)[:1]
            told += parts[section.aspect_id]
    most_of_a_part = MOST_OF_A_PART if len(parts) > FEW_PARTS else None
    order = {a: parts.get(a, [])[:most_of_a_part] for a in ledger.aspects}
    for column in dict.fromkeys(columns.values()):
        if column not in told and (part := main.part_of(column)):
            order[part].append(column)
    if course_part:
        order[course_part] = [*course]
    kept = [*overall, *(said[0] for said in order.values() if said), *course[1:]]
    room = most - sum(said.words for said in kept)
    every = [said for part in order.values() for said in part]
    for said in every:
        if said not in kept and said.words <= room:
            room -= said.words
            kept.append(said)
    chosen = dict.fromkeys((said.part, said) for said in (*overall, *every) if said in kept)
    return tuple(said for _, said in chosen)


def answer_each_part(
    ledger: Ledger, given: Sequence[Statement], sections: Sequence[Section]
) -> tuple[Statement, ...]:
    """Return the short answer as it was given, in the order of the sub-questions, with the lead of
    its section on each answered one that it lacks.
    """
    main = MainFindings(ledger)
    whole = [said for said in given if not said.quoted and main.is_overall(said)]
    told = {said.text for said in whole}
    by_part: dict[str | None, list[Statement]] = {}
    for said in given:
        if said.evidence and not said.quoted and said.text not in told:
            by_part.setdefault(main.part_of(said), []).append(said)
    for section in sections:
        lead = _lead_of(section, main, told)
        if lead and ledger.aspects[section.aspect_id].state in ANSWERING:
            brief = replace(first_clause(lead), about=section.aspect_id)
            by_part.setdefault(section.aspect_id, [brief])
    on_parts = (s for part in ledger.aspects for s in by_part.get(part, ())[:MOST_OF_A_PART])
    return (*whole, *on_parts)


def first_clause(said: Statement) -> Statement:
    """Return the first clause of a statement as a statement if it cites evidence separately and
    the next one only adds to it: a condition must not be lost.
    """
    (clause, ids), *others = said.parts
    is_long = len(clause.split()) >= LEAST_OF_A_CLAUSE
    if not others or said.quoted or not is_long or not _ADDS.match(others[0][0]):
        return said
    return Statement(f"{clause.strip().rstrip(',;:')}.", ids)


def _lead_of(section: Section, main: MainFindings, told: Set[str]) -> Statement | None:
    """Return the first cited statement of a section that isn't told before; where a quotation has
    its place, the one that answers most directly, and a quotation only where all are.
    """
    cited = [said for said in section.statements if said.evidence and said.text not in told]
    if not cited or not cited[0].quoted:
        return cited[0] if cited else None
    return next((said for said in main.ranked(section) if said in cited), cited[0])


def _new_of(found: Iterable[Statement], told: Iterable[Statement]) -> list[Statement]:
    """Return the statements that don't repeat another one's words."""
    new: list[Statement] = []
    known = [*told]
    for said in found:
        if not any(repeats(said, other) for other in known):
            new.append(said)
            known.append(said)
    return new


def repeats(said: Statement, other: Statement) -> bool:
    """Return whether two statements have the same amounts and mostly the same words, or the same
    days and most words of the shorter one.
    """
    words, others = term_set(said.body), term_set(other.body)
    days, same_days = ({each.date for each in find_dates(one.body)} for one in (said, other))
    is_alike = jaccard(words, others) >= SAME_WORDS or (
        bool(days)
        and days == same_days
        and 2 * len(words & others) >= min(map(len, (words, others)))
    )
    return is_alike and amounts_of(said.body) == amounts_of(other.body)


def _on_part(main: MainFindings, section: Section, told: list[Statement]) -> list[Statement]:
    """Return the sentences of the short answer on a sub-question, those that answer first."""
    part = section.aspect_id
    direct = [said for said in told if not main.is_aside(said, part)]
    if direct:
        return [*direct, *(said for said in told if said not in direct)]
    best = next((said for said in main.ranked(section) if said.words <= LONGEST), None)
    if best is None:
        short = (each for each in section.statements if each.evidence and each.words <= LONGEST)
        return told or [*short][:1]
    if told and main.is_aside(best, part):
        return told
    return [best, *(said for said in told if said not in section.statements)]


def _on_column(said: Statement, section: Section, columns: Mapping[str, Statement]) -> Statement:
    """Return the sentence on the column of which a statement of the section gives one cell."""
    whole = {columns[i] for i in said.evidence if i in columns}
    is_cell = len(whole) == 1 and said in section.statements
    return whole.pop() if is_cell and columns.keys() >= {*said.evidence} else said
