"""Quotations in the place of statements that nothing vouches for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.offline.drafting import is_sentence
from research.engine.offline.drafting import quote_statement as quotation
from research.engine.report.draft import Draft, Statement


def quote_instead(draft: Draft, replaced: Collection[Statement], ledger: Ledger) -> Draft:
    """Put the shortest of the quotes that a statement cites in its place, or the first where its
    author chose its section, each once in a section; a statement goes that cites nothing known or
    nothing but fragments, and one on the question as a whole. One of the short answer that joins
    several findings goes as well where there are sections: their main findings take its place.
    """

    def parts(statements: Iterable[Statement]) -> tuple[Statement, ...]:
        said: list[Statement] = []
        for given in statements:
            new = _instead(given, replaced, ledger)
            said += [each for each in new if not each.quoted or each not in said]
        return tuple(said)

    sections = [replace(each, statements=parts(each.statements)) for each in draft.sections]
    opening = draft.short_answer
    if sections:
        opening = tuple(s for s in opening if s not in replaced or len(s.evidence) == 1)
    return replace(
        draft,
        short_answer=parts(opening),
        sections=tuple(each for each in sections if each.statements),
        quoted_instead=draft.quoted_instead + len(set(replaced) & set(draft.statements)),
    )


def _instead(
    given: Statement, replaced: Collection[Statement], ledger: Ledger
) -> Iterable[Statement]:
    if given not in replaced:
        return [given]
    if given.is_verdict:
        return []
    known = ledger.book.records
    cited = (known[record_id] for record_id in given.evidence if record_id in known)
    records = [each for each in cited if is_sentence(each)]
    if not records:
        return []
    # the author of a section cites first what matters most
    best = min(records, key=lambda each: (each.is_dictated, 0 if given.about else len(each.claim)))
    quoted = quotation(best)
    return [replace(quoted, is_item=given.is_item, replaced_words=given.words, about=given.about)]
