"""Runs over collections: what they cite, whose documents they see, and what outlives a deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from pytest_django import Settings

from research.engine.ports import FetchFailedError, SearchRequest
from research.models import Collection, EvidenceSource, PageText, Run
from research.runtime import tool_factory
from research.services import documents, runs, threads
from research.worker.run_executor import advance_run
from tests.research.collections import GRANARY, LEASE, filled, forget_index, index_all, sent
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.retrieval.papers import pdf

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.subprocess]

__all__ = ["embedding_server"]
RENT = "How much is the rent of the mill?"
SECRET = "The rent of the mill is secretly doubled for tenants from the city."


@pytest.fixture(autouse=True)
def state(settings: Settings, tmp_path: Path, transactional_db: None) -> Iterator[Path]:
    """Nothing configured: the extractive analyst, and no network."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "RESEARCH_MODEL", "SEARCH_PROVIDER"):
        setattr(settings, name, "")
    settings.DOCUMENTS, settings.NETWORK_PROBE = [], "none"
    settings.STATE_DIR = tmp_path / "state"
    settings.STATE_DIR.mkdir()
    yield settings.STATE_DIR
    forget_index()


def asked(actor: AbstractUser, *collections: Collection, question: str = RENT) -> Run:
    named = [{"id": each.public_id, "name": each.name} for each in collections]
    sources = {"search": ["documents"], "documents": [], "collections": named}
    return runs.ask_question(actor, question, agreed=True, sources=sources)


def researched(run: Run) -> Run:
    async def work() -> None:
        await advance_run(run.pk, tool_factory.build_tools)
        await tool_factory.close_tools()

    asyncio.run(work())
    run.refresh_from_db()
    return run


def cited(run: Run) -> set[str]:
    return set(EvidenceSource.objects.filter(evidence__run=run).values_list("url", flat=True))


def test_documents_can_be_read_beside_the_samples(ada: AbstractUser, tmp_path: Path) -> None:
    (tmp_path / "lease.md").write_text(LEASE)
    sources = {"search": ["documents", "samples"], "documents": [str(tmp_path)]}
    run = researched(runs.ask_question(ada, RENT, agreed=True, sources=sources))
    assert any(url.startswith("file:///") for url in cited(run))


@pytest.mark.requirement("F5")
def test_a_run_over_an_uploaded_collection_cites_its_paragraphs(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE, granary__txt=GRANARY)
    index_all()
    run = researched(asked(ada, mill))
    assert run.status == "completed"
    quote = EvidenceSource.objects.filter(evidence__run=run, quote__contains="1,200").first()
    assert quote is not None
    assert (quote.url, quote.domain) == ("file:///The%20mill/lease.md", "The mill")
    assert quote.section.endswith("Rent")
    text = PageText.objects.get(uses__run=run, sha256=quote.text_sha256).text
    assert text[quote.start : quote.end] == quote.quote
    report = run.reports.get()
    assert "1,200 crowns" in report.markdown


def test_an_embedding_model_ranks_the_documents_of_a_run(
    ada: AbstractUser, settings: Settings, embedding_server: EmbeddingServer
) -> None:
    settings.EMBEDDING_MODEL = "words"
    settings.EMBEDDING_BASE_URL = embedding_server.url("/v1")
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    assert cited(researched(asked(ada, mill)))
    assert embedding_server.models[0] == "words"
    assert any("1,200" in text for text in embedding_server.texts)


def test_a_run_says_that_its_documents_were_ranked_by_words_alone(
    ada: AbstractUser, settings: Settings, embedding_server: EmbeddingServer
) -> None:
    settings.EMBEDDING_MODEL = "words"
    settings.EMBEDDING_BASE_URL = embedding_server.url("/v2")
    mill = filled(ada, "The mill", lease__md=LEASE)
    index_all()
    run = researched(asked(ada, mill))
    assert run.status == "completed" and cited(run)
    assert run.problems.filter(message__contains="by their words alone").exists()


def test_a_quote_of_a_pdf_names_its_page(ada: AbstractUser) -> None:
    other = "Nothing on this first page is about money at all; it is about weather and tides."
    papers = filled(ada, "Papers", log__pdf=pdf(other, LEASE.split("\n\n")[2]))
    run = researched(asked(ada, papers))
    sections = EvidenceSource.objects.filter(evidence__run=run).values_list("section", flat=True)
    assert "Page 2" in set(sections)


