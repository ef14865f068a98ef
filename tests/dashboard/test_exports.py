"""F15: what is exported opens in what reads it, and holds what the report rests on."""

from __future__ import annotations

import csv
import json
import re
from io import BytesIO, StringIO

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from docx import Document
from pypdf import PdfReader

from dashboard.exports import FORMATS, PASTE, NothingToExportError, export_report, find_format
from dashboard.exports.blocks import Run as Text
from dashboard.exports.blocks import parse_blocks
from dashboard.exports.contents import Contents, in_context, make_citation, strip_unprintable
from research.models import EvidenceSource, Report, Run, Source
from research.models.base import key_digest
from tests.dashboard.conftest import PAGE, QUOTE, URL, add_evidence, add_report, make_run
from tests.support.installation import ROOT

HOSTILE = '#read("/etc/passwd") \\input{x} $x$ <script>alert(1)</script> & 50 % _a_ {b}'
REPORT = f"""# How old do oaks get?

**Short answer.** Oaks live for *about* 600 years. [1]

## Age

- slow growth [1]
  1. first
  2. second

> A quoted line.

    code [1]

| a | b |
| --- | --- |
| 1 | `x` |

| Tree | Height |
| --- | --- |
| Oak | 45 m [1] |
| Birch | 30 m |
| Yew | 20 m |

{HOSTILE.replace("_", chr(92) + "_")} [9] <https://trees.test/more>
"""

ODD_TEXTS = {
    "empty": "",
    "blank": " \n ",
    "long": "How old do oaks get? " * 500,
    "one long word": "x" * 10_000,
    "control characters": "a" + "".join(map(chr, range(1, 32))) + "\x7f\x85\ufffe\uffff b",
    "null": "a\x00b",
    "right to left": "כמה זמן חי עץ אלון?\u202e\u2067 كم تعيش شجرة البلوط؟",
    "beyond the first plane": "👩‍👩‍👧‍👦 🌳 𝕬\U0010ffff\ufdd0",
    "lone surrogate": "a \ud83d b",
    "combining": "e" + "\u0301" * 200,
    "markup": "# [x](javascript:alert(1)) | a | `b` <b> \\ ``` ]]> {{ run }} #eval",
}


def test_the_api_names_every_format(db: None) -> None:
    paths = Client().get("/api/v1/openapi.json").json()["paths"]
    described = paths["/api/v1/runs/{run_id}/exports/{extension}"]
    told = re.search(r"Formats: (.*)\.", described["get"]["description"])
    guide = re.search(r"an export \(([^)]*)\)", (ROOT / "docs" / "api.md").read_text())
    assert told and guide
    for text in (told[1], guide[1].replace("`", "")):
        assert re.split(r",\s+|\s+(?:and|or)\s+", text) == list(FORMATS)


@pytest.fixture
def run(admin: User) -> Run:
    run = make_run(admin, status="completed", question="How old do oaks get?")
    add_evidence(run, 1)
    EvidenceSource.objects.update(title=HOSTILE, published="2024-05-06")
    add_report(run, REPORT)
    return run


def written(run: Run, extension: str) -> bytes:
    return export_report(run, FORMATS[extension]).content


@pytest.mark.requirement("F15")
def test_a_table_has_a_line_for_each_quote_and_no_formula(run: Run) -> None:
    EvidenceSource.objects.update(title="=cmd|' /C calc'!A0")
    head, *lines = csv.reader(StringIO(written(run, "csv").decode("utf-8-sig")))
    quotes = EvidenceSource.objects.values_list("quote", flat=True)
    assert [line[1] for line in lines] == list(quotes)
    assert all(line[head.index("Page")] == "'=cmd|' /C calc'!A0" for line in lines)


def test_a_table_names_the_statements_that_cite_each_quote(run: Run) -> None:
    other = add_evidence(run, 2, "Oaks grow slowly.")
    other.quotes.update(start=0, end=3)
    citation = {"marker": 1, "evidence_ids": ["E1", "E2"], "url": URL}
    places = [["E1"], ["E1", "E2"], ["E1"]]
    text = (
        "# Oaks\n\nOaks live long. [1]\n\n## Age\n\nThey grow slowly. [1] Old ones are hollow. [1]"
    )
    Report.objects.update(markdown=text, citations=[{**citation, "places": places}])
    head, *lines = csv.reader(StringIO(written(run, "csv").decode("utf-8-sig")))
    told = {line[1]: line[head.index("Statements of the report")] for line in lines}
    assert told == {
        QUOTE: "Oaks live long.\nAge: They grow slowly.\nAge: Old ones are hollow.",
        "Oaks grow slowly.": "Age: They grow slowly.",
    }


