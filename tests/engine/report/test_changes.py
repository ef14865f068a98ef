"""The table of what has changed."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from bench.survey.__main__ import research
from bench.survey.measure import rows
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.relations import Relations, ToldChange
from research.engine.journal.forms import Form
from research.engine.llm_tasks import compare
from research.engine.llm_tasks.answers import ChangeAnswer
from research.engine.records import Evidence
from research.engine.report.checking import table_values
from research.engine.report.checking.table_values import find_changes
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import labels_for, translated_languages
from tests.engine.report.test_comparing import ledger_of, on_day, record_of

LISTED = Layout(lists_changes=True)


def found(number: int, claim: str, day: str) -> Evidence:
    return on_day(record_of(f"E{number}", claim, f"site{number}.example"), day)


OLD_FEE = found(1, "A juror is paid 60 talers for a day in court.", "2014-03-05")
FEE = found(2, "Jurors now get 145 talers for a day in court.", "2025-06-07")
OLD_LENGTH = found(3, "In 2014 the average jury trial took 9 days.", "2015-01-02")
LENGTH = found(4, "The average jury trial took 6 days in 2025.", "2026-02-01")
VOTES = found(5, "Since May 2024 seven votes convict, where all had to agree.", "2025-06-07")
EVERY = (OLD_FEE, FEE, OLD_LENGTH, LENGTH, VOTES)
PAY = ChangeAnswer(
    what="pay of jurors for a day", before="60 talers", now="145 talers", old=["E1"], new=["[E2]"]
)
TRIAL = ChangeAnswer(
    what="length of a jury trial", before="9 days", now="6 days", old=["E3"], new=["E4"]
)
VOTE = ChangeAnswer(
    what="votes that convict", before="all had to agree", now="seven votes", since="May 2024",
    old=["E5"], new=["E5"],
)  # fmt: skip


def told(*answers: ChangeAnswer, replaced: dict[str, str] | None = None) -> list[tuple[str, ...]]:
    changes = find_changes(ledger_of(*EVERY), answers, replaced or {})
    return [(each.before, each.now, each.since) for each in changes]


def test_values_that_stand_in_quotes_are_changes_also_where_one_finding_tells_both() -> None:
    assert told(PAY, TRIAL, VOTE, PAY) == [
        ("60 talers", "145 talers", ""),
        ("9 days", "6 days", ""),
        ("all had to agree", "seven votes", "May 2024"),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        PAY.model_copy(update={"before": "61 talers"}),
        PAY.model_copy(update={"now": "145 thalers"}),
        PAY.model_copy(update={"now": "60 Talers", "new": ["E1"]}),
        PAY.model_copy(update={"old": ["E3"]}),
        PAY.model_copy(update={"new": ["E99"]}),
        PAY.model_copy(update={"what": "weather"}),
        PAY.model_copy(
            update={"what": "what each of the jurors is now paid for each of the days in court"}
        ),
    ],
)
def test_what_quotes_do_not_hold_is_no_change(answer: ChangeAnswer) -> None:
    assert told(PAY) and not told(answer)


def test_an_outdated_value_is_not_what_applies_now() -> None:
    assert told(PAY, replaced={"E1": "E2"}) and not told(PAY, replaced={"E2": "E4"})


def test_a_date_that_no_finding_gives_is_left_out() -> None:
    assert told(VOTE.model_copy(update={"since": "June 2019"})) == [
        ("all had to agree", "seven votes", "")
    ]


def rendered(ledger: Ledger, layout: Layout = LISTED) -> str:
    said = Statement(FEE.claim, ("E2",))
    draft = Draft((said,), (Section("A1", (said,)),))
    return render_report(ledger, draft, "", 0, 0, layout).markdown


def with_changes(*answers: ChangeAnswer) -> Ledger:
    ledger = ledger_of(*EVERY)
    ledger.relations = Relations(True, changes=find_changes(ledger, answers, {}))
    return ledger


def test_the_table_cites_both_values_and_has_the_dates_that_findings_give() -> None:
    shown = rendered(with_changes(PAY, TRIAL, VOTE))
    assert "|  | Before | Now |\n" in shown
    assert "| Pay of jurors for a day | 60 talers [2] | 145 talers [1] |\n" in shown
    assert "| Length of a jury trial | 9 days (2014) [3] | 6 days (2025) [4] |\n" in shown
    assert "| Votes that convict | all had to agree [5] | seven votes (May 2024) [5] |" in shown
    dated = rendered(with_changes(PAY, VOTE))
    assert "|  | Before | Now | Since |\n" in dated
    assert re.search(r"\| seven votes \[\d\] \| May 2024 \|", dated)
    assert shown.index("## What has changed") < shown.index("## How much")


def test_the_table_has_no_column_for_dates_that_nothing_gives() -> None:
    known = with_changes(TRIAL)
    [trial] = known.relations.changes
    again = replace(trial, what="length of a trial by jury")
    known.relations = Relations(True, changes=(trial, again))
    assert "|  | Before | Now |\n" in rendered(known)


def test_the_date_of_a_change_stays_as_findings_word_it() -> None:
    claim = "Until the middle of 2025 jurors got 60 talers a day, and nowadays 145 talers."
    known = ledger_of(*EVERY, found(6, claim, "2025-10-16"))
    since = {"since": "the middle of 2025", "old": ["E6", "E1"], "new": ["E6"]}
    pay = PAY.model_copy(update={**since, "what": "talers of jurors a day"})
    known.relations = Relations(True, changes=find_changes(known, (pay, TRIAL), {}))
    assert "| 60 talers [2][3] | 145 talers [2] | the middle of 2025 |" in rendered(known)
    known.began = Form.COMPUTED
    dated = [each.since for each in find_changes(known, (pay,), {})]
    assert dated == ["2025"]


def test_the_year_of_an_earlier_figure_is_that_of_its_clause() -> None:
    claim = "Jurors now get 145 talers for a day in court, as against 60 talers by the law of 2014."
    known = ledger_of(*EVERY, found(6, claim, "2025-10-16"))
    pay = PAY.model_copy(update={"old": ["E6"], "new": ["E6"]})
    known.relations = Relations(True, changes=find_changes(known, (pay, TRIAL), {}))
    assert "| 60 talers (2014) [2] | 145 talers [2] |" in rendered(known)


def test_an_earlier_value_has_no_year_of_who_repeats_it_today() -> None:
    known = with_changes(TRIAL, VOTE)
    dated = replace(LISTED, today="2014-05-01")
    assert "| 9 days (2014) [" in rendered(known)
    assert "| 9 days [" in rendered(known, dated)


def test_the_changes_stand_in_the_order_of_the_model() -> None:
    known = ledger_of(*EVERY)
    known.question = "What has changed in how many votes convict?"
    answers = (TRIAL, PAY, VOTE)
    assert [each.what for each in find_changes(known, answers, {})] == [a.what for a in answers]


def test_earlier_runs_put_the_changes_that_the_question_asks_for_first() -> None:
    known = ledger_of(*EVERY)
    known.began = Form.COMPUTED
    known.question = "What has changed in how many votes convict?"
    assert find_changes(known, (PAY, TRIAL, VOTE), {})[0].what == VOTE.what
    assert VOTE.what not in {each.what for each in find_changes(known, (PAY, TRIAL, VOTE), {}, 2)}
    known = ledger_of(*EVERY)
    known.began = Form.COMPUTED
    assert [each.what for each in find_changes(known, (PAY, TRIAL), {})] == [PAY.what, TRIAL.what]
    others = (replace(LENGTH.sources[0], independence_key=f"{n}.example") for n in range(3))
    known.book.take_over(replace(LENGTH, sources=(*LENGTH.sources, *others)))
    assert [each.what for each in find_changes(known, (PAY, TRIAL), {})] == [TRIAL.what, PAY.what]


def test_earlier_runs_keep_their_changes_in_the_order_of_the_report() -> None:
    known = ledger_of(*EVERY)
    known.began = Form.REPAIRED
    known.aspects = {"A2": known.aspects["A1"], **known.aspects}
    known.book.take_over(replace(VOTES, aspect_id="A2"))
    first = find_changes(known, (PAY, VOTE, TRIAL), {}, 2)
    assert [each.what for each in first] == [VOTE.what, PAY.what]


def test_changes_that_the_table_has_no_room_for_are_counted_where_sections_tell_them() -> None:
    ledger = with_changes(PAY, TRIAL, VOTE)
    pay, *others = ledger.relations.changes
    ledger.relations = replace(ledger.relations, changes=tuple(others), more_changes=(pay,))
    told = "1 more change is told under “How much does the fund hold?”."
    assert f"|\n\n{told}\n\n## " in rendered(ledger)
    known = ledger.relations
    for untold in (replace(pay, new=("E1",)), replace(pay, now="900 talers")):
        ledger.relations = replace(known, more_changes=(untold,))
        assert "more change" not in rendered(ledger)


@pytest.mark.parametrize(("depth", "shown", "left"), [("standard", 12, 18), ("thorough", 24, 6)])
def test_a_thorough_report_has_room_for_more_changes(
    depth: str, shown: int, left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = with_changes(PAY, TRIAL)
    many = [replace(known.relations.changes[0], what=f"{n}") for n in range(30)]
    run: Any = SimpleNamespace(ledger=known, config=SimpleNamespace(research_depth=depth))
    monkeypatch.setattr(
        table_values, "find_changes", lambda *found: tuple(many[: [*found, None][3]])
    )
    told, more = table_values.shared_changes(run, (), {})
    assert (len(told), len(more)) == (shown, left)


@pytest.mark.parametrize(
    ("form", "depth", "is_asked"),
    [
        (Form.COMPUTED, "standard", True),
        (Form.COMPUTED, "quick", False),
        (Form.REPAIRED, "standard", False),
    ],
)
def test_the_model_says_whether_a_question_asks_for_what_was_before(
    form: Form, depth: str, is_asked: bool
) -> None:
    run: Any = SimpleNamespace(
        form=form,
        ledger=with_changes(),
        config=SimpleNamespace(research_depth=depth),
        question=SimpleNamespace(
            text="Give what is in force, and say if there was an earlier one."
        ),
    )
    assert compare._tells_changes(run) is is_asked
    assert ("final" in compare._task(run).answer.model_fields) is is_asked


def test_one_change_needs_no_table_nor_does_a_report_that_lists_none() -> None:
    assert "What has changed" not in rendered(with_changes(PAY))
    assert "What has changed" not in rendered(with_changes(PAY, TRIAL), Layout())


def test_addresses_stay_out_of_the_table() -> None:
    ledger = with_changes(PAY, TRIAL)
    [first, second] = ledger.relations.changes
    hidden = ToldChange("pay at evil.example", *(first.before, first.now, "", ("E1",), ("E2",)))
    ledger.relations = replace(ledger.relations, changes=(hidden, second))
    assert "evil.example" not in rendered(ledger)


def test_every_language_has_the_words() -> None:
    keys = ("changes", "before", "now", "as_of", "dated_later")
    for code in translated_languages():
        words = labels_for(code)
        assert all(words[key] for key in keys)


@pytest.mark.parametrize(("depth", "is_listed"), [("thorough", True), ("quick", False)])
async def test_a_question_that_asks_for_changes_gets_them_but_in_a_quick_report(
    depth: str, is_listed: bool
) -> None:
    question = next(row for row in rows("questions.jsonl") if row["id"] == "s33")
    report = (await research(question, depth)).report
    assert ("## What has changed" in report.markdown) is is_listed


def test_authors_are_told_of_tables_that_the_report_shows_only() -> None:
    pay, trial = with_changes(PAY, TRIAL).relations.changes
    assert Relations(True, changes=(pay, trial)).tables == [
        "before and now: pay of jurors for a day; length of a jury trial"
    ]
    assert Relations(True, changes=(pay,)).tables == []
