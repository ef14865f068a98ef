"""Page, command line, API, event stream and MCP tell the same of one run."""

from __future__ import annotations

import asyncio
import html
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.api.events import build_progress
from plumbline.cli.main import main
from research.models import Run
from research.services import reviews
from tests.dashboard.conftest import QUOTE, add_evidence, add_report, make_run
from tests.dashboard.mcp.test_tools import connected

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER = "About 600 years."
MARKDOWN = f"# Oaks\n\n## Short answer\n\n{ANSWER}\n\n## Age\n\n“{QUOTE}” [1]\n"


@pytest.fixture
def finished(admin: User) -> Run:
    columns = {"quality_score": 7.5, "verdict": "Each part is answered.", "sequence": 4}
    run = make_run(admin, "completed", termination_reason="quality_met", **columns)
    for number in (1, 2):
        add_evidence(run, number)
        run.aspects.filter(label=f"A{number}").update(evidence_labels=[f"E{number}"])
    report = add_report(run, MARKDOWN)
    report.short_answer = ANSWER
    report.save()
    reviews.record_verdict(admin, run.evidence.get(label="E2"), "flag", "Is it a yew?")
    return run


def told_by_mcp(admin: User, run: str) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with connected(admin) as say:
            told = {tool: await say(tool, run=run) for tool in ("wait", "read_report")}
            told["evidence"] = (await say("read_evidence", run=run))["evidence"]
            [resource] = (await say.client.read_resource(f"plumbline://runs/{run}")).contents  # type: ignore[attr-defined]
            return {**told, "record": json.loads(resource.text)}

    return asyncio.run(ask())


def told_by_command(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(("runs", "show", *words)) == 0
    return capsys.readouterr().out


def test_every_interface_tells_the_same(
    client: Client, admin: User, finished: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    key = finished.public_id
    api = {
        name: client.get(f"/api/v1/runs/{key}{name}").json()
        for name in ("", "/record", "/evidence", "/report")
    }
    run, record, progress = api[""], api["/record"], api[""]["progress"]
    assert json.loads(build_progress(key).progress.model_dump_json()) == progress  # type: ignore[union-attr]
    assert json.loads(told_by_command(capsys, key, "--json")) == record
    mcp = told_by_mcp(admin, key)
    assert mcp["record"] == record

    for name in ("id", "thread", "question", "status", "termination_reason", "quality_score"):
        assert run[name] == record[name]
    state = mcp["wait"]
    assert (state["status"], state["question"]) == (run["status"], run["question"])
    assert (state["score"], state["verdict"]) == (run["quality_score"], finished.verdict)
    assert state["possible_actions"] == progress["control"]["possible"]
    assert state["evidence"] == progress["evidence"]["count"] == len(record["evidence"]) == 2
    parts = [
        (each["id"], each["text"], each["mark"], each["sources"]) for each in record["aspects"]
    ]
    for told, mark in ((progress["aspects"], "mark"), (state["sub_questions"], "status")):
        assert [(each["id"], each["text"], each[mark], each["sources"]) for each in told] == parts

    assert api["/evidence"]["items"] == record["evidence"]
    assert [each["review"] for each in record["evidence"]] == ["unreviewed", "flagged"]
    for ours, theirs in zip(record["evidence"], mcp["evidence"], strict=True):
        for name in ("id", "claim", "key", "confidence", "uncertainty", "contradicts", "review"):
            assert ours[name] == theirs[name], name
        for quote, same in zip(ours["sources"], theirs["quotes"], strict=True):
            for name in ("quote", "url", "title", "section", "published"):
                assert quote[name] == same[name], name

    report, read = api["/report"], mcp["read_report"]
    assert report["markdown"] == record["report_markdown"] == read["markdown"] == MARKDOWN
    assert told_by_command(capsys, key).strip() == MARKDOWN.strip()
    assert report["short_answer"] == read["short_answer"] == ANSWER
    assert (report["number"], [each["marker"] for each in report["citations"]]) == (
        read["version"], [each["marker"] for each in read["citations"]],
    )  # fmt: skip

    page = html.unescape(
        "".join(client.get(f"/runs/{key}/{tab}").content.decode() for tab in ("", "research/"))
    )
    for shown in (run["question"], ANSWER, QUOTE, "7.5", "Part 1", "Part 2"):
        assert shown in page
