from dataclasses import replace

import pytest

from research.engine.assessment import criteria, gates, stages
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Ledger
from research.engine.evidence.store import Finding
from research.engine.limits import Limits, limits_for
from research.engine.records import (
    AspectState,
    Complexity,
    Criterion,
    Gap,
    GateDecision,
    GateName,
    GateResult,
    Source,
    Stage,
)
from tests.engine.scripted import AT, ledger, page, quoted

LIMITS = limits_for(ResearchConfig(), Complexity.ORDINARY)
FACTS = [
    "Beavers build dams across streams",
    "Otters juggle pebbles while resting",
    "Herons wait motionless for minnows",
    "Kingfishers tunnel nests into banks",
    "Dippers walk underwater after larvae",
    "Voles chew reeds into neat piles",
]


def known(sources: int, records: int, *aspects: str) -> Ledger:
    """A ledger with this many records over this many sites, all for the first sub-question."""
    made, _ = ledger(*(aspects or ("Which animals live there?",)))
    for number in range(records):
        site = page(f"https://s{number % sources}.example/{number}", FACTS[number] + ".")
        made.pages[site.url] = site
        made.put_source(Source(site.url, "", site.domain, 1, relevance=0.9, status="read"))
        made.book.add(Finding(site.text, "A1", quoted(site, site.text), 0.9), 1)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


def evaluated(
    made: Ledger, *, ready: bool = True, within: Limits = LIMITS, **knobs: object
) -> dict[GateName, GateResult]:
    config = ResearchConfig(**knobs)
    return gates.evaluate_gates(made, within, config, 1, ready, AT)


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
def test_the_evidence_gate_asks_for_records_and_independent_sites(
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
        "independent sites: 0 of 3",
    )


def test_sources_of_one_key_count_once() -> None:
    made = known(3, 5)
    for record in made.evidence:
        same = tuple(replace(source, independence_key="one") for source in record.sources)
        made.book.records[record.id] = replace(record, sources=same)
    assert decisions(made)["evidence"] == "retry"


def criterion(made: Ledger, gate: GateName, name: str, within: Limits = LIMITS) -> Criterion:
    [found] = [c for c in evaluated(made, within=within)[gate].criteria if c.name == name]
    return found


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("relevance, decision", [(0.6, "pass"), (0.59, "retry")])
def test_the_overview_asks_for_relevant_pages(relevance: float, decision: str) -> None:
    made = known(3, 5)
    for source in list(made.sources.values())[:3]:
        made.put_source(replace(source, relevance=relevance))
    assert decisions(made)["overview"] == decision


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("irrelevant, decision", [(2, "pass"), (3, "retry")])
def test_three_in_five_of_the_pages_read_are_to_be_relevant(irrelevant: int, decision: str) -> None:
    made = known(3, 5)
    for source in list(made.sources.values())[:irrelevant]:
        made.put_source(replace(source, relevance=0.1))
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
@pytest.mark.parametrize("sources, decision", [(1, "retry"), (2, "retry"), (3, "pass")])
def test_the_overview_asks_for_sources(sources: int, decision: str) -> None:
    made = known(sources, sources)
    assert decisions(made)["overview"] == decision
    assert decisions(made, gate_overview_min_sources=sources)["overview"] == "pass"


@pytest.mark.requirement("C2")
def test_sources_that_the_searches_do_not_know_are_not_waited_for() -> None:
    """Two searches in a row without a new one, or none that had more results than it told."""
    made = known(2, 2)
    made.effort.named([10], 10, news=False)
    assert decisions(made)["overview"] == "retry"
    made.effort.named([10], 10, news=False)
    result = evaluated(made)["overview"]
    assert (result.decision, result.feedback) == (
        "not_to_be_had", (f"sources found: 2 of 3; {criteria.IN_VAIN}",)
    )  # fmt: skip
    small = known(2, 2)
    small.effort.named([2], 10, news=True)
    assert evaluated(small)["overview"].feedback == (
        f"sources found: 2 of 3; {criteria.ALL_NAMED}",
    )


