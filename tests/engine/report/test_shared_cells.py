"""Values of a table that several findings give together."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.config import ResearchConfig
from research.engine.evidence.relations import Cell, Relations
from research.engine.journal.forms import Form
from research.engine.report.checking.table_values import cell_statements, settle_cells
from research.engine.report.draft import Statement
from research.engine.report.parts.comparison import have_value_together
from research.engine.verifier.check_draft import Verdicts
from tests.engine.report.test_comparing import record_of

DUMP = record_of("E1", "A dump leaves out the planner's statistics.", "a.example")
LATER = replace(
    record_of(
        "E2", "It takes only several seconds; what was changed meanwhile stays out.", "a.example"
    ),
    claim="A dump lacks 3 rows that were changed while it ran.",
)
NAMES = ("dump", "link mode", "what is lost")


@pytest.mark.parametrize(
    ("entity", "value", "is_given"),
    [
        ("dump", "planner's statistics; rows changed meanwhile", True),
        ("a dump", "certain statistics, as in link mode", True),
        ("dump", "3 rows", False),
        ("dump", "statistics and sequences", False),
        ("dump", "link mode", False),
        ("replica", "planner's statistics", False),
        ("dump", "", False),
        ("dump", "only several seconds", True),
        ("dump", "several second", False),
    ],
)
def test_numbers_are_those_of_quotes_and_words_also_those_of_claims_and_names(
    entity: str, value: str, is_given: bool
) -> None:
    assert have_value_together([DUMP, LATER], entity, value, NAMES) is is_given


KNOWN = {("dump", "time"): Cell("hours", ("E1",)), ("link", "time"): Cell("seconds", ("E2",))}
DOUBTFUL = {
    ("dump", "what is lost"): Cell("planner's statistics, rebuilt later", ("E1",)),
    ("link", "what is lost"): Cell("nothing at all", ("E2",)),
}


def comparing(depth: str = "standard", *, verifies: bool = True) -> Any:
    relations = Relations(
        True, {}, ("dump", "link"), ("time",), KNOWN,
        proposed=(("dump", "link"), ("time", "what is lost"), KNOWN), doubtful=DOUBTFUL,
    )  # fmt: skip
    return SimpleNamespace(
        form=Form.EDITED,
        config=ResearchConfig(research_depth=depth),
        rules=SimpleNamespace(verifies_statements=verifies),
        ledger=SimpleNamespace(relations=relations),
    )


@pytest.mark.parametrize("refused", [0, 1, 2])
def test_cells_in_other_words_stand_in_the_table_if_they_are_carried(refused: int) -> None:
    run, own = comparing(), Statement("A dump takes hours.", ("E1",))
    cells = cell_statements(run)
    told = [said.text for said in cells]
    assert told[0] == "dump: what is lost – planner's statistics, rebuilt later."
    amiss = [*cells][:refused]
    found = Verdicts("believed", frozenset([own, *cells]) - {*amiss}, (*amiss[:1], own),
                     tuple(amiss[1:]))  # fmt: skip
    left = settle_cells(run, cells, found)
    assert (left.carried, left.refused, left.unvouched) == ({own}, (own,), ())
    relations = run.ledger.relations
    assert not relations.doubtful
    has_column = refused == 0  # one value makes no column
    assert relations.properties == (("time", "what is lost") if has_column else ("time",))
    assert relations.cells == (KNOWN | DOUBTFUL if has_column else KNOWN)


def test_no_cell_is_judged_where_no_statement_is_or_in_a_quick_report() -> None:
    assert cell_statements(comparing(verifies=False)) == {}
    assert cell_statements(comparing("quick")) == {}


@pytest.mark.parametrize("use", ["believed", "failed"])
def test_a_cell_that_stands_in_its_quote_goes_if_a_believed_verifier_refuses_it(use: Any) -> None:
    run = comparing()
    run.ledger.relations = replace(run.ledger.relations, doubtful={})
    cells = cell_statements(run)
    [hours, seconds] = cells
    assert hours.text == "dump: time – hours."
    settle_cells(run, cells, Verdicts(use, frozenset([seconds]), (hours,)))
    left = {} if use == "believed" else KNOWN  # one value makes no column
    assert run.ledger.relations.cells == left


def test_figures_are_left_to_code() -> None:
    run = comparing()
    figures = {("dump", "time"): Cell("3 hours", ("E1",)), ("link", "time"): Cell("2", ("E2",))}
    rows, columns, _ = run.ledger.relations.proposed
    proposed = (rows, columns, figures)
    run.ledger.relations = replace(run.ledger.relations, proposed=proposed, doubtful={})
    assert cell_statements(run) == {}


def test_an_author_is_told_the_values_that_are_still_to_be_verified() -> None:
    relations = comparing().ledger.relations
    assert relations.tables == [
        "dump: time: hours; what is lost: planner's statistics, rebuilt later",
        "link: time: seconds; what is lost: nothing at all",
    ]
    known = replace(relations, doubtful={})
    assert known.tables == ["dump: time: hours", "link: time: seconds"]
