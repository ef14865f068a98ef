"""The score of a run: right on a right run, and moved by what is wrong with a wrong one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bench.world.facts import Fact, Page, Question, World
from bench.world.generate import build_world
from bench.world.score import Score, busy_seconds, cost, score, stopping
from bench.world.web import url_of
from tests.bench.prompts import sentences_of

PORT = 1
ENDS = ("2026-05-01T10:01:00+00:00", "2026-05-01T10:02:00+00:00", "2026-05-01T10:03:00+00:00")
FETCHED = ("2026-05-01T10:00:30+00:00", "2026-05-01T10:01:30+00:00")


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(31, 8)


@pytest.fixture(scope="module")
def question(world: World) -> Question:
    return next(q for q in world.of_kind("medium") if q.rivals)


def source_of(world: World, fact: Fact) -> dict[str, Any]:
    page = world.stating(fact.id)[0]
    quote = next(text for text in sentences_of(page) if fact.code in text)
    return {"url": url_of(page, PORT), "quote": quote, "fetched_at": FETCHED[0]}


def run_of(world: World, facts: list[str]) -> dict[str, Any]:
    """A finished run that quotes these facts and reports each in a cited sentence."""
    evidence, citations, body = [], [], []
    for at, name in enumerate(facts, 1):
        fact = world.facts[name]
        source = source_of(world, fact)
        claim = fact.statement.claim()
        evidence.append({"id": f"E{at}", "claim": claim, "contradicts": [], "sources": [source]})
        citations.append({"marker": at, "evidence_ids": [f"E{at}"], "url": source["url"]})
        body.append(f"{claim} [{at}]")
    markdown = "# Question\n\n**Short answer.** " + " ".join(body) + "\n\n## Sources\n\n[1] x\n"
    gates = [{"round": n, "gate": "evidence", "decision": "pass", "at": at}
             for n, at in enumerate(ENDS, 1)]  # fmt: skip
    return {
        "termination_reason": "quality_met",
        "rounds": [{}, {}, {}],
        "gates": gates,
        "evidence": evidence,
        "citations": citations,
        "report_markdown": markdown,
    }


def scored(world: World, question: Question, run: dict[str, Any], *log: Any) -> Score:
    return score(world, question, run, {"entries": list(log)})


def test_a_right_run_has_full_marks(world: World, question: Question) -> None:
    result = scored(world, question, run_of(world, list(question.needed)))
    assert (result.evidence_recall, result.report_recall) == (1, 1)
    assert (result.citation_precision, result.claim_precision) == (1, 1)
    assert result.cited_sentences == len(question.needed)
    assert result.recall_by_round == (1, 1, 1) and result.complete_round == 1


def test_a_missing_fact_lowers_both_recalls_and_nothing_else(
    world: World, question: Question
) -> None:
    result = scored(world, question, run_of(world, list(question.needed[1:])))
    short = 1 - 1 / len(question.needed)
    assert result.evidence_recall == result.report_recall == pytest.approx(short)
    assert result.citation_precision == 1 and result.complete_round is None


def test_a_cut_sentence_lowers_the_reports_recall_alone(world: World, question: Question) -> None:
    run = run_of(world, list(question.needed))
    claim = world.facts[question.needed[0]].statement.claim()
    run["report_markdown"] = run["report_markdown"].replace(f"{claim} [1]", "")
    result = scored(world, question, run)
    assert result.evidence_recall == 1 and result.report_recall < 1
    assert result.citation_precision == 1


@pytest.mark.parametrize("fault", ("number", "denied", "wrong page", "unsaid"))
def test_a_false_citation_lowers_precision(world: World, question: Question, fault: str) -> None:
    run = run_of(world, list(question.needed))
    fact = world.facts[question.needed[0]]
    if fault == "number":
        run["report_markdown"] = run["report_markdown"].replace(fact.code, "9999999")
    if fault == "denied":
        wrong = f"Answer.** It is not true that {fact.statement.claim()}"
        right = f"answer.** {fact.statement.claim()}"
        run["report_markdown"] = run["report_markdown"].replace(right, wrong)
    if fault == "wrong page":
        other = next(p for p in world.pages if fact.id not in p.facts)
        run["citations"][0]["url"] = run["evidence"][0]["sources"][0]["url"] = url_of(other, PORT)
    if fault == "unsaid":
        run["evidence"][0]["sources"][0]["quote"] = "Swallows nest under the eaves."
    result = scored(world, question, run)
    assert result.citation_precision == pytest.approx(1 - 1 / len(question.needed))


def test_a_claim_that_its_quote_does_not_make_lowers_their_precision_alone(
    world: World, question: Question
) -> None:
    run = run_of(world, list(question.needed))
    record, fact = run["evidence"][0], world.facts[question.needed[0]]
    record["claim"] = record["claim"].replace(fact.code, "9999999")
    result = scored(world, question, run)
    assert result.claim_precision == pytest.approx(1 - 1 / len(question.needed))
    assert result.citation_precision == 1


def test_a_claim_in_the_quotes_own_words_makes_nothing_up(world: World, question: Question) -> None:
    run = run_of(world, list(question.needed))
    record, idle = run["evidence"][0], "Swallows nest under the eaves."
    record["claim"] = record["sources"][0]["quote"] = idle
    assert scored(world, question, run).claim_precision == 1


@pytest.mark.parametrize("shown", ("{}", "**Some page:** “{}”"))
def test_a_quote_that_states_no_fact_is_cited_in_vain(
    world: World, question: Question, shown: str
) -> None:
    run = run_of(world, list(question.needed))
    idle = "Swallows nest under the eaves."
    run["evidence"][0]["sources"][0]["quote"] = idle
    claim = world.facts[question.needed[0]].statement.claim()
    run["report_markdown"] = run["report_markdown"].replace(
        f"**Short answer.** {claim}", shown.format(idle)
    )
    result = scored(world, question, run)
    assert result.cited_in_vain == 1 and result.citation_precision < 1


def test_the_round_of_a_quote_is_that_in_which_its_page_came(
    world: World, question: Question
) -> None:
    run = run_of(world, list(question.needed))
    run["evidence"][0]["sources"][0]["fetched_at"] = FETCHED[1]
    result = scored(world, question, run)
    assert result.recall_by_round[0] < 1 == result.recall_by_round[1]
    assert result.complete_round == 2
    run["gates"][1]["decision"] = "retry"
    assert scored(world, question, run).complete_round == 3


def test_contradictions_are_compared_with_the_planted_ones(
    world: World, question: Question
) -> None:
    one, other = question.rivals[0]
    run = run_of(world, [one, other, *question.needed[2:4]])
    assert scored(world, question, run).contradiction_recall == 0
    right = copy.deepcopy(run)
    right["evidence"][0]["contradicts"] = ["E2"]
    result = scored(world, question, right)
    assert (result.contradiction_precision, result.contradiction_recall) == (1, 1)
    right["evidence"][2]["contradicts"] = ["E4"]
    assert scored(world, question, right).contradiction_precision == 0.5


def test_false_claims_and_injected_codes_are_looked_for_in_the_report(
    world: World, question: Question
) -> None:
    run = run_of(world, list(question.needed))
    page: Page = next(page for page in world.pages if page.injected)
    run["report_markdown"] = f"# Q\n\nThe mill has {page.injected} drams. A lie stands here.\n"
    entry = {"server": "model", "task": "read", "start": 0, "end": 1, "prompt_tokens": 1,
             "completion_tokens": 1, "false_claims": ["A lie stands here.", "No."]}  # fmt: skip
    result = scored(world, question, run, entry)
    assert (result.false_claims_returned, result.false_claims_reported) == (2, 1)
    assert result.injected_reported == 1


def test_costs_come_from_the_log(world: World, question: Question) -> None:
    model = {"server": "model", "task": "read", "start": 0.0, "end": 2.0,
             "prompt_tokens": 100, "completion_tokens": 10}  # fmt: skip
    page = {"server": "web", "url": "http://127.0.0.1/a", "start": 1.0, "end": 3.0}
    query = {"server": "search", "query": "A mill", "start": 5.0, "end": 6.0}
    again = query | {"query": "a  mill"}
    cost = scored(world, question, run_of(world, []), model, page, page, query, again).cost
    assert cost.calls == {"read": 1} and cost.model_calls == 1
    assert (cost.prompt_tokens, cost.completion_tokens) == (100, 10)
    assert (cost.searches, cost.repeated_searches) == (2, 1)
    assert (cost.fetches, cost.repeated_fetches) == (2, 1)
    assert cost.busy_seconds == 4.0


def test_busy_time_is_the_union_of_intervals() -> None:
    assert busy_seconds([]) == 0
    assert busy_seconds([(10, 14), (11, 12), (13, 15), (20, 21)]) == 6


@pytest.mark.parametrize(
    ("stopped", "hindsight", "recall", "best", "expected"),
    [
        (1, 1, 1.0, 1.0, "exact"),
        (3, 2, 1.0, 1.0, "late"),
        (1, 2, 0.5, 1.0, "premature"),
        (1, 2, 1.0, 1.0, "premature"),
        (2, None, 0.5, 0.5, "exact"),
        (2, None, None, 0.0, "exact"),
    ],
)
def test_a_stop_is_judged_against_hindsight(
    stopped: int, hindsight: int | None, recall: float | None, best: float, expected: str
) -> None:
    assert stopping(stopped, hindsight, recall, best) == expected


def test_what_a_site_says_to_robots_is_no_page() -> None:
    asked = ("http://h/robots.txt", "http://h/a", "http://h/robots.txt", "http://h/a")
    found = cost([{"server": "web", "url": url, "start": 0, "end": 1} for url in asked])
    assert (found.fetches, found.repeated_fetches) == (2, 1)
