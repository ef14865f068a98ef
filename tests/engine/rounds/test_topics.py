from dataclasses import replace

import pytest

from research.engine.assessment.assessment import Assessment
from research.engine.config import ResearchConfig
from research.engine.evidence.ledger import Lead, Ledger
from research.engine.evidence.store import Finding
from research.engine.limits import limits_for
from research.engine.records import Complexity, Dimensions, Gap
from research.engine.rounds.topics import (
    Topic,
    choose_topics,
    first_topics,
    lacking_topics,
    next_topics,
)
from tests.engine.scripted import ledger, page, quoted

THRESHOLD = 0.75
LIMITS = limits_for(ResearchConfig(), Complexity.ORDINARY)


def gap(number: int, text: str, *, critical: bool = False, opened: int = 1, query: str = "") -> Gap:
    return Gap(f"G{number}", text, "A1", critical, opened, query or text)


def named(*directions: str) -> Assessment:
    return Assessment(Dimensions(), None, "", frozenset(), (), directions, False, by_model=True)


def chosen(candidates: list[Topic], known: Ledger, limit: int = 9) -> list[str]:
    return [topic.queries[0] for topic in choose_topics(candidates, known, limit, THRESHOLD).topics]


def test_the_first_topics_are_the_sub_questions() -> None:
    known, _ = ledger("Where is it?", "Who owns it?")
    assert [(t.text, t.aspect_id) for t in first_topics(known, by_parts=True)] == [
        ("Where is it?", "A1"),
        ("Who owns it?", "A2"),
    ]


def test_each_question_of_a_sub_question_is_searched_by_itself_as_well() -> None:
    known, _ = ledger("Who built the lamp, and when was the horn tested?")
    [topic] = first_topics(known, by_parts=True)
    assert topic.all_queries and topic.queries[1:] == ("built lamp", "horn tested")
    [topic] = first_topics(known, by_parts=False)
    assert not topic.all_queries and len(topic.queries) == 1


def test_a_topic_knows_which_things_its_sub_question_compares() -> None:
    known, _ = ledger("What do Alto, Corsair and Dorado cost?", "Who sells the Alto?")
    named = ("Alto", "Corsair", "Dorado")
    priced, sold = first_topics(known, by_parts=False, things=named)
    assert (priced.things, sold.things) == (named, ())


@pytest.mark.requirement("A8", "C9")
def test_critical_gaps_go_first_then_newer_ones_then_directions() -> None:
    known, _ = ledger("Where is it?")
    for each in (
        gap(1, "old gap"),
        gap(2, "new gap", opened=2),
        gap(3, "critical gap", critical=True),
        gap(4, "oldest of the rest"),
    ):
        known.open_gap(each)
    found = next_topics(known, named("first way", "second way", "third way"))
    assert [topic.text for topic in found] == [
        "critical gap",
        "new gap",
        "old gap",
        "first way",
        "second way",
        "oldest of the rest",
    ]


def test_closed_gaps_and_gaps_without_a_query_are_no_topics() -> None:
    known, _ = ledger("Where is it?")
    known.open_gap(gap(1, "closed"))
    known.close_gap("G1", 1, ())
    known.open_gap(Gap("G2", "no query", "A1", False, 1))
    assert next_topics(known, named()) == []


@pytest.mark.requirement("C7", "C17", "E2")
def test_a_near_duplicate_is_refused_before_the_limit_with_its_twin_named() -> None:
    known, _ = ledger("Where is it?")
    known.queries["harrow point lighthouse history"] = 3
    again = Topic("History", ("history of harrow point lighthouse",))
    fresh = [Topic(f"T{n}", (f"subject number{n}",)) for n in range(3)]
    choice = choose_topics([again, *fresh], known, 2, THRESHOLD)
    assert [topic.text for topic in choice.topics] == ["T0", "T1"]
    [skipped] = choice.skipped
    assert skipped.topic == "History"
    assert skipped.twin == "harrow point lighthouse history"
    assert skipped.similarity == 1


