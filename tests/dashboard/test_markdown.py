from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.utils import translation

from dashboard.charts import draw_charts
from dashboard.exports.blocks import parse_blocks
from dashboard.markdown.markers import Link
from dashboard.markdown.parsing import markers_beside
from dashboard.markdown.report import render_in_parts, render_markdown
from dashboard.markdown.statements import cited_texts
from research.engine.report.report_i18n import labels_for

pytestmark = pytest.mark.django_db

SITES = {1: frozenset({"a.test", "b.test"}), 2: frozenset({"a.test"})}


def link(number: int, place: int) -> Link | None:
    return Link(f"/citations/{number}/", f'"{number}" <b>', SITES[number]) if number < 3 else None


def html(markdown: str) -> str:
    return str(render_markdown(markdown, link).html)


def test_a_script_in_a_quote_stays_text() -> None:
    assert "<script" not in html('"<script>alert(1)</script>" [1]')
    assert "&lt;script&gt;" in html('"<script>alert(1)</script>" [1]')


@pytest.mark.parametrize(
    "markdown",
    [
        "[x](javascript:alert(1))",
        "![x](https://other.example/x.png)",
        "<img src=x onerror=alert(1)>",
        "[x](data:text/html,1)",
    ],
)
def test_nothing_active_and_nothing_from_another_host_is_let_through(markdown: str) -> None:
    found = html(markdown)
    assert "<img" not in found and "href=" not in found


def test_a_marker_becomes_a_link_and_the_first_of_its_number_an_anchor() -> None:
    found = html("One. [1] Again. [1] Two. [2]")
    assert found.count('href="/citations/1/"') == 2
    assert found.count('id="cite-1"') == 1 and found.count('id="cite-2"') == 1


def test_a_marker_tells_what_is_behind_it_and_whether_it_stands_alone() -> None:
    found = html("One. [1] Two. [2]")
    assert 'title="&quot;1&quot; &lt;b&gt;"' in found
    assert found.count('class="cite single"') == 1


def test_sites_are_counted_for_a_statement_not_for_each_of_its_numbers() -> None:
    found = html("One. [1][2] Two. [2]")
    assert re.findall(r"<sup class=\"([^\"]+)", found) == ["cite", "cite further", "cite single"]
    assert found.rindex("single") > found.index("Two.")


def test_markers_of_one_statement_are_found_from_any_of_them() -> None:
    markdown = "One. [1] Two. [2] [1]\n\n`[1]` Three. [1]"
    assert markers_beside(markdown, 2, 0) == [(2, 0), (1, 1)] == markers_beside(markdown, 1, 1)
    assert markers_beside(markdown, 1, 2) == [(1, 2)] and markers_beside(markdown, 3, 0) == []


@pytest.mark.parametrize("markdown", ["No such. [9]", r"The page's own. \[1\]", "`code[1]`"])
def test_what_is_no_marker_of_the_report_stays_text(markdown: str) -> None:
    assert "href=" not in html(markdown)


def test_a_quoted_page_cannot_give_a_marker_another_target() -> None:
    assert "evil" not in html("Oaks. [1]\n\n[1]: https://evil.example/\n").split("</a>")[0]


def test_cells_carry_the_name_of_their_column_for_narrow_screens() -> None:
    table = (
        "| | value | **As of** |\n|---|---|---|\n| Height | 30 m [1] | 2024 |\n| Age | | 2025 |\n"
    )
    found = html(f"{table}\n{table.replace('value', 'Storage engine')}")
    assert 'class="changes"' not in found
    assert re.findall(r'<td data-label="([^"]+)">([^<]*)', found) == [
        ("Value", "30 m\u202f"), ("As of", "2024"), ("As of", "2025"),
        ("Storage engine", "30 m\u202f"), ("As of", "2024"), ("As of", "2025"),
    ]  # fmt: skip


def test_a_single_column_of_values_is_not_named_in_each_cell() -> None:
    assert "data-label" not in html("| | Value |\n|---|---|\n| Height | 30 m [1] |\n")


