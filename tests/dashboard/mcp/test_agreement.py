"""Pages, command line, API, event stream, MCP and responses tell the same of one run."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.test import Client

from dashboard.api.events import build_progress
from plumbline.cli.main import main
from research.models import Run
from research.services import api_tokens, reviews
from tests.dashboard.mcp.test_tools import connected
from tests.engine.scripted import CHAIN, World, harbour
from tests.research.test_threads import ended

pytestmark = pytest.mark.django_db(transaction=True)

MUSEUM = "https://museum.example/marlow"
FOUNDRY = {"https://works.example/calder", "https://leith.example/calder"}
MARKS = {"Answered": "answered", "One site": "one_source", "Not found": "not_found"}
PRICE = 0.0123


@pytest.fixture
def world() -> World:
    """Of three parts one is answered, one has a single source, and one finds no page to read."""
    world = harbour(CHAIN)
    assert world.model
    world.model.cost_usd = PRICE
    world.web.down = {MUSEUM, *FOUNDRY}
    return world


@pytest.fixture
def programs(admin: User) -> Client:
    """A client of `/v1`, which takes tokens only."""
    _, secret = api_tokens.create_token(admin, "Programs")
    return Client(headers={"Authorization": f"Bearer {secret}"})


# --- the pages ------------------------------------------------------------------------------


def text_of(found: Tag | None) -> str:
    assert found is not None
    return " ".join(found.get_text().split())


def numbers_of(text: str, pattern: str) -> tuple[int, ...]:
    """Return the numbers of a sentence that a page shows."""
    found = re.search(pattern, text)
    assert found, text
    return tuple(int(each) for each in found.groups())


def told_by_pages(client: Client, key: str) -> dict[str, Any]:
    """Return the fields of a run's pages, as a reader finds them."""

    def page(tab: str) -> BeautifulSoup:
        return BeautifulSoup(client.get(f"/runs/{key}/{tab}").content, "lxml")

    whole, activity, sources = page("research/"), page("activity/"), page("sources/")

    def part(name: str) -> Tag:
        found = whole.select_one(f"#run-{key}-{name}")
        assert found is not None, name
        return found

    account = {text_of(row.dt): text_of(row.dd) for row in part("summary").select("div")}
    score = re.search(r"([\d.]+) of 10; research can stop at (\d+\.\d)", account["Judged"])
    assert score, account
    meters = [text_of(row) for row in part("meters").select("li")]
    total = [text_of(cell) for cell in activity.select("section tr.sum")[0].select("td")]
    return {
        "question": text_of(whole.select_one("h1.question")),
        "badge": text_of(part("state").select_one(".state")),
        "sequence": int(str(part("sequence")["value"])),
        "verdict": text_of(part("verdict")),
        "answered": numbers_of(text_of(part("line")), r"(\d+) of (\d+) sub-questions answered"),
        "score": score[1],
        "threshold": float(score[2]),
        "sub_questions": [_sub_question(row, key) for row in part("aspects").select("li")],
        "gaps": [
            (_id(row), "closed" in (row.get("class") or []))
            for row in [*part("gaps").select("li"), *part("closed").select("li")]
        ],
        "counts": numbers_of(text_of(part("evidence-count")), r"(\d+) claims? · (\d+) sites?"),
        "evidence": {_id(row): _quotes(row) for row in part("evidence").select("li")},
        "work": numbers_of(
            account["Work done"], r"(\d+) searches in (\d+) rounds, (\d+) pages read"
        ),
        "calls": numbers_of(meters[0], r"^(\d+) of"),
        "cost": (meters[2], total[2]),
        "tokens": int(total[1].replace(",", "")),
        "citations": [
            (int(text_of(row.select_one("sup"))), str(row.select("a")[-1]["href"]))
            for row in part("report-text").select("li:has(> sup.cite)")
        ],
        "listed": [int(text_of(row)) for row in sources.select("a.marker")],
        "answer": text_of(part("answer").p),
    }


