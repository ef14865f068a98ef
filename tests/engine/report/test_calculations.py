"""Statements that are computed from several quotes, from the model's answer to the citation."""

import pytest

from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import DraftAnswer
from research.engine.records import Source
from research.engine.report.checking.statement_check import check_statement
from research.engine.report.draft import (
    Computation,
    Draft,
    Section,
    Statement,
    cite_ids,
    with_known_figures,
)
from research.engine.report.draft_answer import named_operation, read_draft
from research.engine.report.rendering.calculations import calculations_of
from research.engine.report.rendering.markdown import render_report
from research.engine.verifier.pairs import CitedQuote
from research.engine.verifier.planting import shown_pair
from tests.engine.scripted import ledger, page, quoted

OLD, NEW = "In 1990 the pier had 120 lamps.", "In 2020 the pier had 180 lamps."
MORE = "In 2020 the pier had 60 lamps more than in 1990."
FORMULA = "180 lamps [2] − 120 lamps [1] = 60 lamps"


@pytest.fixture
def known() -> Ledger:
    made, _ = ledger("How many lamps did the pier have?")
    for number, text in enumerate((OLD, NEW)):
        source = page(f"https://s{number}.example/", text)
        made.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    return made


def computed(text: str = MORE, operation: str = "difference", *ids: str) -> Statement:
    return Statement(text, ("E1", "E2"), computed=Computation(operation, ids or ("E1", "E2")))


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    "statement, outcome, reason",
    [
        (computed(), "carried", ""),
        (Statement(MORE, ("E1", "E2")), "undecided", ""),
        (computed(MORE.replace("60", "70")), "refused", "its result differs"),
        (computed(MORE, "guess"), "refused", "there is no operation 'guess'"),
        (computed(MORE, "difference", "E1", "E7"), "refused", "evidence that doesn't exist"),
        (computed(NEW), "carried", ""),
    ],
)
def test_code_vouches_for_what_it_computes_itself(
    known: Ledger, statement: Statement, outcome: str, reason: str
) -> None:
    check = check_statement(statement, known)
    assert check.outcome == outcome
    assert reason in " ".join(check.reasons)


@pytest.mark.requirement("C4")
def test_a_draft_s_computation_belongs_to_the_statement_of_its_number(known: Ledger) -> None:
    answer = DraftAnswer.model_validate(
        {
            "statements": ["E1", f"{MORE} [E2]"],
            "short_answer": ["2"],
            "computed": [{"statement": 2, "operation": "Difference", "evidence": ["[E1]", "E2"]}],
        }
    )
    draft = read_draft(known, answer)
    [short] = draft.short_answer
    assert short.evidence == ("E2", "E1")
    assert short.computed == Computation("difference", ("E1", "E2"))
    assert draft.statements[1].computed is None


def test_a_draft_without_computations_is_as_before(known: Ledger) -> None:
    answer = DraftAnswer.model_validate({"statements": ["E1"], "short_answer": ["1"]})
    assert answer.computed == []
    assert all(statement.computed is None for statement in read_draft(known, answer).statements)


@pytest.mark.requirement("D14")
def test_the_report_and_its_citations_show_the_calculation(known: Ledger) -> None:
    draft = Draft((computed(),), (Section("A1", (computed(), Statement(OLD, ("E1",)))),))
    rendered = render_report(known, draft, "Done", 0, 0)
    assert f"## Calculations\n\n- {FORMULA}\n" in rendered.markdown
    assert [citation.calculations for citation in rendered.citations] == [
        (f"{MORE} {FORMULA}",),
        (f"{MORE} {FORMULA}",),
    ]


def test_a_report_without_computed_statements_has_no_calculations(known: Ledger) -> None:
    draft = Draft((), (Section("A1", (Statement(OLD, ("E1",)),)),))
    assert calculations_of(draft, known) == ()
    rendered = render_report(known, draft, "Done", 0, 0)
    assert "Calculations" not in rendered.markdown
    assert rendered.citations[0].calculations == ()


@pytest.mark.requirement("C11")
def test_a_formula_is_shown_with_its_sources_and_leaves_the_words_to_the_verifier(
    known: Ledger,
) -> None:
    text = "The lamps of 2020 are 1.5 times {= 180 / 120} those of 1990. [E1, E2]"
    said = cite_ids(text, known)
    assert said.text == "The lamps of 2020 are 1.5 times those of 1990."
    assert check_statement(said, known).outcome == "undecided"
    pair = shown_pair(said, known)
    assert CitedQuote("180 (E2) ÷ 120 (E1) = 1.5 times", "computed by code") in pair.quotes
    draft = Draft((said,), (Section("A1", (said,)),))
    shown = render_report(known, draft, "", 0, 0).markdown
    assert "- 180 [2] ÷ 120 [1] = 1.5 times" in shown and "{=" not in shown
    wrong = cite_ids(text.replace("1.5", "1.7"), known)
    assert check_statement(wrong, known).outcome == "refused"
    foreign = cite_ids(text.replace("those", "the 90 lamps"), known)
    assert check_statement(foreign, known).outcome == "refused"


