"""The engine as a library: its public names, and the examples of its guide as they are printed."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import research.engine
from research.engine import (
    Continue,
    Decision,
    FetchFailedError,
    MemoryStore,
    Page,
    Question,
    ResearchConfig,
    Rules,
    Situation,
    Stop,
    StopReason,
    Tools,
    run_in_memory,
)
from tests.engine.scripted import AT, CHAIN, TODAY, World, harbour

GUIDE = Path(__file__).parents[2] / "docs" / "engine.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    """Language and text of each fenced block of the guide, in order."""
    return BLOCK.findall(GUIDE.read_text())


def test_the_guide_prints_what_it_says() -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    printed, expected = "", []
    for language, text in blocks():
        if language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(text, str(GUIDE), "exec", dont_inherit=True), names)
            printed = out.getvalue()
        else:
            assert printed == text
            expected.append(text)
    assert len(expected) == 4


def test_the_ten_lines_are_ten_at_most() -> None:
    [example] = [text for _, text in blocks() if "run_in_memory(question, Tools(shelf" in text][:1]
    assert len([line for line in example.splitlines() if line]) <= 10


def test_every_public_name_can_be_imported() -> None:
    assert len(set(research.engine.__all__)) == len(research.engine.__all__) > 50
    for name in research.engine.__all__:
        assert getattr(research.engine, name) is not None
    assert set(research.engine.__all__) <= set(dir(research.engine))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        research.engine.nothing  # noqa: B018


@pytest.mark.subprocess
def test_one_module_of_the_engine_does_not_load_all_of_it() -> None:
    """Workers that extract text start often, and import the ports only."""
    code = "import sys, research.engine.ports; print('research.engine.loop' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_page_of_little_more_than_its_text_is_complete() -> None:
    made = Page.from_text("https://coast.example/a", "Some words.", fetched_at=AT, kind="official")
    assert (made.title, made.independence_key, made.kind) == (
        "coast.example",
        "coast.example",
        "official",
    )
    assert made.final_url == made.url and len(made.sha256) == 64


async def asked(world: World, rules: Rules | None = None, **knobs: Any) -> Any:
    question = Question(CHAIN.question, TODAY, agreed=True)
    config = ResearchConfig(**knobs)
    return await run_in_memory(question, world.tools(), config, rules=rules or Rules())


async def test_a_run_in_memory_gives_its_records() -> None:
    result = await asked(harbour(CHAIN))
    assert result.state.termination_reason is not None
    assert result.evidence and result.report.citations and result.usage.llm_calls


async def test_a_store_that_is_kept_answers_in_place_of_the_tools() -> None:
    world, store = harbour(CHAIN), MemoryStore()
    question = Question(CHAIN.question, TODAY, agreed=True)
    first = await run_in_memory(question, world.tools(), store=store)

    class Nothing:
        async def search(self, request: object) -> Any:
            raise AssertionError("a replay searched")

        async def fetch(self, url: str) -> Page:
            raise FetchFailedError("A replay fetched.", status="failed")

    replay = Tools(Nothing(), Nothing(), world.clock, world.model)
    again = await run_in_memory(question, replay, store=store)
    assert (again.report, again.divergences) == (first.report, ())


# --- rules ------------------------------------------------------------------------------------


def stop_at_once(now: Situation, config: ResearchConfig) -> Decision:
    return Stop(StopReason.MAX_ROUNDS)


def go_on(now: Situation, config: ResearchConfig) -> Decision:
    return Continue() if now.rounds < 3 else Stop(StopReason.MAX_ROUNDS)


async def test_a_run_decides_by_the_rules_that_it_is_given() -> None:
    assert (await asked(harbour(CHAIN), Rules(decide_stop=stop_at_once))).state.round == 1
    wide = Rules(decide_stop=go_on, refuses_repeated_topics=False, verifies_claims=False)
    assert (await asked(harbour(CHAIN), wide)).state.round == 3


def test_each_rule_says_what_it_does() -> None:
    """A field without a sentence beneath it can't be understood from outside."""
    source = Path(sys.modules[Rules.__module__].__file__ or "").read_text()
    for each in fields(Rules):
        pattern = rf'^    {each.name}: [^"]*?\n    """[A-Z]'
        assert re.search(pattern, source, re.MULTILINE), each.name


def test_each_rule_is_one_that_the_engine_looks_at() -> None:
    engine = Path(research.engine.__path__[0])
    source = "".join(each.read_text() for each in engine.rglob("*.py"))
    for each in fields(Rules):
        assert re.search(rf"\b(rules|self)\.{each.name}\b", source), each.name


def test_rules_are_replaced_and_never_changed() -> None:
    with pytest.raises(AttributeError):
        Rules().most_aspects = 3  # type: ignore[misc]
    assert replace(Rules(), most_aspects=3).most_aspects == 3
