"""What a run knows of its verifier: the stored qualification, frozen, or one of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from research.engine.budget.meter import Spent
from research.engine.journal.forms import Form
from research.engine.llm_tasks.prompting.ask import TaskFailed
from research.engine.llm_tasks.verify import VERIFY, ask_verdicts_unfitted, prompt_version
from research.engine.records import Qualification
from research.engine.run import Run
from research.engine.verifier.pairs import Pair
from research.engine.verifier.qualification import (
    ANSWER_TOKENS,
    BATCHES,
    PROMPT_TOKENS,
    TOKENS_PER_CALL,
    qualify,
)

NO_ROOM = "the model was not qualified as verifier: the budget has no room for it"


async def know_verifier(run: Run) -> None:
    """Freeze what is stored of the model as verifier, so that replays decide alike. Nothing is
    verified in the first form.
    """
    if not run.has_model or not run.config.has_verifier:
        return
    if run.form < Form.VERIFIED:
        run.rules = replace(run.rules, verifies_statements=False)
        return
    stored = run.question.verifier

    async def read() -> dict[str, Any] | None:
        return stored.as_dict() if stored else None

    frozen: Mapping[str, Any] | None = await run.journal.decide_once("verifier", read)
    run.qualification = Qualification(**frozen) if frozen else None


async def qualification_of(run: Run) -> Qualification | None:
    """Return how the model did on the labelled pairs, asking it now if that is unknown.

    None where the budget has no room for that or the model gave no usable answer; it is not
    tried twice in a run.
    """
    if run.qualification is None and not run.is_qualified_in_vain:
        run.is_qualified_in_vain = True
        run.qualification = await _qualify(run)
        if run.qualification is not None:
            run.is_qualified_in_vain = False
            run.journal.emit(run.qualification)
    return run.qualification


async def _qualify(run: Run) -> Qualification | None:
    if not has_room(run):
        run.fell_back(VERIFY.name, NO_ROOM)
        return None
    run.report_action("Finding out how well the model checks statements")

    async def ask_batch(number: int, pairs: Sequence[Pair]) -> Sequence[bool]:
        place, attempts = f"verifier/{number}", run.config.max_model_attempts
        return await ask_verdicts_unfitted(run.journal, attempts, place, pairs)

    try:
        return await qualify(ask_batch, prompt_version())
    except TaskFailed as failed:
        run.fell_back(VERIFY.name, failed.cause)
        return None


def has_room(run: Run) -> bool:
    """Return whether the budgets hold a qualification beside the report's share."""
    calls, meter = BATCHES, run.journal.meter
    for_prompt, for_answer = meter.rates.get("evaluator", (0.0, 0.0))
    dollars = calls * (PROMPT_TOKENS * for_prompt + ANSWER_TOKENS * for_answer)
    cost = Spent(calls=calls, tokens=calls * TOKENS_PER_CALL, dollars=dollars)
    return meter.short_of(cost, meter.seconds, has_model=True) is None
