from collections.abc import Sequence

import pytest

from bench.follow_ups import PARTS, QUESTIONS, Turn, ask, shares_table, threads_of
from bench.manuals import read_rows
from research.engine.budget.meter import Meter
from research.engine.config import ResearchConfig
from research.engine.journal import Journal, MemoryStore
from research.engine.ports import ModelAnswer, ModelRequest, Tools
from research.runtime.program import SystemClock
from research.search.fallback import NoSearch


class Naming:
    """A model that names these findings for every turn."""

    name = "naming"

    def __init__(self, named: Sequence[str]) -> None:
        self.named, self.prompts = named, list[str]()

    async def context_tokens(self) -> int | None:
        return None

    async def complete(self, request: ModelRequest, on_text: object = None) -> ModelAnswer:
        self.prompts.append(request.prompt)
        named = ", ".join(f'"{each}"' for each in self.named)
        said = request.prompt.splitlines()[1]
        text = f'{{"same_topic": true, "question": "{said}", "answered_by": [{named}]}}'
        return ModelAnswer(text, self.name, 0, 0, cost_usd=0.0)


@pytest.mark.parametrize("part", PARTS)
def test_each_turn_that_can_be_answered_needs_findings_of_its_thread(part: str) -> None:
    answerable = 0
    for before, turns in threads_of(part):
        known = {record.id for record in before.findings}
        assert len(turns) == 8 and before.answer
        assert all(turn.needs <= known and bool(turn.needs) is turn.answerable for turn in turns)
        answerable += sum(turn.answerable for turn in turns)
    assert 20 < answerable < 28


async def test_a_model_is_shown_the_findings_and_is_right_where_it_names_some() -> None:
    [before, turns], *_ = threads_of("tuning")
    model = Naming(["F1", "F999"])
    tools = Tools(NoSearch(), None, SystemClock(), model)  # type: ignore[arg-type]
    journal = Journal(MemoryStore(), tools, Meter(ResearchConfig()), analyst=model.name)
    await journal.open()
    asked = [await ask(journal, f"turn/{n}", before, turn) for n, turn in enumerate(turns)]
    await journal.close()
    assert all(turn.named == {"F1"} for turn in asked)
    assert [turn.is_right for turn in asked] == [turn.answerable for turn in turns]
    assert all(before.findings[-1].claim in prompt for prompt in model.prompts)
    assert f"| not answerable | {sum(not t.answerable for t in turns)} of" in shares_table(asked)


def test_what_a_turn_needs_counts_where_it_is_answered_at_once() -> None:
    needs = frozenset({"F1", "F2"})
    turns = [
        Turn("t", "a?", True, needs, needs),
        Turn("t", "b?", True, needs, frozenset({"F1"})),
        Turn("t", "c?", True, needs),
        Turn("t", "d?", False, frozenset()),
    ]
    told = shares_table(turns)
    assert "| answerable | 2 of 3 |" in told and "| not answerable | 0 of 1 |" in told
    assert "| needed findings named | 3 of 4 |" in told
    assert "| turns with all they need | 1 of 2 |" in told


def test_no_turn_is_asked_twice() -> None:
    rows = [row for part in PARTS for row in read_rows(QUESTIONS / f"follow_ups_{part}.jsonl")]
    said = [turn["said"] for row in rows for turn in row["turns"]]
    assert len(said) == len(set(said)) == 96