@pytest.mark.parametrize("language", ["en", "de"])
def test_many_calculations_are_folded(language: str) -> None:
    name = labels_for(language)["calculations"]
    for number, folds in ((3, False), (4, True)):
        lines = "\n".join(f"- {n} [1] × 2 = {2 * n}" for n in range(number))
        body = render_in_parts(f"## {name}\n\n{lines}\n", link, (), language).body
        assert ("<summary>4 calculations</summary>" in body) is folds
        assert body.count("<li>") == number and f"{name}</h2>" in body


@pytest.mark.parametrize(
    ("language", "head"), [("en", "Before | Now | As of"), ("de", "Früher | Jetzt | Stand")]
)
def test_the_table_of_changes_is_known_in_each_language(language: str, head: str) -> None:
    table = f"| | {head} |\n|---|---|---|---|\n| Height | 20 m [1] | 30 m [1] | 2024 |\n"
    assert '<table class="changes">' in render_markdown(table, link, language).html
    assert '<table class="changes">' not in render_markdown(table, link, "fr").html


def test_the_table_of_events_is_known() -> None:
    table = "| Datum | Ereignis |\n|---|---|\n| 2024 | Es fiel. [1] |\n"
    assert '<table class="events">' in render_markdown(table, link, "de").html
    assert "<table>" in render_markdown(table, link, "en").html


def test_headings_are_listed_with_their_anchors() -> None:
    rendered = render_markdown("## First\n\n### Not this\n\n## Second", link)
    assert [heading.text for heading in rendered.headings] == ["First", "Second"]
    assert 'id="section-2"' in rendered.html


def test_the_sentence_before_a_rejected_marker_is_marked() -> None:
    """F4: only that one, and where it has other markers beside it, only if all are rejected."""
    links = {1: Link("/1"), 2: Link("/2", rejected=True), 3: Link("/3", rejected=True)}
    said = "One is so. Two is <so>. [2][3] Three is so. [1][2] Four is so. [1]"
    html = render_markdown(said, lambda number, _: links.get(number)).html
    assert 'One is so. <span class="rejected">Two is &lt;so&gt;.</span>\u202f<sup' in html
    assert html.count('<span class="rejected">') == 1
    assert html.count('class="cite further rejected"') == 2
    assert html.count('aria-label="Citation 2, rejected"') == 2


def test_the_name_of_a_quote_s_source_is_marked_and_nothing_else_that_is_bold() -> None:
    found = html("**Short answer.** **Eggs › `pan`:** “Low heat.” [1] **Two**: pans. [2]")
    assert found.count('class="lead-in"') == 1
    assert '<strong class="lead-in">Eggs' in found


def test_a_text_that_only_quotes_a_page_says_so() -> None:
    quoting = "## A\n\n**The Ledger:** “It grew in 2024.” [1][2]"
    shown = render_in_parts(quoting, link).body
    assert '<strong class="lead-in quoting">The Ledger · <span class="told-by">quoted' in shown
    coded = quoting.replace("It grew", "`work_mem` grew")
    assert "told-by" in render_in_parts(coded, link).body
    assert "quoting" not in render_in_parts(quoting, link, folds=True).body, "there all do"
    for other in (
        "**The Ledger:** It grew in 2024. [1]",
        "**The Ledger:** “It grew.” [1] “It fell.” [2]",
        "**⚠ Sources disagree:** “It grew.” [1] The Ledger says it fell. [2]",
    ):
        assert "quoting" not in render_in_parts(f"## A\n\n{other}", link).body


def test_a_line_in_italics_is_marked_and_a_word_in_italics_is_not() -> None:
    assert '<em class="standing">One source</em>' in html("## Age\n\n*One source*\n\nOld. [1]")
    assert "<em>Quercus</em>" in html("*Quercus* is old. [1]")


def test_no_line_ends_between_a_statement_and_its_marker() -> None:
    assert "One.\u202f<sup" in html("One. [1]") and "</sup> Two.\u202f<sup" in html(
        "One. [1] Two. [2]"
    )


