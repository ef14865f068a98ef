"""A statement cites what it has forgotten: the finding that gives its figure."""

from __future__ import annotations

import pytest

from research.engine.report.checking.citations import completed_citations
from research.engine.report.checking.statement_check import find_faults
from research.engine.report.draft import Draft, Section, Statement, cite_ids
from tests.engine.report.test_comparing import ledger_of, record_of

SPLITS = record_of("E1", "The splitter cuts MP3 files without encoding them again.", "a.example")
RATE = record_of("E2", "For speech the encoder makes mono MP3 files at 64 kbit/s.", "b.example")
OWNER = record_of("E3", "Ruth Ansel sold the foundry with its papers in 1912.", "c.example")
TOWER = record_of("E4", "The tower of the harbour was designed by Edda Marlow.", "d.example")


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        ("Cut mono MP3 files at 64 kbit/s, since the splitter cuts MP3 files without encoding "
         "them again. [E1]", ("E1", "E2")),
        ("The splitter cuts MP3 files without encoding them again. [E1]", None),
        ("The tower of the harbour was designed by Ruth Ansel. [E4]", None),
        ("The tower of the harbour was designed in 1912 by Edda Marlow. [E4]", None),
    ],
    ids=["its figure is elsewhere", "nothing is lacking", "another's name", "another's date"],
)  # fmt: skip
def test_a_figure_that_another_finding_gives_of_the_same_is_cited(
    said: str, cited: tuple[str, ...] | None
) -> None:
    known = ledger_of(SPLITS, RATE, OWNER, TOWER)
    statement = cite_ids(said, known)
    draft = Draft((), (Section("A1", (statement,)),))
    found = completed_citations(draft, find_faults(draft, known), known)
    assert [each.evidence for each in found.values()] == ([cited] if cited else [])


def test_a_step_cites_the_finding_that_gives_its_name() -> None:
    known = ledger_of(SPLITS, RATE, OWNER, TOWER)
    step = Statement("Ask for the papers of the foundry which Ruth Ansel had until then.", ("E4",))
    draft = Draft((), (), next_steps=(step,))
    [completed] = completed_citations(draft, (), known).values()
    assert completed.evidence == ("E4", "E3")
