from dataclasses import replace

import pytest

from research.engine import gates, stages
from research.engine.config import ResearchConfig
from research.engine.evidence import Finding
from research.engine.ledger import Ledger
from research.engine.limits import Limits, limits
from research.engine.records import (
    AspectState,
    Complexity,
    Gap,
    GateDecision,
    GateName,
    GateResult,
    Source,
    Stage,
)
from tests.engine.scripted import AT, ledger, page, quoted

LIMITS = limits(ResearchConfig(), Complexity.ORDINARY)
FACTS = [
    "Beavers build dams across streams",
    "Otters juggle pebbles while resting",
    "Herons wait motionless for minnows",
    "Kingfishers tunnel nests into banks",
    "Dippers walk underwater after larvae",
    "Voles chew reeds into neat piles",
]


def known(sources: int, records: int, *aspects: str, found_in: int = 0) -> Ledger:
    """A ledger with this many records over this many sites, all for the first sub-question.

    They were found in the round before the present one, unless told.
    """
    made, _ = ledger(*(aspects or ("Which animals live there?",)))
    for number in range(records):
        site = page(f"https://s{number % sources}.example/{number}", FACTS[number] + ".")
        made.pages[site.url] = site
        made.put_source(Source(site.url, "", site.domain, 1, relevance=0.9, status="read"))
        made.book.add(Finding(site.text, "A1", quoted(site, site.text), 0.9), found_in)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


def evaluated(
    made: Ledger, *, ready: bool = True, within: Limits = LIMITS, **knobs: object
) -> dict[GateName, GateResult]:
    config = ResearchConfig(**knobs)
    return gates.evaluate(made, within, config, 1, ready, AT)


def decisions(made: Ledger, **more: object) -> dict[GateName, GateDecision]:
    return {name: result.decision for name, result in evaluated(made, **more).items()}  # type: ignore[arg-type]


def test_enough_of_everything_passes_every_gate() -> None:
    assert decisions(known(3, 5)) == {
        "overview": "pass",
        "deep_research": "pass",
        "evidence": "pass",
        "report_ready": "pass",
    }


@pytest.mark.requirement("D3")
@pytest.mark.parametrize(
    "sources, records, decision", [(3, 5, "pass"), (3, 4, "retry"), (2, 5, "retry")]
)
def test_the_evidence_gate_asks_for_records_and_independent_sources(
    sources: int, records: int, decision: str
) -> None:
    made = known(sources, records)
    assert decisions(made)["evidence"] == decisions(made)["report_ready"] == decision


@pytest.mark.requirement("D3")
def test_evidence_that_answers_nothing_does_not_count() -> None:
    made = known(3, 5)
    for record in made.evidence:
        made.book.records[record.id] = replace(record, relevance=0.29)
    made.refresh_aspects()
    result = evaluated(made)["evidence"]
    assert result.decision == "retry"
    assert result.feedback == (
        "records that answer a sub-question: 0 of 5",
        "independent sources: 0 of 3",
    )


def test_sources_of_one_key_count_once() -> None:
    made = known(3, 5)
    for record in made.evidence:
        same = tuple(replace(source, independence_key="one") for source in record.sources)
        made.book.records[record.id] = replace(record, sources=same)
    assert decisions(made)["evidence"] == "retry"


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("relevance, decision", [(0.6, "pass"), (0.59, "retry")])
def test_the_overview_asks_for_relevant_pages(relevance: float, decision: str) -> None:
    made = known(3, 5)
    for source in list(made.sources.values())[:4]:
        made.put_source(replace(source, relevance=relevance))
    assert decisions(made)["overview"] == decision


@pytest.mark.requirement("C2")
def test_the_overview_asks_for_every_sub_question_to_be_touched() -> None:
    made = known(3, 5, "Which animals live there?", "Who owns the mill?", "Why is the dam high?")
    result = evaluated(made)["overview"]
    assert result.decision == "retry"
    assert result.feedback == ("share of sub-questions with a relevant page: 0.3333 of 1",)
    site = page("https://mill.example/", "Who owns the mill? The miller owns it. The dam is high.")
    made.pages[site.url] = site
    assert evaluated(made)["overview"].decision == "pass"


@pytest.mark.requirement("C2", "C5")
def test_the_overview_asks_for_sources() -> None:
    made = known(1, 1)
    assert decisions(made)["overview"] == "retry"
    assert decisions(made, gate_overview_min_sources=1)["overview"] == "pass"


@pytest.mark.requirement("C3")
def test_deep_research_asks_for_answers_and_independent_sources() -> None:
    open_one = known(3, 5, "Which animals live there?", "Who owns the mill?")
    result = evaluated(open_one)["deep_research"]
    assert (result.decision, result.score) == ("retry", 0.6667)
    thin = known(1, 5, "Which animals live there?", "Who owns the mill?")
    assert evaluated(thin)["deep_research"].score == 0.5


def cross_checked(made: Ledger, within: Limits = LIMITS) -> float:
    [criterion] = [
        c
        for c in evaluated(made, within=within)["deep_research"].criteria
        if c.name == "share of key claims cross-checked or left to verification"
    ]
    return criterion.value


MORE = gates.VERIFIED_AT_ONCE + 2


def single_sourced(found_in: int) -> Ledger:
    """A ledger with more sub-questions, each with one claim of one site, than are verified."""
    made, _ = ledger(*(f"What do animals number {number} do?" for number in range(MORE)))
    for number in range(MORE):
        site = page(f"https://s{number}.example/", FACTS[number] + ".")
        found = Finding(site.text, f"A{number + 1}", quoted(site, site.text), 0.9)
        made.book.add(found, found_in)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