def text_of(extension: str, content: bytes) -> str:
    """What a person reads, each space once."""
    if extension == "pdf":
        text = " ".join(page.extract_text() for page in PdfReader(BytesIO(content)).pages)
    elif extension == "docx":
        text = "\n".join(each.text for each in Document(BytesIO(content)).paragraphs)
    elif extension in ("html", PASTE):
        text = BeautifulSoup(content, "lxml").get_text()
    else:
        text = content.decode().replace("\\", "")
    return " ".join(text.split())


@pytest.mark.parametrize("extension", ["md", "html", "pdf", "docx", "csv", PASTE])
def test_each_quote_of_a_page_is_headed_by_its_own_section(run: Run, extension: str) -> None:
    told = [("Oaks are tall.", "8.1. Height"), ("They are old.", "8.1. Height"), ("Slow.", "")]
    for number, (quote, section) in enumerate(told, 2):
        add_evidence(run, number, quote).quotes.update(start=0, end=number, section=section)
    EvidenceSource.objects.filter(evidence__label="E1").update(section="4.1. Age")
    EvidenceSource.objects.update(title="The oak")
    labels = [f"E{number}" for number in range(1, 5)]
    Report.objects.update(citations=[{"marker": 1, "evidence_ids": labels, "url": URL}])
    form = find_format(extension)
    text = text_of(extension, export_report(run, form).content)
    if extension == "csv":
        lines = csv.DictReader(StringIO(written(run, "csv").decode("utf-8-sig")))
        assert [line["Section"] for line in lines] == ["4.1. Age", *["8.1. Height"] * 2, ""]
        return
    parts = ["› 4.1. Age", QUOTE, "› 8.1. Height", *(quote for quote, _ in told[:2])]
    places = [text.index(part) for part in (*parts, "› The oak", told[2][0])]
    assert places == sorted(places)
    assert text.count("4.1. Age") == text.count("8.1. Height") == 1

    EvidenceSource.objects.update(section="4.1. Age")
    text = text_of(extension, export_report(run, form).content)
    assert "The oak › 4.1. Age" in text and text.count("4.1. Age") == 1, "once, where all have it"


def test_what_is_copied_is_plain_html_whose_numbers_lead_to_their_pages(
    run: Run, client: Client
) -> None:
    Report.objects.update(markdown=f"{REPORT}\n\n1. Run `{COMMAND}`. [1]\n")
    answer = client.get(f"/runs/{run.public_id}/export/paste")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    html = answer.content.decode()
    assert f'<sup><a href="{URL}">[1]</a></sup>' in html and "<blockquote>" in html
    assert "[9]" in html and "<td>45 m" in html and "alert(1)" in html
    soup = BeautifulSoup(html, "lxml")
    assert soup.select_one("pre code") and not soup.select("style, script, button, svg, span")
    assert not soup.select("[class], [id], [style], [href^='#']")
    assert html.count("Birch") == 1, "in its table, without the chart"
    assert f"<blockquote>{QUOTE}</blockquote>" in html
    bare = client.get(f"/runs/{run.public_id}/export/paste?quotes=false").content.decode()
    assert QUOTE not in bare and f'<a href="{URL}">[1]</a>' in bare
    EvidenceSource.objects.update(url="file:///oaks/oak.md")
    Report.objects.update(citations=[{**Report.objects.get().citations[0], "url": "file:///oaks"}])
    assert 'href="file:' not in client.get(f"/runs/{run.public_id}/export/paste").content.decode()


