"""Words that only private documents hold are sent to no search of the web."""

from research.engine.ports import SearchAnswer, SearchHit, SearchRequest
from research.search.fallback import FallbackSearch, NamedSearch

ASKED = SearchRequest("Zephyrine harbour plan", private_words=("Zephyrine",))


class Recording:
    """A search that finds little, so that the next one is asked as well."""

    def __init__(self) -> None:
        self.queries: list[str] = []

    async def search(self, request: SearchRequest) -> SearchAnswer:
        self.queries.append(request.query)
        hit = SearchHit("https://a.example/", "Harbour plan", "Harbour plan", "recording", 1)
        return SearchAnswer((hit,))


async def test_the_web_is_asked_without_private_words_and_says_so() -> None:
    documents, web = Recording(), Recording()
    search = FallbackSearch(
        [NamedSearch("your documents", documents, is_private=True), NamedSearch("the web", web)]
    )
    answer = await search.search(ASKED)
    assert documents.queries == ["Zephyrine harbour plan"]
    assert web.queries == ["harbour plan"]
    assert any("Zephyrine" in note for note in answer.notes)


async def test_a_query_of_private_words_alone_is_not_sent() -> None:
    web, documents = Recording(), Recording()
    search = FallbackSearch(
        [NamedSearch("the web", web), NamedSearch("your documents", documents, is_private=True)]
    )
    await search.search(SearchRequest("Zephyrine", private_words=("Zephyrine",)))
    assert not web.queries
