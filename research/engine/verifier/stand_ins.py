"""Replace failed sentences of the short answer with statements of the sections.

A sentence of the short answer rests on statements of the report. Where nothing vouches for it, they
still hold, and what the model thought worth telling first is found by the evidence that it cites.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from research.engine.report.draft import Draft, Statement
from research.engine.text.tokens import term_set


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
