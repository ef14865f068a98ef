"""Verify the ledger's claims in parallel with the draft.

Most statements of a draft repeat the claim of a record word for word. Their verdicts are known by
the time the draft is complete, so that no call follows it unless it has sentences of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from research.engine.llm_tasks.draft import usable_evidence
from research.engine.llm_tasks.prompting.ask import TaskFailedError, ask_model, request_for
from research.engine.llm_tasks.prompting.fit_to_context import fit_uncut
from research.engine.llm_tasks.verify import VERIFY_TWICE, verdicts_by_pair, verify_context
from research.engine.ports import ModelRequest
from research.engine.records import Complexity
from research.engine.report.checking.statement_check import check_statements
from research.engine.report.draft import Statement
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.verifier.pairs import Pair
from research.engine.verifier.planting import Asked, Judged, judge_verdicts, plant, shown_pair
from research.engine.verifier.qualification import is_qualified


@dataclass(frozen=True)
class PendingCheck:
    """A verifier call that runs in parallel with the draft."""

    place: str
    request: ModelRequest
    asked: Asked


@dataclass(frozen=True)
class ClaimVerdicts:
    """Verdicts on the ledger's claims; `pairs` are the claims as the verifier saw them."""

    judged: Judged
    pairs: Mapping[Statement, Pair]

    def settles(self, statement: Statement, run: Run) -> bool | None:
        """Return the verdict on a statement that repeats the claim of a record which it cites, None
        if it repeats none that was judged.
        """
        verdict = None
        for record_id in statement.evidence:
            claim = Statement(statement.text, (record_id,))
            if self.pairs.get(claim) == shown_pair(claim, run.ledger):
                verdict = claim in self.judged.carried
                if verdict:
                    break
        return verdict


async def begin_check(run: Run, place: str) -> None:
    """Ask the verifier about the claims that code can't vouch for, unless that was begun before.

    A simple question keeps to one call after its draft, and so does a prompt that does not fit.
    """
    if run.checking is not None or not _checks_ahead(run):
        return
    claims = [Statement(record.claim, (record.id,)) for record in usable_evidence(run.ledger)]
    checks = await run_in_thread(check_statements, claims, run.ledger)
    undecided = [claim for claim, check in checks.items() if check.outcome == "undecided"]
    if not undecided:
        return
    asked = await plant(run, undecided)
    context = verify_context(asked.pairs)
    if fit_uncut(VERIFY_TWICE, context, await run.context_tokens()) is None:
        return
    request = request_for(run.journal, VERIFY_TWICE, context)
    run.checking = PendingCheck(place, request, asked)
    run.journal.begin_model(place, request)


def _checks_ahead(run: Run) -> bool:
    known = run.qualification
    return (
        run.rules.verifies_statements
        and run.config.has_verifier
        and not run.is_fixed
        and run.ledger.complexity is not Complexity.SIMPLE
        and run.limits.sections == 1
        and known is not None
        and is_qualified(known, run.config.verifier_most_errors)
    )


async def take_check(run: Run) -> ClaimVerdicts | None:
    """Return the verdicts that were asked for ahead; None if there are none."""
    pending, run.checking = run.checking, None
    if pending is None or run.qualification is None:
        return None
    attempts, asked = run.config.max_model_attempts, pending.asked
    context = verify_context(asked.pairs)
    try:
        answer = await ask_model(run.journal, attempts, pending.place, VERIFY_TWICE, context)
    except TaskFailedError as failed:
        run.fell_back(VERIFY_TWICE.name, failed.cause)
        return None
    verdicts = verdicts_by_pair(answer, len(asked.pairs), len(asked.pairs))
    judged = judge_verdicts(run, asked, verdicts, run.qualification)
    return ClaimVerdicts(judged, asked.by_statement)


async def drop_check(run: Run) -> None:
    """Give up the verification that was begun, if one was."""
    if (pending := run.checking) is not None:
        run.checking = None
        await run.journal.drop_model(pending.place, pending.request)
        run.tell_usage()