def test_who_says_a_statement_and_doubts_about_it_are_set_apart() -> None:
    told = html("It fell (Hot Rocks, 2019-10-23). [1] It rose (2 sources, 2015–2026). [2]")
    assert '<span class="told-by">(Hot Rocks, 23 October 2019)</span>.\u202f<sup' in told
    assert '<span class="told-by">(2 sources, 2015–2026)</span>' in told
    doubted = html("It fell. [1] (⚠ a source of 2026-05-22 says otherwise) It rose. [2]")
    assert '<span class="doubted">⚠ a source of 22 May 2026 says otherwise</span>' in doubted
    marked = html("Four of five were against (older figure, 2012; read in forums only). [1]")
    assert '<span class="told-by">(older figure, 2012; read in forums only)</span>' in marked
    german = html("Es fiel (vielleicht überholt). [1]")
    assert '<span class="told-by">(vielleicht überholt)</span>' in german
    for said in ("“It fell (Hot Rocks, 2019-10-23)”. [1]", "It (the rock) fell. [1]"):
        assert "told-by" not in html(said)


def test_what_opens_an_answer_is_a_label_without_a_period() -> None:
    parts = render_in_parts(REPORT, link)
    assert '<strong class="opening">Short answer<span class="hidden">.</span></strong>' in (
        parts.answer
    )


REPORT = """# How old do oaks get?

**Short answer.** About 600 years. [1]

*1 of 1 answered · 1 quote from 1 site*

## How old do oaks get

It is slow. [1]

## Sources

- [1] Oak, trees.test, 2024-05-06: <https://trees.test/oak/age.html?from=feed>
- Notes, Team handbook: <file:///Team%20handbook/trees.md>
- Book, Team handbook: <file:///Team%20handbook/book.md?part=7>
"""


def test_a_report_is_split_into_its_answer_and_its_sections() -> None:
    parts = render_in_parts(REPORT, link, ["How old do oaks get?"])
    assert "About 600 years." in parts.answer and "slow" not in parts.answer
    assert "It is slow." in parts.body and "600" not in parts.body
    assert [heading.text for heading in parts.headings] == ["Sources"]
    for repeated in ("How old", "1 of 1 answered"):
        assert repeated not in parts.answer + parts.body


def test_passages_behind_the_first_of_a_section_are_folded_and_so_is_what_answers_nothing() -> None:
    one, *others = (f"**Eggs {n}:** “Crack {n}.” [1]" for n in (1, 2, 3))
    written = f"## A\n\n*May answer.*\n\n{one}\n\n{others[0]}\n\n{others[1]}\n\n## B\n\n{one}\n\n"
    nothing = f"## C\n\n*Nothing.*\n\n> *Closest passage*\n>\n> {one}\n"
    body = render_in_parts(written + nothing, link, folds=True).body
    before, folded, rest = body.split("<details", 2)
    assert "Crack 1." in before and "Crack 2." not in before
    assert "<summary>2 more passages</summary>" in folded and "Crack 3." in folded
    assert folded.index("</details>") < folded.index("<h2") and "Crack 1." in folded
    assert "<summary>Closest passage</summary><p>" in rest and "Crack 1." in rest
    assert "<details" not in render_in_parts(written, link).body


def test_a_line_of_support_is_not_said_again_by_the_next_section_of_code() -> None:
    one, two = "**Eggs:** “Crack.” [1]", "*May answer.*"
    written = "".join(f"## {name}\n\n{two}\n\n{one}\n\n" for name in "AB")
    written += f"## C\n\n*Nothing.*\n\n## D\n\n{two}\n\n{one}\n"
    body = render_in_parts(written, link, folds=True).body
    assert body.count("May answer.") == 2
    assert render_in_parts(written, link).body.count("May answer.") == 3


def test_a_body_that_only_refers_back_to_the_answer_is_left_out() -> None:
    begins = "# Eggs?\n\n**Best passage.** “Crack.” [1]\n\n## Eggs\n\n*May answer.*\n\n"
    again, other = "**Eggs:** quoted above [1]\n\n", "**Eggs:** “Stir.” [1]\n\n"
    ends = "## Sources\n\n- [1] Eggs\n"
    body = render_in_parts(begins + again + ends, link, ["Eggs?"], folds=True).body
    assert "above" not in body and "May answer." not in body and "Sources" in body
    body = render_in_parts(begins + again + other + ends, link, ["Eggs?"], folds=True).body
    assert "above" in body and "May answer." in body


