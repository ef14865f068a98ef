"""Code in a report: options and settings are code wherever they stand."""

from __future__ import annotations

from dataclasses import replace

from research.engine.evidence.relations import Cell, KeyFigure, Relations, ToldChange
from research.engine.journal.forms import Form
from research.engine.records import OpenPoint
from research.engine.report.draft import Draft, Section, Statement
from research.engine.report.rendering.markdown import render_report
from research.engine.report.rendering.markdown_escape import code_words
from research.engine.report.report_format import Layout
from tests.engine.report.test_comparing import ledger_of, record_of

OPTION = "--jobs=4"
SETTING = "work_mem=64MB"
CLAIMS = (f"The board runs {OPTION}.", f"The board sets {SETTING}.", "It is slow.")
PLACES = {
    "short answer": f"So run `{OPTION}`.",
    "section": f"Then run `{OPTION}`.",
    "quotation": f"“The board sets `{SETTING}`” (3.example). [",
    "box": f"– The board runs `{OPTION}`. [",
    "quote in a box": f"– “The board sets `{SETTING}`.” [",
    "comparison": f"| `pg_dump` | `{SETTING}` [",
    "key figures": f"| The `work_mem` | **`{SETTING}`** [",
    "changes": f"| The setting | `{SETTING}` [",
    "next steps": f"1. Try `{OPTION}`. [",
    "still open": f"*Still open: how long readers wait at night for `{OPTION}` in",
}


def test_options_and_settings_are_code_in_every_part() -> None:
    records = [record_of(f"E{n}", claim, f"{n}.example") for n, claim in enumerate(CLAIMS, 1)]
    known = ledger_of(*records)
    known.book.oppose(records[0], records[1])
    cell = Cell(SETTING, ("E3",))
    change = ToldChange("the setting", SETTING, "none", "2025", ("E3",), ("E3",))
    known.relations = Relations(
        True,
        entities=("pg_dump", "psql"),
        properties=("setting",),
        cells={("pg_dump", "setting"): cell, ("psql", "setting"): cell},
        figures=(KeyFigure("the work_mem", SETTING, "", ("E3",)),),
        changes=(change, change),
    )
    draft = Draft(
        (Statement(f"So run {OPTION}.", ("E3",)),),
        (
            Section(
                "A1",
                (
                    Statement(f"Then run {OPTION}.", ("E3",)),
                    Statement("It is slow, they say.", ("E3",)),
                    Statement("And it stays so.", ("E3",)),
                    Statement(f"“The board sets {SETTING}.”", ("E3",), quoted=True),
                    Statement(CLAIMS[0], ("E1",)),
                ),
            ),
        ),
        next_steps=(Statement(f"Try {OPTION}.", ("E3",)),),
        open=(OpenPoint("A1", f"how long readers wait at night for {OPTION} in practice"),),
    )
    layout = Layout(has_figures=True, lists_changes=True, is_led=True)
    told = render_report(known, draft, "", 0, 0, layout).markdown
    assert [name for name, text in PLACES.items() if text not in told] == []
    known.began = Form.REPAIRED
    before = render_report(known, replace(draft), "", 0, 0, layout).markdown
    assert f"`{OPTION}`" not in before


def test_a_word_that_is_code_once_is_code_everywhere_but_in_quotations() -> None:
    known = ledger_of(record_of("E1", "The replica is full, and runs setval(1).", "1.example"))
    told = (
        "Set it with `setval` to `full`, then run `ANALYZE`.",
        "Only setval and ANALYZE help, not setvals or setval(2); the disk is full.",
        "They write “setval here”.",
    )
    quotation = Statement("“The setval is told.”", ("E1",), quoted=True)
    section = Section("A1", (*(Statement(text, ("E1",)) for text in told), quotation))
    step = Statement("Run setval again.", ("E1",))
    draft = Draft((), (section,), next_steps=(step,))
    shown = render_report(known, draft, "", 0, 0).markdown
    assert "Only `setval` and `ANALYZE` help, not setvals or setval(2); the disk is full" in shown
    assert "“setval here”" in shown and "“The setval is told" in shown
    assert "1. Run `setval` again." in shown
    known.began = Form.COMPUTED
    assert "Only setval and ANALYZE help" in render_report(known, draft, "", 0, 0).markdown


def test_a_step_is_no_reason_to_set_ordinary_words_as_code() -> None:
    texts = ["Set `on`, `Logical`, `work_mem` and `vacuumdb`."]
    assert code_words(texts, "Logical copies are made.") == {"work_mem", "vacuumdb"}


def test_options_of_commands_and_pages_are_code_in_all_sentences() -> None:
    known = ledger_of(record_of("E1", "With -z 2 zones are set, and -r removes tags.", "1.example"))
    told = ("Take -z, not -x: -all= and -gps:all= with --jfif:all keep a -gps of well-known use.",)
    section = Section("A1", tuple(Statement(text, ("E1",)) for text in told))
    step = Statement("Strip it. `exiftool -all= -gps:all= --jfif:all web`", ("E1",))
    value = Cell("-z and -gps:all=", ("E1",))
    known.relations = Relations(
        True, {}, ("A", "B"), ("zone", "x"), {("A", "zone"): value, ("B", "x"): value}
    )
    shown = render_report(known, Draft((), (section,), next_steps=(step,)), "", 0, 0).markdown
    assert "| `-z` and `-gps:all=` [1] |" in shown
    assert (
        "Take `-z`, not -x: `-all=` and `-gps:all=` with `--jfif:all` keep a -gps of well-known use"
    ) in shown
    assert "1. Strip it. " in shown and shown.count("[1] `exiftool -all= -gps:all= --jfif:all web`")
