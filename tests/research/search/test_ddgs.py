"""ddgs against a server on loopback: the real library, with an engine of ours in its registry."""

import html
from collections.abc import AsyncIterator

import pytest
from ddgs.engines import ENGINES
from ddgs.engines.mojeek import Mojeek

from research.engine.ports import SearchFailedError, SearchRequest
from research.search.providers.ddgs import LABEL, DdgsSearch, region_for

REQUEST = SearchRequest("vacuum", only_sites=("docs.example",))


@pytest.fixture
def search(api) -> AsyncIterator[DdgsSearch]:
    class Loopback(Mojeek):
        name = "loopback"
        provider = "loopback"
        search_url = f"{api.url}/search"

    ENGINES["text"]["loopback"] = Loopback
    yield DdgsSearch("loopback", per_second=0)
    del ENGINES["text"]["loopback"]


def page(*results: tuple[str, str, str]) -> str:
    items = "".join(
        f'<li><h2><a href="{url}">{html.escape(title)}</a></h2><p class="s">{text}</p></li>'
        for url, title, text in results
    )
    return f'<html><body><ul class="results-standard">{items}</ul></body></html>'


async def test_reads_what_the_engines_show(api, search):
    api.answers(200, page(("https://docs.example/v", "Vacuum", "How to vacuum."), ("", "No", "x")))
    [hit] = (await search.search(REQUEST)).hits
    assert (hit.url, hit.title, hit.snippet) == (
        "https://docs.example/v",
        "Vacuum",
        "How to vacuum.",
    )
    assert (hit.provider, hit.rank, hit.published) == ("ddgs", 1, None)
    assert api.asked[0].parameters["q"] == "vacuum site:docs.example"


async def test_what_leads_to_no_page_is_counted(api, search):
    api.answers(
        200, page(("https://docs.example/v", "A &amp; b", "x"), ("mailto:a@b.c", "No", "x"))
    )
    answer = await search.search(REQUEST)
    assert [hit.url for hit in answer.hits] == ["https://docs.example/v"]
    assert answer.notes == (f"{LABEL}: 1 of its 2 results could not be read and was left out.",)


async def test_nothing_but_such_is_a_failure(api, search):
    api.answers(200, page(("mailto:a@b.c", "No", "x")))
    with pytest.raises(SearchFailedError, match="result pages could not be read"):
        await search.search(REQUEST)


async def test_nothing_found_is_an_answer(api, search):
    api.answers(200, page())
    assert (await search.search(REQUEST)).hits == ()


async def test_an_engine_that_breaks_off_is_a_failure(api, search):
    api.script.append((200, {"Content-Encoding": "gzip"}, b"not gzip"))
    with pytest.raises(SearchFailedError) as failure:
        await search.search(REQUEST)
    assert failure.value.reason == "The search engines could not be reached or refused."


@pytest.mark.parametrize(
    ("language", "known"),
    [("en", "us-en"), ("de-AT", "de-de"), ("ja", "jp-jp"), ("sv", "se-sv"), ("eo", "us-en")],
)
def test_a_language_has_a_region(language, known):
    assert region_for(language) == known
