"""The servers, as the product's own clients see them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from bench import bare_loop
from bench.world.facts import KINDS, Page
from bench.world.running import RunningWorld, running_world
from research.engine import FetchFailedError, ModelRequest, SearchRequest
from research.extract.pool import TextPool
from research.fetch.fetch import FetchSettings, SafeFetch
from research.llm.client import ChatModel, ModelSettings
from research.search.providers.searxng import SearxngSearch
from tests.bench import prompts

pytestmark = pytest.mark.subprocess


@pytest.fixture(scope="module")
def running() -> Iterator[RunningWorld]:
    with running_world(21, per_kind=2) as world:
        yield world


@pytest.fixture(scope="module")
def troubled() -> Iterator[RunningWorld]:
    """Large enough to hold every kind of trouble."""
    with running_world(1, per_kind=8) as world:
        yield world


def page_of(running: RunningWorld, trouble: str) -> Page:
    return next(page for page in running.world.pages if page.trouble == trouble)


async def test_the_products_search_takes_its_answers(running: RunningWorld) -> None:
    question = running.world.of_kind("simple")[0]
    async with httpx.AsyncClient() as client:
        search = SearxngSearch(running.search, client)
        answer = await search.search(SearchRequest(question.text, 8, "en"))
    urls = {running.url(page) for page in running.world.pages}
    assert 5 <= len(answer.hits) <= 8 and {hit.url for hit in answer.hits} <= urls
    assert all(hit.title and hit.snippet and hit.published for hit in answer.hits)
    assert question.aspects[0] in f"{answer.hits[0].title} {answer.hits[0].snippet}"


@pytest.fixture(scope="module")
def pool() -> Iterator[TextPool]:
    with TextPool(2) as made:
        yield made


async def test_the_products_fetch_gets_every_fact_and_no_furniture(
    running: RunningWorld, pool: TextPool
) -> None:
    stated = [page for page in running.world.pages if page.facts and page.readable]
    async with SafeFetch(_allowed(running), pool) as fetch:
        for page in stated[:25]:
            got = await fetch.fetch(running.url(page))
            assert got.title == page.title
            assert got.published and got.published.startswith(page.published)
            assert all(running.world.facts[fact].code in got.text for fact in page.facts)
            sentences = [s for s in prompts.sentences_of(page) if s not in got.text]
            assert not sentences
            assert "All rights reserved" not in got.text and "Also on this site" not in got.text
        keys = {(await fetch.fetch(running.url(p))).independence_key for p in stated[:25]}
    assert keys == {running.hosts[page.site - 1] for page in stated[:25]}


def _allowed(running: RunningWorld) -> FetchSettings:
    return FetchSettings(allow_private_hosts=frozenset(running.hosts))


@pytest.mark.parametrize("trouble", ("error", "missing", "empty"))
async def test_a_page_in_trouble_is_a_failure_of_the_fetch(
    troubled: RunningWorld, pool: TextPool, trouble: str
) -> None:
    async with SafeFetch(_allowed(troubled), pool) as fetch:
        with pytest.raises(FetchFailedError):
            await fetch.fetch(troubled.url(page_of(troubled, trouble)))


async def test_a_huge_page_is_read_whole(troubled: RunningWorld, pool: TextPool) -> None:
    page = page_of(troubled, "huge")
    async with SafeFetch(_allowed(troubled), pool) as fetch:
        got = await fetch.fetch(troubled.url(page))
    assert len(got.text) > 900_000
    assert all(troubled.world.facts[fact].code in got.text for fact in page.facts)


async def test_the_products_model_client_takes_its_answers(running: RunningWorld) -> None:
    running.reset()
    question = running.world.of_kind("medium")[0]
    model = ChatModel(ModelSettings("oracle", base_url=running.model))
    prompt = prompts.intake(question.text)
    answer = await model.complete(ModelRequest("intake", "Plan.", prompt, {}, 1000, "research"))
    await model.aclose()
    planned = json.loads(answer.text)["sub_questions"]
    assert len(planned) == len(question.aspects)
    assert answer.prompt_tokens > 20 and not answer.tokens_estimated
    entry = running.log()["entries"][0]
    assert entry["task"] == "intake" and entry["start"] <= entry["end"]
    assert entry["total_tokens"] == answer.prompt_tokens + answer.completion_tokens


def test_the_log_counts_by_task_and_forgets_on_request(running: RunningWorld) -> None:
    running.reset()
    httpx.get(f"{running.search}/search", params={"q": "mill", "format": "json"})
    httpx.get(running.url(running.world.pages[0]))
    _complete(running, "oracle", "assess")
    shown = running.log()
    assert shown["requests"] == {"search": 1, "web": 1, "model": 1}
    assert shown["tasks"] == {"assess": 1}
    running.reset()
    assert running.log()["entries"] == []


def _complete(running: RunningWorld, model: str, task: str, prefix: str = "") -> httpx.Response:
    form = {"type": "json_schema", "json_schema": {"name": task, "schema": {}}}
    body = {"model": model, "messages": [{"role": "user", "content": "# QUESTION\nWhat?\n"}]}
    url = f"{running.model.removesuffix('/v1')}{prefix}/v1/chat/completions"
    return httpx.post(url, json=body | {"response_format": form})


def test_a_variant_is_chosen_by_name_or_by_path(running: RunningWorld) -> None:
    by_name = _complete(running, "oracle-always-stop", "assess").json()
    by_path = _complete(running, "oracle", "assess", "/oracle-always-stop").json()
    for answer in (by_name, by_path):
        assert json.loads(answer["choices"][0]["message"]["content"])["ready"]
    assert _complete(running, "unheard-of", "assess").status_code == 404


def test_garbage_is_refused_and_harms_nobody(running: RunningWorld) -> None:
    url = f"{running.model}/chat/completions"
    assert httpx.post(url, content=b"not json").status_code == 400
    assert httpx.post(url, json={"model": "oracle"}).status_code == 400
    assert httpx.get(f"{running.search}/search").status_code == 400
    assert httpx.get(f"{running.search}/else").status_code == 404


def test_latency_is_taken_and_the_world_ends_when_it_is_left() -> None:
    with running_world(21, latency=True, per_kind=1) as running:
        took = [_timed(lambda: _complete(running, "oracle", "assess"))]
        page = next(page for page in running.world.pages if not page.trouble)
        took.append(_timed(lambda: httpx.get(running.url(page))))
        url = f"{running.search}/search"
        took.append(_timed(lambda: httpx.get(url, params={"q": "a mill", "format": "json"})))
        started = time.perf_counter()
    assert took[0] > 0.6 and took[1] > 0.12 and took[2] > 0.3
    assert time.perf_counter() - started < 3
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.search)


def _timed(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


@pytest.mark.parametrize("kind", KINDS)
async def test_the_bare_loop_finds_what_there_is(running: RunningWorld, kind: str) -> None:
    running.reset()
    question = next(q for q in running.world.questions if q.kind == kind)
    result = await bare_loop.run(question.text, running.model, running.search, "oracle")
    codes = [running.world.facts[fact].code for fact in question.needed]
    assert all(code in result["report"] for code in codes)
    assert result["calls"] == running.log()["requests"]["model"] <= bare_loop.ROUNDS + 2
    assert result["tokens"] > 0 and result["seconds"] > 0
