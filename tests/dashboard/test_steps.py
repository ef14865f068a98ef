"""The steps of an answer, commands to copy, and long quotations in paragraphs."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from dashboard.markdown.markers import Link
from dashboard.markdown.parsing import is_command, with_blocks
from dashboard.markdown.report import render_in_parts, render_markdown
from research.engine.records import Checks
from research.engine.report.rendering.markers import Markers
from research.engine.report.rendering.sections import render_steps_left_out
from research.engine.report.report_format import Layout
from research.engine.report.report_i18n import labels_for
from tests.engine.scripted import ledger

COMMAND = "ALTER TABLE orders SET (fillfactor = 90);"
STEPS = f"""**Short answer.** It waits. [1]

**What to do.** *Inferred by the model.*

1. Leave room with `{COMMAND}`. *(proposal)* [1]
2. Watch `pg_stat_activity`, *often*. [1]

- **Why:** It is full. [1]

## Why

1. Use `{COMMAND}`, then wait. [1]

- Not `{COMMAND}` here.
"""
SAID = "word " * 40


def link(number: int, place: int) -> Link:
    return Link(f"/citations/{number}/")


def test_steps_have_a_label_and_numbers_and_their_notes_are_set_apart() -> None:
    answer = BeautifulSoup(render_in_parts(STEPS, link).answer, "html.parser")
    assert [each.get_text() for each in answer.select(".opening")] == [
        "Short answer.", "What to do.",
    ]  # fmt: skip
    assert len(answer.select("p.todo-head + ol.todo > li")) == 2
    assert [each.get_text() for each in answer.select("em.note")] == [
        "Inferred by the model.", "(proposal)",
    ]  # fmt: skip


def test_every_entry_of_the_contents_has_its_anchor() -> None:
    parts = render_in_parts(STEPS, link)
    page = BeautifulSoup(parts.answer + parts.body, "html.parser")
    assert [each.text for each in parts.headings] == ["What to do", "Why"]
    assert all(page.select(f"#{each.anchor}") for each in parts.headings)


def test_the_answer_says_that_steps_were_left_out_unlike_the_line_of_facts() -> None:
    made, _ = ledger("Why is it full?")
    told = render_steps_left_out(Markers(made, layout=Layout(checks=Checks(steps_refused=2))))
    answer = render_in_parts(f"It waits. [1]\n\n*1 of 1 answered*\n\n{told}", link).answer
    assert "What to do: 2 steps left out" in answer and "1 of 1" not in answer


def test_a_long_command_of_a_step_stands_apart_and_can_be_copied() -> None:
    parts = render_in_parts(STEPS, link)
    answer, body = (BeautifulSoup(each, "html.parser") for each in (parts.answer, parts.body))
    (button,) = answer.select(".command > button[type=button]")
    assert button["data-copy"] == "" and button["data-done"] == "Copied"
    assert button.next_sibling is not None and button.next_sibling.get_text() == COMMAND
    assert [each.get_text() for each in answer.select(".command + .hidden")] == ["."]
    assert [each.get_text() for each in body.select("ol .command code")] == [COMMAND]
    assert not body.select("ul .command")


@pytest.mark.parametrize(
    ("step", "commands"),
    [
        (f"Watch it, then analyze: `{COMMAND}` `ANALYZE` [1]", [COMMAND, "ANALYZE"]),
        ("Analyze it: `ANALYZE` *(proposal)* [1]", ["ANALYZE"]),
        ("Do both: `VACUUM` `ANALYZE`. [1]", ["VACUUM", "ANALYZE"]),
        ("Do both: `VACUUM` *(proposal)* `ANALYZE`. [1]", ["VACUUM", "ANALYZE"]),
        ("Set one of these: `work_mem` for sorting, or none. [1]", []),
        ("Look at `pg_stat_activity`. [1]", []),
        ("Then look at it. `ANALYZE;` `VACUUM;` [1]", ["ANALYZE;", "VACUUM;"]),
        ("Do all: `BEGIN; SET a = 'b; c'; COMMIT;` [1]", ["BEGIN;\nSET a = 'b; c';\nCOMMIT;"]),
        (
            r"List: `find . -exec ls {} \; > a.txt; cat a.txt` [1]",
            ["find . -exec ls {} \\; > a.txt;\ncat a.txt"],
        ),
    ],
)
def test_a_short_command_behind_a_colon_can_be_copied_too(step: str, commands: list[str]) -> None:
    report = f"**Short answer.** It waits. [1]\n\n**What to do.** *It is so.*\n\n1. {step}\n"
    answer = BeautifulSoup(render_in_parts(report, link).answer, "html.parser")
    assert [each.get_text() for each in answer.select(".command button + code")] == commands


def test_no_line_of_a_command_ends_within_an_option() -> None:
    step = "1. Look: `pg_dump --schema-only -f a-b.sql <x>` [1]"
    answer = BeautifulSoup(render_in_parts(step, link).answer, "html.parser")
    assert [each.get_text() for each in answer.select(".command .option")] == [
        "--schema-only",
        "-f",
    ]
    assert answer.select_one(".command code").get_text() == "pg_dump --schema-only -f a-b.sql <x>"


def test_a_saved_report_has_no_button() -> None:
    saved = BeautifulSoup(render_markdown(STEPS, link).html, "html.parser")
    assert len(saved.select(".command")) == 2 and not saved.select("button")


def test_a_page_cannot_bring_a_button() -> None:
    assert "<button" not in render_in_parts("1. <button data-copy='/x'>a</button> [1]", link).answer


def test_a_long_quotation_of_a_paragraph_is_a_block_with_its_source_and_markers() -> None:
    said = f"Before. [1] “{SAID}long. … Then *another*” (trees.test). [2][3] After. [1]"
    page = BeautifulSoup(render_markdown(said, link).html, "html.parser")
    (quotation,) = page.select("p > .quotation")
    shown = quotation.get_text()
    assert shown.startswith("“word") and shown.endswith("23") and "(trees.test)." in shown
    assert len(quotation.select(".cite")) == 2 and len(quotation.select("br")) == 1
    whole = page.get_text()
    assert whole.startswith("Before.") and whole.strip().endswith("After.\u202f1")


@pytest.mark.parametrize(
    "written",
    [
        "He said “it is short” (trees.test). [1]",
        f"It opens “{SAID} and never ends. [1]",
        f"**Trees:** “{SAID}” [1]",
        f"- “{SAID}” [1]",
        f"> “{SAID}” [1]",
        f"Not *“quoted* {SAID}” [1]",
    ],
)
def test_other_quotations_stay_in_their_texts(written: str) -> None:
    assert "quotation" not in render_markdown(written, link).html


def test_long_commands_of_steps_are_blocks_in_saved_markdown() -> None:
    step = "1. Do it. `BEGIN; SET a = 'b; c'; COMMIT;` `VACUUM orders, items;` *(proposal)* [1]"
    code = "   ```\n   {}\n   ```\n\n"
    blocks = code.format("BEGIN;\n   SET a = 'b; c';\n   COMMIT;") + code.format(
        "VACUUM orders, items;"
    )
    assert with_blocks(step) == f"1. Do it.\n\n{blocks}   *(proposal)* [1]"
    parsed = BeautifulSoup(
        render_markdown(with_blocks(f"{step}\n2. Rest. [1]"), link).html, "html.parser"
    )
    assert [each.get_text() for each in parsed.select("ol > li pre")][1:] == [
        "VACUUM orders, items;\n"
    ]
    assert len(parsed.select("ol > li")) == 2
    fences = "\n\n   ```\n   ls\n   ```\n\n   ```\n   du\n   ```"
    assert with_blocks("1. List. [1] `ls` `du`") == f"1. List. [1]{fences}"
    for other in ("1. Look at `pg_stat_activity`. [1]", f"Then `{COMMAND}` is run. [1]"):
        assert with_blocks(other) == other


@pytest.mark.parametrize(
    ("code", "is_block"),
    [
        ("Equity:Opening Balances", False),
        ("gimp-2.10 -i -b - < batch.scm", True),
        ("SELECT count(*) FROM events", True),
        ("hledger add", False),
        ("Assets:Bank:Earmarked funds of choir", True),
    ],
)
def test_a_long_name_in_a_step_is_no_command(code: str, is_block: bool) -> None:
    assert is_command(code) is is_block


@pytest.mark.parametrize(
    ("verdict", "steps", "is_folded"),
    [
        ("Straighten first, restore colours, and sharpen last. [1]", True, True),
        ("", True, False),
        ("Straighten first, restore colours, and sharpen last. [1]", False, False),
    ],
)
def test_lines_on_sub_questions_are_folded_where_a_verdict_and_steps_answer(
    verdict: str, steps: bool, is_folded: bool
) -> None:
    lines = "\n".join(f"- **[Part {n}](#part-{n}):** It is so. [1]" for n in range(4))
    lines += "\n- **Best fit:** This one fits (conclusion). [1]"
    told = "\n\n**What to do.** *Inferred.*\n\n1. Do it. [1]\n2. Check it. [1]" if steps else ""
    markdown = f"# Q\n\n**Short answer.** {verdict}\n\n{lines}{told}\n\n## Part 0\n\nSo. [1]\n"
    parts = render_in_parts(markdown, lambda marker, place: None)
    page = BeautifulSoup(parts.answer, "html.parser")
    folded = page.select_one("details")
    assert (folded is not None) is is_folded
    assert len(page.select("li strong")) >= 4
    if folded:
        assert folded.summary.get_text() == "In brief, on 4 sub-questions"
        told = page.get_text()
        assert told.index("sharpen last") < told.index("This one fits") < told.index("In brief")
        assert "This one fits" not in folded.get_text()
    assert page.get_text().count("no source says it; the model concludes it") == 1


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_line_on_trust_closes_the_answer_without_its_words_on_conclusions(
    language: str,
) -> None:
    words = labels_for(language)
    told = words["rests_on_own"].format(works="“A Manual of Mills” (May 2023)")
    concludes = words["concludes"].format(mark=words["concluded"])
    markdown = (
        f"# Q\n\n**Short answer.** It turns. [1]\n\n*{told} {concludes}*\n\n## Mills\n\nSo. [1]\n"
    )
    page = BeautifulSoup(
        render_in_parts(markdown, lambda marker, place: None, language=language).answer,
        "html.parser",
    )
    assert [each.text for each in page.select(".trust")] == [told]
    assert page.select("p")[-1]["class"] == ["note", "trust"]


def test_a_value_in_brackets_is_no_command() -> None:
    told = "1. Make it (own values: `20`, `tff`, the crop). Then go: `go --far away please`"
    page = BeautifulSoup(render_markdown(f"# Q\n\n{told}\n", lambda m, p: None).html, "html.parser")
    assert [each.code.text for each in page.select(".command")] == ["go --far away please"]


def test_commands_behind_the_markers_of_a_step_can_be_copied() -> None:
    steps = (
        "1. Look whether it runs. [1] `uptime` `date -u`\n2. See `top`, then. [1] `ls` is short.\n"
    )
    report = f"**Short answer.** So. [1]\n\n**What to do.** *It is so.*\n\n{steps}"
    answer = BeautifulSoup(render_in_parts(report, link).answer, "html.parser")
    assert [each.get_text() for each in answer.select(".command button + code")] == [
        "uptime",
        "date -u",
    ]


@pytest.mark.parametrize(("lines", "is_folded"), [(6, False), (7, True)])
def test_a_long_script_is_folded_on_the_page(lines: int, is_folded: bool) -> None:
    script = " ⏎ ".join(f"echo {n} is done" for n in range(lines))
    report = (
        f"**Short answer.** So. [1]\n\n**What to do.** *It is so.*\n\n1. Save it. [1] `{script}`\n"
    )
    for copies in (True, False):
        parts = render_in_parts(report, link) if copies else render_markdown(report, link)
        shown = parts.answer if copies else parts.html
        [command] = BeautifulSoup(shown, "html.parser").select(".command")
        assert command.code is not None and len(command.code.get_text().split("\n")) == lines
        script_of = command.find_parent("details", class_="script")
        assert (script_of is not None) is (is_folded and copies)
        if script_of and script_of.summary:
            assert script_of.summary.get_text() == f"Script of {lines} lines"
