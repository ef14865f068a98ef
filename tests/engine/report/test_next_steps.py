"""Steps that the model infers stand apart, marked, with figures and names that are known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from research.engine.evidence.store import Finding
from research.engine.records import Problem, Source
from research.engine.report.checking.next_steps import (
    find_strangeness,
    is_within_evidence,
    proposed_code,
    split_commands,
)
from research.engine.report.checking.steps_check import (
    SAYS_ELSE,
    STEPS_REFUSED,
    STEPS_UNCHECKED,
)
from research.engine.report.draft import Draft, cite_ids
from research.engine.report.rendering.markdown import render_report
from tests.engine.scripted import (
    CHAIN,
    QUALIFIED,
    Answer,
    Oracle,
    Ran,
    harbour,
    ledger,
    page,
    quoted,
)

FOUNDRY = "Look for the papers of Edda Marlow at the Calder foundry, where she learned. [E1, E2]"
INFERRED = "Inferred by the model from the cited findings; no source says it in these words."


ODD = "Write to the Leith Heritage Society about the foundry. [E2]"
WEAK = replace(QUALIFIED, missed=QUALIFIED.missed + 4)


async def asked(*steps: str, verifier: Any = QUALIFIED, **twists: Any) -> tuple[Oracle, Ran]:
    world = harbour(CHAIN)
    assert world.model is not None
    world.model.twists["draft"] = lambda answer: {**answer, "next_steps": list(steps)}
    world.model.twists |= twists
    ran = await world.ask(CHAIN.question, verifier=verifier)
    replayed = await world.replay(CHAIN.question, verifier=verifier)
    assert replayed.final() == ran.final() and not replayed.journal.divergences
    return world.model, ran


def as_it_was(_: Answer) -> Answer:
    """Repair nothing."""
    return {"statements": []}


def refusing(answer: Answer) -> Answer:
    """Call everything that isn't carried something else."""
    return answer | {"more": [], "other": answer["more"]}


async def test_steps_stand_behind_the_answer_and_say_that_they_are_inferred() -> None:
    model, ran = await asked(FOUNDRY)
    told = ran.report.markdown
    top = told.partition("## ")[0]
    first, second = (top.index(text) for text in ("\n- **", f"**What to do.** *{INFERRED}*\n\n1. "))
    assert first < second and top.count("\n- **") == len(CHAIN.parts)
    assert told.index("Short answer") < told.index("What to do") < told.index("## ")
    [line] = [line for line in told.splitlines() if line.startswith("1. Look")]
    assert line.endswith("]") and "E1" not in line
    prompt = next(r.system for r in model.requests if r.task == "draft")
    assert "`next_steps`: where the question asks what to do" in prompt
    assert "what finds the cause; last how to see" in prompt
    assert "Up to three simple commands, not counted" in prompt
    shown = [r.prompt for r in model.requests if r.task == "verify"][-1]
    assert f'"{CHAIN.question}" (question)' in shown


@pytest.mark.parametrize(
    ("step", "own"),
    [
        ("Ask for the foundry's ledgers of 1871. [E2]", "of 1871"),
        ("Write to the Leith Heritage Society about the foundry. [E2]", "Leith Heritage Society"),
        ("Set max_lamps higher at the foundry. [E2]", "`max_lamps`"),
        ("Set `max_lamps = 3` at the foundry. [E2]", "`max_lamps`"),
    ],
)
async def test_a_figure_or_name_of_its_own_is_marked_in_a_step(step: str, own: str) -> None:
    _, ran = await asked(step, repair=as_it_was)
    assert f"*(not from the sources: {own})* [" in ran.report.markdown
    _, weak = await asked(step, repair=as_it_was, verifier=WEAK)
    assert ("**What to do.**" in weak.report.markdown) is ("= 3" in step), "only code is marked"


@pytest.mark.parametrize(
    "step",
    ["Visit the foundry 14 {= 2 * 6} times. [E2]", "Visit the foundry. [E99]",
     "Visit the foundry."],
)  # fmt: skip
async def test_a_step_on_nothing_or_with_a_false_result_is_left_out(step: str) -> None:
    _, ran = await asked(step, repair=as_it_was)
    assert "**What to do.**" not in ran.report.markdown