@pytest.mark.requirement("C3")
def test_a_key_claim_of_one_source_asks_for_another_round() -> None:
    assert cross_checked(single_sourced(found_in=1)) == gates.VERIFIED_AT_ONCE / MORE
    assert cross_checked(single_sourced(found_in=0)) == 1


@pytest.mark.requirement("C3")
def test_a_few_key_claims_of_one_source_are_left_to_verification() -> None:
    fresh = known(3, 5, found_in=1)
    assert cross_checked(fresh) == 1
    assert evaluated(fresh)["deep_research"].decision == "pass"


@pytest.mark.requirement("C3")
def test_a_corroborated_key_claim_is_cross_checked() -> None:
    made = single_sourced(found_in=1)
    for record in made.evidence:
        other = page("https://other.example/", record.claim)
        both = (*record.sources, quoted(other, other.text))
        made.book.records[record.id] = replace(record, sources=both)
    assert cross_checked(made) == 1


@pytest.mark.requirement("C3")
def test_a_disputed_key_claim_is_cross_checked() -> None:
    made = single_sourced(found_in=1)
    for record in made.evidence:
        made.book.records[record.id] = replace(record, contradicts=("E9",))
    assert cross_checked(made) == 1


@pytest.mark.requirement("C3")
def test_where_one_source_is_enough_a_key_claim_needs_no_second() -> None:
    simple = limits(ResearchConfig(), Complexity.SIMPLE)
    assert cross_checked(single_sourced(found_in=1), simple) == 1


@pytest.mark.requirement("C2", "C3")
def test_gates_1_and_2_tell_the_bars_that_hold_by_default() -> None:
    made = evaluated(known(3, 5))
    told = {name: (made[name].threshold, [c.minimum for c in made[name].criteria]) for name in made}
    assert told["overview"] == (0.8, [3, 1, 1])
    assert told["deep_research"] == (0.7, [1, 1, 1])


@pytest.mark.requirement("C5")
def test_a_pass_score_is_a_knob() -> None:
    made = known(3, 5, "Which animals live there?", "Who owns the mill?")
    assert decisions(made, gate_deep_pass_score=0.6667)["deep_research"] == "pass"
    assert decisions(made, gate_deep_pass_score=0.67)["deep_research"] == "retry"


@pytest.mark.requirement("C4")
def test_the_report_waits_for_the_assessment_and_for_critical_gaps() -> None:
    made = known(3, 5)
    assert decisions(made, ready=False)["report_ready"] == "retry"
    made.open_gap(Gap("G1", "small", "A1", False, 1))
    assert decisions(made)["report_ready"] == "pass"
    made.open_gap(Gap("G2", "big", "A1", True, 1))
    assert decisions(made)["report_ready"] == "retry"
    made.close_gap("G2", 1, ())
    assert decisions(made)["report_ready"] == "pass"


@pytest.mark.parametrize("searches, decision", [(1, "retry"), (2, "not_to_be_had")])
def test_what_two_searches_did_not_bring_is_not_to_be_had(searches: int, decision: str) -> None:
    made = known(1, 2)
    made.set_aspect("A1", searches_without_news=searches)
    assert decisions(made)["evidence"] == decision


def test_a_gate_that_passes_is_passed_even_where_more_is_not_to_be_had() -> None:
    made = known(1, 5)
    made.set_aspect("A1", searches_without_news=2)
    within = replace(LIMITS, independent_sources=1)
    assert decisions(made, within=within)["evidence"] == "pass"


def test_nothing_is_given_up_while_another_sub_question_can_still_be_searched() -> None:
    made = known(1, 2, "Which animals live there?", "Who owns the mill?")
    made.set_aspect("A1", searches_without_news=5)
    assert decisions(made)["evidence"] == "retry"


def test_a_minimum_of_0_is_always_met() -> None:
    made = known(1, 1)
    within = replace(LIMITS, evidence_records=0, independent_sources=0)
    assert decisions(made, within=within)["evidence"] == "pass"


# --- stages ---------------------------------------------------------------------------------


def results(**decided: GateDecision) -> dict[GateName, GateResult]:
    return {  # type: ignore[return-value]
        name: GateResult(1, name, decision, 1, None, (), (), AT)  # type: ignore[arg-type]
        for name, decision in decided.items()
    }


@pytest.mark.requirement("C1")
@pytest.mark.parametrize(
    "stage, decided, reached",
    [
        (Stage.OVERVIEW, {"overview": "retry", "deep_research": "pass"}, Stage.OVERVIEW),
        (Stage.OVERVIEW, {"overview": "pass", "deep_research": "retry"}, Stage.DEEP_RESEARCH),
        (
            Stage.OVERVIEW,
            {"overview": "pass", "deep_research": "pass", "report_ready": "retry"},
            Stage.VERIFICATION,
        ),
        (
            Stage.OVERVIEW,
            {"overview": "pass", "deep_research": "not_to_be_had", "report_ready": "pass"},
            Stage.REPORT,
        ),
        (Stage.DEEP_RESEARCH, {"overview": "retry", "deep_research": "retry"}, Stage.DEEP_RESEARCH),
        (Stage.VERIFICATION, {"report_ready": "pass"}, Stage.REPORT),
        (Stage.REPORT, {}, Stage.REPORT),
        (Stage.OVERVIEW, {}, Stage.OVERVIEW),
    ],
)
def test_a_stage_is_left_only_through_its_gate(
    stage: Stage, decided: dict[str, GateDecision], reached: Stage
) -> None:
    assert stages.after_gates(stage, results(**decided)) is reached


def test_a_disputed_sub_question_counts_as_answered() -> None:
    made = known(3, 5)
    made.set_aspect("A1", state=AspectState.DISPUTED)
    assert decisions(made)["deep_research"] == "pass"