@pytest.mark.requirement("C2")
@pytest.mark.parametrize("searches, decision", [(1, "retry"), (2, "not_to_be_had")])
def test_relevant_pages_are_not_waited_for_after_two_searches_without_one(
    searches: int, decision: str
) -> None:
    made = known(3, 5)
    for source in list(made.sources.values())[:3]:
        made.put_source(replace(source, relevance=0.1))
    made.effort.read(searches, news=False)
    assert decisions(made)["overview"] == decision
    made.effort.read(1, news=True)
    assert decisions(made)["overview"] == "retry"


@pytest.mark.requirement("C3")
def test_deep_research_asks_for_answers_and_independent_sites() -> None:
    open_one = known(3, 5, "Which animals live there?", "Who owns the mill?")
    result = evaluated(open_one)["deep_research"]
    assert result.decision == "retry"
    assert result.feedback == (
        "share of sub-questions with enough independent sites or left to verification: 0.5 of 1",
        "share of sub-questions answered: 0.5 of 1",
    )


def answered_by_one_source(count: int) -> Ledger:
    """A ledger with this many sub-questions, each answered by one source."""
    made, _ = ledger(*FACTS[:count])
    for number, text in enumerate(FACTS[:count], 1):
        site = page(f"https://s{number}.example/", text + ".")
        made.pages[site.url] = site
        made.put_source(Source(site.url, "", site.domain, 1, relevance=0.9, status="read"))
        made.book.add(Finding(site.text, f"A{number}", quoted(site, site.text), 0.9), 1)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("more, decision", [(0, "pass"), (1, "retry")])
def test_once_all_is_answered_a_few_second_sources_are_left_to_verification(
    more: int, decision: str
) -> None:
    made = answered_by_one_source(criteria.VERIFIED_AT_ONCE + more)
    assert made.answered() == len(made.aspects)
    assert evaluated(made)["deep_research"].decision == decision


@pytest.mark.requirement("C3")
@pytest.mark.parametrize("gate, bar", [("overview", 0.8), ("deep_research", 0.7)])
def test_a_good_mean_does_not_make_up_for_a_criterion_that_is_short(
    gate: GateName, bar: float
) -> None:
    """Two of three sources, or four of five sub-questions answered, with all else at its best."""
    if gate == "overview":
        made = known(2, 2)
    else:
        made = many(5)
        made.set_aspect("A5", state=AspectState.OPEN)
    result = evaluated(made)[gate]
    assert result.score is not None and result.score >= bar
    assert result.decision == "retry"


CHECKED = "share of key claims cross-checked"
LEFT = "share of key claims cross-checked or left to verification"


def cross_checked(made: Ledger, within: Limits = LIMITS) -> float:
    return criterion(made, "deep_research", CHECKED, within).value


MORE = criteria.VERIFIED_AT_ONCE + 2


def single_sourced(count: int = MORE) -> Ledger:
    """A ledger with so many sub-questions, each with one claim of one site."""
    made, _ = ledger(*(f"What do animals number {number} do?" for number in range(count)))
    for number in range(count):
        site = page(f"https://s{number}.example/", FACTS[number] + ".")
        made.book.add(Finding(site.text, f"A{number + 1}", quoted(site, site.text), 0.9), 1)
    made.refresh_aspects()
    made.emit_evidence({})
    return made


def many(count: int) -> Ledger:
    """A ledger with so many sub-questions, each with one claim of two sites."""
    made = single_sourced(count)
    for record in made.evidence:
        other = page("https://other.example/", record.claim)
        both = (*record.sources, quoted(other, other.text))
        made.book.records[record.id] = replace(record, sources=both)
    made.refresh_aspects()
    return made


@pytest.mark.requirement("C3")
def test_a_key_claim_of_one_source_is_not_cross_checked() -> None:
    made = single_sourced()
    assert cross_checked(made) == 0
    assert criterion(made, "deep_research", LEFT).value == criteria.VERIFIED_AT_ONCE / MORE