def test_a_collection_that_is_not_indexed_yet_is_read_before_the_search(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    empty = documents.create_collection(ada, "Empty")
    assert cited(researched(asked(ada, mill, empty))) == {"file:///The%20mill/lease.md"}


def test_any_name_of_a_collection_and_of_its_files_makes_an_address(ada: AbstractUser) -> None:
    made = documents.create_collection(ada, "Q1/Q2: 100% ~ #5?")
    documents.add_files(ada, made, [sent("Rent & dues #1 50%?.md", LEASE)])
    [address] = cited(researched(asked(ada, made)))
    assert address.startswith("file:///Q1%2FQ2")


def test_a_run_searches_only_the_collections_that_it_names(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    filled(ada, "Secrets", secret__md=SECRET)
    index_all()
    run = asked(ada, mill)
    secret = "file:///Secrets/secret.md"

    async def looked() -> tuple[list[str], str]:
        tools = await tool_factory.build_tools(
            await Run.objects.select_related("owner").aget(pk=run.pk)
        )
        answer = await tools.search.search(SearchRequest(query="rent mill tenants", limit=8))
        with pytest.raises(FetchFailedError) as refused:
            await tools.fetch.fetch(secret)
        await tool_factory.close_tools()
        return [hit.url for hit in answer.hits], refused.value.reason

    found, reason = asyncio.run(looked())
    assert found == ["file:///The%20mill/lease.md"]
    assert reason == "No document has this address."


def test_a_collections_pages_never_serve_anothers_run(ada: AbstractUser, bob: AbstractUser) -> None:
    """The same file of two people is stored once for each: neither copy rests on the other."""
    theirs = filled(ada, "The mill", lease__md=LEASE)
    own = filled(bob, "The mill", lease__md=LEASE)
    index_all()
    first, second = researched(asked(ada, theirs)), researched(asked(bob, own))
    assert cited(first) and cited(second) and not cited(first) & cited(second)
    scopes = [
        set(PageText.objects.filter(uses__run=run).values_list("scope", flat=True))
        for run in (first, second)
    ]
    assert all(each.startswith("collection:") for scope in scopes for each in scope)
    assert not scopes[0] & scopes[1]


@pytest.mark.parametrize("taken_away", ["never shared", "no longer shared", "deleted"])
def test_a_run_that_may_not_see_a_collection_fails_and_says_which(
    ada: AbstractUser, bob: AbstractUser, taken_away: str
) -> None:
    secrets = filled(ada, "Secrets", secret__md=SECRET)
    if taken_away != "never shared":
        documents.change_collection(ada, secrets, "Secrets", shared=True)
        assert cited(researched(asked(bob, secrets)))
    if taken_away == "no longer shared":
        documents.change_collection(ada, secrets, "Secrets", shared=False)
    if taken_away == "deleted":
        documents.delete_collection(ada, secrets)
        index_all()
    run = researched(asked(bob, secrets))
    assert run.status == "failed" and not cited(run)
    told = "These documents no longer exist: Secrets."
    assert told in [*run.problems.values_list("message", flat=True), run.termination_text]


def test_a_run_over_collections_without_files_says_so(ada: AbstractUser) -> None:
    run = researched(asked(ada, documents.create_collection(ada, "Empty")))
    assert run.status == "failed"
    assert run.problems.filter(message__contains="no files in the chosen documents").exists()


def test_a_report_is_reshaped_after_its_documents_are_gone(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    run = researched(asked(ada, mill))
    documents.delete_collection(ada, mill)
    index_all()
    short = researched(threads.reshape_report(ada, run, "shorter"))
    assert short.status == "completed" and "1,200 crowns" in short.reports.get().markdown
    again = researched(threads.follow_up(ada, run, "And when is the rent of the mill due?"))
    assert again.status == "failed"


def test_what_was_cited_stays_readable_after_the_collection_is_deleted(ada: AbstractUser) -> None:
    mill = filled(ada, "The mill", lease__md=LEASE)
    run = researched(asked(ada, mill))
    documents.add_files(ada, mill, [sent("lease.md", "# Lease\n\nThe rent is 900 florins.")])
    documents.delete_collection(ada, mill)
    index_all()
    quote: Any = EvidenceSource.objects.filter(evidence__run=run).first()
    text = PageText.objects.get(uses__run=run, sha256=quote.text_sha256).text
    assert text[quote.start : quote.end] == quote.quote and "1,200 crowns" in text


def test_the_tools_of_a_run_tell_what_its_documents_hold(
    ada: AbstractUser, settings: Settings, tmp_path: Path
) -> None:
    settings.DOCUMENTS = [str(tmp_path / "weirs")]
    (tmp_path / "weirs").mkdir()
    (tmp_path / "weirs" / "a.md").write_text("# Gates of a weir\n\nThey are opened in spring.")
    run = asked(ada, filled(ada, "Mills", rent__md="# Rents\n\nThe rent is low."))
    run.sources["documents"] = settings.DOCUMENTS

    async def contents() -> Any:
        tools = await tool_factory.build_tools(run)
        await tool_factory.close_tools()
        return tools.contents

    assert sorted(asyncio.run(contents())) == ["Mills (1): Rents", "weirs (1): Gates of a weir"]
    run.sources["search"] = ["documents", "samples"]
    assert asyncio.run(contents()) == ()
