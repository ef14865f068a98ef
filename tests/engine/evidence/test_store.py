from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.evidence.store import SAME_CLAIM, EvidenceStore, Finding, confidence_of
from research.engine.ports import Page
from research.engine.records import AspectState, Uncertainty
from research.engine.text.similarity import jaccard
from research.engine.text.tokens import term_set
from tests.engine.scripted import ledger, page, quoted

CLAIM = "The Harrow Point lighthouse was lit in 1887."


def said(
    claim: str, url: str = "https://a.example/1", *flags: Uncertainty, key: str = ""
) -> Finding:
    source = page(url, f"At {url}: {claim}", key=key)
    return Finding(claim, "A1", quoted(source, claim), 0.9, flags)


@pytest.mark.requirement("C11", "D5")
def test_a_first_claim_is_one_record_with_its_quote() -> None:
    book = EvidenceStore()
    record, new = book.add(said(CLAIM), 1)
    assert new
    assert (record.id, record.claim, record.round) == ("E1", CLAIM, 1)
    assert [source.quote for source in record.sources] == [CLAIM]
    assert record.uncertainty == ("single_source",)
    assert record.confidence == 0.5
    assert record.fields.numbers == ("1887",)


@pytest.mark.requirement("D5")
def test_the_same_claim_of_another_site_corroborates_it() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    record, new = book.add(
        said("In 1887 the Harrow Point lighthouse was lit.", "https://b.example/"), 2
    )
    assert not new
    assert (record.id, record.round, len(record.sources)) == ("E1", 1, 2)
    assert record.confidence == 0.75
    assert record.uncertainty == ()
    assert list(book.records) == ["E1"]


@pytest.mark.requirement("B8")
def test_the_same_passage_twice_is_one_quote() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    record, _ = book.add(said(CLAIM), 2)
    assert len(record.sources) == 1


def test_pages_of_one_site_count_once() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM, "https://a.example/1", key="a.example"), 1)
    record, _ = book.add(said(CLAIM, "https://www.a.example/2", key="a.example"), 1)
    assert len(record.sources) == 2
    assert record.keys == {"a.example"}
    assert (record.confidence, record.uncertainty) == (0.5, ("single_source",))


def test_a_mirror_with_the_same_text_counts_once() -> None:
    text = f"Copied far and wide. {CLAIM}"
    pages: list[Page] = [page(f"https://{host}.example/", text) for host in "abc"]
    book = EvidenceStore()
    for each in pages:
        record, _ = book.add(Finding(CLAIM, "A1", quoted(each, CLAIM), 0.9), 1)
    assert len(record.sources) == 3
    assert len(record.keys) == 1
    assert record.uncertainty == ("single_source",)


@pytest.mark.requirement("D6")
def test_no_more_than_the_allowed_sources_are_kept() -> None:
    book = EvidenceStore(max_sources=2)
    for host in "abcd":
        record, _ = book.add(said(CLAIM, f"https://{host}.example/"), 1)
    assert [source.domain for source in record.sources] == ["a.example", "b.example"]


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "other",
    [
        "The Harrow Point lighthouse was lit in 1889.",
        "The Harrow Point lighthouse was not lit in 1887.",
    ],
)
def test_another_number_or_a_negation_is_a_contradiction(other: str) -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    record, new = book.add(said(other, "https://b.example/"), 1)
    assert new
    assert record.contradicts == ("E1",)
    assert book.records["E1"].contradicts == ("E2",)


def test_rising_against_falling_is_a_contradiction_and_no_corroboration() -> None:
    book = EvidenceStore()
    fees = "Harbour fees for fishing boats {} sharply when the new pier of the town opened."
    book.add(said(fees.format("rose")), 1)
    record, new = book.add(said(fees.format("fell"), "https://b.example/"), 1)
    assert new and record.contradicts == ("E1",)


def test_another_name_in_the_same_place_is_no_corroboration() -> None:
    book = EvidenceStore()
    claim = "The northern lighthouse of grey granite was designed by {} for the harbour board."
    book.add(said(claim.format("Edda Marlow")), 1)
    record, new = book.add(said(claim.format("Ruth Ansel"), "https://b.example/"), 1)
    assert new and record.contradicts == ()
    record, new = book.add(said(claim.format("Marlow"), "https://c.example/"), 1)
    assert (record.id, new) == ("E1", False)