@pytest.mark.requirement("C3")
def test_a_few_key_claims_of_one_source_are_left_to_verification() -> None:
    fresh = known(3, 5)
    assert cross_checked(fresh) == 0
    assert criterion(fresh, "deep_research", LEFT).value == 1
    assert evaluated(fresh)["deep_research"].decision == "pass"


@pytest.mark.requirement("C3")
def test_claims_are_given_up_that_two_searches_or_verification_did_not_confirm() -> None:
    made = many(MORE)
    for number, record in enumerate(made.evidence):
        other = (record.sources[0], replace(record.sources[1], independence_key=f"k{number}"))
        made.book.records[record.id] = replace(record, sources=other[:1])
        beside = page(f"https://b{number}.example/", f"Something else on it, {FACTS[number]}")
        quote = quoted(beside, beside.text)
        made.book.add(Finding(f"Book {number} tells of it", record.aspect_id, quote, 0.8), 1)
    made.refresh_aspects()
    made.emit_evidence({})
    assert evaluated(made)["deep_research"].decision == "retry"
    made.effort.count_corroboration(1, made.evidence, made.book.records)
    assert evaluated(made)["deep_research"].decision == "retry"
    made.effort.count_corroboration(1, made.evidence, made.book.records)
    assert evaluated(made)["deep_research"].decision == "not_to_be_had"
    made.effort.support.clear()
    made.effort.verified.update(["E1", "E2"])
    assert evaluated(made)["deep_research"].decision == "not_to_be_had"


@pytest.mark.requirement("C3")
def test_a_corroborated_key_claim_is_cross_checked() -> None:
    assert cross_checked(many(MORE)) == 1
    assert evaluated(many(MORE))["deep_research"].decision == "pass"


@pytest.mark.requirement("C3")
def test_a_disputed_key_claim_is_not_cross_checked() -> None:
    made = many(MORE)
    for record in made.evidence:
        made.book.records[record.id] = replace(record, contradicts=("E9",))
    assert cross_checked(made) == 0


@pytest.mark.requirement("C3")
def test_where_one_source_is_enough_a_key_claim_needs_no_second() -> None:
    simple = limits_for(ResearchConfig(), Complexity.SIMPLE)
    assert cross_checked(single_sourced(), simple) == 1


@pytest.mark.requirement("C2", "C3")
def test_gates_1_and_2_tell_the_bars_that_hold_by_default() -> None:
    made = evaluated(known(3, 5))
    told = {name: (made[name].threshold, [c.minimum for c in made[name].criteria]) for name in made}
    assert told["overview"] == (0.8, [3, 0.6, 1])
    assert told["deep_research"] == (0.7, [1, 0, 1, 1])


@pytest.mark.requirement("C5")
def test_a_pass_score_is_a_knob() -> None:
    made = known(3, 5)
    assert evaluated(made)["deep_research"].score == 0.75
    assert decisions(made, gate_deep_pass_score=0.75)["deep_research"] == "pass"
    strict = evaluated(made, gate_deep_pass_score=0.76)["deep_research"]
    assert (strict.decision, strict.feedback) == ("retry", (f"{CHECKED}: 0 of 1",))
    for source in list(made.sources.values())[:2]:
        made.put_source(replace(source, relevance=0.1))
    assert decisions(made, gate_overview_pass_score=0.86)["overview"] == "pass"
    assert decisions(made, gate_overview_pass_score=0.87)["overview"] == "retry"


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
    within = replace(LIMITS, independent_sites=1)
    assert decisions(made, within=within)["evidence"] == "pass"


def test_nothing_is_given_up_while_another_sub_question_can_still_be_searched() -> None:
    made = known(1, 2, "Which animals live there?", "Who owns the mill?")
    made.set_aspect("A1", searches_without_news=5)
    assert decisions(made)["evidence"] == "retry"


def test_a_minimum_of_0_is_always_met() -> None:
    made = known(1, 1)
    within = replace(LIMITS, evidence_records=0, independent_sites=0)
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
