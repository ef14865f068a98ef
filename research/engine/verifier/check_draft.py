"""Have the model judge statements that code can't vouch for, and quote those it rejects.

The verifier is believed only if it is qualified and does as well on this call's canaries as it did
then. What it does not carry, and all that it was asked about if it is not believed, becomes a
quotation. So does a statement that nearly has its quote's words, unless the verifier hardly missed
anything when it was qualified: what sets the two apart is easily overlooked, by both looks alike,
and the quotation says as much. The verifier is asked about it all the same, for canaries are quotes
with a word changed and would stand out among freely worded statements. Nothing of this is known to
the assessments of the rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from research.engine.evidence.claim_check import ClaimCheck
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.ask import TaskFailedError
from research.engine.llm_tasks.verify import VERIFY, ask_verdicts
from research.engine.records import VerifierUse
from research.engine.report.checking.next_steps import (
    find_fault,
    find_strange_words,
    find_strangeness,
)
from research.engine.report.checking.statement_check import FIGURES, check_statements
from research.engine.report.draft import Draft, Statement
from research.engine.run import Run
from research.engine.text.offload import run_in_thread
from research.engine.verifier.check_ahead import drop_check, take_check
from research.engine.verifier.pairs import CitedQuote
from research.engine.verifier.planting import Judged, judge_verdicts, plant
from research.engine.verifier.qualification import is_qualified, qualification_of


@dataclass(frozen=True)
class Verified:
    """The draft as it may be shown; `carried` are the statements that only a believed verifier
    vouches for. `refused` counts those that it or code did not carry.
    """

    draft: Draft
    carried: frozenset[Statement] = frozenset()
    refused: int = 0
    planted: int = 0
    planted_found: int = 0
    use: VerifierUse = ""


@dataclass(frozen=True)
class Verdicts:
    """What a check found of statements: `carried` are those that only a believed verifier vouches
    for, `refused` those that code or a believed verifier does not carry, `unvouched` the others
    that nothing vouches for.
    """

    use: VerifierUse = ""
    carried: frozenset[Statement] = frozenset()
    refused: tuple[Statement, ...] = ()
    unvouched: tuple[Statement, ...] = ()
    planted: int = 0
    planted_found: int = 0


async def test_verifier(run: Run, statements: Iterable[Statement]) -> None:
    """Have the model tested as verifier before its statements are checked, if any will be left to
    it: how it did says which differences refuse one.
    """
    is_due = run.form >= Form.EDITED and run.has_verifier and run.rules.verifies_statements
    if not is_due or run.qualification is not None:
        return
    cited = [said for said in statements if said.evidence and not said.quoted]
    known = [said for said in cited if run.ledger.book.records.keys() >= {*said.evidence}]
    checks = await run_in_thread(check_statements, known, run.ledger)
    if any(_is_left(check) for check in checks.values()):
        await qualification_of(run)
        run.ledger.refuses_by = run.refuses_statements_by


def _is_left(check: ClaimCheck) -> bool:
    """Return whether a good verifier would decide on a statement, whose figures and names hold."""
    return check.outcome != "carried" and not (check.reasons and FIGURES.issuperset(check.reasons))


async def verify_statements(
    run: Run, statements: Iterable[Statement], step: str = "verify"
) -> Verdicts:
    """Return what code, and the verifier at this step of the report, find of statements other than
    quotations.
    """
    stated = dict.fromkeys(s for s in statements if s.evidence and not s.quoted)
    checks = await run_in_thread(check_statements, stated, run.ledger)
    undecided = [each for each, check in checks.items() if check.outcome == "undecided"]
    refused = [each for each, check in checks.items() if check.outcome == "refused"]
    if not _may_carry(run, checks):
        await drop_check(run)
        return Verdicts(refused=tuple(refused), unvouched=tuple(undecided))
    judged = await _judge(run, undecided, checks, step)
    carried = judged.carried & _may_carry(run, checks)
    amiss = tuple(each for each in undecided if each not in judged.carried)
    near = tuple(each for each in undecided if each in judged.carried - carried)
    is_believed = judged.use == "believed"
    return Verdicts(
        judged.use,
        carried,
        (*refused, *amiss) if is_believed else tuple(refused),
        near if is_believed else (*amiss, *near),
        judged.planted,
        judged.found,
    )


def _may_carry(run: Run, checks: Mapping[Statement, ClaimCheck]) -> frozenset[Statement]:
    """Return the undecided statements on which the verifier is believed, as far as it is known."""
    return frozenset(
        each
        for each, check in checks.items()
        if check.outcome == "undecided" and (run.verifier_sees_details or not check.is_near)
    )


async def _judge(
    run: Run, undecided: Sequence[Statement], checks: Mapping[Statement, ClaimCheck], step: str
) -> Judged:
    """Return the verdicts: those on claims that were asked for ahead, then those on the rest, but
    for statements that code would refuse, which alone are not worth a further call.
    """
    ahead = await take_check(run)
    if ahead is None:
        return await _ask(run, undecided, step)
    settled = {each: ahead.settles(each, run) for each in undecided}
    carried = frozenset(each for each, verdict in settled.items() if verdict)
    judged = replace(ahead.judged, carried=carried)
    rest = [each for each, verdict in settled.items() if verdict is None]
    if all(checks[each].is_left for each in rest) or judged.use != "believed":
        return judged
    further = await _ask(run, rest, step)
    is_believed = further.use == "believed"
    return Judged(
        further.use,
        judged.carried | further.carried if is_believed else frozenset(),
        judged.planted + further.planted,
        judged.found + further.found,
    )


async def strange_steps(
    run: Run, steps: Sequence[Statement], *, may_mark: bool
) -> dict[Statement, str]:
    """Return the steps that say more than the evidence and the question give, with what. Since
    `Form.EDITED` a mark `may_mark` what is their own instead: names in code, and figures and names
    in words if the verifier hardly misses errors.
    """
    find = find_strangeness
    if may_mark and run.form >= Form.EDITED:
        find = find_fault if run.verifier_sees_details else find_strange_words
    told = {each: await run_in_thread(find, each, run.ledger) for each in steps}
    return {each: what for each, what in told.items() if what}


async def steps_that_follow(
    run: Run, steps: Sequence[Statement], place: str
) -> tuple[tuple[Statement, ...], Judged]:
    """Return which of these steps may be shown as inferred by the model, and the verdicts on them,
    asked for at this step of the report: a believed verifier must not find that one says something
    else than its quotes.
    """
    if not steps:
        return (), Judged("")
    judged = await _ask(run, steps, place, (CitedQuote(run.ledger.asked, "question"),))
    if judged.use != "believed":
        return (), judged
    return tuple(each for each in steps if each not in judged.other), judged


async def _ask(
    run: Run, undecided: Sequence[Statement], step: str, beside: Sequence[CitedQuote] = ()
) -> Judged:
    if not run.has_model or not run.config.has_verifier:
        return Judged("off")
    known = await qualification_of(run)
    if known is None or not is_qualified(known, run.config.verifier_most_errors):
        return Judged("unqualified")
    run.report_action("Checking statements against their quotes")
    asked = await plant(run, undecided, beside)
    try:
        verdicts = await ask_verdicts(run, f"{run.report_place}/{step}", asked.pairs)
    except TaskFailedError as failed:
        run.fell_back(VERIFY.name, failed.cause)
        return Judged("failed")
    return judge_verdicts(run, asked, verdicts, known)