def test_one_source_does_not_contradict_itself() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    record, new = book.add(said("The Harrow Point lighthouse was lit in 1889."), 1)
    assert new and record.contradicts == ()


def test_a_claim_that_adds_a_number_is_new_and_no_contradiction() -> None:
    book = EvidenceStore()
    book.add(said("The Harrow Point lighthouse was lit."), 1)
    record, new = book.add(said(CLAIM, "https://b.example/"), 1)
    assert new and record.contradicts == ()


def test_other_claims_stay_apart() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    _, new = book.add(said("Harrow Point lighthouse keepers ate herring in 1887."), 1)
    assert new


@pytest.mark.parametrize("number", range(12))
def test_of_several_twins_the_oldest_is_corroborated(number: int) -> None:
    """In whatever order a set of words is walked: twelve sets are not walked alike by luck."""
    common = " ".join(f"{word}{number}q" for word in ("iota", "kappa", "lambda", "sigma", "rho"))
    book = EvidenceStore()
    for host, words in (("a", "alpha beta gamma"), ("b", "epsilon zeta eta")):
        book.add(said(f"{words} {common}", f"https://{host}.example/"), 1)
    assert list(book.records) == ["E1", "E2"]
    both = f"alpha beta epsilon zeta {common}"
    record, new = book.add(said(both, "https://c.example/"), 1)
    assert (record.id, new) == ("E1", False)


def test_the_best_relevance_of_a_claim_counts() -> None:
    book = EvidenceStore()
    book.add(replace(said(CLAIM), relevance=0.4), 1)
    record, _ = book.add(replace(said(CLAIM, "https://b.example/"), relevance=0.8), 1)
    assert record.relevance == 0.8


# --- rule D5: what sets claims apart ---------------------------------------------------------


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other",
    [
        ("The old lamp may fail in storms.", "The old lamp fails in storms."),
        ("The north pier of Leith is 30 m long.", "The south pier of Leith is 30 m long."),
        ("Acme of Leith acquired Borel of Calder.", "Borel of Calder acquired Acme of Leith."),
        ("The Leith pier is 30 m long.", "The Leith pier is 30 ft long."),
    ],
)
def test_claims_that_differ_in_certainty_or_sense_do_not_corroborate(one: str, other: str) -> None:
    book = EvidenceStore()
    book.add(said(one), 1)
    record, new = book.add(said(other, "https://b.example/"), 1)
    assert new and record.contradicts == ()


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other",
    [
        ("In 2019 the vote for the pier was 24 %.", "In 2019 the vote for the pier was 37 %."),
        ("The Leith pier of 1887 is 30 m long.", "The Leith pier of 1887 is 40 m long."),
        ("Leith opened its pier on 1 May 1887.", "Leith opened its pier in June 1889."),
    ],
)
def test_figures_of_the_same_measure_contradict_each_other(one: str, other: str) -> None:
    book = EvidenceStore()
    book.add(said(one), 1)
    record, _ = book.add(said(other, "https://b.example/"), 1)
    assert record.contradicts == ("E1",)


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other",
    [
        ("In 2019 the vote for the pier was 24 %.", "In 2020 the vote for the pier was 37 %."),
        ("The Leith pier is 30 m long in all.", "The Leith pier is 3 years old in all."),
    ],
)
def test_figures_of_other_years_or_measures_do_not(one: str, other: str) -> None:
    book = EvidenceStore()
    book.add(said(one), 1)
    record, new = book.add(said(other, "https://b.example/"), 1)
    assert new and record.contradicts == ()


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "one, other, contradicts",
    [
        ("The bell tower of Calder is 31 m high and of granite.",
         "The gate tower of Calder is 24 m high and of granite.", False),
        ("The bell tower of Calder is 31 m high and of granite.",
         "The bell tower of Calder is 24 m high and of granite.", True),
        ("The tower of Calder is 31 m high and of granite.",
         "The gate tower of Calder is 24 m high and of granite.", True),
        ("The lamp of Calder was first lit in 1887.", "The lamp of Calder was finally lit in 1889.",
         True),
        ("The Acme company of Leith employs 25 people.",
         "The Acme company of Leith employs twenty-five people.", False),
    ],
)  # fmt: skip
def test_what_each_sets_apart_by_a_word_of_its_own_is_not_disputed(
    one: str, other: str, contradicts: bool
) -> None:
    book = EvidenceStore()
    book.add(said(one), 1)
    record, _ = book.add(said(other, "https://b.example/"), 1)
    assert bool(record.contradicts) is contradicts


