"""Plumbline as a library: the example of the README, both ways to call it, and its names."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import subprocess
import sys
from datetime import UTC, date, datetime

import pytest

import plumbline
import research.engine
from plumbline import FetchFailedError, Page, Pages, ResearchConfig, SearchRequest
from tests.support.installation import ROOT

BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
READ = datetime(2026, 3, 1, tzinfo=UTC)
FIRST = Page.from_text(
    "https://coast.example/harrow",
    "The Harrow Point lighthouse was first lit on 14 March 1887.",
    "Harrow Point lighthouse",
    fetched_at=READ,
)
SECOND = Page.from_text(
    "https://birds.example/gulls", "Gulls nest near a lighthouse.", "Gulls", fetched_at=READ
)


def test_the_example_of_the_readme_prints_what_it_says() -> None:
    (_, code), (_, printed) = BLOCK.findall((ROOT / "README.md").read_text())
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "README.md", "exec", dont_inherit=True), {"__name__": "readme"})
    assert out.getvalue() == printed
    assert len([line for line in code.splitlines() if line]) <= 10


def test_both_ways_to_call_it_find_the_same() -> None:
    asked = ("When was Harrow Point lighthouse first lit?", [FIRST, SECOND])
    day = date(2026, 3, 1)
    one = plumbline.research(*asked, today=day)
    other = asyncio.run(plumbline.research_async(*asked, today=day))
    assert one.report == other.report and one.state.status == "completed"


def test_knobs_apply() -> None:
    config = ResearchConfig(research_depth="quick", max_searches=1)
    result = plumbline.research("When was Harrow Point lit?", [FIRST, SECOND], config)
    assert result.usage.searches == 1


def test_pages_are_found_by_shared_terms_best_first() -> None:
    pages = Pages([SECOND, FIRST])
    found = asyncio.run(pages.search(SearchRequest("Harrow lighthouse")))
    assert [hit.url for hit in found.hits] == [FIRST.url, SECOND.url]
    assert asyncio.run(pages.search(SearchRequest("volcano"))).hits == ()
    with pytest.raises(FetchFailedError, match="no page of this address"):
        asyncio.run(pages.fetch("https://coast.example/other"))


def test_every_name_of_the_engine_is_a_name_of_the_library() -> None:
    assert set(research.engine.__all__) <= set(plumbline.__all__)
    assert all(hasattr(plumbline, name) for name in plumbline.__all__)


@pytest.mark.requirement("F26")
@pytest.mark.subprocess
def test_importing_it_loads_neither_django_nor_a_model_client() -> None:
    said = "import plumbline, sys; print(sorted({'django', 'openai', 'httpx'} & set(sys.modules)))"
    told = subprocess.run(
        [sys.executable, "-c", said], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout == "[]\n"