async def test_a_step_with_a_figure_of_its_own_may_be_written_anew() -> None:

    def repair(answer: Answer) -> Answer:
        return {"statements": [{**each, "text": FOUNDRY[:-9]} for each in answer["statements"]]}

    told = "Ask for the foundry's ledgers of 1871. [E2]"
    model, ran = await asked(told, repair=repair, verifier=WEAK)
    prompt = next(r.prompt for r in model.requests if r.task == "repair")
    assert "a next step may have figures of its quotes" in prompt
    assert "1. Look for the papers" in ran.report.markdown and "1871" not in ran.report.markdown
    assert ran.report.checks.quoted_instead == 0


async def test_a_step_may_set_something_to_zero() -> None:
    _, ran = await asked("Count 0 visits to the Calder foundry before you have been there. [E2]")
    assert "1. Count 0 visits" in ran.report.markdown


async def test_a_value_of_the_model_s_own_is_marked() -> None:
    _, ran = await asked("Ask at the Calder foundry with `foundry --copies`. [E2]", FOUNDRY)
    assert ". Look for the papers" in ran.report.markdown
    assert "`foundry --copies`. *(not from the sources: `--copies`)* [" in ran.report.markdown
    _, ran = await asked("Write `papers = 12` into your notes on the Calder foundry. [E2]")
    [line] = [each for each in ran.report.markdown.splitlines() if each.startswith("1. Write")]
    assert "*(proposal)* [" in line
    assert f"*{INFERRED} Where it says “proposal”, no source gives the value" in ran.report.markdown


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Do both: `VACUUM` `ANALYZE`.", ["VACUUM", "ANALYZE"]),
        ("Look first. `ls`, `cat a`", ["ls", "cat a"]),
        ("It is held back only by `-m`. `grep -o x`", ["grep -o x"]),
        ("Run `a`: `b`. `c`", ["b", "c"]),
        ("Look at `a`.", []),
    ],
)
def test_the_commands_of_a_step_stand_behind_a_colon_or_a_stop(
    text: str, commands: list[str]
) -> None:
    said, found = split_commands(text)
    assert found == commands and text.startswith(said)


async def test_a_step_with_commands_of_its_own_is_marked_once() -> None:
    step = "Look with `papers = 12` for the foundry, not twice: `foundry` `papers = 12`. [E2]"
    _, ran = await asked(step)
    [line] = [each for each in ran.report.markdown.splitlines() if each.startswith("1. Look")]
    assert "not twice *(proposal)*: [" in line and line.endswith("] `foundry` `papers = 12`")


@pytest.mark.parametrize(
    ("command", "is_known"),
    [
        ("alter table papers add constraint papers_ck check", True),
        ("set papers_ck = 3", False),
        ("select papers_ck(3)", False),
        ("papers --papers_ck", False),
        ("create table papers_ck (like papers)", True),
        ("create index on papers_ck (papers)", True),
        ("insert into papers_ck (papers) values (3)", True),
        ("alter table papers_ck set (papers = 3)", True),
        ("select papers from papers where papers_ck = 3", True),
        ("select papers from papers where papers_ck(3)", False),
        ("alter system set papers_ck = 3", False),
        ("/opt/papers-15/bin/papers check", True),
        ("papers /data/papers_ck", True),
        ("/opt/papers-15/bin/papers-ck check", False),
    ],
)
async def test_a_command_may_name_what_it_makes(command: str, is_known: bool) -> None:
    made, _ = ledger("What should we look up?")
    text = "The foundry keeps papers; alter table adds a constraint or check."
    made.book.add(Finding(text, "A1", quoted(page("https://a.example/", text), text), 0.9), 1)
    step = cite_ids(f"Keep the papers apart: `{command}`. [E1]", made)
    assert is_within_evidence(step, made) is is_known and proposed_code(step, made)


async def test_only_a_step_behind_one_that_is_left_out_says_so() -> None:
    later = "Ask again at the Calder foundry. [E2]"
    _, ran = await asked(FOUNDRY, ODD, later, verifier=WEAK, repair=as_it_was)
    told = ran.report.markdown
    assert "1. Look for" in told and "2. (A step before this one was left out.) Ask again" in told


async def test_what_a_step_has_of_its_own_is_marked_where_the_verifier_misses_little() -> None:
    _, ran = await asked(FOUNDRY, ODD, repair=as_it_was)
    marked = "about the foundry. *(not from the sources: Leith Heritage Society)* ["
    assert marked in ran.report.markdown


