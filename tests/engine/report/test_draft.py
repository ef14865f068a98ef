from dataclasses import replace

import pytest

from research.engine.evidence.claims.names import exchanges_identifiers
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.journal.forms import Form
from research.engine.llm_tasks.answers import ComputedStatement, DraftAnswer
from research.engine.llm_tasks.draft import newest_within
from research.engine.records import Source
from research.engine.report.checking.statement_check import (
    calculate,
    find_faults,
    idle_sentences,
)
from research.engine.report.draft import Draft, Section, Statement, owners_of, put_instead
from research.engine.report.draft_answer import read_draft
from research.engine.report.rendering.markdown import render_report
from research.engine.report.report_format import Layout
from tests.engine.scripted import ledger, page, quoted

LIT = "The lighthouse was lit in 1887."
MAY = "The lamp may fail in storms."
ALSO_MAY = "Old keepers believe that gales could make any lamp fail early."
SURE = "In storms the lamp on the old wooden tower of the harbour fails."


@pytest.fixture
def known() -> Ledger:
    made, _ = ledger("When was the Harrow Point lighthouse lit?")
    for number, text in enumerate((LIT, MAY, ALSO_MAY, SURE)):
        source = page(f"https://s{number}.example/", text)
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    assert list(made.book.records) == ["E1", "E2", "E3", "E4"]
    return made


def reasons(known: Ledger, *statements: Statement) -> list[str]:
    return [fault.reason for fault in find_faults(Draft((), (Section("A1", statements),)), known)]


@pytest.mark.requirement("C4")
@pytest.mark.parametrize(
    "text, evidence, reason",
    [
        ("The lighthouse was lit in 1887.", ("E1",), None),
        ("Harrow Point lighthouse was lit in 1887.", ("E1",), None),
        ("The lighthouse was lit in 1889.", ("E1",), "number differs, compared with its quotes"),
        ("Ruth Ansel lit the lighthouse.", ("E1",), "name differs, compared with its quotes"),
        ("The lighthouse was not lit.", ("E1",), "negation differs, compared with its quotes"),
        ("Cheese is made from the milk of cows.", ("E1",), "its quotes don't say it"),
        ("The lighthouse was lit.", ("E9",), "there is no evidence E9"),
        ("The lamp may fail in storms.", ("E2",), None),
        ("The lamp fails in storms.", ("E2",), "hedge lost, compared with its quotes"),
        ("The lamp fails in storms.", ("E2", "E4"), None),
        ("", ("E1",), "its quotes don't say it"),
    ],
)
def test_a_statement_says_no_more_than_its_quotes(
    known: Ledger, text: str, evidence: tuple[str, ...], reason: str | None
) -> None:
    assert reasons(known, Statement(text, evidence)) == ([reason] if reason else [])


def test_one_source_that_says_a_statement_outright_is_enough() -> None:
    made, _ = ledger("Who built the Harrow Point lighthouse?")
    plain = "Ruth Ansel designed and built the tall lighthouse of Harrow Point."
    for number, text in enumerate((f"The mayor said that {plain[:-1]} alone.", plain)):
        source = page(f"https://s{number}.example/", text)
        made.book.add(Finding(plain, "A1", quoted(source, text), 0.9), 1)
    assert [len(record.sources) for record in made.book.records.values()] == [2]
    assert reasons(made, Statement("The lighthouse of Harrow Point was built by Ruth Ansel, who "
                                   "designed it.", ("E1",))) == []  # fmt: skip


def test_a_sentence_without_evidence_stands_where_it_leads_over_to_one_with(known: Ledger) -> None:
    cited, bridge = Statement(LIT, ("E1",)), Statement("Why it was lit is disputed to this day.")
    assert reasons(known, bridge, cited, bridge, cited) == []
    assert reasons(known, cited, bridge) == ["it cites no evidence"]
    other = Statement("So is its use.")
    assert reasons(known, bridge, other, cited) == ["it cites no evidence"]
    draft = Draft((bridge,), (Section("A1", (bridge, cited)), Section("A2", (cited, other))))
    assert idle_sentences(draft, known) == {other}
    assert [fault.number for fault in find_faults(draft, known)] == [1, 5]


@pytest.mark.parametrize(
    "text, is_idle",
    [
        ("Why it was lit at Harrow Point is disputed.", False),
        ("What Ruth Ansel saw is disputed.", True),
        ("What Edda Marlow saw is disputed.", False),
        ("It has three causes.", True),
        ("It has three causes:", False),
    ],
)
def test_what_leads_over_has_the_names_of_its_section_and_no_number(
    known: Ledger, text: str, is_idle: bool
) -> None:
    around = (Statement(text), Statement("Edda Marlow lit it in 1887.", ("E1",)))
    draft = Draft((), (Section("A1", around),))
    assert bool(idle_sentences(draft, known)) is is_idle
    known.began = Form.COMPUTED
    assert not idle_sentences(draft, known)


