"""The table of what has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import KeyFigure, Relations
from research.engine.llm_tasks.compare import RecalledAnswer, find_former
from research.engine.records import Evidence
from research.engine.report.draft import Computation, Draft, Section, Statement
from research.engine.report.rendering.changes import Change, changes_of
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import labels_for, translated_languages
from tests.engine.report.test_comparing import ledger_of, on_day, record_of

LISTED = Layout(lists_changes=True)


def pair(number: int, old: str, new: str) -> tuple[Evidence, Evidence]:
    """Return a record of 2014 and one of 2025 on two sites."""
    sites = (f"{letter}{number}.example" for letter in "ab")
    was, now = (
        record_of(f"E{2 * number + at}", claim, site)
        for at, (claim, site) in enumerate(zip((old, new), sites, strict=True))
    )
    return on_day(was, "2014-03-05"), on_day(now, "2025-06-07")


def known(*pairs: tuple[Evidence, Evidence], figures: tuple[KeyFigure, ...] = ()) -> Ledger:
    """Return a ledger in which the second record of each pair has replaced the first."""
    made = ledger_of(*(record for both in pairs for record in both))
    replaced = {old.id: new.id for old, new in pairs}
    made.relations = Relations(True, replaced, figures=figures)
    return made


def draft_of(*pairs: tuple[Evidence, Evidence]) -> Draft:
    """Return a draft that tells the newer value of each pair."""
    said = tuple(Statement(new.claim, (new.id,)) for _, new in pairs)
    return Draft(said[:1], (Section("A1", said),))


FEE = pair(1, "A day in court is worth 60 talers.", "Jurors now get 145 talers for a day in court.")
LENGTH = pair(
    2, "The average length of a jury trial was 9 days.",
    "With the new rules the average length of a jury trial has come down to 6 days.",
)  # fmt: skip
VOTES = pair(3, "Only a unanimous jury convicts.", "A jury convicts by seven votes.")


def told(change: Change) -> tuple[str, str, str]:
    return change.what, change.before, change.now


def test_a_change_is_named_by_the_words_that_both_claims_share_or_by_its_clause() -> None:
    ledger = known(FEE, LENGTH, VOTES)
    assert [*map(told, changes_of(draft_of(FEE, LENGTH, VOTES), ledger))] == [
        ("Jurors now get 145 talers for a day in court", "60 talers", "145 talers"),
        ("Average length of a jury trial", "9 days", "6 days"),
        ("", "Only a unanimous jury convicts", "A jury convicts by seven votes"),
    ]


def test_a_key_figure_names_its_change() -> None:
    figure = KeyFigure("pay of jurors for a day", "145 talers", "2025", (FEE[1].id,))
    [first, _] = changes_of(draft_of(FEE, LENGTH), known(FEE, LENGTH, figures=(figure,)))
    assert told(first) == ("Pay of jurors for a day", "60 talers", "145 talers")


def test_a_statement_that_tells_both_values_is_one_of_the_changes() -> None:
    claim = "Where twelve jurors sat, a jury now consists of nine jurors."
    both = on_day(record_of("E9", claim, "c.example"), "2025-06-07")
    ledger = ledger_of(*FEE, both)
    ledger.relations = Relations(
        True, {FEE[0].id: FEE[1].id}, recalled={both.id: frozenset({"12"})}
    )
    draft = draft_of(FEE, (both, both))
    [_, change] = changes_of(draft, ledger)
    assert told(change) == ("A jury now consists of nine jurors", "twelve jurors", "nine jurors")
    assert change.is_told and change.dates == ("", "2025-06-07")
    dated = Statement("Since February 2024 nine jurors sit, not twelve jurors.", (both.id,))
    draft = replace(draft, sections=(Section("A1", (*draft.sections[0].statements[:1], dated)),))
    assert [each.dates[1] for each in changes_of(draft, ledger)][1:] == ["2024-02"]


@pytest.mark.parametrize(
    "change",
    [
        lambda old, new: (replace(old, uncertainty=("dictated",)), new),
        lambda old, new: (on_day(old, "2026-01-02"), new),
    ],
)
def test_what_may_only_be_quoted_or_is_no_older_is_no_change(
    change: Callable[[Evidence, Evidence], tuple[Evidence, Evidence]],
) -> None:
    assert len(changes_of(draft_of(FEE, LENGTH), known(FEE, LENGTH))) == 2
    assert changes_of(draft_of(FEE, LENGTH), known(FEE, change(*LENGTH))) == []


def test_one_statement_tells_a_change_the_nearest_to_what_was_before() -> None:
    """Neither one that is computed, nor a second one that shares fewer words."""
    ledger, draft = known(FEE, LENGTH), draft_of(FEE, LENGTH)
    difference = Statement(
        "A jury trial was 3 days shorter.", (LENGTH[1].id,),
        computed=Computation("difference", (LENGTH[0].id, LENGTH[1].id)),
    )  # fmt: skip
    other = Statement("Trials now last 6 days.", (LENGTH[1].id,))
    more = replace(draft.sections[0], statements=(difference, other, *draft.sections[0].statements))
    found = changes_of(replace(draft, sections=(more,)), ledger)
    assert {told(each) for each in found} == {told(each) for each in changes_of(draft, ledger)}


def test_a_claim_of_the_same_year_is_no_change_without_a_value() -> None:
    late = (on_day(VOTES[0], "2025-02-01"), VOTES[1])
    ledger = known(FEE, LENGTH, late)
    assert len(changes_of(draft_of(FEE, LENGTH, late), ledger)) == 2


def test_a_unit_names_nothing() -> None:
    share = pair(
        5, "In 2014 52 percent of all jurors summoned were excused.",
        "In 2025 34 percent of all jurors summoned were excused.",
    )  # fmt: skip
    found = changes_of(draft_of(FEE, share), known(FEE, share))
    assert told(found[1]) == ("Jurors summoned were excused", "52 percent", "34 percent")


def test_the_table_cites_both_values_and_stands_before_the_sections() -> None:
    ledger, draft = known(FEE, LENGTH, VOTES), draft_of(FEE, LENGTH, VOTES)
    shown = render_report(ledger, draft, "", 0, 0, LISTED).markdown
    assert (
        "| Average length of a jury trial | 9 days (March 2014) [3] | 6 days [4] | June 2025 |"
    ) in shown
    heading = "| How much does the fund hold? | Only a unanimous jury convicts (March 2014) ["
    assert heading in shown, "what nothing names stands under its sub-question"
    assert shown.index("## What has changed") < shown.index("## How much")
    assert "What has changed" not in render_report(ledger, draft, "", 0, 0).markdown


def test_a_report_that_is_too_long_tells_a_change_in_the_table_alone() -> None:
    plain = pair(4, "Nobody waits.", "Nobody waits in the hall.")
    ledger = known(FEE, LENGTH, VOTES, plain)
    ledger.relations = known(FEE, LENGTH, VOTES).relations
    draft = draft_of(FEE, LENGTH, VOTES, plain)
    shown = render_report(ledger, draft, "", 0, 0, replace(LISTED, is_dense=True)).markdown
    table, _, sections = shown.partition("## What has changed")[2].partition("## ")
    assert "| Average length of a jury trial |" in table and "unanimous" not in table
    assert LENGTH[1].claim not in sections
    assert VOTES[1].claim in sections and plain[1].claim in sections


def test_every_language_has_the_words() -> None:
    for code in translated_languages():
        words = labels_for(code)
        assert all(words[key] for key in ("changes", "before", "now", "as_of", "reported_by"))


@pytest.mark.parametrize(("depth", "is_listed"), [("thorough", True), ("quick", False)])
async def test_a_question_that_asks_for_changes_gets_them_but_in_a_quick_report(
    depth: str, is_listed: bool
) -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s33")
    report = (await research(question, depth)).report
    assert ("## What has changed" in report.markdown) is is_listed


def test_what_one_sentence_says_was_so_before_is_a_change_without_figures() -> None:
    claim = "The mayor is chosen by the guilds, formerly by lot."
    made = known(FEE, LENGTH)
    record = on_day(record_of("E9", claim, "c.example"), "2025-06-07")
    made.book.take_over(record)
    said = Statement("The guilds choose the mayor, which used to be done by lot.", ("E9",))
    drafted = draft_of(FEE, LENGTH)
    section = replace(drafted.sections[0], statements=(*drafted.sections[0].statements, said))
    drafted = replace(drafted, sections=(section,))
    assert len(changes_of(drafted, made)) == 2
    former = find_former(made, [RecalledAnswer(finding="E9", value="By lot.")])
    assert former == {"E9": "by lot"}
    made.relations = replace(made.relations, former=former)
    [*_, change] = changes_of(drafted, made)
    assert told(change) == ("", "By lot", said.body.rstrip("."))


@pytest.mark.parametrize("value", ["by vote", "", "of 1850", "60 talers"])
def test_only_words_of_the_claim_were_so_before(value: str) -> None:
    made = known(FEE)
    answer = [RecalledAnswer(finding=FEE[0].id, value=value)]
    assert find_former(made, answer) == {}
