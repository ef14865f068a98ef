"""Quotations in the place of statements that nothing vouches for, and other statements in the place
of sentences of the short answer.

A sentence of the short answer rests on statements of the report. Where nothing vouches for it, they
still hold, and what the model thought worth telling first is found by the evidence that it cites.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from research.engine.evidence.ledger import Ledger
from research.engine.journal.forms import Form
from research.engine.offline.drafting import is_sentence
from research.engine.offline.drafting import quote_statement as quotation
from research.engine.report.draft import Draft, Statement
from research.engine.report.parts.inline_quotes import quotation_among_statements
from research.engine.report.parts.subjects import leans_alone
from research.engine.text.tokens import term_set
from research.engine.untrusted.order_words import content_terms

LEAST_SHARED = 3
"""Fewest content words that a statement shares with the sentence of a verdict that it replaces."""


def quote_instead(draft: Draft, replaced: Collection[Statement], ledger: Ledger) -> Draft:
    """Put the shortest of the quotes that a statement cites in its place, or the first where its
    author chose its section, each once in a section; a statement goes that cites nothing known or
    nothing but fragments, one on the question as a whole, and a conclusion. One of the short answer
    that joins several findings goes as well where there are sections: their main findings take its
    place.

    Since `Form.EDITED`, where most statements hold, only quotations that fit among them take the
    place of one, which goes otherwise.
    """
    are_few = 2 * len({*replaced} & {*draft.statements}) < len({*draft.statements})
    is_strict = ledger.began >= Form.EDITED and are_few

    def parts(statements: Iterable[Statement]) -> tuple[Statement, ...]:
        said: list[Statement] = []
        for given in statements:
            new = _instead(given, replaced, ledger, is_strict)
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
    given: Statement, replaced: Collection[Statement], ledger: Ledger, is_strict: bool
) -> Iterable[Statement]:
    if given not in replaced:
        return [given]
    if given.is_verdict or given.concludes:
        return []
    known = ledger.book.records
    cited = (known[record_id] for record_id in given.evidence if record_id in known)
    records = [each for each in cited if is_sentence(each)]
    if not records:
        return []
    # the author of a section cites first what matters most
    best = min(
        records,
        key=lambda each: (
            each.is_dictated,
            leans_alone(each, ledger),
            0 if given.about else len(each.claim),
        ),
    )
    quoted = quotation(best)
    if is_strict:
        part = ledger.aspects.get(given.about or best.aspect_id or "")
        asked = part.text if part else ledger.question
        fitting = (quotation_among_statements(each, asked, given.body) for each in records)
        found = next(filter(None, fitting), None)
        if found is None:
            return []
        quoted = found
    new = replace(quoted, is_item=given.is_item, replaced_words=given.words, about=given.about)
    return [replace(new, spare=given.spare)]


# --- sentences of the short answer -----------------------------------------------------------


def with_stand_ins(draft: Draft, given: Sequence[Statement]) -> Draft:
    """Return a checked draft whose short answer, which was `given` before the check, has in the
    place of each sentence that failed the statements of its sections on the same evidence; where
    none hold, what the check put there.

    Those of a failed verdict follow, unless another sentence rests on the same. They are no
    verdict: each stands with its own sub-question.
    """
    kept = {*draft.short_answer}
    held = [
        said
        for section in draft.sections
        for said in section.statements
        if said.evidence and not said.quoted
    ]
    told: list[Statement] = []
    for said in given:
        if said in kept:
            told.append(said)
        elif not said.is_verdict:
            quoted = (q for q in draft.short_answer if q.quoted and _covers(said, q))
            told += _rested_on(said, held) or quoted
    failed = (said for said in given if said.is_verdict and said not in kept)
    for each in (each for said in failed for each in _rested_on(said, held)):
        if not any(_covers(other, each) for other in told):
            told.append(each)
    return replace(draft, short_answer=tuple(dict.fromkeys(told)))


def with_whole_verdict(draft: Draft, given: Sequence[Statement]) -> Draft:
    """Return a checked draft whose verdict, which was `given` before the check, has in the place of
    each sentence that failed the statement of a section on the same evidence that has most of its
    words: else it would answer one part of the question as if it were all. As it is where the whole
    verdict failed, or held.
    """
    kept = {*draft.short_answer}
    if not any(said.is_verdict for said in kept):
        return draft
    told: list[Statement] = []
    for said in given:
        if said in kept:
            told.append(said)
        elif said.is_verdict and (instead := _nearest(said, draft, told)):
            told.append(replace(instead, is_verdict=True, opens_paragraph=False))
    others = [said for said in draft.short_answer if said not in told]
    return replace(draft, short_answer=(*told, *others))


def _nearest(said: Statement, draft: Draft, told: Collection[Statement]) -> Statement | None:
    words = content_terms(said.body)
    shared = {
        each: len(words & content_terms(each.body))
        for section in draft.sections
        for each in section.statements
        if not (each.quoted or each.is_item or each in told)
        if not {*each.evidence}.isdisjoint(said.evidence)
    }
    best = max(shared, key=lambda each: shared[each], default=None)
    return best if best and shared[best] >= LEAST_SHARED else None


def _rested_on(said: Statement, held: Iterable[Statement]) -> list[Statement]:
    """Return for each record that a sentence cites the statement on it that has most of its words,
    those before others that rest on nothing else.
    """
    words = term_set(said.body)
    found: list[Statement] = []
    for record_id in said.evidence:
        if any(record_id in each.evidence for each in found):
            continue
        on_it = [each for each in held if record_id in each.evidence]
        if on_it:
            found.append(
                max(on_it, key=lambda s: (_covers(said, s), len(words & term_set(s.body))))
            )
    return found


def _covers(said: Statement, other: Statement) -> bool:
    """Return whether a statement rests on all that another one rests on."""
    return {*said.evidence} >= {*other.evidence}
