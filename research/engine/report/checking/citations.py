"""Complete the citations of statements that lack the finding which has their figure or name.

An author who writes from a hundred findings may cite the one beside it. The repair prompt shows
only what is cited, so the figure would be lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.records import Evidence
from research.engine.report.checking.lacking import lacking_in
from research.engine.report.checking.next_steps import find_strange_words
from research.engine.report.checking.statement_check import find_fault
from research.engine.report.draft import Draft, Fault, Statement
from research.engine.text.entities import find_numbers
from research.engine.text.tokens import term_set

MOST_TRIED, LEAST_SHARED = 6, 2
"""Findings that are tried as further evidence of a statement, those nearest to it, and the fewest
words that they share with it.
"""
_CLAUSE = re.compile(r"[,;:]\s|\s(?:and|but|because|since|so|und|aber|weil|da)\s")
_NAMED = re.compile(r"\d{2}|^[^\W\d_]*[A-Z]")
"""A figure of several digits or a name: "two" and "0" stand in many findings."""


def completed_citations(
    draft: Draft, faults: Iterable[Fault], ledger: Ledger
) -> dict[Statement, Statement]:
    """Return the faulty statements, and the steps with figures or names of their own, that cite one
    more finding which gives these, where code then finds no fault in them. The verifier judges them
    like any.
    """
    faulty = {fault.statement for fault in faults}
    return {
        said: completed
        for said in (*draft.statements, *draft.next_steps)
        if said in faulty or said in draft.next_steps
        if (completed := _with_what_it_lacks(said, said not in faulty, ledger))
    }


def _with_what_it_lacks(said: Statement, is_step: bool, ledger: Ledger) -> Statement | None:
    lacks = [each for each in lacking_in(said, ledger) if _NAMED.search(each)]
    giving = [
        (shared, record)
        for record in (ledger.statable if lacks else ())
        if record.id not in said.evidence
        if (shared := max(_told_beside(each, said.body, record) for each in lacks))
    ]
    for _, record in sorted(giving, key=lambda each: -each[0])[:MOST_TRIED]:
        cited = replace(said, evidence=(*said.evidence, record.id))
        is_inferred = is_step or said.concludes
        if not (find_strange_words(cited, ledger) if is_inferred else find_fault(cited, ledger)):
            return cited
    return None


def _told_beside(lacked: str, said: str, record: Evidence) -> int:
    """Return how many other words a finding that gives what a sentence lacks shares with the clause
    around it; 0 if it doesn't give it, or shares hardly any or less than half of them, as one of
    another thing.
    """
    quoted = " ".join(f"{each.quote} {each.title} {each.section}" for each in record.sources)
    numbers = {*find_numbers(lacked)}
    if not (
        numbers <= {*find_numbers(quoted)} if numbers else lacked.casefold() in quoted.casefold()
    ):
        return 0
    clause = next((each for each in _CLAUSE.split(said) if lacked in each), said)
    wanted = term_set(clause) - term_set(lacked)
    shared = len(wanted & term_set(quoted))
    return shared if shared >= LEAST_SHARED and 2 * shared >= len(wanted) else 0