async def test_a_step_may_have_three_commands() -> None:
    made, _ = ledger("What should we look up?")
    text = "The foundry keeps papers; max_papers limits them."
    made.book.add(Finding(text, "A1", quoted(page("https://a.example/", text), text), 0.9), 1)
    commands = "`show max_papers`; `set max_papers = 12`; `show max_papers`"
    step = cite_ids(f"Raise the limit: {commands}. [E1]", made)
    assert is_within_evidence(step, made) and proposed_code(step, made)


async def test_a_command_may_have_names_of_any_page_that_was_read() -> None:
    made, _ = ledger("What should we look up?")
    text = "The foundry keeps papers."
    source = page("https://a.example/", text)
    made.book.add(Finding(text, "A1", quoted(source, text), 0.9), 1)
    made.put_source(Source(source.url, source.title, source.domain, 1, status="read"))
    step = cite_ids("Look up the papers: `foundry --copies`. [E1]", made)
    assert not is_within_evidence(step, made)
    shown = render_report(made, Draft((step,), (), next_steps=(step,)), "", 0, 0).markdown
    marked = "1. Look up the papers *(not from the sources: `--copies`)*: [1] `foundry --copies`"
    assert marked in shown and "(proposal)" not in shown
    made.put_page(page("https://b.example/", "Use --copies for a second set."))
    assert is_within_evidence(step, made) and proposed_code(step, made)


@pytest.mark.parametrize(
    ("step", "strange"),
    [
        ("Ask Ruth Ansel in the foundry for 12 papers.",
         "'12 papers' and 'Ruth Ansel' are in none of its quotes and not in the question"),
        ("Look at max_papers.", "'max_papers' is in none of its quotes and not in the question"),
        ("Look up the papers: `foundry --copies`.", "'--copies' is on no page"),
        ("Look up the papers of the foundry.", ""),
        ("Look up half {= 3 / 6} of the papers.", "'3' in its formula is in no quote"),
    ],
)  # fmt: skip
def test_what_a_step_has_of_its_own_is_named(step: str, strange: str) -> None:
    made, _ = ledger("What should we look up?")
    text = "The foundry keeps papers."
    made.book.add(Finding(text, "A1", quoted(page("https://a.example/", text), text), 0.9), 1)
    told = find_strangeness(cite_ids(f"{step} [E1]", made), made)
    assert told.startswith(strange) and bool(told) is bool(strange)


async def test_a_refused_step_is_written_anew_and_checked_once_more() -> None:
    anew = "Ask for the papers of Edda Marlow at the Calder foundry."
    repairs = list[str]()

    def repaired(answer: Answer) -> Answer:
        repairs.extend(each["text"] for each in answer["statements"])
        said = {"text": anew, "evidence": ["E1", "E2"]}
        return {"statements": [{**each, **said} for each in answer["statements"]]}

    model, ran = await asked(FOUNDRY, verify=refusing, repair=repaired)
    [repair] = [each.prompt for each in model.requests if each.task == "repair"]
    assert f"{FOUNDRY.partition(' [')[0]} (cites E1, E2): {SAYS_ELSE}" in repair and repairs
    judged = [each.prompt for each in model.requests if each.task == "verify"]
    assert len(judged) == 2 and anew in judged[-1]
    assert "**What to do.**" not in ran.report.markdown, "it was refused again"
    _, kept = await asked(FOUNDRY, repair=repaired)
    assert FOUNDRY.partition(" [")[0] in kept.report.markdown


async def test_a_step_that_says_something_else_is_left_out() -> None:
    _, ran = await asked(FOUNDRY, verify=refusing, repair=as_it_was)
    assert "**What to do.**" not in ran.report.markdown
    assert Problem("next steps", STEPS_REFUSED.format(n=1)) in ran.of(Problem)
    told = "What to do: 1 step left out, as it says something that no source does."
    assert told in ran.report.markdown.split("\n## ")[0].splitlines()


async def test_without_a_believed_verifier_there_are_no_steps() -> None:
    _, ran = await asked(FOUNDRY, verify=lambda answer: {**answer, "carried": [], "more": []})
    assert "**What to do.**" not in ran.report.markdown
    assert Problem("next steps", STEPS_UNCHECKED.format(n=1)) in ran.of(Problem)
    told = "What to do: 1 step left out, as no verifier was believed on it."
    assert told in ran.report.markdown.split("\n## ")[0].splitlines()