@pytest.mark.parametrize("extension", ["md", "html", "pdf", "docx"])
def test_a_file_without_quotes_ends_with_the_report_and_links_its_pages(
    run: Run, client: Client, extension: str
) -> None:
    content = export_report(run, FORMATS[extension], with_quotes=False).content
    if extension == "pdf":
        pages = PdfReader(BytesIO(content)).pages
        text = " ".join(" ".join(page.extract_text() for page in pages).split())
        links = str([each.get_object() for page in pages for each in page.get("/Annots", ())])
    elif extension == "docx":
        document = Document(BytesIO(content))
        text = "\n".join(each.text for each in document.paragraphs)
        links = str([each._target for each in document.part.rels.values() if each.is_external])
    else:
        text = links = content.decode()
    assert "about 600 years" in text.replace("<em>", "").replace("</em>", "").replace("*", "")
    assert "It is slow." not in text and "Quotes" not in text
    assert QUOTE not in text and "#quote-" not in text
    assert URL in links or extension == "md"
    answer = client.get(f"/runs/{run.public_id}/export/{extension}?quotes=false")
    assert len(answer.content) < len(written(run, extension))


@pytest.mark.parametrize("extension", ["md", "html", "pdf", "docx", "ris", "bib"])
@pytest.mark.parametrize("has_quotes", [True, False])
def test_files_name_a_document_by_its_title_and_link_none(
    run: Run, extension: str, has_quotes: bool
) -> None:
    EvidenceSource.objects.update(url="file:///oaks/oak.md")
    Report.objects.update(
        markdown=f"{REPORT}\n## Sources\n\n- [1] Of oaks, oaks, 3 May 2020: <file:///oaks/oak.md>\n",
        citations=[{**Report.objects.get().citations[0], "url": "file:///oaks/oak.md"}],
    )
    content = export_report(run, FORMATS[extension], with_quotes=has_quotes).content
    reads(extension, content)
    if extension == "pdf":
        pages = PdfReader(BytesIO(content)).pages
        text = "".join(page.extract_text() for page in pages)
        text += str([each.get_object() for page in pages for each in page.get("/Annots", ())])
    elif extension == "docx":
        document = Document(BytesIO(content))
        text = "\n".join(each.text for each in document.paragraphs)
        text += str([each._target for each in document.part.rels.values() if each.is_external])
    else:
        text = content.decode()
    assert "file:" not in text
    assert ("oaks/oak.md" in text) == (extension in ("ris", "bib")), "lists need an address"
    assert "Of oaks, 3 May 2020" in text or extension in ("ris", "bib")


@pytest.mark.requirement("F15")
def test_a_markdown_file_holds_the_report_and_its_quotes(run: Run) -> None:
    text = written(run, "md").decode()
    assert text.startswith(REPORT.rstrip())
    assert f"> {QUOTE}" in text and f"<{URL}>" in text


@pytest.mark.requirement("F15")
def test_an_html_file_shows_each_quote_in_its_context_and_loads_nothing(run: Run) -> None:
    text = written(run, "html").decode()
    assert f"<mark>{QUOTE}</mark> It is slow." in text
    assert 'href="#quote-1"' in text and 'id="quote-1"' in text
    assert "<script" not in text and "src=" not in text and "<link" not in text
    assert text.count("<svg") == 1 and ">Birch</text>" in text
    assert "[9]" in text, "a number without a citation stays text"


@pytest.mark.requirement("F15")
def test_a_pdf_holds_every_word_as_text_and_runs_none_of_it(run: Run) -> None:
    reader = PdfReader(BytesIO(written(run, "pdf")))
    text = " ".join(" ".join(page.extract_text() for page in reader.pages).split())
    assert reader.metadata is not None and reader.metadata.title == run.question
    assert QUOTE in text and "It is slow." in text
    assert text.count("Birch") == text.count("45 m") == 2, "in the table and in its chart"
    assert '#read("/etc/passwd")' in text.replace("“", '"').replace("”", '"')
    assert "root:" not in text


@pytest.mark.requirement("F15")
def test_a_word_file_has_headings_lists_tables_and_quotes(run: Run) -> None:
    document = Document(BytesIO(written(run, "docx")))
    paragraphs = [(each.style.name, each.text) for each in document.paragraphs if each.style]
    assert ("Title", "How old do oaks get?") in paragraphs
    assert ("Heading 1", "Age") in paragraphs
    assert ("List Bullet", "slow growth [1]") in paragraphs
    assert ("List Number 2", "first") in paragraphs
    assert ("Quote", f"{QUOTE} It is slow.") in paragraphs
    assert [cell.text for cell in document.tables[0].rows[1].cells] == ["1", "x"]


