"""A thorough run's report: sections side by side, a summary of them, and what fails alone."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from research.engine.journal import recording
from research.engine.journal.forms import Form
from research.engine.llm_tasks.sections import write_sections
from research.engine.ports import ModelFailedError
from research.engine.records import Aspect, Evidence
from research.engine.report import outline, report
from research.engine.report.draft import Draft
from research.engine.run import Run
from tests.engine.report.test_report import check_markers
from tests.engine.scripted import (
    CHAIN,
    DESIGNED,
    OWNED,
    QUALIFIED,
    TRAINED,
    Answer,
    Oracle,
    Ran,
    World,
    harbour,
    sections_of,
)

THOROUGH = {"research_depth": "thorough"}


async def thorough(twist: Callable[[Oracle], None] = lambda model: None) -> tuple[World, Ran]:
    world = harbour(CHAIN)
    assert world.model is not None
    twist(world.model)
    return world, await world.ask(CHAIN.question, **THOROUGH)


def models(world: World) -> Oracle:
    assert world.model is not None
    return world.model


async def test_each_sub_question_has_a_section_drafted_from_evidence_of_its_own() -> None:
    world, ran = await thorough()
    asked = [r for r in models(world).requests if r.task == "section"]
    owned = [set(re.findall(r"^\[(E\d+)\]", r.prompt, re.MULTILINE)) for r in asked]
    assert len(asked) == 3 and all(owned)
    assert len(set().union(*owned)) == sum(map(len, owned))
    assert all("OUTLINE" not in sections_of(each.prompt) for each in asked)
    for text in (DESIGNED, TRAINED, OWNED):
        assert text in ran.report.markdown
    check_markers(ran)


async def test_drafts_are_asked_to_answer_first_and_to_introduce_what_they_name() -> None:
    world, _ = await thorough()
    told = {each.task: f"{each.system} {each.prompt}" for each in models(world).requests}
    assert "what each case, name and abbreviation is" in told["section"]
    assert "vivid details last" in told["section"]
    assert "itself, not a side matter" in told["summary"]
    standard = harbour(CHAIN)
    await standard.ask(CHAIN.question, research_depth="standard")
    draft = next(each for each in models(standard).requests if each.task == "draft")
    assert "explained in plain words where it first comes up" in draft.system


async def test_the_section_on_the_course_of_events_is_told_of_its_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first, second, third = CHAIN.parts
    third = replace(third, question=f"{third.question} Please tell it in order.")
    script = replace(CHAIN, parts=(first, second, third))
    for form, number in ((Form.COMPUTED, 1), (Form.REPAIRED, 0)):
        monkeypatch.setattr(recording, "NEWEST", form)
        world = harbour(script)
        await world.ask(script.question, **THOROUGH)
        asked = [each for each in models(world).requests if each.task == "section"]
        told = [each for each in asked if "into a table by date" in each.system]
        assert len(asked) == 3 and len(told) == number
        assert all("in order" in sections_of(each.prompt)["SUB-QUESTIONS"] for each in told)


async def test_sections_have_places_of_their_own_in_the_journal() -> None:
    world, _ = await thorough()
    places = {place for place, _ in world.store.entries if place.startswith("report/")}
    wanted = {f"report/section/{part}" for part in ("A1", "A2", "A3")} | {"report/summary"}
    assert wanted <= places and "report/draft" not in places


async def test_a_section_with_more_evidence_than_a_draft_holds_has_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outline, "MOST_RECORDS", 1)
    world, ran = await thorough()
    shown = [
        tuple(re.findall(r"^\[(E\d+)\]", each.prompt, re.MULTILINE))
        for each in models(world).requests
        if each.task == "section"
    ]
    assert all(len(ids) == 1 for ids in shown) and len(set(shown)) == len(shown) > 3
    places = [place for place, _ in world.store.entries if place.startswith("report/section/")]
    assert len(set(places)) == len(shown)
    assert all(text in ran.report.markdown for text in (DESIGNED, TRAINED, OWNED))
    monkeypatch.undo()
    check_markers(ran)


async def test_a_part_of_a_section_without_a_draft_is_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outline, "MOST_RECORDS", 1)
    _, whole = await thorough()
    shared = Counter(record.aspect_id for record in whole.evidence)
    lost = next(record for record in whole.evidence if shared[record.aspect_id] > 1)

    def say_nothing(model: Oracle) -> None:
        model.twists["section"] = lambda answer: (
            {**answer, "statements": []} if lost.id in str(answer["statements"]) else answer
        )

    drafts = []

    async def keep(run: Run) -> Draft:
        drafts.append(await write_sections(run))
        return drafts[-1]

    monkeypatch.setattr(report, "write_sections", keep)
    await thorough(say_nothing)
    said = [each for each in drafts[0].statements if lost.id in each.evidence]
    assert [each.quoted for each in said] == [True]


async def test_a_section_that_fails_is_quoted_and_the_others_stay() -> None:
    def fail_once(model: Oracle) -> None:
        model.faults["section"] = [ModelFailedError("It would not answer.", permanent=True)]

    _, ran = await thorough(fail_once)
    assert ran.usage.fallbacks == {"section": {"It would not answer.": 1}}
    first, *others = re.split(r"^## ", ran.report.markdown, flags=re.MULTILINE)[1:4]
    assert "“" in first and not any("“" in other for other in others)
    check_markers(ran)


async def test_the_summary_follows_the_checked_statements_alone() -> None:
    """A sentence that says more than its statements goes; so does one that names none."""
    invented = "The lighthouse was designed by Ruth Ansel in 1999. [1]"

    def invent(model: Oracle) -> None:
        model.twists["summary"] = lambda _: {"sentences": [invented, "Nobody knows.", "Or: [99]"]}

    _, ran = await thorough(invent)
    assert "1999" not in ran.report.markdown and "Nobody knows" not in ran.report.markdown


async def test_the_summary_of_sections_brings_steps_for_the_asker() -> None:
    step = "Look for the papers of Edda Marlow at the Calder foundry."

    def with_step(answer: Answer) -> Answer:
        return {**answer, "next_steps": [f"{step} [1, 2]", "Ask in 1950. [1]"]}

    world = harbour(CHAIN)
    models(world).twists["summary"] = with_step
    ran = await world.ask(CHAIN.question, verifier=QUALIFIED, **THOROUGH)
    told = ran.report.markdown
    assert f"1. {step} [" in told and "2. Ask in 1950. *(not from the sources: in 1950)* [" in told
    check_markers(ran)


async def test_a_summary_that_leaves_a_sub_question_out_is_completed() -> None:
    def first_only(answer: Answer) -> Answer:
        return {"sentences": answer["sentences"][:1]}

    _, ran = await thorough(lambda model: model.twists.update(summary=first_only))
    for text in (DESIGNED, TRAINED):
        assert text in ran.report.short_answer
    assert "Ruth Ansel" in ran.report.short_answer


async def test_a_report_in_sections_is_replayed_without_a_call() -> None:
    world, ran = await thorough()
    models(world).requests.clear()
    again = await world.replay(CHAIN.question, **THOROUGH)
    assert again.report == ran.report and not models(world).requests


async def test_a_run_that_lost_its_sections_drafts_no_other() -> None:
    """On resume only what is not recorded is asked for."""
    world, ran = await thorough()
    del world.store.entries["report/section/A2", 1]
    models(world).requests.clear()
    again = await world.ask(CHAIN.question, **THOROUGH)
    assert models(world).tasks == ["section"]
    assert again.report == ran.report


async def test_where_sections_take_over_half_of_a_budget_one_draft_is_made() -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question, **THOROUGH, max_llm_calls=11)
    assert "section" not in models(world).tasks


async def test_a_standard_run_of_few_sub_questions_is_one_draft() -> None:
    world = harbour(CHAIN)
    await world.ask(CHAIN.question)
    assert models(world).tasks.count("draft") == 1 and "section" not in models(world).tasks


def test_short_sections_of_a_broad_report_are_drafted_together() -> None:
    def parts(*sizes: int) -> list[outline.OutlinePart]:
        aspects = [Aspect(f"A{n}", "Why?", "why", "plan", 1) for n in range(len(sizes))]
        record = Evidence("E1", "It is.", "A1", 1, (), 0.9)
        return [
            outline.OutlinePart(aspect, (record,) * size, 100)
            for aspect, size in zip(aspects, sizes, strict=True)
        ]

    def grouped(*sizes: int) -> list[list[int]]:
        groups = outline.group_parts(parts(*sizes))
        return [[len(part.records) for part in group] for group in groups]

    assert grouped(1, 2, 3, 4, 5) == [[1], [2], [3], [4], [5]]
    assert grouped(9, 11, 10, 2, 8, 1) == [[9, 10], [11], [2, 8, 1]]


def test_words_are_shared_out_by_evidence_within_bounds() -> None:
    shared = [outline._share_words(3000, own, 40, 1) for own in (1, 10, 30)]
    assert shared == [outline.LEAST_WORDS, 750, outline.MOST_WORDS]
    assert outline._share_words(3000, 30, 40, drafts=2) == 2 * outline.MOST_WORDS