def test_a_figure_said_again_keeps_its_formula_and_evidence(known: Ledger) -> None:
    made = cite_ids("It has 1.5 times {= 180 / 120} the lamps. [E1, E2]", known)
    again, other = with_known_figures(
        [cite_ids("There are 1.5 times as many. [E2]", known), cite_ids(f"{NEW} [E2]", known)],
        [made],
    )
    assert again.formulas == made.formulas and set(again.evidence) == {"E1", "E2"}
    assert other.formulas == () and other.evidence == ("E2",)


@pytest.mark.parametrize(
    ("form", "line", "seen"),
    [
        (
            Form.EDITED,
            "- 180 [1] ÷ your 90 lamps = 2 times",
            "180 (E1) ÷ 90 lamps (question) = 2 times",
        ),
        (Form.COMPUTED, "- 180 [1] ÷ 90 [2] = 2 times", "180 (E1) ÷ 90 (E2) = 2 times"),
    ],
)
def test_a_figure_of_the_asker_is_shown_as_theirs_and_not_cited(
    form: Form, line: str, seen: str
) -> None:
    made, _ = ledger("How many times the lamps of our pier, which has 90 lamps?")
    made.began = form
    for number, text in enumerate((NEW, "The pier of Ys has 90 lamps, too.")):
        source = page(f"https://s{number}.example/", text)
        made.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = cite_ids("In 2020 it had 2 times {= 180 / 90} the lamps. [E1, E2]", made)
    assert CitedQuote(seen, "computed by code") in shown_pair(said, made).quotes
    rendered = render_report(made, Draft((said,), (Section("A1", (said,)),)), "", 0, 0)
    assert line in rendered.markdown
    cited = {each.url: each.calculations for each in rendered.citations}
    assert bool(cited["https://s1.example/"]) is (form < Form.EDITED)


@pytest.mark.parametrize(
    ("asked", "text", "line"),
    [
        ("which has 90 lamps", "Set `lamps=90`: 2 times {= 180 / 90} as many.", "÷ 90 = 2 times"),
        ("of two sides", "Both piers have 360 lamps {= 2 * 180}.", "- 2 × 180 [1] = 360 lamps"),
    ],
)
def test_a_figure_that_only_equals_one_of_the_asker_is_not_told_as_theirs(
    asked: str, text: str, line: str
) -> None:
    made, _ = ledger(f"How many times the lamps of our pier, {asked}?")
    source = page("https://s.example/", NEW)
    made.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
    made.book.add(Finding(NEW, "A1", quoted(source, NEW), 0.9), 1)
    said = cite_ids(f"{text} [E1]", made)
    shown = render_report(made, Draft((said,), (Section("A1", (said,)),)), "", 0, 0).markdown
    assert line in shown and "your" not in shown


def test_a_conclusion_may_compute_with_the_values_of_its_own_code(known: Ledger) -> None:
    text = "Take `-m 1800`, which reaches 30 minutes {= 1800 / 60}. [E1]"
    said = cite_ids(f"=> {text}", known)
    assert check_statement(said, known).outcome != "refused"
    shown = render_report(known, Draft((said,), (Section("A1", (said,)),)), "", 0, 0).markdown
    assert "- 1800 ÷ 60 = 30 minutes" in shown
    assert check_statement(cite_ids(text, known), known).outcome == "refused"


@pytest.mark.parametrize(
    ("form", "outcome"), [(Form.EDITED, "undecided"), (Form.COMPUTED, "refused")]
)
def test_what_people_told_the_run_of_their_case_may_be_computed_with(
    known: Ledger, form: Form, outcome: str
) -> None:
    known.began, known.instructed = form, ("Our pier has 45 lamps.",)
    said = cite_ids("It has 4 times {= 180 / 45} the lamps. [E2]", known)
    assert check_statement(said, known).outcome == outcome


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        ("duration_between_dates", "duration"),
        ("percentage_change", "percentage_change"),
        ("count_of_days", "count"),
        ("counting", "counting"),
    ],
)
def test_an_operation_is_known_by_the_name_that_it_begins_with(told: str, meant: str) -> None:
    assert named_operation(told) == meant
