"""Whole runs with a small real model: they complete, stay honest, and say what code did.

Over the sample library, and over pages of the Python manual that are served on loopback.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.installation import Installation
from tests.support.real_model import needs_real_model, served
from tests.support.search_server import Listed, SearchServer
from tests.support.web_server import WebServer

pytest_plugins = ["tests.support.fixtures"]

MANUAL = Path("/usr/share/doc/python3.11/html/library")
MODULES = ("bisect", "glob", "heapq", "shutil", "textwrap", "zipfile")
SAMPLE = "How does Plumbline decide when to stop?"
OF_THE_MANUAL = "How does shutil copy a directory tree?"
OWN_SHARE = 0.6
LONGEST_SECONDS = 300
TASKS = {"intake", "read", "assess", "draft"}

pytestmark = [needs_real_model, pytest.mark.subprocess, pytest.mark.slow]
Found = dict[str, Any]


@pytest.fixture(scope="module")
def real_model() -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def small(bare_installation: Installation, real_model: str) -> Installation:
    """With the real model, asked small things, over the sample library."""
    settings = {
        "OPENAI_BASE_URL": real_model,
        "OPENAI_API_KEY": "none",
        "RESEARCH_MODEL": "small",
        "MODEL_PROFILE": "small",
        "MODEL_TEMPERATURE": "0",
        "ADAPTIVE_MAX_DEPTH": "1",
    }
    return replace(bare_installation, settings=settings)


@pytest.fixture
def over_the_manual(small: Installation) -> Iterator[Installation]:
    """Pages as a server of documentation has them, with their frames, behind a search."""
    if not MANUAL.is_dir():
        pytest.skip("needs Debian's package python3.11-doc")
    pages = {f"/library/{name}.html": (MANUAL / f"{name}.html").read_text() for name in MODULES}
    with ExitStack() as stack:
        web = stack.enter_context(WebServer(pages))
        listed = [_listed(web.url(path), page) for path, page in pages.items()]
        search = stack.enter_context(SearchServer(listed))
        found = {"SEARXNG_URL": search.url(), "FETCH_ALLOW_PRIVATE_HOSTS": web.place}
        yield replace(small, settings={**small.settings, **found})


def _listed(url: str, page: str) -> Listed:
    title = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    assert title
    return Listed(url, title[1], title[1], re.sub(r"<[^>]+>", " ", page))


def researched(installation: Installation, question: str) -> Found:
    """The finished run with the texts of its pages; every quote stands where it says."""
    ended = installation.manage("research", question, "--json", "--yes", seconds=LONGEST_SECONDS)
    assert ended.returncode == 0, ended.stderr
    with installation.inside() as inside:
        found: Found = inside("resource", run=json.loads(ended.stdout)["id"])
    assert found["status"] == "completed"
    assert bool(found["report_markdown"]) == bool(found["evidence"])
    assert found["evidence"] or found["termination_reason"] == "nothing_found"
    texts = {page["text_sha256"]: page["text"] for page in found["pages"]}
    for record in found["evidence"]:
        for quote in record["sources"]:
            stored = texts[quote["text_sha256"]]
            assert stored[quote["start"] : quote["end"]] == quote["quote"]
    return found


def check_shares(found: list[Found], capsys: pytest.CaptureFixture[str]) -> None:
    """At least `OWN_SHARE` of each task's answers are the model's; the rest has causes.

    Such a model may find nothing that stands the check, but not each time.
    """
    assert any(run["evidence"] for run in found)
    own, by_code = Counter[str](), dict[str, Counter[str]]()
    for run in found:
        own.update(run["usage"]["answers"])
        for task, causes in run["usage"]["fallbacks"].items():
            by_code.setdefault(task, Counter()).update(causes)
    with capsys.disabled():
        print(f"\n{_table(found, own, by_code)}")
    assert own.keys() | by_code.keys() == TASKS
    for task in TASKS:
        answers = own[task] + by_code.get(task, Counter()).total()
        assert own[task] >= OWN_SHARE * answers, f"{task}: {own[task]} of {answers}"
    assert all(cause.strip() for causes in by_code.values() for cause in causes)


def _table(
    found: list[Found], own: Mapping[str, int], by_code: Mapping[str, Mapping[str, int]]
) -> str:
    lines = [f"{'task':8} {'model':>5} {'code':>5}  causes"]
    for task in sorted(TASKS):
        causes = by_code.get(task, {})
        said = "; ".join(f"{cause} ({n})" for cause, n in causes.items())
        lines.append(f"{task:8} {own[task]:5} {sum(causes.values()):5}  {said}")
    for run in found:
        usage = run["usage"]
        lines.append(
            f"{usage['seconds']:5.1f} s {usage['llm_calls']:3} calls {usage['retries']:3} repeated "
            f"{len(run['evidence']):3} claims  {run['termination_reason']:20} {run['question']}"
        )
    return "\n".join(lines)


def test_runs_over_the_sample_library_and_over_real_pages(
    small: Installation, over_the_manual: Installation, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [researched(small, SAMPLE), researched(over_the_manual, OF_THE_MANUAL)]
    check_shares(runs, capsys)
