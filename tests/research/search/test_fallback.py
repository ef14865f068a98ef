from dataclasses import replace

import pytest

from research.engine.ports import SearchAnswer, SearchFailedError, SearchHit, SearchRequest
from research.search.fallback import FallbackSearch, NamedSearch, NoSearch, find_shortcoming

REQUEST = SearchRequest("tides of the northern harbour", limit=8)


def hit(url: str, rank: int = 1, title: str = "Tides of the northern harbour", **more) -> SearchHit:
    return SearchHit(url, title, "Some words.", "scripted", rank, **more)


def pages(*hosts: str, **more) -> list[SearchHit]:
    return [hit(f"https://{host}/", rank, **more) for rank, host in enumerate(hosts, 1)]


GOOD = pages("a.example", "b.example", "c.example")


class Scripted:
    """Gives its answer, or raises it."""

    def __init__(self, answer: SearchAnswer | SearchFailedError) -> None:
        self.answer = answer
        self.asked: list[SearchRequest] = []

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.asked.append(request)
        if isinstance(self.answer, SearchFailedError):
            raise self.answer
        return self.answer


def found(*hits: SearchHit, notes: tuple[str, ...] = ()) -> Scripted:
    return Scripted(SearchAnswer(hits, notes))


def failing(reason: str, *, permanent: bool = False) -> Scripted:
    return Scripted(SearchFailedError(reason, permanent=permanent))


def fallback(**searches: Scripted) -> FallbackSearch:
    return FallbackSearch([NamedSearch(name, search) for name, search in searches.items()])


def urls(answer: SearchAnswer) -> list[str]:
    return [each.url for each in answer.hits]


async def test_nobody_else_is_asked_after_a_good_answer():
    second = found()
    answer = await fallback(First=found(*GOOD), Second=second).search(REQUEST)
    assert (len(answer.hits), answer.notes, second.asked) == (3, (), [])


@pytest.mark.requirement("C16")
async def test_a_note_says_who_refused_and_who_answered_instead():
    answer = await fallback(First=failing("It limits us."), Second=found(*GOOD)).search(REQUEST)
    assert len(answer.hits) == 3
    assert answer.notes == ("First: It limits us. Answered instead: Second.",)


@pytest.mark.requirement("C7")
@pytest.mark.parametrize(
    ("poor", "said"),
    [
        ([], "nothing"),
        (GOOD[:2], "little"),
        (pages("d.example", "e.example", "f.example", title="Cheese"), "nothing relevant"),
        ([hit(f"https://www.d.example/{n}", n) for n in range(1, 5)], "pages of one site only"),
    ],
)
async def test_poor_and_one_sided_results_are_fused_with_the_next_searchs(poor, said):
    second = found(*GOOD)
    answer = await fallback(First=found(*poor), Second=second).search(REQUEST)
    assert {each.url for each in poor} | {each.url for each in GOOD} == set(urls(answer))
    assert len(second.asked) == 1
    assert answer.notes[0].startswith(f"First found {said}")


async def test_what_was_found_is_kept_where_the_next_one_fails():
    answer = await fallback(First=found(GOOD[0]), Second=failing("Down.")).search(REQUEST)
    assert urls(answer) == ["https://a.example/"]
    assert "Second: Down. Answered instead: First." in answer.notes


async def test_one_search_alone_is_not_said_to_fall_short():
    answer = await fallback(Only=found(GOOD[0])).search(REQUEST)
    assert (len(answer.hits), answer.notes) == (1, ())


async def test_no_hits_is_an_answer_where_one_search_works():
    answer = await fallback(First=failing("Down."), Second=found()).search(REQUEST)
    assert answer.hits == ()
    assert answer.notes == ("First: Down. Answered instead: Second.", "Second found nothing.")


@pytest.mark.parametrize("permanent", [True, False])
async def test_a_failure_of_all_names_each_and_the_ways_out(permanent: bool):
    search = fallback(
        First=failing("Down.", permanent=True), Second=failing("Slow.", permanent=permanent)
    )
    with pytest.raises(SearchFailedError) as failure:
        await search.search(REQUEST)
    reason = failure.value.reason
    assert reason.startswith(
        "No search provider answered: First: Down; Second: Slow. Try again later, "
    )
    assert "SEARCH_PROVIDER" in reason and "DOCUMENTS" in reason
    assert failure.value.permanent is permanent


async def test_hits_are_prepared_and_cut_to_the_limit():
    hits = [hit(f"https://{name}.example/#x", rank) for rank, name in enumerate("abcde", 1)]
    answer = await fallback(Only=found(*hits)).search(replace(REQUEST, limit=2))
    assert urls(answer) == ["https://a.example/", "https://b.example/"]


@pytest.mark.requirement("C21")
async def test_only_searches_of_the_kind_are_asked():
    web, papers = found(*GOOD), found(*GOOD)
    search = FallbackSearch(
        [
            NamedSearch("Web", web, frozenset({"web"})),
            NamedSearch("Papers", papers, frozenset({"academic"})),
        ]
    )
    await search.search(replace(REQUEST, kind="academic"))
    assert (len(web.asked), len(papers.asked)) == (0, 1)
    with pytest.raises(SearchFailedError, match=r"\(Web, Papers\) looks for video pages"):
        await search.search(replace(REQUEST, kind="video"))


async def test_the_bounds_hold_whatever_a_search_gives():
    hits = [
        *pages("a.example", "sub.b.example", "b.example", "not-b.example"),
        hit("https://old.b.example/", published="2019-12-31"),
        hit("https://new.b.example/", published="2026-01-01"),
        hit("https://in.b.example/", published="2020-01-01"),
        hit("https://bad.b.example/"),
        hit("file:///notes/a.md"),
    ]
    bounded = replace(
        REQUEST,
        only_sites=("b.example",),
        never_sites=("bad.b.example",),
        since="2020-01-01",
        until="2025-12-31",
    )
    answer = await fallback(Only=found(*hits)).search(bounded)
    assert set(urls(answer)) == {
        *("https://b.example/", "https://sub.b.example/", "https://in.b.example/"),
        "file:///notes/a.md",
    }


def test_one_site_that_was_asked_for_is_not_one_sided():
    hits = [hit(f"https://a.example/{n}", n) for n in range(1, 5)]
    assert find_shortcoming(hits, REQUEST) == "pages of one site only"
    assert find_shortcoming(hits, replace(REQUEST, only_sites=("a.example",))) is None


def test_documents_are_never_one_sided():
    hits = [hit(f"file:///notes/{n}.md", n) for n in range(1, 5)]
    assert find_shortcoming(hits, REQUEST) is None


@pytest.mark.requirement("D8")
async def test_no_search_says_so():
    answer = await NoSearch().search(REQUEST)
    assert answer.hits == ()
    assert "switched off" in answer.notes[0]
