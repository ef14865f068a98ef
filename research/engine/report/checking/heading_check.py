"""Check the headings that an author gave to sections and steps: they may tell nothing of their own.

No quote stands behind a heading, so what it says has to be said by what stands under it, or asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from research.engine.evidence.claims.names import unknown_names
from research.engine.evidence.ledger import Ledger
from research.engine.report.draft import Draft, Statement
from research.engine.text import entities
from research.engine.text.tokens import capitalize_heading, term_set, words_in
from research.engine.untrusted.prompt_injection import is_order

LONGEST_HEADING = 12
OWN_SHARE = 1 / 2
"""Share of a heading's terms that may be its author's; one always may ("Why DVDs come second")."""


def with_fitting_headings(draft: Draft, ledger: Ledger) -> Draft:
    """Return a checked draft without headings that say what nothing under them says: its sections
    go by their sub-questions, its steps stand without a head.
    """
    if not draft.is_authored:
        return draft
    sections = tuple(
        replace(each, heading=fitting_heading(each.heading, each.statements, ledger))
        for each in draft.sections
    )
    steps = tuple(
        replace(each, head=fitting_heading(each.head, draft.next_steps, ledger))
        for each in draft.next_steps
    )
    heading = fitting_heading(draft.steps_heading, draft.next_steps, ledger)
    return replace(draft, sections=sections, next_steps=steps, steps_heading=heading)


def fitting_heading(text: str, below: Sequence[Statement], ledger: Ledger) -> str:
    """Return a heading, "" if it is too long or an order, or has numbers, names or more than a few
    words that neither the question nor the statements `below` have. What a page dictates doesn't
    count as said.
    """
    if not text or words_in(text) > LONGEST_HEADING or is_order(text, ledger.question):
        return ""
    records = ledger.book.records
    said = (
        each.body
        for each in below
        if not any(i in records and records[i].is_dictated for i in each.evidence)
    )
    asked = (each.text for each in ledger.aspects.values())
    known = " ".join((ledger.question, *asked, *said))
    numbers = {*entities.find_numbers(text)} - {*entities.find_numbers(known)}
    within = text[:1].lower() + text[1:]
    if numbers or any(unknown_names(within, known, ledger.plan.language)):
        return ""
    terms = term_set(text.replace("-", " "))
    own = terms - term_set(f"{known} {known.replace('-', ' ')}")
    return "" if len(own) > max(1, OWN_SHARE * len(terms)) else capitalize_heading(text)
