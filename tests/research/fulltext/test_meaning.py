"""Documents ranked by an embedding model, too."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from research.engine.ports import SearchRequest
from research.fulltext import index as index_module
from research.fulltext.index import DocumentIndex
from research.fulltext.meaning import by_meaning
from research.fulltext.ranking import Ranked
from research.llm import embeddings
from research.llm.embeddings import EmbeddingModel, unit_vector
from research.llm.settings import EmbeddingSettings
from research.search import documents as documents_module
from research.search.documents import DocumentSearch
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.retrieval.folders import InProcess, write
from tests.support.retrieval.places import Place
from tests.support.serving import Reply, json_reply

__all__ = ["embedding_server"]
QUESTION = "How do I mend a boat that leaks?"
LEAKS = "A boat that leaks is a boat that sinks, and every boat leaks."
REPAIR = "Dry the wood where the boat leaks, glue the crack, and sand it when it is hard."
FOUND = 2


@pytest.fixture
async def index(place: Place, tmp_path: Path) -> AsyncIterator[DocumentIndex]:
    index = DocumentIndex(place())
    write(tmp_path / "notes", {"leaks.txt": LEAKS, "repair.txt": REPAIR, "bed.txt": "That bed."})
    await index.refresh(tmp_path / "notes", InProcess())
    yield index
    index.close()


@pytest.fixture
async def embedder(embedding_server: EmbeddingServer) -> AsyncIterator[EmbeddingModel]:
    model = EmbeddingModel(EmbeddingSettings("words", embedding_server.url("/v1"), "secret"))
    yield model
    await model.aclose()


async def names(index: DocumentIndex, embedder: EmbeddingModel | None = None) -> list[str]:
    hits = await index.search(QUESTION, ["notes"], 2, embedder)
    return [hit.url.rpartition("/")[2] for hit in hits]


async def test_a_document_in_other_words_comes_first(
    index: DocumentIndex, embedder: EmbeddingModel
) -> None:
    assert await names(index) == ["leaks.txt", "repair.txt"]
    assert await names(index, embedder) == ["repair.txt", "leaks.txt"]


async def test_a_passage_is_embedded_once(
    index: DocumentIndex, embedder: EmbeddingModel, embedding_server: EmbeddingServer
) -> None:
    await names(index, embedder)
    assert len(embedding_server.texts) == 1 + FOUND
    await names(index, embedder)
    assert embedding_server.asked[-1] == [QUESTION]
    assert len(embedding_server.texts) == 2 + FOUND


async def test_another_models_vectors_are_not_taken(
    index: DocumentIndex, embedder: EmbeddingModel, embedding_server: EmbeddingServer
) -> None:
    await names(index, embedder)
    other = EmbeddingModel(EmbeddingSettings("others", embedding_server.url("/v1")))
    await names(index, other)
    assert len(embedding_server.texts) == 2 * (1 + FOUND)
    await other.aclose()


async def test_a_changed_document_is_embedded_anew(
    index: DocumentIndex,
    embedder: EmbeddingModel,
    embedding_server: EmbeddingServer,
    tmp_path: Path,
) -> None:
    await names(index, embedder)
    write(tmp_path / "notes", {"leaks.txt": "That boat leaks."})
    await index.refresh(tmp_path / "notes", InProcess())
    await names(index, embedder)
    assert embedding_server.texts[-1].endswith("That boat leaks.")
    assert len(embedding_server.texts) == 2 + FOUND + 1


async def test_each_clause_is_compared_for_itself(
    index: DocumentIndex, embedder: EmbeddingModel, embedding_server: EmbeddingServer
) -> None:
    asked = "How do I repair a boat that leaks, and what does the bed in it look like?"
    await index.search(asked, ["notes"], 3, embedder)
    assert embedding_server.asked[0][0] == asked
    assert len(embedding_server.asked[0]) == 3


async def test_nothing_is_asked_of_the_server_where_nothing_is_found(
    index: DocumentIndex, embedder: EmbeddingModel, embedding_server: EmbeddingServer
) -> None:
    assert await index.search("zebra", ["notes"], 5, embedder) == []
    assert await index.search(QUESTION, [], 5, embedder) == []
    assert embedding_server.asked == []


@pytest.mark.parametrize(
    ("refusal", "told"),
    [
        (json_reply({"error": {"message": "who?"}}, 401), "refused the key"),
        (json_reply({"error": {"message": "what?"}}, 404), "knows no such model"),
        (json_reply({"error": {"message": "no"}}, 500), "refused (HTTP 500)"),
        (json_reply({"data": []}), "can't be read"),
        (json_reply({"data": [{"embedding": [0.0, 0.0], "index": 0}]}), "can't be read"),
        (json_reply(["nothing"]), "can't be read"),
        (Reply(b"<html>", content_type="text/html"), "can't be read"),
    ],
)
async def test_without_vectors_words_alone_rank_and_a_note_says_so(
    index: DocumentIndex,
    embedder: EmbeddingModel,
    embedding_server: EmbeddingServer,
    refusal: Reply,
    told: str,
) -> None:
    embedding_server.refusal = refusal
    search = DocumentSearch(index, ["notes"], embedder=embedder)
    answer = await search.search(SearchRequest(QUESTION, limit=2))
    assert [hit.url.rpartition("/")[2] for hit in answer.hits] == ["leaks.txt", "repair.txt"]
    [note] = answer.notes
    assert note.startswith("Documents were ranked by their words alone: ") and told in note
    assert "secret" not in note


async def test_a_server_that_is_gone_is_a_note_as_well(index: DocumentIndex) -> None:
    with EmbeddingServer() as server:
        address = server.url("/v1")
    gone = EmbeddingModel(EmbeddingSettings("words", address))
    answer = await DocumentSearch(index, ["notes"], embedder=gone).search(SearchRequest(QUESTION))
    assert "could not be reached" in answer.notes[0] and answer.hits
    await gone.aclose()


async def test_what_was_made_before_the_server_failed_is_kept(
    index: DocumentIndex,
    embedder: EmbeddingModel,
    embedding_server: EmbeddingServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_module, "_EMBEDDED_AT_ONCE", 1)
    embedding_server.fail_after = 2
    search = DocumentSearch(index, ["notes"], embedder=embedder)
    answer = await search.search(SearchRequest(QUESTION, limit=2))
    assert "refused (HTTP 500)" in answer.notes[0] and len(answer.hits) == FOUND
    embedding_server.fail_after = None
    assert (await search.search(SearchRequest(QUESTION))).notes == ()
    passages = [text for text in embedding_server.texts if text != QUESTION]
    assert len(passages) == FOUND + 1, "the first one was kept, the failed one asked for again"


async def test_a_late_server_is_not_waited_for(
    index: DocumentIndex, embedder: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents_module, "MEANING_SECONDS", 0.0)
    search = DocumentSearch(index, ["notes"], embedder=embedder)
    answer = await search.search(SearchRequest(QUESTION, limit=2))
    assert "did not answer in time" in answer.notes[0] and len(answer.hits) == FOUND


async def test_long_texts_are_cut(
    embedder: EmbeddingModel, embedding_server: EmbeddingServer
) -> None:
    [vector] = await embedder.embed_passages(["boat " * 1000])
    assert max(map(len, embedding_server.texts)) == embeddings.MOST_CHARACTERS
    assert math.isclose(math.hypot(*vector), 1, rel_tol=1e-6)


async def test_models_get_the_prefixes_that_they_were_trained_with(
    embedding_server: EmbeddingServer,
) -> None:
    model = EmbeddingModel(EmbeddingSettings("nomic-embed-text", embedding_server.url("/v1")))
    await model.embed_queries(["mend"])
    await model.embed_passages(["boat"])
    assert embedding_server.texts == ["search_query: mend", "search_document: boat"]
    await model.aclose()


@pytest.mark.parametrize("numbers", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_vector_without_a_direction_is_refused(numbers: list[float]) -> None:
    with pytest.raises(ValueError, match="direction"):
        unit_vector(numbers)


def test_only_what_lies_between_the_least_and_the_most_similar_counts() -> None:
    best = [Ranked(1, 10.0, (1, "a")), Ranked(2, 9.0, (1, "b")), Ranked(3, 8.0, (1, "c"))]
    wide = [each.document_id for each in by_meaning(best, {1: 0.0, 2: 0.1, 3: 0.9})]
    narrow = [each.document_id for each in by_meaning(best, {1: 0.80, 2: 0.81, 3: 0.89})]
    assert wide == narrow == [3, 1, 2]
    assert by_meaning(best, {}) == best
    assert [each.document_id for each in by_meaning(best, {2: 0.5})] == [1, 2, 3]
