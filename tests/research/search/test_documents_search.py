import hashlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from research.engine.ports import FetchFailedError, SearchFailedError, SearchRequest
from research.fulltext.index import DocumentIndex
from research.search.documents import DocumentFetch, DocumentSearch
from tests.support.retrieval.folders import InProcess, write


@pytest.fixture
async def index(tmp_path: Path) -> AsyncIterator[DocumentIndex]:
    index = DocumentIndex(tmp_path / "documents.sqlite3")
    notes = {
        "my cats.html": "<html lang=en><head><title>Cats</title>"
        '<meta property="article:published_time" content="2024-02-03"></head><body><article>'
        "<h1>Cats</h1><p>Cats sleep for most of the day, and hunt when the sun goes down and"
        " the mice come out.</p></article></body></html>",
        "a#b/50%.txt": "Fifty percent of cats are asleep.",
    }
    await index.refresh(write(tmp_path / "notes", notes), InProcess())
    await index.refresh(write(tmp_path / "private", {"x.txt": "Private cats."}), InProcess())
    yield index
    index.close()


async def test_hits_are_on_each_thing_of_a_request_in_turn(index: DocumentIndex, tmp_path: Path):
    told = {f"{n}.txt": f"A terrier barks at the gate, says note {n}." for n in range(9)}
    told |= {"cat.txt": "The cat never comes to the gate but sleeps.", "z.txt": "A gate is old."}
    await index.refresh(write(tmp_path / "animals", told), InProcess())
    search = DocumentSearch(index, ["animals"])
    alone = await search.search(SearchRequest("bark gate", 4))
    assert all("terrier" in hit.snippet for hit in alone.hits)
    both = await search.search(SearchRequest("bark gate", 4, each=("cat", "terrier")))
    assert [hit.rank for hit in both.hits] == [1, 2, 3, 4]
    assert both.hits[1].url == "file:///animals/cat.txt"


async def test_hits_come_ranked_from_the_given_collections_only(index: DocumentIndex):
    answer = await DocumentSearch(index, ["notes"]).search(SearchRequest("cats hunt"))
    assert [(hit.url, hit.rank) for hit in answer.hits] == [
        ("file:///notes/my%20cats.html", 1),
        ("file:///notes/a%23b/50%25.txt", 2),
    ]
    first = answer.hits[0]
    assert (first.title, first.provider, first.published) == ("Cats", "documents", "2024-02-03")
    assert "hunt when the sun goes down" in first.snippet


async def test_every_hit_can_be_fetched(index: DocumentIndex):
    search = DocumentSearch(index, ["notes"])
    fetch = DocumentFetch(index, ["notes"])
    for hit in (await search.search(SearchRequest("cats"))).hits:
        assert (await fetch.fetch(hit.url)).final_url == hit.url


async def test_a_page_is_the_text_as_indexed(index: DocumentIndex, tmp_path: Path):
    url = "file:///notes/my%20cats.html"
    (tmp_path / "notes" / "my cats.html").unlink()
    page = await DocumentFetch(index, ["notes"]).fetch(url)
    assert (page.url, page.domain, page.independence_key) == (url, "notes", url)
    assert (page.title, page.kind, page.published) == ("Cats", "document", "2024-02-03")
    assert "hunt when the sun goes down" in page.text
    assert page.sha256 == hashlib.sha256(page.text.encode()).hexdigest()
    assert page.content_type == "text/html"
    assert datetime.now(UTC) - page.fetched_at < timedelta(minutes=1)


async def test_other_spellings_of_an_address_lead_to_the_page(index: DocumentIndex):
    fetch = DocumentFetch(index, ["notes"])
    for url in ("file:///notes/my cats.html", "file:///notes/my%20cats.html#hunting"):
        assert (await fetch.fetch(url)).final_url == "file:///notes/my%20cats.html"


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "file:///private/x.txt",
        "file:///notes/../private/x.txt",
        "file:///notes/missing.html",
        "https://notes/my%20cats.html",
        "file:///notes/\udcff.txt",
        "nonsense",
        "",
    ],
)
async def test_every_other_address_is_refused(index: DocumentIndex, url: str):
    with pytest.raises(FetchFailedError) as failure:
        await DocumentFetch(index, ["notes"]).fetch(url)
    assert (failure.value.status, failure.value.permanent) == ("refused", True)
    assert "/" not in failure.value.reason


async def test_an_unusable_index_is_a_failed_search(tmp_path: Path):
    path = tmp_path / "junk.sqlite3"
    path.write_bytes(b"no database" * 100)
    index = DocumentIndex(path)
    with pytest.raises(SearchFailedError, match="cannot be opened"):
        await DocumentSearch(index, ["notes"]).search(SearchRequest("cats"))
    with pytest.raises(FetchFailedError, match="cannot be opened"):
        await DocumentFetch(index, ["notes"]).fetch("file:///notes/x.txt")
    index.close()