COMMAND = "vacuumdb --all --jobs=4 --min-xid-age=150000000 --analyze-in-stages --host=db.trees.test"
STEPS = f"""# How old do oaks get?

1. **Vacuum, as by `{COMMAND}`, first.** [1]
2. `{COMMAND}`
3. Set `work_mem`:

   ```
   work_mem = 64MB
   ```

- Not a step: `{COMMAND}`

> **⚠ Sources disagree**
>
> - Oaks live long. [1]

1. another list
2. goes on
"""


def test_long_commands_of_steps_are_blocks_and_sides_of_a_dispute_are_in_their_box() -> None:
    found = parse_blocks(STEPS, frozenset({1}))[1:]
    assert [(each.kind, each.level, each.number, each.in_box) for each in found] == [
        ("item", 1, 1, False), ("code", 1, 0, False), ("paragraph", 1, 0, False),
        ("item", 1, 2, False), ("code", 1, 0, False), ("item", 1, 3, False), ("code", 1, 0, False),
        ("item", 1, 0, False), ("quote", 0, 0, False), ("item", 1, 0, True),
        ("item", 1, 1, False), ("item", 1, 2, False),
    ]  # fmt: skip
    assert [run.text for run in found[1].runs] == [found[4].runs[0].text] == [COMMAND]
    assert found[2].runs[0] == Text("first.", bold=True), "without the comma behind the command"


def test_a_word_file_sets_commands_in_a_style_counts_lists_anew_and_numbers_pages(
    run: Run,
) -> None:
    Report.objects.update(markdown=STEPS)
    document = Document(BytesIO(written(run, "docx")))
    code = [each for each in document.paragraphs if each.style and each.style.name == "Code"]
    assert [each.text for each in code] == [COMMAND, COMMAND, "work_mem = 64MB"]
    assert document.styles["Code"].font.name == "Courier New"
    steps = [
        each for each in document.paragraphs if each.style and "Number" in str(each.style.name)
    ]
    lists = [each._p.pPr.numPr.numId.val for each in steps]
    assert len(set(lists[:3])) == len(set(lists[3:])) == 1 and lists[0] != lists[3]
    assert 'w:instr="PAGE"' in document.sections[0].footer._element.xml


def test_a_pdf_keeps_options_of_commands_whole_and_cells_apart(run: Run) -> None:
    Report.objects.update(markdown=STEPS)
    EvidenceSource.objects.update(quote="Oak\t600 years")
    pages = PdfReader(BytesIO(written(run, "pdf"))).pages
    text = " ".join(page.extract_text() for page in pages)
    assert all(word in text for word in COMMAND.split())
    assert COMMAND in " ".join(text.split()) and "Oak 600 years" in " ".join(text.split())


CHANGES = """## What has changed

|  | Before | Now | As of |
| --- | --- | --- | --- |
| Length of a trial | 9 days [1] | 6 days [1] | 2014 → 2025 |
| Time on tour | 45 days | 21 days [1] | March 2026 |
| Watch | 12 days | 10 days [1] | 2024 |
"""


@pytest.mark.parametrize("extension", ["md", "html", "docx", "pdf"])
def test_what_has_changed_is_a_table_in_every_format(admin: User, extension: str) -> None:
    run = make_run(admin, status="completed", question="What has changed?")
    add_evidence(run, 1)
    add_report(run, f"# What has changed?\n\n**Short answer.** Trials. [1]\n\n{CHANGES}")
    content = written(run, extension)
    if extension == "docx":
        [table] = Document(BytesIO(content)).tables
        shown = " ".join(cell.text for row in table.rows for cell in row.cells)
    elif extension == "pdf":
        shown = " ".join(page.extract_text() for page in PdfReader(BytesIO(content)).pages)
    else:
        shown = content.decode()
    assert "<svg" not in shown, "values of different things are no chart"
    for told in ("Length of a trial", "Before", "9 days", "6 days", "2014 → 2025"):
        assert told in shown


def test_control_characters_of_a_page_do_not_break_a_word_file(run: Run) -> None:
    EvidenceSource.objects.update(title="form\x0cfeed \x00 null")
    document = Document(BytesIO(written(run, "docx")))
    assert any("formfeed  null" in each.text for each in document.paragraphs)