def _id(row: Tag) -> str:
    return str(row["id"]).rsplit("-", 1)[1]


def _sub_question(row: Tag, key: str) -> tuple[str, str, str, int | None]:
    """Return id, text, mark, and the number of sites where it is shown."""
    label, _, sites = text_of(row.select_one(".aspect-state")).partition(", ")
    shown = numbers_of(sites, r"^(\d+) sites$")[0] if sites else None
    return _id(row), text_of(row.select_one(".aspect-text")), MARKS[label], shown


def _quotes(row: Tag) -> list[str]:
    return [text_of(quote) for quote in row.select("blockquote")]


# --- the others -----------------------------------------------------------------------------


def told_by_mcp(admin: User, run: str) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with connected(admin) as say:
            told = {tool: await say(tool, run=run) for tool in ("wait", "read_report")}
            told["evidence"] = (await say("read_evidence", run=run))["evidence"]
            [resource] = (await say.client.read_resource(f"plumbline://runs/{run}")).contents  # type: ignore[attr-defined]
            return {**told, "record": json.loads(resource.text)}

    return asyncio.run(ask())


@pytest.fixture
def told_by_command(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def run(*words: str) -> str:
        capsys.readouterr()
        assert main(words) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.requirement("F31")
def test_every_interface_tells_the_same(
    client: Client,
    programs: Client,
    admin: User,
    world: World,
    told_by_command: Callable[..., str],
    settings: Any,
) -> None:
    settings.NETWORK_PROBE = "none"
    asked = {"model": "plumbline-thorough", "background": True, "input": CHAIN.question}
    made = programs.post("/v1/responses", asked, content_type="application/json").json()
    run = ended(Run.objects.get(), world)
    reviews.record_verdict(admin, run.evidence.get(label="E2"), "flag", "Was it there?")
    key = run.public_id

    page = told_by_pages(client, key)
    api = {
        name: client.get(f"/api/v1/runs/{key}{name}").json()
        for name in ("", "/record", "/evidence", "/sources", "/report")
    }
    mcp = told_by_mcp(admin, key)
    response = programs.get(f"/v1/responses/{made['id']}").json()

    # the whole record, and the state as events have it
    record, now = api["/record"], api[""]["progress"]
    assert json.loads(told_by_command("runs", "show", key, "--json")) == record == mcp["record"]
    event = build_progress(key)
    assert event and json.loads(event.progress.model_dump_json()) == now
    assert page["sequence"] == now["run"]["sequence"]

    # where the run stands
    state = mcp["wait"]
    [listed] = json.loads(told_by_command("runs", "list", "--json"))
    [summary] = client.get("/api/v1/runs").json()["items"]
    for name in ("id", "thread", "status", "termination_reason", "quality_score"):
        assert record[name] == api[""][name] == summary[name], name
    assert record["status"] == state["status"] == response["status"] == "completed"
    for question in (record, api[""], state, listed, page):
        assert question["question"] == CHAIN.question
    verdicts = (now["verdict"]["text"], record["termination_text"], state["verdict"])
    assert set(verdicts) == {page["verdict"]}
    scores = (record["quality_score"], now["quality"]["score"], state["score"], listed["score"])
    assert len(set(scores)) == 1 and f"{scores[0]:.1f}" == page["score"]
    assert page["threshold"] == now["quality"]["threshold"] == state["score_goal"]
    assert state["possible_actions"] == now["control"]["possible"]

    # sub-questions with their marks, and gaps
    parts = [
        (each["id"], each["text"], each["mark"], each["sources"]) for each in record["aspects"]
    ]
    assert [mark for _, _, mark, _ in parts] == ["answered", "one_source", "not_found"]
    for told, mark in ((now["aspects"], "mark"), (state["sub_questions"], "status")):
        assert [(each["id"], each["text"], each[mark], each["sources"]) for each in told] == parts
    assert page["sub_questions"] == [
        (*part[:3], part[3] if part[2] == "answered" else None) for part in parts
    ]
    assert page["badge"] == "Partly answered"
    assert page["answered"] == (2, len(parts))
    gaps = [(each["id"], each["closed_round"] is not None) for each in record["gaps"]]
    assert gaps == [("G1", True), ("G2", False)]
    assert page["gaps"] == [], "the states of their sub-questions say it"
    assert gaps == [(each["id"], each["closed_round"] is not None) for each in now["gaps"]]
    assert state["open_gaps"] == [g["text"] for g in record["gaps"] if g["closed_round"] is None]

    # evidence, word for word
    quotes = {each["id"]: [q["quote"] for q in each["sources"]] for each in record["evidence"]}
    assert page["evidence"] == quotes
    assert state["evidence"] == now["evidence"]["count"] == len(quotes) == page["counts"][0]
    urls = {quote["url"] for each in record["evidence"] for quote in each["sources"]}
    assert page["counts"][1] == now["evidence"]["sources"] == len(urls)
    assert api["/evidence"]["items"] == record["evidence"]
    assert [each["review"] for each in record["evidence"]] == ["unreviewed", "flagged"]
    for ours, theirs in zip(record["evidence"], mcp["evidence"], strict=True):
        for name in ("id", "claim", "key", "confidence", "uncertainty", "contradicts", "review"):
            assert ours[name] == theirs[name], name
        for quote, same in zip(ours["sources"], theirs["quotes"], strict=True):
            for name in ("quote", "url", "title", "section", "published"):
                assert quote[name] == same[name], name

    # what it took
    usage = record["usage"]
    assert now["usage"] == usage
    failed = {each["url"] for each in record["sources"] if each["status"] == "failed"}
    assert failed == world.web.down
    read = [each for each in record["sources"] if each["url"] not in failed]
    assert api["/sources"]["items"] == record["sources"]
    assert page["work"] == (usage["searches"], len(record["rounds"]), len(read))
    searches = [each for each in response["output"] if each["type"] == "web_search_call"]
    assert len(searches) == usage["searches"]
    assert page["calls"] == (usage["llm_calls"],)
    tokens = (usage["prompt_tokens"], usage["completion_tokens"])
    assert page["tokens"] == sum(tokens) == response["usage"]["total_tokens"]
    assert (response["usage"]["input_tokens"], response["usage"]["output_tokens"]) == tokens
    assert usage["cost_usd"] == pytest.approx(usage["llm_calls"] * PRICE)
    assert page["cost"] == (f"${usage['cost_usd']:.2f}", f"${usage['cost_usd']:.4f}")
    assert client.get("/api/v1/usage").json()["cost_usd"] == pytest.approx(usage["cost_usd"])

    # the report with its citations
    report, same = api["/report"], mcp["read_report"]
    markdown = record["report_markdown"]
    assert report["markdown"] == same["markdown"] == markdown
    assert told_by_command("runs", "show", key).strip() == markdown.strip()
    assert record["short_answer"] == report["short_answer"] == same["short_answer"]
    assert report["number"] == same["version"] == record["report_version"]
    cited = [(each["marker"], each["url"]) for each in record["citations"]]
    for citations in (report["citations"], same["citations"]):
        assert [(each["marker"], each["url"]) for each in citations] == cited
    assert page["citations"] == cited
    assert page["listed"] == [marker for marker, _ in cited]
    assert page["answer"] == f"Short answer. {plain(record['short_answer'])}"
    assert page["answer"] in plain(markdown)

    [message] = [each for each in response["output"] if each["type"] == "message"]
    [content] = message["content"]
    assert content["text"].startswith(f"# {CHAIN.question}")
    assert page["answer"] in plain(content["text"])
    assert {
        (int(content["text"][each["start_index"] + 1 : each["end_index"] - 1]), each["url"])
        for each in content["annotations"]
    } == set(cited)


def plain(markdown: str) -> str:
    """Return a text with its markers as the page shows them: "oak. [1][2]" is "oak. 12"."""
    return " ".join(re.sub(r"\[(\d+)\]", r"\1", markdown).replace("*", "").split())
