"""Code of several lines in a step, such as a file to write."""

from __future__ import annotations

from bs4 import BeautifulSoup

from dashboard.markdown.parsing import with_blocks
from dashboard.markdown.report import render_in_parts
from research.engine.report.draft import Draft, Section, cite_ids, with_lines_joined
from research.engine.report.rendering.markdown import render_report
from tests.engine.report.test_comparing import ledger_of, record_of

FILE = "server 192.0.2.1 iburst\n  minpoll 4\nmakestep 0.1 3"


def test_the_lines_of_a_file_are_kept_from_the_draft_to_the_page() -> None:
    known = ledger_of(record_of("E1", "Use server, iburst, minpoll and makestep.", "1.example"))
    step = cite_ids(f"Write `{FILE}\n` into the file:\n`{FILE}` [E1]", known)
    draft = Draft((cite_ids("It is so. [E1]", known),), (Section("A1", ()),), next_steps=(step,))
    shown = render_report(known, draft, "", 0, 0).markdown
    assert "\n1. " in shown and shown.count("`server 192.0.2.1 iburst ⏎ ␣␣minpoll 4 ⏎ make") == 2
    page = BeautifulSoup(render_in_parts(shown, lambda marker, place: None).answer, "html.parser")
    assert [each.get_text() for each in page.select(".command code")] == [FILE, FILE]
    indented = FILE.replace("\n", "\n   ")
    assert f"```\n   {indented}\n   ```" in with_blocks(shown)


def test_what_stands_between_code_keeps_its_spaces_and_lines() -> None:
    text = "Correct `-O` or `-z` below.\nThen: `ls -l` `cat a`"
    assert with_lines_joined(text) == text
    assert with_lines_joined("Write `a\n  b` or `c` to\n`d`") == "Write `a ⏎ ␣␣b` or `c` to\n`d`"
    assert with_lines_joined("A lone ` and\n more") == "A lone ` and\n more"