@pytest.mark.parametrize(
    ("section", "stays"),
    [
        ("*○ Preliminary: 1 site only*\n\nIt rose. [1]", False),
        ("**Eggs:** “It **rose**.” [1]\n\nIt fell [2].", False),
        ("It rose. [1] It stood. [1]", True),
        ("It rose. [1][2]", True),
        ("*⚠ Sources disagree*\n\nIt rose. [1]", True),
        ("| Eggs | Rose |\n| --- | --- |\n| It rose. [1] | 2 |", True),
    ],
)
def test_a_section_that_only_repeats_the_answer_is_left_out(section: str, stays: bool) -> None:
    written = f"# Eggs?\n\n**Short answer.** It rose. [1] It fell. [2]\n\n## Rise\n\n{section}\n\n"
    parts = render_in_parts(f"{written}## Sources\n\n- [1] Eggs\n", link)
    assert [each.text for each in parts.headings] == ["Rise"] * stays + ["Sources"]
    assert ("rose" in parts.body) == stays and "It rose." in parts.answer


def test_pages_that_nothing_cites_are_folded_with_their_number() -> None:
    listed = "- [1] Oak: <https://trees.test/oak>\n\n### Read but not used\n\n"
    unused = "- Elm: <https://trees.test/elm>\n- Notes: <file:///Team%20handbook/trees.md>\n"
    body = render_in_parts(f"## Sources\n\n### Cited\n\n{listed}{unused}", link).body
    shown, folded = body.split("<details")
    assert "<h3>Cited</h3>" in shown and "trees.test/oak" in shown and "Read but" not in shown
    assert "<summary>Read but not used (2)</summary>" in folded and "trees.test/elm" in folded


def test_dates_of_sources_are_in_the_language_of_the_reader() -> None:
    line = "## Sources\n\n- [1] Oak, trees.test, 6 May 2024: <https://trees.test/oak>"
    with translation.override("de"):
        body = render_in_parts(line, link).body
    assert "veröffentlicht 6. Mai 2024" in body


def test_the_addresses_of_sources_are_short_and_their_dates_in_words() -> None:
    body = render_in_parts(REPORT, link).body
    linked = body[body.index('<a href="https://trees.test/oak/age.html?from=feed"') :]
    assert linked.index('title="trees.test/oak/age.html"') < linked.index(">Oak</a>")
    initial = '<span class="initial" aria-hidden="true">T</span>'
    assert f'<span class="place">{initial}trees.test · published 6 May 2024</span>' in linked
    listed = [each.parent for each in BeautifulSoup(body, "html.parser").select(".source-title")]
    assert "file:" not in body and [
        [part.get_text() for part in each or ()] for each in listed
    ] == [
        ["Notes", "Team handbook/trees.md"],
        ["Book", "Team handbook/book.md, part 7"],
    ]


def test_a_cited_document_is_listed_as_a_page_is() -> None:
    def noted(number: int, place: int) -> Link:
        return Link(f"/citations/{number}/", "Ash\nhandbook/ash.md\n“Ashes fall.”")

    line = "- [1] Ash, a tree, Team handbook, 2024-03-02: <file:///Team%20handbook/ash.md>\n"
    body = render_in_parts(f"## Sources\n\n### Cited\n\n{line * 16}", noted).body
    page = BeautifulSoup(body, "html.parser")
    assert [part.get_text() for part in page.select("li:first-child > *")][:4] == [
        "1", "Ash, a tree", "published 2 March 2024 · Team handbook/ash.md", "Quote“Ashes fall.”",
    ]  # fmt: skip
    assert [len(each.select("li")) for each in page.select("ul")] == [10, 6]


def test_a_period_is_in_words_unless_it_is_quoted() -> None:
    period = "from 2025-01-14 to 2025-10-21"
    body = render_in_parts(f"## Method\n\n- published {period}\n- “valid {period}”", link).body
    assert "published from 14 January 2025 to 21 October 2025" in body
    assert f"valid {period}" in body


