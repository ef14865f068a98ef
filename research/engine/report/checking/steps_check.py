"""Check next steps: by code and verifier, then once more what the model has repaired of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from research.engine.journal.forms import Form
from research.engine.report.draft import Statement
from research.engine.run import Run
from research.engine.verifier.check_draft import steps_that_follow, strange_steps
from research.engine.verifier.planting import Judged

OF_ITS_OWN = (
    "a next step may have figures of its quotes, of the question or of a formula, and names of its "
    "quotes and of the question; in backticks, values and names of tables, columns and what it "
    "makes may be its own, and options, settings and functions are those of any page"
)
SAYS_ELSE = "a checker found that a next step says something else than its quotes"
STEPS_REFUSED = "Left out: {n}. They say something that no source does."
STEPS_UNCHECKED = "Left out: {n}. No verifier was believed on them."
STEPS, REPAIRED = "verify/steps", "verify/steps/repaired"
Mended = Mapping[Statement, Statement | None]


@dataclass(frozen=True)
class FirstLook:
    """The steps that may not stand as they were drafted, with the reason; the verdicts on the
    others, None where none were asked for.
    """

    faults: Mapping[Statement, str]
    judged: Judged | None = None

    @property
    def refused(self) -> int:
        """Return how many steps the verifier refused."""
        return sum(reason == SAYS_ELSE for reason in self.faults.values())


@dataclass(frozen=True)
class CheckedSteps:
    """The steps that may be shown, how many canaries were planted and found among them, and how
    many steps are left out; not `is_judged` if no verifier was believed on them.
    """

    shown: tuple[Statement, ...]
    planted: int = 0
    found: int = 0
    left_out: int = 0
    is_judged: bool = True


async def look_at_steps(run: Run, steps: Sequence[Statement]) -> FirstLook:
    """Return what code finds strange and, since `Form.EDITED`, what the verifier refuses. Of a
    verifier that hardly misses errors nothing is strange that a mark can tell.
    """
    strange = await strange_steps(run, steps, may_mark=run.verifier_sees_details)
    if run.form < Form.EDITED:
        return FirstLook(dict.fromkeys(strange, OF_ITS_OWN))
    faults = {each: f"{what}: {OF_ITS_OWN}" for each, what in strange.items()}
    known = [step for step in steps if step not in strange]
    kept, judged = await steps_that_follow(run, known, STEPS)
    if judged.use == "believed":
        faults |= {step: SAYS_ELSE for step in known if step not in kept}
    return FirstLook(faults, judged)


async def settle_steps(
    run: Run, steps: Sequence[Statement], first: FirstLook, mended: Mended
) -> CheckedSteps:
    """Return the steps that pass the final check. `mended` maps a repaired step to its new version,
    None if the model dropped it. What such a step still has of its own is marked where it is shown,
    unless the verifier is too weak to tell an addition from an error.
    """
    written = [mended.get(step, step) for step in steps]
    before = first.judged or Judged("")
    settled = {step for step in steps if first.judged and step not in first.faults}
    pairs = zip(steps, written, strict=True)
    refused = {step for step, reason in first.faults.items() if reason == SAYS_ELSE}
    again = [
        now
        for old, now in pairs
        if now and old not in settled and not (now is old and old in refused)
    ]
    strange = await strange_steps(run, again, may_mark=True)
    is_believed = before.use in {"", "believed"}
    known = [each for each in again if each not in strange] if is_believed else []
    place = REPAIRED if first.judged else STEPS
    kept, judged = await steps_that_follow(run, known, place)
    standing = {*kept, *settled} if is_believed else {*kept}
    shown = [each for each in written if each and each in standing]
    is_judged = is_believed and (not known or judged.use == "believed")
    planted, found = before.planted + judged.planted, before.found + judged.found
    if run.form < Form.COMPUTED:
        return CheckedSteps(tuple(shown), planted, found)
    left_out = len(steps) - len(shown)
    if left_out:
        told = STEPS_REFUSED if is_judged else STEPS_UNCHECKED
        run.trouble("next steps", told.format(n=left_out))
    return CheckedSteps(_with_gaps(shown, written), planted, found, left_out, is_judged)


def _with_gaps(
    kept: Sequence[Statement], written: Sequence[Statement | None]
) -> tuple[Statement, ...]:
    """Return the steps that are kept, each marked that followed one that is left out."""
    steps = [step if step in kept else None for step in written]
    return tuple(
        replace(step, behind_gap=before is None)
        for before, step in zip((*kept[:1], *steps), steps, strict=False)
        if step is not None
    )
