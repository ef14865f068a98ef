from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.evidence.ledger import Lead
from research.engine.offline.passages.coverage import QuestionScale
from research.engine.ports import SearchHit
from research.engine.rounds.page_selection import Candidate, Followed, choose_pages, shown_as
from research.engine.text.tokens import term_set

AIM = "Harrow Point lighthouse"


def hit(url: str, rank: int = 1, title: str = AIM) -> Candidate:
    return Candidate(SearchHit(url, title, "", "scripted", rank), (AIM,))


def unit(*hosts: str) -> list[Candidate]:
    return [hit(f"https://{host}/", rank) for rank, host in enumerate(hosts, 1)]


def test_units_take_turns_so_that_none_is_starved() -> None:
    wanted = [unit("a1", "a2", "a3", "a4"), unit("b1", "b2")]
    assert choose_pages(wanted, 4, 9, set()) == [
        ["https://a1/", "https://a2/"],
        ["https://b1/", "https://b2/"],
    ]


def test_no_page_is_chosen_twice_or_again() -> None:
    wanted = [unit("a", "b"), unit("a", "b")]
    assert choose_pages(wanted, 9, 9, {"https://b/"}) == [["https://a/"], []]


def test_a_page_that_shows_nothing_wanted_is_chosen_only_at_the_head() -> None:
    wanted = [[hit("https://a/", 1, "Cheese"), hit("https://b/", 2, "Cheese")]]
    assert choose_pages(wanted, 9, 9, set()) == [["https://a/"]]


def test_another_host_goes_before_a_second_page_of_the_same() -> None:
    wanted = [[hit("https://a/1", 1), hit("https://a/2", 2), hit("https://b/1", 3)]]
    assert choose_pages(wanted, 2, 9, set()) == [["https://a/1", "https://b/1"]]


def mirrored(host: str, rank: int, snippet: str = "It stands on the cape.") -> Candidate:
    return Candidate(SearchHit(f"https://{host}/", AIM, snippet, "scripted", rank), (AIM,))


def test_a_mirror_of_a_chosen_page_is_left_for_last() -> None:
    wanted = [[mirrored("a", 1), mirrored("b", 2), mirrored("c", 3, "It is white.")]]
    assert choose_pages(wanted, 2, 9, set()) == [["https://a/", "https://c/"]]
    assert choose_pages(wanted, 9, 9, set()) == [["https://a/", "https://c/", "https://b/"]]


def test_a_mirror_of_another_unit_or_of_an_earlier_round_is_left_for_last_too() -> None:
    others = [mirrored("b", 1, "It  stands on the CAPE."), mirrored("c", 2, "It is white.")]
    assert choose_pages([[mirrored("a", 1)], others], 2, 9, set()) == [
        ["https://a/"],
        ["https://c/"],
    ]
    shown = {shown_as(mirrored("z", 1).hit)}
    assert choose_pages([others], 1, 9, set(), shown) == [["https://c/"]]


def test_hits_without_a_snippet_are_no_mirrors() -> None:
    wanted = [[mirrored("a", 1, ""), mirrored("b", 2, ""), mirrored("c", 3, "It is white.")]]
    assert choose_pages(wanted, 2, 9, set()) == [["https://a/", "https://b/"]]


def test_documents_of_a_folder_are_hosts_of_their_own() -> None:
    wanted = [[hit("file:///d/1", 1), hit("file:///d/2", 2), hit("file:///e/1", 3)]]
    assert choose_pages(wanted, 2, 9, set()) == [["file:///d/1", "file:///d/2"]]


def followed(title: str, snippet: str, *, rank: int = 1, held: str = "") -> float:
    lead = Lead("Edda Marlow", "", "", 1.0, term_set(held))
    scale = QuestionScale(dict.fromkeys(term_set("lighthouse designer trained"), 1.0))
    return Followed(SearchHit("https://a/", title, snippet, "scripted", rank), lead, scale).worth


def test_a_page_for_a_lead_is_worth_what_it_covers_together_with_the_lead() -> None:
    whole = followed("Edda Marlow", "She was trained.", held="lighthouse designer")
    assert whole == pytest.approx(1)
    assert followed("Edda Marlow (smith)", "She was trained.") == pytest.approx(1 / 3)
    assert followed("Edda Marlow", "", held="lighthouse designer") == pytest.approx(2 / 3)


def test_a_page_for_a_lead_is_worth_something_whatever_it_covers() -> None:
    assert 0 < followed("A school", "", held="") < followed("A school", "", held="designer")


def test_a_page_called_by_a_leads_name_goes_before_one_that_names_it_and_any_other() -> None:
    told = [
        followed("Edda Marlow", "trained"),
        followed("A school", "Edda Marlow was trained there."),
        followed("A school", "It trained all."),
    ]
    assert told == sorted(told, reverse=True) and len(set(told)) == 3
    assert followed("Edda Marlow", "trained", rank=5) < told[0]


HITS = st.lists(
    st.builds(hit, st.sampled_from([f"https://h{n}/{m}" for n in range(4) for m in range(3)]),
              st.integers(1, 8)),
    max_size=8,
)  # fmt: skip


@given(st.lists(HITS, max_size=4), st.integers(0, 9), st.integers(1, 4))
def test_limits_hold_for_all_hits(
    wanted: Sequence[Sequence[Candidate]], most: int, per_unit: int
) -> None:
    chosen = choose_pages(wanted, most, per_unit, set())
    urls = [url for unit in chosen for url in unit]
    assert len(urls) == len(set(urls)) <= most
    assert all(len(unit) <= per_unit for unit in chosen)
    offered = [{candidate.hit.url for candidate in unit} for unit in wanted]
    assert all(set(unit) <= hits for unit, hits in zip(chosen, offered, strict=True))