def test_a_table_of_answers_is_no_part_of_the_short_answer() -> None:
    parts = render_in_parts("Six. [1]\n\n| a | b |\n| --- | --- |\n| c | d |", link)
    assert "<table" not in parts.answer and "<table" in parts.body


CHARTED = """| plant | output | method | price |
| --- | --- | --- | --- |
| Ash <b> | 84,500 m³ [1] | osmosis | 3 marks |
| Elm | nineteen m³ | 12 stages | 4 dollars |
| Oak | 0 m³ | 3 | 5 marks |
"""


def test_a_column_of_comparable_numbers_is_drawn_behind_its_table() -> None:
    drawn = html(CHARTED)
    assert drawn.count("<svg") == 1 and drawn.index("</table>") < drawn.index("<svg")
    svg = drawn[drawn.index("<svg") :]
    assert 'role="img" aria-label="output"' in svg
    assert svg.count('fill="#') == 3 and "<b>" not in drawn and "style=" not in svg
    assert "<svg" not in html(CHARTED.replace("nineteen m³", "19 km"))
    assert "<svg" not in html(CHARTED.replace("0 m³", "–"))
    assert "<svg" not in render_markdown(CHARTED, link, "de").html, "84,500 may be 84.5 there"


def test_how_many_sources_support_a_row_is_no_chart() -> None:
    counts = [["Lit", "1887", "2 sources"], ["Built", "1886", "1 source"], ["Sold", "", "1 source"]]
    assert draw_charts([["Sub-question", "Answer", "Support"], *counts], "en") == ()
    assert draw_charts([["Sub-question", "Answer", "Sources found"], *counts], "en")
    assert draw_charts([["", "Before", "Now"], *counts], "en") == (), "nor what has changed"


def test_long_texts_of_a_chart_are_cut_by_their_width() -> None:
    names = ("植" * 20, "Elm", "O" * 24)
    rows = [[name, f"{n} metres of sawn-oak-timber"] for n, name in enumerate(names)]
    [chart] = draw_charts([["", "length"], *rows], "en")
    assert f">{'植' * 11}…<" in chart.svg and f">{'O' * 24}<" in chart.svg
    assert ">0 metres of sawn-oak-…<" in chart.svg


def test_a_rejected_quote_is_struck_as_a_whole() -> None:
    """Also where words of the question are in bold in it, and where it has several sentences."""
    links = {1: Link("/1", rejected=True), 2: Link("/2")}
    said = "**Oak:** “It is old. An **oak** grows <slowly>. It stands.” [1] “Elms do not.” [2]"
    found = render_markdown(said, lambda number, _: links.get(number)).html
    struck = re.findall('<span class="rejected">(.*?)</span>', found)
    assert struck == ["“It is old. An ", "oak", "grows &lt;slowly&gt;. It stands.”"]


def test_a_source_is_a_line_of_its_title_publisher_date_and_kind_with_its_quote_folded() -> None:
    def told(number: int, place: int) -> Link:
        return Link("/1", "Oak, the tree\ntrees.test · 6 May 2024\n“It is old.”")

    line = "- [1] Oak, the tree, Forest Office, trees.test, official, 2024-05-06: <https://trees.test/>"
    body = render_in_parts(f"## Sources\n\n### Cited\n\n{line}", told).body
    assert ">Oak, the tree</a>" in body
    assert (
        '</span>Forest Office <span class="domain">trees.test</span> · published 6 May 2024 · '
        '<span class="kind">official</span>' in body
    )
    folded = body[body.index("<details") :]
    assert "<blockquote>“It is old.”</blockquote>" in folded and body.count("It is old.") == 1


@pytest.mark.parametrize(("number", "folded"), [(15, 0), (16, 6)])
def test_the_end_of_a_long_list_of_sources_is_folded(number: int, folded: int) -> None:
    lines = [f"- [1] Oak {n}, trees.test: <https://trees.test/{n}>" for n in range(number)]
    body = render_in_parts("## Sources\n\n### Cited\n\n" + "\n".join(lines), link).body
    shown, _, rest = body.partition(f"<summary>{folded} more sources</summary>")
    assert shown.count("<li>") == number - folded and rest.count("<li>") == folded