@pytest.mark.parametrize(
    "form, expected",
    [(Form.EDITED, ["A1", "A2", "A2", "A2"]), (Form.COMPUTED, ["A1", "A1", "A2", "A2"])],
)
def test_what_leads_over_stands_with_what_follows(
    known: Ledger, form: Form, expected: list[str]
) -> None:
    known.began = form
    assert owners_of(["A1", "", "A2", ""], "A1", known) == expected
    assert owners_of(["", ""], "A1", known) == ["A1", "A1"]


def test_one_sentence_in_ten_might_only_connect_others(known: Ledger) -> None:
    known.began = Form.COMPUTED
    cited = [Statement(LIT, ("E1",))] * 9
    bridge = Statement("So much for the light.")
    assert reasons(known, *cited, bridge) == []
    assert reasons(known, *cited[:8], bridge) == ["it cites no evidence"]
    assert reasons(known, *cited, bridge, bridge) == ["it cites no evidence"]


@pytest.mark.parametrize(
    "text", ["It cost five million crowns.", "It was 42 m high.", "Surely Ruth Ansel built it."]
)
def test_a_connection_states_no_fact_of_its_own(known: Ledger, text: str) -> None:
    cited = [Statement(LIT, ("E1",))] * 30
    for form in (Form.COMPUTED, Form.EDITED):
        known.began = form
        assert reasons(known, Statement(text), *cited) == ["it cites no evidence"]
        assert reasons(known, Statement("Harrow Point stands out."), *cited) == []


def test_a_lead_in_of_a_list_may_count_its_items(known: Ledger) -> None:
    told = Statement("Three things hold it up:")
    sound = [Statement(LIT, ("E1",))] * 10
    draft = Draft((), (Section("A1", (told, *sound)),))
    assert find_faults(draft, known) == []


def test_a_long_sentence_connects_nothing(known: Ledger) -> None:
    long = Statement("It is safe for everybody to climb up there alone at night " + "or so " * 3)
    assert reasons(known, long, *[Statement(LIT, ("E1",))] * 9) == ["it cites no evidence"]


def test_faults_are_numbered_through_short_answer_and_sections(known: Ledger) -> None:
    wrong, right = Statement("It was lit in 1889.", ("E1",)), Statement(LIT, ("E1",))
    draft = Draft((right, wrong), (Section("A1", (right,)), Section("A2", (wrong, right))))
    found = find_faults(draft, known)
    assert [fault.number for fault in found] == [2, 4]
    cut = put_instead(draft, {fault.statement: None for fault in found})
    assert cut.statements == [right, right, right]
    assert find_faults(cut, known) == []


def test_a_section_with_nothing_left_goes(known: Ledger) -> None:
    draft = Draft((), (Section("A1", (Statement("x"),)), Section("A2", (Statement("y"),))))
    left = put_instead(draft, {Statement("x"): None})
    assert [section.aspect_id for section in left.sections] == ["A2"]


def test_a_setting_is_not_called_by_the_name_of_a_similar_one() -> None:
    """Both stand in the quote."""
    quote = (
        "autovacuum_freeze_min_age is the age of rows of one table, 90 million at most. "
        "vacuum_freeze_min_age is the age of rows of all tables."
    )
    known, _ = ledger("How old may rows be?")
    source = page("https://a.example/", quote)
    known.put_page(source)
    known.book.add(Finding(quote, "A1", quoted(source, quote), 0.9), 1)
    right = Statement("autovacuum_freeze_min_age is 90 million at most.", ("E1",))
    wrong = Statement("vacuum_freeze_min_age is 90 million at most.", ("E1",))
    fault = "it names another identifier than its quotes do for the same"
    assert reasons(known, right, wrong) == [fault]


@pytest.mark.parametrize(
    ("claim", "quote", "context", "is_exchanged"),
    [
        ("min_age is 5.", "table_min_age is 5.", "", True),
        ("min_age is 5.", "table_min_age is 5.", "What is min_age?", True),
        ("min_age is 5.", "table_min_age is 4. min_age is 5.", "", False),
        ("min_age is 5.", "min_age is limited. Its default is 5. table_min_age is 4.", "", False),
        ("min_age limits rows.", "table_min_age limits rows.", "", True),
        ("min_age limits rows.", "min_age limits rows. table_min_age too.", "", False),
        ("min_age and table_min_age are 5.", "table_min_age is 5, as min_age is.", "", False),
        ("max_rows is 5.", "table_min_age is 5.", "", False),
    ],
)
def test_identifiers_are_compared_whole(
    claim: str, quote: str, context: str, is_exchanged: bool
) -> None:
    assert exchanges_identifiers(claim, quote, context) is is_exchanged


