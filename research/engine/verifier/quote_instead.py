"""Quotations in the place of statements that nothing vouches for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.offline.drafting import quote_statement as quotation
from research.engine.report.draft import Draft, Statement


def quote_instead(draft: Draft, replaced: Collection[Statement], ledger: Ledger) -> Draft:
    """Put the quotes that a statement cites in its place, each once in the short answer and once
    in a section; a statement that cites nothing known goes.
    """

    def parts(statements: Iterable[Statement]) -> tuple[Statement, ...]:
        said: list[Statement] = []
        for given in statements:
            new = _instead(given, replaced, ledger)
            said += [each for each in new if not each.quoted or each not in said]
        return tuple(said)

    sections = [replace(each, statements=parts(each.statements)) for each in draft.sections]
    return replace(
        draft,
        short_answer=parts(draft.short_answer),
        sections=tuple(each for each in sections if each.statements),
        quoted_instead=draft.quoted_instead + len(set(replaced) & set(draft.statements)),
    )


def _instead(
    given: Statement, replaced: Collection[Statement], ledger: Ledger
) -> Iterable[Statement]:
    if given not in replaced:
        return [given]
    records = ledger.book.records
    return [quotation(records[record_id]) for record_id in given.evidence if record_id in records]
