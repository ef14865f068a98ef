from typing import Any

import pytest

from research.engine.records import RefusedQuote
from tests.engine.scripted import LIT, LIT_TOO, SIMPLE, Answer, Ran, World, finding, harbour


async def read_as(**changes: Any) -> tuple[World, Ran]:
    """A run whose reader changes each of its findings."""
    world = harbour(SIMPLE)
    assert world.model is not None
    world.model.twists["read"] = lambda answer: {
        **answer,
        "findings": [{**found, **changes} for found in answer["findings"]],
    }
    return world, await world.ask(SIMPLE.question)


async def test_a_finding_carries_the_page_s_own_words() -> None:
    _, ran = await read_as()
    assert {record.sources[0].quote for record in ran.evidence} == {LIT, LIT_TOO}
    assert ran.of(RefusedQuote) == []


@pytest.mark.parametrize("sentences", [[], [999], [-1], [10**30]])
async def test_sentences_that_are_not_there_are_refused_and_counted(sentences: list[int]) -> None:
    _, ran = await read_as(sentences=sentences)
    assert ran.evidence == []
    refused = ran.of(RefusedQuote)
    assert {each.reason for each in refused} == {"no such sentence in the pages read"}
    assert ran.usage.refused_quotes == len(refused) > 0
    assert ran.report.markdown == ""


@pytest.mark.parametrize(
    "claim, reason",
    [
        ("The lighthouse was first lit in 1912.", "number differs"),
        ("The lighthouse was never lit.", "negation differs"),
        ("Ruth Ansel first lit the Harrow Point lighthouse.", "name differs"),
        ("Cheese is made of milk by cows.", "not on the page"),
    ],
)
async def test_a_claim_that_says_something_else_gives_way_to_its_quote(
    claim: str, reason: str
) -> None:
    _, ran = await read_as(claim=claim)
    assert {record.claim for record in ran.evidence} == {LIT, LIT_TOO}
    assert {each.reason.split(",")[0] for each in ran.of(RefusedQuote)} == {reason}
    assert claim not in ran.report.markdown


async def test_an_unknown_sub_question_is_the_unit_s_own() -> None:
    _, ran = await read_as(sub_question="A77")
    assert {record.aspect_id for record in ran.evidence} == {"A1"}


async def test_no_more_claims_of_a_page_are_kept_than_allowed() -> None:
    world = harbour(SIMPLE)
    assert world.model is not None

    def flood(answer: Answer) -> Answer:
        found = [
            finding(f"Harrow Point lighthouse {n % 6} sea", [n % 6 + 1], "A1")
            for n in range(10_000)
        ]
        leads = [{"topic": f"Lead{n}", "query": f"Lead{n}", "sentence": 1} for n in range(10_000)]
        return {"findings": found, "leads": leads}

    world.model.twists["read"] = flood
    ran = await world.ask(SIMPLE.question, max_evidence_claims_per_research_unit=2)
    assert 0 < len(ran.evidence) <= 2 * len(world.web.fetched)
    assert ran.usage.refused_quotes <= 3 * len(world.web.fetched)
