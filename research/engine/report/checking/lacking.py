"""Figures, dates, names and words of a sentence that its sources lack, for the repair prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.claims.figures import foreign_amounts, foreign_dates
from research.engine.evidence.claims.formulas import has_foreign_figure
from research.engine.evidence.claims.names import unknown_names
from research.engine.evidence.ledger import Ledger
from research.engine.records import Evidence
from research.engine.report.checking.statement_check import (
    claim_context,
    join_quotes,
    rests_on_question,
    sources_of_formulas,
)
from research.engine.report.draft import Fault, Statement
from research.engine.text.amounts import find_amounts
from research.engine.text.dates import find_dates
from research.engine.text.tokens import split_tokens, term_set, unique_texts

# between "8" and "GB", "single" and "board", "SSD" and "s"
_COMPOUND = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W_])-(?=[^\W_])|(?<=[A-Z]{2})(?=s\b)")
_LONG_NUMBER = re.compile(r"\d{2,}(?:[.,]\d+)*")
MOST_WORDS = 8
"""Most words, figures and names that are listed for one sentence."""


def explain_faults(
    faults: Iterable[Fault], ledger: Ledger, of_words: frozenset[str]
) -> list[Fault]:
    """Return the faults, each with the figures, dates and names of its statement that its quotes
    lack. One for a reason `of_words` has the other words that they lack as well.
    """
    told = []
    for fault in faults:
        lacks = lacking_in(fault.statement, ledger)
        if fault.reason in of_words:
            lacks += _lacking_words(fault.statement, ledger)
        what = tell_lacking(unique_texts(lacks), "in none of its quotes")
        told.append(replace(fault, reason=f"{fault.reason}: {what}") if what else fault)
    return told


def tell_lacking(lacks: Sequence[str], where: str) -> str:
    """Return a clause such as "'7 m' is in none of its quotes"; "" for no texts."""
    shown = [f"'{each}'" for each in lacks[:MOST_WORDS]]
    if len(shown) < 2:
        return f"{shown[0]} is {where}" if shown else ""
    return f"{', '.join(shown[:-1])} and {shown[-1]} are {where}"


def lacking_figures(text: str, known: str, context: str) -> list[str]:
    """Return the amounts of a text, as written, that neither source nor context gives, nor has
    word for word ("-8" of "-0..-8") or without the unit ("48000 Hz" of "-r 48000").
    """
    found = (text[each.start : each.end].strip() for each in foreign_amounts(text, known, context))
    given = f"{known} {context}"
    return [
        each
        for each in found
        if not stands_in(each, given)
        and not any(stands_in(number, given) for number in _LONG_NUMBER.findall(each))
    ]


def stands_in(written: str, text: str) -> bool:
    """Return whether a text has these words or this number as they are, not within others; a
    number may have another sign there, and its unit next to it.
    """
    if written[:1].isalpha():
        return bool(re.search(rf"(?<!\w){re.escape(written)}(?!\w)", text, re.IGNORECASE))
    plain = re.escape(written.lstrip("-−+")).replace(r"\ ", r"\s?")
    return bool(re.search(rf"(?<!\d)(?<!\d[.,]){plain}(?!\d|[.,]\d)", text, re.IGNORECASE))


def lacking_dates(text: str, known: str, context: str) -> list[str]:
    """Return the dates of a text, as written, that neither source nor context gives."""
    missing = foreign_dates(text, known, context)
    return [
        text[each.start : each.end].strip() for each in find_dates(text) if each.date in missing
    ]


def foreign_to_formulas(text: str, statement: Statement, ledger: Ledger) -> list[str]:
    """Return the figures in the text of a statement with formulas that are neither results of
    these nor given by the statement's sources.
    """
    sources = sources_of_formulas(statement, ledger)
    if not has_foreign_figure(text, statement.formulas, sources):
        return []
    written = [text[each.start : each.end].strip() for each in find_amounts(text)]
    alone = [each for each in written if has_foreign_figure(each, statement.formulas, sources)]
    return alone or written


def lacking_in(statement: Statement, ledger: Ledger) -> list[str]:
    """Return the figures, dates and names of a statement, as written, that its quotes lack."""
    records = _records_of(statement, ledger)
    if not records or statement.quoted:
        return []
    text, context = statement.text, claim_context(records, ledger)
    quoted, heads = join_quotes([s for each in records for s in each.sources], ledger)
    if rests_on_question(statement, ledger):
        figures = foreign_to_formulas(text, statement, ledger)
    else:
        figures = lacking_figures(text, f"{quoted} ({heads})", f"{context} ({heads})")
    dates = lacking_dates(text, f"{quoted} ({heads})", f"{context} ({heads})")
    names = unknown_names(text, f"{quoted} {context} {heads}", ledger.plan.language)
    return [*figures, *dates, *names]


def _lacking_words(statement: Statement, ledger: Ledger) -> list[str]:
    """Return the words that neither the quotes nor the claims have that were found with them, in
    any spelling: "8 GB" and "8GB", "single-board" and "single board", "SSD" and "SSDs".
    """
    records = _records_of(statement, ledger)
    told = " ".join(
        (*(s.quote for each in records for s in each.sources), *(r.claim for r in records))
    )
    known = term_set(told) | term_set(_apart(told))
    words = split_tokens(_apart(statement.body))
    return [word for word in words if not term_set(word) <= known] if records else []


def _apart(text: str) -> str:
    """Return a text with compounds, amounts with their units, and plurals of initials divided."""
    return _COMPOUND.sub(" ", text)


def _records_of(statement: Statement, ledger: Ledger) -> list[Evidence]:
    return [ledger.book.records[i] for i in statement.evidence if i in ledger.book.records]