def with_text(run: Run, text: str) -> Contents:
    """The run's contents where every text that a person, a page or a model wrote is this one.

    In memory: a database refuses some of them.
    """
    run.question, run.language = text, text
    linked = f"[{text}](https://t.test/{text})"
    rows = "".join(f"| {text} | {metres} m |\n" for metres in (1, 20, 3))
    markdown = (
        f"# {text}\n\n{text} [1] {linked}\n\n- {text}\n\n| {text} |\n| --- |\n| `{text}` |\n\n"
        f"| | {text} |\n| --- | --- |\n{rows}"
    )
    row = EvidenceSource.objects.get()
    row.title, row.section, row.published, row.quote, row.domain = (text,) * 5
    row.url = f"https://trees.test/{text}"
    return Contents(run, strip_unprintable(markdown), (make_citation(1, [row], {}),))


def reads(extension: str, content: bytes) -> None:
    """Open the file as its readers do; raises where it is broken."""
    if extension == "docx":
        Document(BytesIO(content))
    elif extension == "pdf":
        PdfReader(BytesIO(content)).pages[0].extract_text()
    elif extension == "json":
        json.loads(content)
    else:
        content.decode()


@pytest.mark.parametrize("extension", [*FORMATS, PASTE])
@pytest.mark.parametrize("text", ODD_TEXTS.values(), ids=ODD_TEXTS)
@pytest.mark.slow
def test_no_text_breaks_a_file(run: Run, extension: str, text: str) -> None:
    reads(extension, find_format(extension).render(with_text(run, text)))


def test_a_long_question_has_a_short_title_and_stands_whole_below_it(
    client: Client, run: Run
) -> None:
    question = "How old do oaks get? " * 40
    Run.objects.filter(pk=run.pk).update(question=question)
    Report.objects.update(markdown=f"# {question}\n\nOld. [1]\n")
    answer = client.get(f"/runs/{run.public_id}/export/docx")
    assert answer.status_code == 200
    document = Document(BytesIO(answer.content))
    title = document.paragraphs[0].text
    assert title == document.core_properties.title == question[:104].strip()
    assert document.paragraphs[1].text == question.strip()
    assert document.paragraphs[2].text.startswith("Old.")


@pytest.mark.requirement("F15")
def test_a_json_file_is_the_run_resource_with_its_pages(run: Run) -> None:
    resource = json.loads(written(run, "json"))
    [evidence] = resource["evidence"]
    [page] = resource["pages"]
    quoted = evidence["sources"][0]
    assert page["text"][quoted["start"] : quoted["end"]] == quoted["quote"]


@pytest.mark.requirement("F15")
def test_ris_has_one_reference_a_page_on_lines_of_its_own(run: Run) -> None:
    lines = written(run, "ris").decode().split("\r\n")
    assert lines[0] == "TY  - ELEC" and lines[-2:] == ["ER  - ", ""]
    assert f"UR  - {URL}" in lines and "DA  - 2024/05/06" in lines
    assert f"N1  - [1] “{QUOTE}”" in lines
    assert all(line[2:6] == "  - " for line in lines if line)


def test_ris_names_the_site_as_publisher_and_the_day_of_reading(run: Run) -> None:
    lines = written(run, "ris").decode().split("\r\n")
    assert "PB  - trees.test" in lines and "Y2  - 2026/11/21" in lines
    Source.objects.create(
        run=run, url=URL, url_key=key_digest(URL), title="Oak", domain="trees.test", round=1,
        site="The Tree Society",
    )  # fmt: skip
    assert "PB  - The Tree Society" in written(run, "ris").decode().split("\r\n")


@pytest.mark.requirement("F15")
def test_bibtex_escapes_what_tex_would_act_on(run: Run) -> None:
    text = written(run, "bib").decode()
    assert text.startswith("@online{treestest1,")
    assert r"\#read" in text and r"\textbackslash{}input\{x\}" in text and r"\$x\$" in text
    assert r"50 \% \_a\_ \{b\}" in text
    assert text.replace(r"\{", "").replace(r"\}", "").count("{") == text.replace(r"\{", "").replace(
        r"\}", ""
    ).count("}")


def test_blocks_keep_order_depth_and_style() -> None:
    found = parse_blocks(REPORT, frozenset({1}))
    assert [block.kind for block in found] == [
        "heading", "paragraph", "heading", "item", "item", "item", "quote", "code", "table",
        "table", "paragraph",
    ]  # fmt: skip
    assert found[1].runs[0] == Text("Short answer.", bold=True)
    assert Text("about", italic=True) in found[1].runs and Text("1", cite=1) in found[1].runs
    assert [(block.level, block.number) for block in found[3:6]] == [(1, 0), (2, 1), (2, 2)]
    assert found[7].runs == (Text("code [1]", code=True),)