def test_two_like_topics_of_one_round_are_searched_once() -> None:
    known, _ = ledger("Where is it?")
    twins = [Topic("One", ("blue whale diet",)), Topic("Two", ("diet of blue whales",))]
    choice = choose_topics(twins, known, 9, THRESHOLD)
    assert [topic.text for topic in choice.topics] == ["One"]
    assert [skip.topic for skip in choice.skipped] == ["Two"]


@pytest.mark.requirement("C7", "C14")
def test_a_topic_goes_another_way_where_its_first_was_tried() -> None:
    known, _ = ledger("Where is it?")
    known.queries["blue whale diet"] = 0
    topic = Topic("Food", ("blue whale diet", "krill swarms"))
    assert chosen([topic], known) == ["krill swarms"]


def test_a_gap_can_be_searched_by_the_sub_question_and_by_leads() -> None:
    known, _ = ledger("Where is the lighthouse?")
    known.leads["Calder"] = Lead("Calder", "Calder foundry", "https://a.example/", 1.0)
    known.open_gap(gap(1, "exact place", query="exact place"))
    [topic] = next_topics(known, named())
    assert topic.queries == ("exact place", "lighthouse", "Calder foundry")


def test_code_that_judges_adds_what_the_pages_lead_to() -> None:
    known, _ = ledger("Who trained the builder of the lighthouse?")
    source = page("https://a.example/", "The builder of the lighthouse was Edda Marlow.")
    known.pages[source.url] = source
    by_code = replace(named(), by_model=False)
    [topic] = [t for t in next_topics(known, by_code) if t.text == "Edda Marlow"]
    assert topic.queries == ("Edda Marlow trained", "Edda Marlow")
    assert topic.lead and topic.aspect_id == "A1"
    assert next_topics(known, named()) == []


def test_leads_with_other_names_are_no_twins_however_much_is_left_open() -> None:
    known, _ = ledger("Where is it?")
    rest = "blue whale diet krill swarm north south east"
    leads = [Lead(name, f"{name} {rest}", "", 1.0) for name in ("Marlow", "Brand")]
    topics = [Topic(lead.text, (lead.query,), lead=lead) for lead in leads]
    assert [t.text for t in choose_topics(topics, known, 9, THRESHOLD).topics] == [
        "Marlow",
        "Brand",
    ]
    same = [replace(topic, lead=None) for topic in topics]
    assert [t.text for t in choose_topics(same, known, 9, THRESHOLD).topics] == ["Marlow"]


@pytest.mark.requirement("C6")
def test_a_gate_lacks_the_sub_questions_with_too_few_sources() -> None:
    known, _ = ledger("Where is it?", "Who owns it?")
    assert [topic.aspect_id for topic in lacking_topics(known, LIMITS)] == ["A1", "A2"]


@pytest.mark.requirement("C6")
def test_where_each_has_enough_sources_what_pages_named_goes_first() -> None:
    enough = replace(LIMITS, sources_per_aspect=0)
    known, _ = ledger("Where is it?")
    for name in ("older", "newer"):
        known.leads[name] = Lead(name, f"{name} name", "https://a.example/", 0.0)
    assert [topic.text for topic in lacking_topics(known, enough)] == [
        "newer name",
        "older name",
        "Where is it?",
    ]


@pytest.mark.requirement("C3", "C6")
def test_claims_that_nothing_confirms_are_looked_for_before_what_pages_named() -> None:
    known, _ = ledger("How high is the Orrin tower?")
    known.leads["Balla"] = Lead("Balla", "Balla", "https://a.example/", 0.0)
    for site, claim in enumerate(
        ("The Orrin tower is 40 metres high.", "The Orrin tower is 52 metres high.")
    ):
        source = page(f"https://s{site}.example/", claim)
        known.book.add(Finding(claim, "A1", quoted(source, claim), 1.0), 1)
    known.refresh_aspects()
    known.emit_evidence({})
    [topic] = lacking_topics(known, LIMITS)
    assert topic.text == (
        "Which of the two is right, and as of when: “The Orrin tower is 40 metres high.” "
        "or “The Orrin tower is 52 metres high.”?"
    )
    assert topic.aspect_id == "A1" and len(topic.queries) == 3
