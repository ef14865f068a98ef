from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from research.engine.ports import FetchFailedError, SearchFailedError, SearchRequest
from research.fulltext.index import DocumentIndex
from research.search.documents import SampleLibrary
from tests.support.retrieval.folders import InProcess, write


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[DocumentIndex]:
    index = DocumentIndex(tmp_path / "documents.sqlite3")
    yield index
    index.close()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    page = "<html><head><title>{0}</title></head><body><h1>{0}</h1><p>{1}</p></body></html>"
    return write(
        tmp_path / "library",
        {
            "eggs.example/recipes/scrambled.html": page.format(
                "Scrambled eggs", "Beat three eggs, and stir them over a low heat until they set."
            ),
            "quantum.example/coins.html": page.format(
                "Coins", "A quantum computer that is large enough breaks the signatures of coins."
            ),
        },
    )


async def test_samples_are_indexed_on_first_use_under_their_hosts(
    index: DocumentIndex, library: Path
):
    workers = InProcess()
    samples = SampleLibrary(index, workers, library)
    assert workers.read == []
    [hit] = (await samples.search(SearchRequest("how to scramble eggs"))).hits
    assert hit.url == "https://eggs.example/recipes/scrambled.html"
    assert hit.provider == "samples"
    page = await samples.fetch(hit.url)
    assert (page.domain, page.independence_key) == ("eggs.example", "eggs.example")
    assert page.kind != "document"
    await samples.search(SearchRequest("coins"))
    assert len(workers.read) == 2


async def test_a_sample_can_be_fetched_before_any_search(index: DocumentIndex, library: Path):
    page = await SampleLibrary(index, InProcess(), library).fetch(
        "https://quantum.example/coins.html"
    )
    assert page.title == "Coins"


async def test_other_addresses_are_refused(index: DocumentIndex, library: Path):
    samples = SampleLibrary(index, InProcess(), library)
    for url in ("https://eggs.example/", "file:///sample-library/eggs.example/x.html"):
        with pytest.raises(FetchFailedError) as failure:
            await samples.fetch(url)
        assert failure.value.status == "refused"


async def test_samples_and_documents_share_an_index_but_not_results(
    index: DocumentIndex, library: Path, tmp_path: Path
):
    notes = write(tmp_path / "notes", {"eggs.txt": "My own eggs are scrambled."})
    await index.refresh(notes, InProcess())
    samples = SampleLibrary(index, InProcess(), library)
    hits = (await samples.search(SearchRequest("scrambled eggs"))).hits
    assert [hit.url for hit in hits] == ["https://eggs.example/recipes/scrambled.html"]
    assert await index.collections() == ["notes", "sample-library"]


async def test_a_missing_library_is_told(index: DocumentIndex, tmp_path: Path):
    samples = SampleLibrary(index, InProcess(), tmp_path / "missing")
    with pytest.raises(SearchFailedError):
        await samples.search(SearchRequest("eggs"))
    with pytest.raises(FetchFailedError):
        await samples.fetch("https://eggs.example/x.html")