@pytest.mark.requirement("D5")
def test_two_things_of_one_kind_fill_no_slot_differently() -> None:
    book = EvidenceStore(asked={"A1": term_set("How high are the towers of the Calder castle?")})
    book.add(said("Old rolls tell that the bell tower of the Calder castle is 31 m high."), 1)
    other = "At Calder, the gate tower by which the castle is entered is only 24 m high."
    record, _ = book.add(said(other, "https://b.example/"), 1)
    assert record.contradicts == ()


@pytest.mark.requirement("D5")
def test_claims_worded_otherwise_contradict_each_other_in_one_slot() -> None:
    book = EvidenceStore(
        asked={"A1": term_set("What is the height of the Harrow Point lighthouse?")}
    )
    book.add(said("Clerks put the height of the Harrow Point lighthouse at 42 m."), 1)
    other = "The Harrow Point lighthouse, its old roll says, rises to a proud 47 m in height."
    record, _ = book.add(said(other, "https://b.example/"), 1)
    assert record.contradicts == ("E1",)
    assert book.records["E1"].contradicts == ("E2",)
    same_site = "Harrow Point lighthouse: height, we are told by many, 51 m."
    record, _ = book.add(said(same_site, "https://a.example/1"), 1)
    assert record.contradicts == ("E2",)
    no_height = "A lamp of 12 m stands in the yard of it."
    record, _ = book.add(said(no_height, "https://c.example/"), 1)
    assert record.contradicts == ()


@pytest.mark.requirement("D5")
def test_two_amounts_of_one_thing_need_not_measure_the_same() -> None:
    book = EvidenceStore(asked={"A1": term_set("When was the Kestrel Valley Tramway opened?")})
    book.add(said("A day ticket for the Kestrel Valley Tramway costs 8.50 euros."), 1)
    other = "Bicycles travel free on the ferry but cost 2 euros on the Kestrel Valley Tramway."
    record, _ = book.add(said(other, "https://b.example/"), 1)
    assert record.contradicts == ()


@pytest.mark.requirement("D5")
def test_a_claim_of_little_but_a_name_and_an_amount_fills_the_slot() -> None:
    book = EvidenceStore(asked={"A1": term_set("How tall is the Harrow Point lighthouse?")})
    book.add(said("The Harrow Point lighthouse rises to 42 m."), 1)
    record, _ = book.add(
        said("Its keeper gives Harrow Point lighthouse 47 m.", "https://b.example/"), 1
    )
    assert record.contradicts == ("E1",)


@pytest.mark.requirement("D5")
def test_a_near_copy_on_another_site_does_not_corroborate() -> None:
    story = " ".join(f"The {n}th lamp of pier {n * 7} was lit by keeper {n * 3}." for n in range(9))
    first, copy = page("https://a.example/", f"{CLAIM} {story}"), f"{CLAIM} {story} Copied."
    made, _ = ledger("When was the Harrow Point lighthouse lit?")
    for each in (first, page("https://b.example/", copy)):
        made.put_page(each)
        record, _ = made.book.add(Finding(CLAIM, "A1", quoted(each, CLAIM), 0.9), 1)
    assert (len(record.sources), len(record.keys)) == (2, 1)
    assert made.keys_of("A1") == {"a.example"}


@pytest.mark.requirement("D5")
def test_a_record_answers_every_sub_question_that_it_was_found_for() -> None:
    made, _ = ledger("When was it lit?", "What happened in 1887?")
    for aspect_id, host in (("A1", "a"), ("A2", "b"), ("A2", "c")):
        source = page(f"https://{host}.example/", CLAIM + " " * len(host + aspect_id))
        made.book.add(Finding(CLAIM, aspect_id, quoted(source, CLAIM), 0.9), 1)
    [record] = made.evidence
    assert (record.aspect_id, record.answers) == ("A1", ("A1", "A2"))
    made.refresh_aspects()
    assert [a.evidence_ids for a in made.aspects.values()] == [("E1",), ("E1",)]
    assert made.answered() == 2