def test_cells_without_a_value_are_told_from_values() -> None:
    found = html("| oak | age |\n| --- | --- |\n| Ash | – |\n| Elm | 90 |")
    assert found.count('class="no-value"') == 1 and ">–<" in found


@pytest.mark.parametrize(("number", "folded"), [(18, 0), (19, 7)])
def test_the_end_of_a_long_list_of_answers_is_folded(number: int, folded: int) -> None:
    lines = [f"- **Part {n}:** It is {n}. [1]" for n in range(number)]
    text = "\n".join(["**Short answer.** It depends. [1]", "", *lines, "", "## More", "", "It is."])
    answer = BeautifulSoup(render_in_parts(text, link).answer, "html.parser")
    assert len(answer.select("li")) == number
    assert len(answer.select("details li")) == folded
    told = [summary.get_text() for summary in answer.select("summary")]
    assert told == (["7 more sub-questions"] if folded else [])


def test_a_dispute_is_a_box_with_each_side_on_a_line() -> None:
    sides = "One says **ten**. [1][2] Another says **nine**. [3]"
    text = f"# T\n\n## Part\n\n> **⚠ Sources disagree:** {sides}\n\n> Only quoted. [1] Yes. [2]"
    body = BeautifulSoup(render_in_parts(text, link).body, "html.parser")
    assert [len(each.select("br")) for each in body.select("blockquote")] == [1, 0]
    assert [each.get("class") for each in body.select("blockquote")] == [["dispute"], None]


def test_charts_behind_the_first_and_searches_that_found_nothing_are_folded() -> None:
    drawn = html(CHARTED.replace("osmosis", "1 stage").replace("| 3 |", "| 3 stages |"))
    shown, folded = drawn.split("<details")
    assert shown.count("<svg") == 1 and folded.count("<svg") == 1 and "1 more chart" in folded
    body = render_in_parts("## Not found\n\n- Age?\n\nSearches tried: “oak age”.", link).body
    assert "<summary>Searches tried</summary><p>Searches tried: “oak age”.</p>" in body


def test_days_are_in_words_but_not_within_quotations_or_names() -> None:
    said = html(
        "It fell on 2024-05-06, “until 2024-05-07”, see X-2024-05-08 „bis 2024-05-09“ 2024-05-10."
    )
    assert "on 6 May 2024, “until 2024-05-07”, see X-2024-05-08 „bis 2024-05-09“ 10 May" in said
    assert '<span class="told-by">(Hot Rocks, May 2026)</span>' in html(
        "Hot (Hot Rocks, 2026-05). [1]"
    )
    assert '<span class="told-by">(Hot Rocks, 6 May 2026)</span>' in (
        html("It is hot (Hot Rocks, 6 May 2026). [1]")
    )


def test_headings_do_not_repeat_what_all_sub_questions_begin_with() -> None:
    written = "Old. [1]\n\n## Oaks in parks: how old?\n\nOld. [2]\n\n## Sources\n\n- [1] Oak"
    parts = render_in_parts(written, link, lead="oaks in parks")
    assert [heading.text for heading in parts.headings] == ["How old?", "Sources"]
    assert '<h2 id="section-1">How old?</h2>' in parts.body


def test_identifiers_are_not_capitalised() -> None:
    table = "| | vacuum_cost | |\n| --- | --- | --- |\n"
    rows = "| autovacuum\\_threshold | 50 | a |\n| `fsync` | on | b |\n| median pay | 3 | c |\n"
    html = render_markdown(table + rows + "\n- work\\_mem: 4\n", link).html
    page = BeautifulSoup(html, "html.parser")
    kept = [each.get_text() for each in page.select(".as-written")]
    assert kept == ["vacuum_cost", "autovacuum_threshold", "fsync", "work_mem: 4"]
    labels = [each["data-label"] for each in page.select("td[data-label]")]
    assert labels == ["vacuum_cost"] * 3
    sheet = Path("static/plumbline.css").read_text(encoding="utf-8")
    assert "td:first-child):not(.as-written)::first-letter" in sheet


