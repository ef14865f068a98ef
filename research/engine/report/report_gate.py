"""Gate 3: whether a report covers what was found, by the draft and as it is delivered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from research.engine.evidence.ledger import ANSWERING
from research.engine.records import Criterion, GateDecision, GateResult
from research.engine.report.draft import Draft
from research.engine.report.key_claims import is_led
from research.engine.report.rendering.markdown import Rendered
from research.engine.run import Run
from research.engine.verifier.check_draft import Verified

KEY_CLAIMS = 0.9
STATEMENTS = 0.5
LEFT_OUT = "left out for the report's length"


@dataclass(frozen=True)
class Checked:
    """A checked draft and the statistics of its check. `stood` is the share of drafted statements
    that neither code nor a believed verifier refused; `is_dense` means that the report is too long
    otherwise, `shortened` counts the statements that were left out for that. `found_late` are the
    ids of evidence on points that the author had left open. A dense one `keeps_figures` if it has
    room for its key figures all the same. The two counts of steps are those of `Checks`.
    """

    draft: Draft
    repaired: int
    cut: int
    verified: Verified
    stood: float = 1.0
    is_dense: bool = False
    shortened: int = 0
    found_late: frozenset[str] = frozenset()
    keeps_figures: bool = False
    steps_refused: int = 0
    steps_unchecked: int = 0


@dataclass(frozen=True)
class Written:
    """A checked, rendered draft and its Gate 3 result."""

    checked: Checked
    rendered: Rendered
    gate: GateResult


def report_criteria(run: Run, checked: Checked, rendered: Rendered) -> tuple[Criterion, ...]:
    """Return coverage, structure and citations of the draft, with their figures."""
    ledger, draft = run.ledger, checked.draft
    replaced = ledger.relations.replaced
    keys = [{r.id} for r in ledger.evidence if r.key and r.id not in replaced]
    cited = {i for citation in rendered.citations for i in citation.evidence_ids}
    answered = [a for a in ledger.aspects.values() if a.state in ANSWERING]
    if is_led(run):  # the author of the draft chose which of them leads its section
        keys = [{r.id for r in ledger.supporting(part.id)} for part in answered]
    covered = {*draft.covered}
    if run.has_model:  # a short report says some things in its short answer alone
        told = {i for said in draft.short_answer for i in said.evidence}
        # An earlier value counts with the current one.
        told |= {i for said in draft.statements for i in said.earlier}
        covered |= {part for i in told for part in ledger.book.records[i].answers}
    return (
        Criterion("share of answered sub-questions with a section",
                  sum(a.id in covered for a in answered) / max(1, len(answered)), 1),
        Criterion("short answer", float(bool(draft.short_answer)), 1),
        Criterion("share of key claims in the report",
                  sum(not key.isdisjoint(cited) for key in keys) / max(1, len(keys)), KEY_CLAIMS),
        Criterion("share of statements that stood the check",
                  round(checked.stood, 4), STATEMENTS),
    )  # fmt: skip


def as_delivered(
    drafted: Sequence[Criterion], delivered: Sequence[Criterion]
) -> tuple[Criterion, ...]:
    """Return the criteria of the report that is delivered; no more is to be had of one that the
    draft met before it was cut to its length.
    """
    return tuple(
        replace(after, unavailable=LEFT_OUT) if before.met and not after.met else after
        for before, after in zip(drafted, delivered, strict=True)
    )


async def report_gate(run: Run, criteria: tuple[Criterion, ...]) -> GateResult:
    """Gate 3 on the report."""
    short = [criterion for criterion in criteria if not criterion.met]
    decision: GateDecision = "retry" if short else "pass"
    if short and all(criterion.unavailable for criterion in short):
        decision = "not_to_be_had"
    at = datetime.fromisoformat(await run.journal.now(f"{run.report_place}/gate"))
    failed = tuple(criterion.name for criterion in short)
    score = round(sum(min(1.0, c.value / c.minimum) for c in criteria) / len(criteria), 4)
    return GateResult(
        run.ledger.round.number, "draft", decision, score, None, criteria, failed, at,
    )  # fmt: skip