@pytest.mark.requirement("B6")
def test_of_evidence_that_is_too_long_for_a_prompt_the_newest_is_kept(known: Ledger) -> None:
    """B6"""
    records = list(known.book.records.values())
    long = [
        replace(each, sources=(replace(each.sources[0], quote="word " * 12_500),))
        for each in records
    ]
    assert [each.id for each in newest_within(long)] == ["E3", "E4"]
    assert [each.id for each in newest_within(long, 24_999)] == ["E4"]
    assert newest_within(records) == records


@pytest.fixture
def of_two_parts() -> Ledger:
    """Two records on the first sub-question, one on the second."""
    made, _ = ledger("When was the lighthouse lit?", "What fails in storms?")
    for number, (part, text) in enumerate((("A1", LIT), ("A1", MAY), ("A2", SURE))):
        source = page(f"https://s{number}.example/", text)
        made.book.add(Finding(text, part, quoted(source, text), 0.9), 1)
    return made


def sections_of(draft: Draft) -> dict[str, list[str]]:
    return {each.aspect_id: [said.text for said in each.statements] for each in draft.sections}


@pytest.mark.parametrize(
    ("written", "placed"),
    [
        ([f"A1: {LIT} [E1]", f"[A2]: {SURE} [E3]", f"{MAY} [E2]"],
         {"A1": [LIT], "A2": [SURE, MAY]}),
        ([f"A1: {LIT} [E1]", f"{MAY} [E2]", f"{SURE} [E3]"],
         {"A1": [LIT, MAY], "A2": [SURE]}),
        ([f"A2: {LIT} [E1]", "So much for that.", f"A1: {MAY} [E2]", f"A2: {SURE} [E3]"],
         {"A2": [LIT, "So much for that.", SURE], "A1": [MAY]}),
        ([f"{LIT} [E1]", f"{SURE} [E3]", f"A9: {MAY} [E2]"],
         {"A1": [LIT, f"A9: {MAY}"], "A2": [SURE]}),
    ],
)  # fmt: skip
def test_a_statement_stands_in_the_section_that_it_was_put_in(
    of_two_parts: Ledger, written: list[str], placed: dict[str, list[str]]
) -> None:
    """Not all of its evidence has to be on that sub-question; one without an id goes with those
    before it, unless nothing else was put under the sub-question of its evidence.
    """
    answer = DraftAnswer(statements=written, short_answer=["A2: The lamp fails. [E3]", "1"])
    draft = read_draft(of_two_parts, answer)
    assert sections_of(draft) == placed
    answered, numbered = draft.short_answer
    assert (answered.text, answered.about) == ("The lamp fails.", "A2")
    assert numbered.text == LIT


def test_one_quote_of_several_does_not_refuse_what_the_others_give() -> None:
    """Code can't vouch for the sentence, so it is left to the verifier."""
    made, _ = ledger("What law does the lay jury of Morvane rest on?")
    for number, text in enumerate(
        (
            "The coming into force of the Jury Act took place on 1 September 2011.",
            "If a charge carries more than 5 years in prison, it is tried by one of the juries.",
        )
    ):
        source = page(f"https://s{number}.example/", text)
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = (
        "The lay jury of Morvane rests on the Jury Act, which came into force on 1 September 2011,"
        " and it tries every charge that carries more than five years in prison."
    )
    both = Statement(said, ("E1", "E2"))
    assert reasons(made, both) == []


def test_a_condition_that_one_quote_of_several_has_is_left_to_the_verifier() -> None:
    made, _ = ledger("What do lay juries cost?")
    for number, text in enumerate(
        (
            "The registry had to find 29.1 million talers, the spending on lay juries in 2025.",
            "If one follows the court, the spending on lay juries was 29.1 million talers in 2025.",
            "At 21,700 talers, the cost of a jury trial was the entry of 2025 most asked about.",
        )
    ):
        source = page(f"https://s{number}.example/", text)
        made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = "Lay juries cost 29.1 million talers in 2025, or 21,700 talers a trial."
    every = Statement(said, ("E1", "E2", "E3"))
    assert reasons(made, every) == []


def test_a_share_of_an_amount_in_the_question_cites_its_record_alone() -> None:
    text = "Vacuum starts once 20% of the tuples are obsolete."
    known, _ = ledger(
        "When does vacuum start?", question="When does vacuum of 400 million rows start?"
    )
    source = page("https://s.example/", text)
    known.put_page(source)
    known.put_source(Source(source.url, source.title, source.domain, 1))
    known.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    said = "20% of 400 million rows is 80 million obsolete tuples. [E1]"
    computed = ComputedStatement(statement=1, operation="share_of", evidence=["E1", "Q"])
    answer = DraftAnswer(statements=[said], short_answer=["1"], computed=[computed])
    draft = read_draft(known, answer)
    [told] = draft.sections[0].statements
    assert told.evidence == ("E1",) and find_faults(draft, known) == []
    [calculation] = calculate(told, known)
    assert calculation is not None and calculation.formula.startswith("20% (E1) × 400 million")
    text = render_report(known, draft, "", 0, 0, Layout()).markdown
    assert "- 20% [1] × your 400 million rows = 80 million" in text