def test_things_compared_keep_their_small_letters() -> None:
    table = "| | Slow clock | Pauses |\n| --- | --- | --- |\n| gpscorrelate | -O | none |\n"
    page = BeautifulSoup(
        render_markdown(f"{table}| ExifTool | sync | fix |\n", link).html, "html.parser"
    )
    first = page.select("tr > :first-child")
    assert [each.get_text() for each in first if "as-written" in each.get("class", [])] == [
        "gpscorrelate"
    ]


def test_nothing_stands_between_a_marker_and_the_sign_behind_it() -> None:
    found = render_markdown("Set `work_mem` [1], then [2]. Or [1] not.", link).html
    assert "</code>\u202f<sup" in found, "a marker stays with code as with a word"
    soup = BeautifulSoup(found, "html.parser")
    classes = ["attached" in each["class"] for each in soup.select(".cite")]
    assert classes == [True, True, False]
    [said, _] = cited_texts("Set `work_mem` [1], then [2]. Or [1] not.")
    assert said.text == "Set work_mem, then."
    assert [text for text, markers in said.clauses if markers] == ["Set work_mem", ", then"]


def test_the_note_on_the_dashes_of_a_table_stands_before_its_charts() -> None:
    rows = "\n".join(f"| {name} | {n} km [1] | {n}0 m [1] |" for n, name in enumerate("ABCD", 3))
    head = "## Comparison\n\n|  | length | height |\n| --- | --- | --- |\n"
    table = f"{head}{rows}\n| E | – | 90 m [1] |"
    page = html(f"{table}\n\n*–: no value found*\n\n## Next\n\nIt is so. [1]\n")
    assert page.index("</table>") < page.index("no value found") < page.index("<figure")
    assert page.index("<figure") < page.index("Next")
    plain = html(f"{table}\n\n## Next\n\nIt is so. [1]\n")
    assert plain.index("</table>") < plain.index("<figure") < plain.index("Next")


def test_code_keeps_its_days() -> None:
    markdown = "1. Do it on 2027-01-02: `FROM ('2027-01-01+00')`. [1]\n"
    [said] = cited_texts(markdown)
    assert "2027-01-01+00" in said.text and "2 January 2027" in said.text


def test_disputes_are_listed_with_the_sentences_that_sources_contradict() -> None:
    box = "> **⚠ Sources disagree:** One says ten. [1][2] Another says nine. [3]"
    marked = "It stands. It is old. [1] (⚠ Sources disagree) It is tall. [2] (⚠ Sources disagree)"
    parts = render_in_parts(f"# T\n\n## Part\n\n{box}\n\n{marked}\n", link)
    listed = [(each.anchor, each.text) for each in parts.disputes]
    assert listed == [
        ("dispute", "One says ten"), ("dispute-2", "It is old"), ("dispute-2", "It is tall"),
    ]  # fmt: skip
    assert parts.body.count('id="dispute"') == parts.body.count('id="dispute-2"') == 1


def test_few_things_compared_by_many_properties_stand_side_by_side() -> None:
    names = ("age", "height", "wood", "bark", "leaf")
    rows = [("", *names), ("Oak", *("a [1]",) * 5), ("Ash", *("–",) * 5)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    table = "\n".join((lines[0], "|---" * 6 + "|", *lines[1:]))
    page = BeautifulSoup(render_in_parts(f"# T\n\n{table}\n", link).body, "html.parser")
    assert [each.get_text() for each in page.select("th")] == ["", "Oak", "Ash"]
    assert [each.get_text() for each in page.select("td:first-child")] == list(names)
    assert [each["data-label"] for each in page.select("tr:last-child td[data-label]")] == [
        "Oak", "Ash",
    ]  # fmt: skip
    assert len(page.select(".cite a")) == 5 and len(page.select(".no-value")) == 5
    [block] = [each for each in parse_blocks(table, frozenset({1})) if each.kind == "table"]
    assert [len(row) for row in block.rows] == [3] * 6
    few = "\n".join(line.rsplit("|", 3)[0] + "|" for line in table.splitlines())
    page = BeautifulSoup(render_in_parts(f"# T\n\n{few}\n", link).body, "html.parser")
    assert [each.get_text() for each in page.select("th")] == ["", *names[:3]]
