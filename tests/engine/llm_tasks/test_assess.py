"""What the assessment is shown of many findings."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from research.engine.journal.forms import Form
from research.engine.llm_tasks import assess, sections, small_tasks
from research.engine.records import Evidence
from tests.engine.report.test_comparing import ledger_of, record_of
from tests.engine.scripted import CHAIN, SIMPLE, harbour, sections_of

LONG = record_of("E1", f"One two three four five six seven eight {'nine ' * 20}ten.", "a.example")
SHORT = record_of("E2", "The fund held 6 million marks.", "b.example")


@pytest.mark.parametrize(
    ("notes", "room", "form", "told"),
    [
        (4, 100, Form.COMPUTED, [("A1", "One two three four five six seven eight nine …")]),
        (4, 10, Form.EDITED, []),
        (1, 100, Form.EDITED, []),
        (1, 100, Form.COMPUTED, []),
    ],
    ids=["broad", "no room", "narrow", "narrow before"],
)
def test_findings_beyond_those_shown_are_named_by_their_first_words(
    notes: int, room: int, form: Form, told: list[tuple[str, str]]
) -> None:
    run: Any = SimpleNamespace(
        limits=SimpleNamespace(notes=notes), ledger=ledger_of(LONG, SHORT), form=form
    )
    assert assess.also_found(run, [SHORT], room) == told


def run_of(*records: Evidence) -> Any:
    limits = SimpleNamespace(notes=4)
    return SimpleNamespace(limits=limits, ledger=ledger_of(*records), form=Form.EDITED)


def claims(*said: str) -> list[Evidence]:
    return [record_of(f"E{n}", text, f"s{n}.example") for n, text in enumerate(said, 1)]


PAID = "Each guard of the fund is paid 40 marks."
AGAIN = "A guard of the fund gets 40 marks in pay each."
MORE = "Each guard of the fund is paid 50 marks."
WALLED = "The fund has walls of granite from Ys."
WALLS = "Granite from Ys is what the walls of the fund are."
ROOFED = "The fund has a roof of slate from Ys."


def test_findings_that_repeat_another_take_no_place_from_others() -> None:
    others = [f"The fund has {n} vaults." for n in range(2, 6)]
    records = claims(PAID, AGAIN, WALLED, WALLS, *others)
    shown = assess._some_of_each_part(run_of(), records)
    assert [each.claim for each in shown] == [PAID, WALLED, *others]


@pytest.mark.parametrize(
    ("claim", "shown", "repeats"),
    [
        (AGAIN, PAID, True),
        (MORE, PAID, False),
        (WALLS, WALLED, True),
        (ROOFED, WALLED, False),
        ("In 2024 each guard is paid 40 marks.", PAID, False),
    ],
)
def test_a_finding_repeats_one_with_its_figures_and_most_of_its_words(
    claim: str, shown: str, repeats: bool
) -> None:
    assert assess._repeats(*claims(claim, shown)) is repeats


def test_both_sides_of_a_dispute_are_shown_whole() -> None:
    records = claims(*(f"The fund has {n} vaults." for n in range(2, 10)))
    run = run_of(*records)
    run.ledger.book.oppose(*records[-2:])
    shown = assess._some_of_each_part(run, [*run.ledger.book.records.values()])
    assert [each.id for each in shown] == ["E1", "E2", "E3", "E4", "E7", "E8"]


@pytest.mark.parametrize(
    ("claim", "told"),
    [
        ("The fund, which a baker set up, holds 6 million marks, as far as anybody knows today.",
         "The fund, which a baker set up, holds 6 million marks …"),
        ("If it snows, the guards of the fund stay, because nobody comes up the hill.",
         "If it snows, the guards of the fund stay …"),
        (f"The fund {'on the hill ' * 8}holds 6 million marks.",
         "The fund on the hill … 6 million marks. …"),
    ],
)  # fmt: skip
def test_what_is_only_named_ends_with_a_clause(claim: str, told: str) -> None:
    assert assess._first_clauses(claim) == told


def test_what_is_only_named_repeats_nothing_and_has_its_figure() -> None:
    late = "In the year of the flood the fund on the hill still held 6 million marks."
    guarded = "The fund has three guards and a dog, people say."
    long = guarded.replace("people", "as people who have seen them " + "every night " * 9)
    [paid, *rest] = claims(PAID, AGAIN, late, guarded, long.replace("three", "four"))
    told = assess.also_found(run_of(paid, *rest), [paid], 1000)
    assert [words for _, words in told] == [
        late,
        guarded,
        "The fund has four guards and a dog …",
    ]
    earlier = run_of(paid, *rest)
    earlier.form, earlier.limits.notes = Form.COMPUTED, 2
    assert "The fund has three guards and a dog …" in [
        words for _, words in assess.also_found(earlier, [paid], 1000)
    ]


def test_so_many_are_named_of_all_sub_questions_in_turn() -> None:
    old = [replace(each, aspect_id="A1") for each in claims(*(f"Fund {n}." for n in range(3)))]
    new = [
        replace(each, id=f"E{n}", aspect_id="A2")
        for n, each in enumerate(claims(*(f"Guard {n} of them sleeps." for n in range(600))), 10)
    ]
    parts = [part for part, _ in assess.also_found(run_of(*old, *new), (), 100_000)]
    assert len(parts) == 2 * assess.ALSO_FOUND and parts.count("A1") == len(old)
    earlier = run_of(*old, *new)
    earlier.form = Form.COMPUTED
    parts = [part for part, _ in assess.also_found(earlier, (), 100_000)]
    assert len(parts) == assess.ALSO_FOUND_BEFORE and "A1" not in parts


@pytest.mark.virtual_time
async def test_prompts_that_ask_for_what_is_missing_show_what_is_only_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (assess, sections, small_tasks):
        monkeypatch.setattr(module, "quotable_parts", lambda ledger: ["A1"])
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, research_depth="thorough")
    assert world.model is not None
    for task in ("assess", "summary"):
        prompt = [each.prompt for each in world.model.requests if each.task == task][-1]
        assert "(A1)" in sections_of(prompt)["FOUND, ONLY TO BE QUOTED"]


@pytest.mark.parametrize(
    ("text", "asks"),
    [("When was the lighthouse lit, and with which oil?", True), (SIMPLE.question, False)],
)
async def test_each_part_of_a_sub_question_is_looked_at(text: str, asks: bool) -> None:
    world = harbour(replace(SIMPLE, parts=(replace(SIMPLE.parts[0], question=text),)))
    assert world.model is not None
    await world.ask(SIMPLE.question)
    told = {each.system for each in world.model.requests if each.task == "assess"}
    assert told and all(("So is each thing" in system) is asks for system in told)
