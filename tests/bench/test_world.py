"""The world: made by its seed alone, readable by its grammar, solvable by following leads."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from bench.world import filler
from bench.world.facts import KINDS, World
from bench.world.generate import build_world, questions
from bench.world.grammar import CLAIMS, FORMS, OPENINGS, Statement, parse
from bench.world.search import Ranking
from bench.world.wants import needs
from tests.bench.prompts import sentences_of
from tests.bench.walker import walk

SEEDS = (1, 2, 77)


@pytest.fixture(scope="module", params=SEEDS)
def world(request: pytest.FixtureRequest) -> World:
    return build_world(request.param, 4)


@pytest.fixture(scope="module")
def ranking(world: World) -> Ranking:
    return Ranking(world.pages)


def test_a_seed_makes_the_same_world_again() -> None:
    again = build_world.__wrapped__(5, 3)
    assert again == build_world.__wrapped__(5, 3)


def test_another_seed_shares_no_name_with_it() -> None:
    one, other = build_world(1, 4), build_world(2, 4)
    names = [{s for s in world.secrets() if not s.isdigit()} for world in (one, other)]
    assert not names[0] & names[1]
    assert not {p.path for p in one.pages} & {p.path for p in other.pages}


def test_more_questions_leave_the_first_ones_as_they_were() -> None:
    small, large = build_world(3, 2), build_world(3, 4)
    assert large.questions[: len(small.questions)] == small.questions
    assert large.pages[: len(small.pages)] == small.pages


def test_questions_come_by_kind_and_count() -> None:
    for kind in KINDS:
        asked = questions(4, kind, 3)
        assert [q.kind for q in asked] == [kind] * 3
        assert len({q.text for q in asked}) == 3


def test_every_code_is_unique_in_its_world(world: World) -> None:
    codes = [fact.code for fact in world.facts.values()]
    assert len(set(codes)) == len(codes)


def test_a_page_states_just_the_facts_that_it_is_said_to(world: World) -> None:
    for page in world.pages:
        stated = Counter(s for text in sentences_of(page) if (s := parse(text)))
        assert stated == Counter(world.facts[fact].statement for fact in page.facts), page.path


def test_every_needed_fact_stands_on_two_hosts_that_answer(world: World) -> None:
    for question in world.questions:
        for fact in question.needed:
            own = [page for page in world.stating(fact) if page.kind == "article"]
            assert len({page.site for page in own}) >= 2


def test_no_two_pages_word_a_fact_alike_but_mirrors(world: World) -> None:
    for fact in world.facts.values():
        worded = [
            text
            for page in world.pages
            if page.kind != "mirror" and fact.id in page.facts
            for text in sentences_of(page)
            if fact.code in text
        ]
        assert len(set(worded)) == len(worded)


def test_a_mirror_nearly_copies_a_page_of_another_host(world: World) -> None:
    originals = {page.path: page for page in world.pages}
    mirrors = [page for page in world.pages if page.kind == "mirror"]
    assert mirrors
    for mirror in mirrors:
        original = originals[mirror.mirror_of]
        assert mirror.site != original.site and mirror.facts == original.facts
        assert set(mirror.paragraphs) <= set(original.paragraphs) | {mirror.paragraphs[-1]}


def test_rivals_differ_in_their_number_and_stand_on_other_hosts() -> None:
    world = build_world(1, 8)
    pairs = [pair for question in world.questions for pair in question.rivals]
    assert pairs
    for one, other in pairs:
        first, second = world.facts[one], world.facts[other]
        assert first.code != second.code
        assert first.statement.value.split()[1] == second.statement.value.split()[1]
        rival = next(page for page in world.pages if other in page.facts)
        assert rival.kind == "rival"
        assert rival.site not in {p.site for p in world.stating(one) if p.kind != "mirror"}


def test_there_is_every_kind_of_trouble_and_of_page() -> None:
    pages = build_world(1, 8).pages
    assert {p.trouble for p in pages} == {"", "slow", "error", "missing", "empty", "huge"}
    assert {p.kind for p in pages} == {"article", "mirror", "rival", "distractor"}
    assert any(p.injected for p in pages)


def test_unanswerable_questions_have_pages_on_the_topic_and_no_facts(
    world: World, ranking: Ranking
) -> None:
    for question in world.of_kind("unanswerable"):
        best = [page for _, page in ranking.best(question.text, 5)]
        assert all(question.aspects[0] in page.text for page in best)
        assert not any(page.facts for page in best)


def test_following_leads_finds_every_needed_fact(world: World, ranking: Ranking) -> None:
    for question in world.questions:
        known, rounds = walk(ranking, question)
        needed = {world.facts[fact].statement for fact in question.needed}
        assert needed <= known, question.id
        if question.kind == "complex":
            assert rounds >= len(question.hops)


def test_what_a_walker_still_wants_in_the_end_is_what_nobody_knows(
    world: World, ranking: Ranking
) -> None:
    for question in world.questions:
        known, _ = walk(ranking, question)
        left = needs([question.text], known).wants
        assert bool(left) == (question.kind == "unanswerable")


def test_a_chain_is_named_by_earlier_pages_only(world: World, ranking: Ranking) -> None:
    for question in world.of_kind("complex"):
        first = [q for a in question.aspects for q in (f"{_subject(question.text)} {a}",)]
        seen = [page for text in (question.text, *first) for _, page in ranking.best(text, 8)]
        assert not any(name in question.text for name in question.chain)
        for page in seen:
            text = f"{page.title} {page.text}"
            assert not any(name in text for name in question.chain[1:])
            assert not set(page.facts) & {fact for hop in question.hops[1:] for fact in hop}


def test_each_hop_is_named_by_the_hop_before(world: World) -> None:
    for question in world.of_kind("complex"):
        for name, hop in zip(question.chain, question.hops, strict=False):
            assert any(world.facts[fact].statement.other == name for fact in hop)


def _subject(text: str) -> str:
    match = re.search(r"of the ([A-Z][a-z]+ [A-Z][a-z]+)", text)
    assert match
    return match.group(1)


# --- the grammar ----------------------------------------------------------------------------

EXAMPLES = (
    Statement("value", "Vemor Mill", "pasul depth", value="1234567 ells"),
    Statement("value", "Vemor Mill", "pasul emblem", value="Drikan"),
    Statement("authority", "Vemor Mill", "pasul depth", other="Quelsan", entry="7654321"),
    Statement("link", "Vemor Mill", "patron", other="Tasdor Guild", entry="2345678"),
    Statement("end", "Tasdor Guild", "patron", entry="3456789"),
)


@pytest.mark.parametrize("statement", EXAMPLES, ids=lambda s: s.kind)
def test_every_form_is_read_back(statement: Statement) -> None:
    for form in (*FORMS[statement.kind], CLAIMS[statement.kind]):
        said = statement.worded(form)
        assert parse(said) == statement
        for opening in OPENINGS:
            assert parse(opening.format(word="velmi") + said[0].lower() + said[1:]) in (
                statement,
                None if said.startswith(statement.subject) else statement,
            )


def test_filler_and_instructions_state_nothing() -> None:
    words = {"subject": "Vemor Mill", "attribute": "pasul depth", "word": "velmi"}
    order = {"code": "1234567", "unit": "ells", "address": "http://127.0.0.99/1"}
    for form in (*filler.PLAIN, *filler.ON_TOPIC, filler.INJECTED):
        assert parse(form.format(**words, **order)) is None


# --- what the web holds ---------------------------------------------------------------------


def stating(world: World, fact: str, kind: str) -> list[str]:
    return [page.path for page in world.stating(fact) if page.kind == kind]


@pytest.mark.parametrize(
    "supply, articles, copies", [("lone pages", 1, 0), ("copied", 1, 1), ("one site", 2, 0)]
)
def test_a_scarce_web_states_a_fact_on_so_many_pages(
    supply: str, articles: int, copies: int
) -> None:
    world = build_world(3, 2, supply)
    assert world.supply == supply
    for fact in (fact for question in world.questions for fact in question.needed):
        assert len(stating(world, fact, "article")) >= articles
        assert len(stating(world, fact, "mirror")) >= copies
        if supply != "one site":
            assert len(stating(world, fact, "article")) == articles


def test_one_site_has_every_page() -> None:
    assert {page.site for page in build_world(3, 2, "one site").pages} == {1}


def test_of_several_things_asked_for_one_is_nowhere() -> None:
    world = build_world(3, 2, "one thing missing")
    for question in world.questions:
        lost = [fact for fact in question.needed if not world.stating(fact)]
        several = question.kind in {"medium", "complex"}
        assert bool(lost) == several
        assert all(question.aspects[-1 - bool(question.chain)] in world.facts[f].statement.attribute
                   for f in lost)  # fmt: skip


def test_on_an_unreadable_web_every_page_answers_with_an_error() -> None:
    assert {page.trouble for page in build_world(3, 2, "unreadable").pages} == {"error"}
