"""The running summary that assessments see: key claims, then the newest, of all sub-questions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from research.engine.config import ResearchConfig
from research.engine.llm_tasks.assess import running_summary
from research.engine.records import Evidence
from tests.engine.scripted import ledger, page, quoted


def test_it_takes_sub_questions_in_turn() -> None:
    known, _ = ledger("Who built it?", "Who lit it?")
    for n in range(1, 7):
        part, said = "A1" if n < 5 else "A2", f"Claim {n}."
        read = page(f"https://{n}.example/", said)
        known.book.records[f"E{n}"] = Evidence(f"E{n}", said, part, 1, (quoted(read, said),), 0.9)
    config = ResearchConfig(supervisor_notes_max_bullets=4)
    run: Any = SimpleNamespace(config=config, limits=SimpleNamespace(notes=1), ledger=known)
    assert [record.id for record in running_summary(run)] == ["E1", "E2", "E5", "E6"]
