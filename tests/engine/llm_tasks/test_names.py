"""The plan's title and headings, and what becomes of names that can't be used."""

from __future__ import annotations

import pytest

from research.engine.llm_tasks.intake import LONGEST_HEADING, LONGEST_TITLE
from research.engine.records import Plan
from tests.engine.scripted import CHAIN, Ran, World, harbour

HEADINGS = ["design", "Training.", "Ownership"]


async def planned(**names: object) -> tuple[World, Ran]:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["intake"] = lambda answer: answer | names
    return world, await world.ask(CHAIN.question)


def headings_of(ran: Ran) -> list[str]:
    return [line.removeprefix("## ") for line in ran.report.markdown.splitlines() if "## " in line]


async def test_sections_have_the_headings_of_the_plan() -> None:
    _, ran = await planned(title="the harbour’s past ", headings=HEADINGS)
    assert ran.only(Plan).title == "The harbour’s past"
    assert headings_of(ran)[:3] == ["Design", "Training", "Ownership"]


@pytest.mark.parametrize(
    "headings",
    [
        [],
        ["Design", "Training"],
        ["Design", "Design", "Ownership"],
        ["Design " * LONGEST_HEADING] * 3,
    ],
)
async def test_headings_that_tell_nothing_apart_are_made_by_code(headings: list[str]) -> None:
    _, ran = await planned(headings=headings)
    _, without = await planned()
    assert headings_of(ran) == headings_of(without)


async def test_a_long_title_is_none() -> None:
    _, ran = await planned(title="word " * LONGEST_TITLE, headings=HEADINGS)
    assert ran.only(Plan).title == ""


async def test_a_sub_question_with_a_blank_query_is_searched_in_its_own_words() -> None:
    _, ran = await planned(queries=["  ", "", "harbour owner"])
    first, second, third = ran.only(Plan).aspects
    assert (first.query, second.query, third.query) == (first.text, second.text, "harbour owner")