# --- confidence -----------------------------------------------------------------------------


@pytest.mark.requirement("D5")
@pytest.mark.parametrize(
    "keys, flags, value",
    [
        (1, (), 0.5),
        (2, (), 0.75),
        (3, (), 0.875),
        (1, ("single_source",), 0.5),
        (1, ("single_source", "hedged"), 0.4),
        (2, ("hedged", "dated"), 0.6),
    ],
)
def test_confidence_follows_its_formula(
    keys: int, flags: tuple[Uncertainty, ...], value: float
) -> None:
    assert confidence_of(keys, flags) == value


@given(st.integers(1, 12))
def test_confidence_rises_with_every_independent_source(keys: int) -> None:
    assert 0.5 <= confidence_of(keys, ()) < confidence_of(keys + 1, ()) < 1


def test_a_flag_of_the_finding_stays_when_it_is_corroborated() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM, "https://a.example/1", "hedged"), 1)
    record, _ = book.add(said(CLAIM, "https://b.example/"), 1)
    assert record.uncertainty == ("hedged",)
    assert record.confidence == 0.6


WORDS = st.sampled_from(
    ["harbour", "mole", "quay", "crane", "rope", "tide", "lamp", "bell", "gate", "sluice"]
)
CLAIMS = st.lists(st.lists(WORDS, min_size=1, max_size=9, unique=True), max_size=12)


@given(CLAIMS)
def test_a_claim_joins_the_most_alike_of_all_records(claims: list[list[str]]) -> None:
    book = EvidenceStore(max_sources=100)
    for number, words in enumerate(claims):
        claim = " ".join(words)
        bags = {i: term_set(record.claim) for i, record in book.records.items()}
        alike = [i for i, bag in bags.items() if jaccard(bag, term_set(claim)) >= SAME_CLAIM]
        expected = max(alike, key=lambda i: len(bags[i] & term_set(claim)), default=None)
        record, new = book.add(said(claim, f"https://s{number}.example/"), 1)
        assert new == (expected is None)
        assert new or record.id == expected


@pytest.mark.requirement("C11", "D5")
def test_what_is_only_quoted_confirms_and_contradicts_nothing() -> None:
    book = EvidenceStore()
    book.add(said(CLAIM), 1)
    told, new = book.add(said(CLAIM, "https://b.example/", "dictated"), 1)
    book.add(said(CLAIM, "https://b.example/", "dictated"), 2)
    later, _ = book.add(
        said("The Harrow Point lighthouse was lit in 1901.", "https://c.example/"), 2
    )
    assert new
    assert told.is_dictated
    assert [record.keys for record in book.records.values()] == [
        {"a.example"}, {"b.example"}, {"c.example"},
    ]  # fmt: skip
    assert later.contradicts == ("E1",)


@pytest.mark.requirement("C11", "F1")
def test_quotations_alone_are_one_source_and_no_query() -> None:
    made, _ = ledger("When was the Harrow Point lighthouse lit?")
    made.book.add(said(CLAIM, "https://b.example/", "dictated"), 1)
    made.book.add(said(f"All say: {CLAIM}", "https://c.example/", "dictated"), 1)
    made.refresh_aspects()
    assert made.aspects["A1"].state is AspectState.ONE_SOURCE
    assert made.keys_of("A1") == {"b.example"}
    assert made.claims_on("A1", 3) == []
    assert made.statable == []
    made.book.add(said(CLAIM), 2)
    made.refresh_aspects()
    assert made.supporting("A1")[0].claim == CLAIM
    assert made.keys_of("A1") == {"a.example"}
    assert made.claims_on("A1", 3) == [CLAIM]


def test_claims_on_settings_with_other_names_are_no_twins() -> None:
    one = "Autovacuum ignores a table's autovacuum_freeze_max_age above the system's."
    other = "Autovacuum ignores a table's autovacuum_freeze_min_age above the system's."
    both = "Autovacuum ignores autovacuum_freeze_min_age above autovacuum_freeze_max_age."
    book = EvidenceStore()
    for n, claim in enumerate((one, other, both)):
        book.add(said(claim, f"https://{n}.example/"), 1)
    assert [record.claim for record in book.records.values()] == [one, other, both]