def test_a_context_is_the_paragraph_cut_at_words() -> None:
    passage = in_context(PAGE, PAGE.index(QUOTE), PAGE.index(QUOTE) + len(QUOTE))
    assert (passage.before, passage.after) == ("", " It is slow.")
    long = "word " * 200 + "QUOTE" + " word" * 200
    cut = in_context(long, 1000, 1005)
    assert cut.before.startswith("… word ") and cut.after.endswith(" word …")
    assert cut.quote == "QUOTE" and len(cut.before) < 310


@pytest.mark.parametrize("extension", [key for key in FORMATS if key != "json"])
def test_without_a_report_only_the_record_is_exported(admin: User, extension: str) -> None:
    with pytest.raises(NothingToExportError, match="JSON"):
        export_report(make_run(admin, status="completed"), FORMATS[extension])


def test_a_file_is_offered_under_the_report_s_title(client: Client, run: Run) -> None:
    page = client.get(f"/runs/{run.public_id}/").content.decode()
    for extension, form in FORMATS.items():
        address = f"/runs/{run.public_id}/export/{extension}"
        assert address in page
        response = client.get(address)
        assert response["Content-Type"] == form.content_type
        assert f'filename="how-old-do-oaks-get.{extension}"' in response["Content-Disposition"]


def test_a_file_s_name_ends_with_a_word(client: Client, run: Run) -> None:
    address = f"/runs/{run.public_id}/export/md"
    for question, plan, name in (
        ("How old do oaks in the old forests of the great northern provinces get?", {},
         "how-old-do-oaks-in-the-old-forests-of-the-great-northern.md"),
        (f"How old do {'very ' * 30}old oaks get?", {"title": "Old `oaks`"}, "old-oaks.md"),
        ("橡树能活多久？", {}, f"{run.public_id}.md"),
    ):  # fmt: skip
        Run.objects.filter(pk=run.pk).update(question=question, plan=plan)
        assert f'filename="{name}"' in client.get(address)["Content-Disposition"]


def test_who_may_not_see_a_run_may_not_export_it(run: Run, django_user_model: type[User]) -> None:
    stranger = Client()
    stranger.force_login(django_user_model.objects.create_user("stranger"))
    assert stranger.get(f"/runs/{run.public_id}/export/md").status_code == 404


def test_an_unknown_format_and_a_run_without_a_report_are_told(client: Client, admin: User) -> None:
    empty = make_run(admin, status="completed")
    assert client.get(f"/runs/{empty.public_id}/export/odt").status_code == 404
    told = client.get(f"/runs/{empty.public_id}/export/pdf", follow=True)
    assert b"can be exported as JSON" in told.content


@pytest.mark.django_db(transaction=True)
def test_the_command_writes_the_file_and_says_where(run: Run, tmp_path, capsys) -> None:
    target = tmp_path / "oaks.md"
    call_command("export", run.public_id, "md", "--output", str(target))
    assert target.read_bytes() == written(run, "md")
    assert str(target) in capsys.readouterr().out
    call_command("export", run.public_id, "md", "--output", str(target), "--without-quotes")
    assert QUOTE not in target.read_text("utf-8")
    with pytest.raises(CommandError, match="no run nobody"):
        call_command("export", "nobody", "md")


def test_the_number_of_queries_does_not_grow(run: Run, django_assert_max_num_queries) -> None:
    for number in range(2, 30):
        add_evidence(run, number)
    with django_assert_max_num_queries(7):
        written(run, "md")


def test_quotes_of_files_have_no_heading_signs_and_word_files_the_day_of_the_run(run: Run) -> None:
    EvidenceSource.objects.update(quote="#### Ports\n\nOpen them.", text_sha256="gone")
    for extension in ("md", "html", "docx", "pdf"):
        told = text_of(extension, written(run, extension))
        assert "Open them." in told and "####" not in told
    properties = Document(BytesIO(written(run, "docx"))).core_properties
    assert properties.created.date() == (run.finished_at or run.created_at).date()
    assert not properties.comments
