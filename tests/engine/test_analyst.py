"""Which analyst a run gets, and that every task has an offline fallback of the same signature."""

from __future__ import annotations

import inspect

import pytest

from research.engine.analyst import (
    Analyst,
    ModelAnalyst,
    OfflineAnalyst,
    SmallModelAnalyst,
    analyst_of,
)
from research.engine.ports import ModelFailedError
from research.engine.run import Question, Run
from tests.engine.llm_tasks.prompting.test_ask import Parrot, journal_of
from tests.engine.scripted import TODAY

TASKS = [name for name, _ in inspect.getmembers(Analyst, inspect.isfunction) if name[0] != "_"]


def run_with(model: Parrot | None, **knobs: object) -> Run:
    journal = journal_of(model or Parrot(), **knobs)
    journal.analyst = model.name if model else "extractive"
    return Run(Question("Who lit the lamp?", TODAY), journal.meter.config, journal)


@pytest.mark.parametrize(
    ("model", "profile", "expected"),
    [
        (None, "standard", OfflineAnalyst),
        (None, "small", OfflineAnalyst),
        (Parrot(), "standard", ModelAnalyst),
        (Parrot(), "small", SmallModelAnalyst),
    ],
)
def test_model_and_profile_choose_the_analyst(
    model: Parrot | None, profile: str, expected: type
) -> None:
    assert type(analyst_of(run_with(model, model_profile=profile))) is expected


def test_only_a_standard_model_works_ahead() -> None:
    chosen = [OfflineAnalyst, ModelAnalyst, SmallModelAnalyst]
    assert [each.works_ahead for each in chosen] == [False, True, False]
    assert [each.repairs_drafts for each in chosen] == [False, True, False]


@pytest.mark.parametrize("task", TASKS)
def test_implementations_have_the_signature_of_the_interface(task: str) -> None:
    expected = list(inspect.signature(getattr(Analyst, task)).parameters)
    for analyst in (OfflineAnalyst, ModelAnalyst, SmallModelAnalyst):
        assert list(inspect.signature(getattr(analyst, task)).parameters) == expected


async def test_a_failed_task_is_done_offline_and_counted_with_its_cause() -> None:
    run = run_with(Parrot(ModelFailedError("the server answered 401", permanent=True)))
    understood = await analyst_of(run).understand_question("intake/1")
    assert understood == await OfflineAnalyst(run).understand_question("intake/1")
    assert dict(run.journal.meter.usage.fallbacks) == {"intake": {"the server answered 401": 1}}
