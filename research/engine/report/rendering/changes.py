"""What has changed, for a question that asks for it: a table of values that newer ones replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.records import Evidence
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.comparison import render_table
from research.engine.report.parts.dating import (
    MONTH,
    YEAR,
    amounts_of,
    date_of_statement,
    earlier_amounts,
    first_date,
    is_alike,
    latest_date,
)
from research.engine.report.parts.earlier_values import value_beside, with_unit
from research.engine.report.parts.timeline import timeline_of
from research.engine.report.rendering.markdown_escape import escape_sentence
from research.engine.report.report_i18n import Labels
from research.engine.text.entities import find_names
from research.engine.text.tokens import STOP_WORDS, capitalize_heading, term_set, words_in

LEAST_CHANGES, MOST_CHANGES = 2, 12
LONGEST_CLAIM = 25
"""Words of a claim that stands in the table whole, where code finds no value in it."""
LEAST_TERMS = 3
"""Terms of shared words from which they name what has changed."""
_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*")
_BREAK = re.compile(r"[,;:–—](?=\s)|[，；：]")
_CONJUNCTION = re.compile(r"(?:so that|so|and|but|because|while|whereas)\s", re.IGNORECASE)
_RELATIVE = re.compile(r"(?:which|who|whose|where|when|that|than)\s", re.IGNORECASE)


@dataclass(frozen=True)
class Change:
    """A value that another has replaced: the statement with the newer one, what has it, both
    values, their dates and evidence, and whether it `is_told` by the statement itself. Where the
    values are whole claims, nothing names what has them. `old` is the earlier finding.
    """

    said: Statement
    what: str
    before: str
    now: str
    dates: tuple[str, str]
    evidence: tuple[tuple[str, ...], tuple[str, ...]]
    is_told: bool
    old: Evidence | None = None


def changes_of(draft: Draft, ledger: Ledger) -> list[Change]:
    """Return the changes whose newer value the draft's sections or its `tabled` statements tell, in
    the order of the sub-questions; none where they are too few for a table, or where the timeline
    tells both values. Of several statements on one change the nearest to the earlier claim counts,
    of many changes those with most sites.
    """
    events = {said for _, said in timeline_of(draft, ledger)}
    found: dict[tuple[str, ...], Change] = {}
    told = (said for section in draft.sections for said in section.statements)
    for said in chain(told, draft.tabled):
        is_plain = not said.quoted and said.computed is None
        change = _change_in(said, ledger) if is_plain else None
        if change and not (change.is_told and said in events):
            key = (change.old.id,) if change.old else (change.before, change.now)
            known = found.setdefault(key, change)
            if _likeness(change) > _likeness(known):
                found[key] = change
    changes = [each for each in found.values() if not _is_told_earlier(each, found.values())]
    if not draft.tabled:
        return changes if len(changes) >= LEAST_CHANGES else []
    best = sorted(changes, key=lambda each: -_sites(each, ledger))[:MOST_CHANGES]
    places = {part: place for place, part in enumerate(ledger.aspects)}
    best.sort(key=lambda each: places.get(_part(each, ledger), len(places)))
    return best if len(best) >= LEAST_CHANGES else []


def _part(change: Change, ledger: Ledger) -> str:
    """Return the sub-question that the newer value was found for."""
    return ledger.book.records[change.evidence[1][0]].aspect_id or ""


def _sites(change: Change, ledger: Ledger) -> int:
    """Return how many sites give the newer value."""
    return len(set().union(*(ledger.book.records[i].keys for i in change.evidence[1])))


def _is_told_earlier(change: Change, changes: Iterable[Change]) -> bool:
    """Return whether another change says, of an earlier day, that the same was so before."""
    old = change.old
    return old is not None and any(
        first_date(each.old) < first_date(old) and is_alike(each.old, old)
        for each in changes
        if each.old is not None and each.said != change.said and not (each.what or change.what)
    )


def _likeness(change: Change) -> tuple[bool, float]:
    """Return whether a change has values of its own, and the share of the words of what was before
    that its statement has.
    """
    before = term_set(change.old.claim) if change.old else frozenset[str]()
    shared = len(before & term_set(change.said.body)) / len(before) if before else 0.0
    return bool(change.what), shared


def render_changes(
    changes: Iterable[Change],
    words: Labels,
    marks: Callable[[Iterable[str]], str],
    name_of: Callable[[Statement], str],
) -> str:
    """Return the table as a section; "" without any. `marks` gives the citations of ids, `name_of`
    the heading of a statement's sub-question.
    """
    rows = [["", words["before"], words["now"], words["as_of"]]]
    for each in changes:
        was, since = (words.date(day[:MONTH]) for day in each.dates)
        is_dated = not was or latest_date(each.before)
        before = escape_sentence(each.before) + ("" if is_dated else f" ({was})")
        values = zip((before, escape_sentence(each.now)), each.evidence, strict=True)
        cells = [f"{value} {marks(ids)}" for value, ids in values]
        rows.append([escape_sentence(each.what) or name_of(each.said), *cells, since])
    return f"## {words['changes']}\n\n{render_table(rows)}" if len(rows) > 1 else ""


def _change_in(said: Statement, ledger: Ledger) -> Change | None:
    found = _by_value(said, ledger) or _by_own_words(said, ledger) or _by_claim(said, ledger)
    return found or _by_former(said, ledger)


def _by_value(said: Statement, ledger: Ledger) -> Change | None:
    """Return the change of a value that a statement gives, or gives with the one before it."""
    own = amounts_of(said.body)
    for old, new in _replaced_by(said, ledger):
        is_told = amounts_of(old.claim) <= own
        current = new.claim if is_told else said.body
        was, now = value_beside(old.claim, current), value_beside(current, old.claim)
        if was and now:
            clause = _clause_with(now, said.body)
            told = clause if ledger.began >= Form.NAMED else said.body
            what = _name_of(replace(said, text=told), old, ledger) or clause
            dates, evidence = _dates(said, old, new), ((old.id,), said.evidence)
            return Change(said, what, was, now, dates, evidence, is_told, old)
    return None


def _dates(said: Statement, old: Evidence, new: Evidence) -> tuple[str, str]:
    """Return of when the earlier value is, unless it is told later than that of the newer one, and
    the date that the statement gives, otherwise that of the newer claim.
    """
    now = latest_date(said.body) or date_of_statement(new)
    was = first_date(old)
    return (was if was < now else ""), now


def _by_own_words(said: Statement, ledger: Ledger) -> Change | None:
    """Return the change that the evidence of a statement tells by itself."""
    earlier = earlier_amounts(said.body, said.evidence, ledger)
    was = with_unit(earlier[0], said.body) if len(earlier) == 1 else ""
    now = value_beside(said.body, was)
    if not now:
        return None
    what, dates = _clause_with(now, said.body), ("", _own_date(said, ledger))
    return Change(said, what, was, now, dates, (said.evidence, said.evidence), True)


def _own_date(said: Statement, ledger: Ledger) -> str:
    """Return the date that a statement gives, otherwise the newest of its evidence."""
    newest = max(date_of_statement(ledger.book.records[i]) for i in said.evidence)
    return latest_date(said.body) or newest


def _by_claim(said: Statement, ledger: Ledger) -> Change | None:
    """Return the change of what is no one value, in the words of both claims."""
    for old, new in _replaced_by(said, ledger):
        is_short = max(said.words, words_in(old.claim)) <= LONGEST_CLAIM
        is_of_earlier_year = first_date(old)[:YEAR] < date_of_statement(new)[:YEAR]
        if is_short and is_of_earlier_year and old.id not in said.evidence:
            dates, evidence = _dates(said, old, new), ((old.id,), said.evidence)
            was, now = (text.rstrip(" .。") for text in (old.claim, said.body))
            return Change(said, "", was, now, dates, evidence, False, old)
    return None


def _by_former(said: Statement, ledger: Ledger) -> Change | None:
    """Return the change of what is no amount and that the evidence of a statement tells by itself:
    what was so before in its words, and the statement.
    """
    former = (ledger.relations.former.get(record_id) for record_id in said.evidence)
    was = next(filter(None, former), "")
    if not was or said.words > LONGEST_CLAIM:
        return None
    current = said
    if ledger.began >= Form.NAMED:  # a date behind what was so before is that of the former value
        start = said.body.casefold().find(was.casefold())
        current = replace(said, text=said.body[: max(start, 0)])
    dates = "", _own_date(current, ledger)
    before, now = capitalize_heading(was), said.body.rstrip(" .。")
    return Change(said, "", before, now, dates, (said.evidence, said.evidence), True)


def _replaced_by(said: Statement, ledger: Ledger) -> Iterator[tuple[Evidence, Evidence]]:
    """Yield the records whose values the evidence of a statement has replaced, and those with the
    newer values, the latest first, without what may only be quoted or isn't dated before.
    """
    records = ledger.book.records
    pairs = [(records[o], records[n]) for o, n in ledger.relations.replaced.items()]
    for old, new in sorted(pairs, key=lambda pair: first_date(pair[0]), reverse=True):
        is_older = first_date(old) < date_of_statement(new) and not old.is_dictated
        if is_older and new.id in said.evidence:
            yield old, new


def _name_of(said: Statement, old: Evidence, ledger: Ledger) -> str:
    """Return what names the thing that a statement and an older claim give values of: that of a key
    figure, or the words that both share, with every name of the statement; "" without.
    """
    own = amounts_of(said.body)
    names = {
        figure.name
        for figure in ledger.relations.figures
        if {*figure.evidence} & {*said.evidence} and amounts_of(figure.value) <= own
    }
    name = names.pop() if len(names) == 1 else _shared_words(said.body, old.claim)
    if len(term_set(name)) < LEAST_TERMS or any(n not in name for n in find_names(said.body)):
        return ""
    return capitalize_heading(name)


def _shared_words(one: str, other: str) -> str:
    """Return the longest run of words that two wordings share, without numbers and their units, and
    without words at its ends that carry no meaning.
    """
    words, others = ([*map(str.casefold, _WORD.findall(text))] for text in (one, other))
    same = SequenceMatcher(a=words, b=others, autojunk=False).get_matching_blocks()
    best = max(same, key=lambda block: block.size)
    run = _WORD.findall(one)[best.a : best.a + best.size]
    if run and best.a and words[best.a - 1][0].isdigit():
        run = run[1:]
    while run and (run[0].casefold() in STOP_WORDS or run[0][0].isdigit()):
        run = run[1:]
    while run and (run[-1].casefold() in STOP_WORDS or run[-1][0].isdigit()):
        run = run[:-1]
    return "" if any(word[0].isdigit() for word in run) else " ".join(run)


def _clause_with(value: str, sentence: str) -> str:
    """Return the part of a sentence that gives a value, or all where it can't be read alone."""
    plain = sentence.rstrip(" .。")
    part = next((p.strip() for p in _BREAK.split(plain) if value in p), plain)
    part = _CONJUNCTION.sub("", part, count=1) if _CONJUNCTION.match(part) else part
    return plain if _RELATIVE.match(part) else f"{part[:1].upper()}{part[1:]}"
