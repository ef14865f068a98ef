import pytest

from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError

FILE = "file:///notes/about%20tides.md"
RULES = "file:///notes/rules.txt"


def markdown(text: str, url: str = FILE):
    return extract_text(text.encode(), "text/markdown", url)


def test_plain_text_keeps_its_lines():
    extracted = extract_text(b"One line\r\nand  another \r\n\r\n\r\n\r\nend\f", "text/plain", FILE)
    assert extracted.text == "One line\nand  another\n\nend"
    assert extracted.title == "about tides.md"
    assert extracted.kind == "document"


def test_markdown_keeps_headings_and_code():
    source = "# Tides\ntext\n\nWinds\n-----\n\n```sh\n# not a heading\n<!-- kept -->\n```\n* item\n"
    extracted = markdown(source)
    assert extracted.title == "Tides"
    assert extracted.text == (
        "# Tides\n\ntext\n\n## Winds\n\n```sh\n# not a heading\n<!-- kept -->\n```\n* item"
    )


def test_markdown_comments_are_hidden_text():
    assert markdown("a <!-- hidden\n\nwords --> b").text == "a  b"


def test_a_dashed_line_is_not_always_a_heading():
    source = "a\nb\n---\n\n- item\n---\n\n| a |\n---"
    assert markdown(source).text == source


def test_indented_items_of_plain_text_are_no_code():
    text = "They may:\n    1. Elect\n       a leader.\n        a. By\n           lot.\n\n    x = 1"
    kept = "They may:\n1. Elect\n   a leader.\na. By\n   lot.\n\n    x = 1"
    assert extract_text(text.encode(), "text/plain", RULES).text == kept
    assert "    1. Elect" in markdown(text).text


@pytest.mark.parametrize(
    ("lines", "is_heading"),
    [
        (["4. Powers", "4.1. Of all", "They vote."], True),
        (["4. Powers", "5. Rights", "They vote."], False),
        (["4.1. They vote.", "4.2. They sit.", "That is all."], False),
    ],
    ids=["of several parts", "may be items", "sentences"],
)
def test_numbered_headings_of_plain_text(lines: list[str], is_heading: bool):
    text = extract_text("\n\n".join(lines).encode(), "text/plain", RULES).text
    assert (f"## {lines[0]}\n" in text) is is_heading
    assert (f"### {lines[1]}\n" in text) is is_heading


def test_front_matter_gives_title_and_date():
    extracted = markdown('---\ntitle: "The tides"\ndate: 2024-05-01\nlang: en\n---\nWords.')
    assert (extracted.title, extracted.text) == ("The tides", "Words.")
    assert (extracted.published, extracted.language) == ("2024-05-01", "en")


def test_a_file_without_title_is_called_by_its_name():
    assert markdown("word " * 50).title == "about tides.md"


NAME = "about tides.md"
MANUAL = "TIDES(1)\t\tUser Commands\t\tTIDES(1)"
LONG = "The sea rises and falls " * 5


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The tides\n\nThe sea rises.", "The tides"),
        ("\n\n  The tides  \n\nThe sea rises.", "The tides"),
        ("The tides\n=========\nThe sea rises.", "The tides"),
        ("The tides\n---------\nThe sea rises.", "The tides"),
        ("The tides\n~~~~\n\nThe sea rises.", "The tides"),
        ("=========\nThe tides\n=========\nThe sea rises.", "The tides"),
        ("*********\n\nThe tides\n\n*********\nThe sea rises.", "The tides"),
        ("# The tides\n\nThe sea rises.", "The tides"),
        ("Why do tides come twice a day?\n\nThe moon pulls.", "Why do tides come twice a day?"),
        ("3.2 The tides\n\nThe sea rises.", "3.2 The tides"),
        ("Dr. Ebb on the tides\n\nThe sea rises.", "Dr. Ebb on the tides"),
        ("潮の満ち引き\n\n海は満ちる。", "潮の満ち引き"),
        ("Die Gezeiten\n\nDas Meer steigt.", "Die Gezeiten"),
        (
            f"{MANUAL}\n\nNAME\n       tides, tided - tell the tides\n\nSYNOPSIS",
            "tides(1) – tell the tides",
        ),
        (f"{MANUAL}\n\nNAME\n       ebb — the ebb", "TIDES(1) – the ebb"),
        (f"{MANUAL}\n\nSYNOPSIS\n       tides", "TIDES(1)"),
        # sentences, openings and other beginnings
        ("The sea rises and falls.\n\nTwice a day.", "tides.txt"),
        ("海は満ちる。\n\nそして引く。", "tides.txt"),
        ("It rises. It falls\n\nTwice a day.", "tides.txt"),
        ("Dear reader,\n\nthe sea rises.", "tides.txt"),
        ("What follows is known:\n\nthe sea rises.", "tides.txt"),
        ("The sea rises\nand falls twice a day.\n\nSo it is.", "tides.txt"),
        (f"{LONG}\n\nThe sea rises.", "tides.txt"),
        ("The tides", "tides.txt"),
        ("The sea rises", "tides.txt"),
        ("- the sea\n\n- the moon", "tides.txt"),
        ("* the sea\n\n* the moon", "tides.txt"),
        ("1. the sea\n\n2. the moon", "tides.txt"),
        ("place\theight\n\nBrest\t7", "tides.txt"),
        ("| place | height |\n\n| Brest | 7 |", "tides.txt"),
        ("2024-05-06 12:00\n\nThe sea rose.", "tides.txt"),
        ("----\n\nThe sea rises.", "tides.txt"),
        ("https://tides.example/\n\nThe sea rises.", "tides.txt"),
        ("> The sea rises\n\nsaid Ebb", "tides.txt"),
        ("    high = 7\n\n    low = 1", "tides.txt"),
        ("// Ebb and flow\n\nint high;", "tides.txt"),
        ("From: Ebb\n\nThe sea rises.", "tides.txt"),
    ],
    ids=lambda text: text[:25],
)
def test_a_first_line_is_a_title_where_it_looks_like_one(text: str, title: str):
    assert extract_text(text.encode(), "text/plain", "file:///notes/tides.txt").title == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The tides\n\nThe sea rises.", "The tides"),
        ("**The tides**\n\nThe sea rises.", "The tides"),
        ("_The tides_\n\nThe sea rises.", "The tides"),
        ("## The tides\n\nThe sea rises.", "The tides"),
        ("![](a.png) [b](c)\n\n## The tides\n\nThe sea rises.", "The tides"),
        ("<p align=center>\n\n# The tides\n\nThe sea rises.", "The tides"),
        ("The sea rises.\n\n# The tides\n\nTwice a day.", "The tides"),
        ("# **The** [tides](a.md) `x`\n\nThe sea rises.", "The tides x"),
        ("The sea rises.\n\nIt falls.", NAME),
        ("The sea rises.\n\n## Where\n\nHere.", NAME),
        ("The sea rises.\n\n```\n# no heading\n```", NAME),
        ("```\n# no heading\n```\n\nThe sea rises.", NAME),
        ("![The tides](a.png)\n\nThe sea rises.", NAME),
        ("[The tides](a.md)\n\nThe sea rises.", NAME),
        ("Note: the sea rises and falls.\n\nSo it is.", NAME),
        ("| place | height |\n|---|---|\n| Brest | 7 |", NAME),
        ("#\n\nThe sea rises.", NAME),
    ],
    ids=lambda text: text[:25],
)
def test_markdown_is_called_by_its_heading_or_a_line_that_looks_like_one(text: str, title: str):
    assert markdown(text).title == title


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("**E4**: *too* __hot now__, ***off*** _at once_", "E4: too hot now, off at once"),
        ("run `fan --slow` or ``a ` b``", "run fan --slow or a ` b"),
        (
            "**the `x`\nof [Mor](a(b).md) bay** [![b](x.svg)](y) ![p](q.png)end",
            "the x\nof Mor bay  end",
        ),
        ("## The **kiln** of `K3`", "## The kiln of K3"),
        ("- item **one**\n* *two*\n1. `three`", "- item one\n* two\n1. three"),
        ("これは**重要**です", "これは重要です"),
        (r"3 \* 4 \_ 5", "3 * 4 _ 5"),
        # names, sums and what would become a heading or an item
        ("a snake_case_name, __init__.py, 2*3*4, a * b * c", None),
        ("`# no heading`\n`- no item`", None),
        ("- [Mor bay](a.md)\n- [Beag](b.md)", None),
        ("tea* and * coffee, [x] and a[0](1)", None),
        ("    **code** | `x`", None),
        ("```\n**code**\n| a | b |\n|---|---|\n```", None),
    ],
)
def test_markdown_is_stored_as_it_reads(source: str, text: str | None):
    assert markdown(f"Lamps.\n\n{source}").text == f"Lamps.\n\n{text or source}"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("| Lamp | K3 |\n| --- | :-: |\n| Oil | **1** l |\n| `a\\|b` | |",
         "Lamp\tK3\nOil\t1 l\na|b\t"),
        ("Lamp | K3\n--|--\nOil | 2", "Lamp\tK3\nOil\t2"),
        ("Above:\n| Lamp | K3 |\n|---|---|\n| Oil | 2 |", "Above:\n\nLamp\tK3\nOil\t2"),
        ("| no | table |", None),
        ("| not | this |\n|---|", None),
    ],
)  # fmt: skip
def test_a_pipe_table_becomes_rows(source: str, text: str | None):
    extracted = markdown(f"{source}\n\nNext.")
    assert extracted.text == f"{text or source}\n\nNext."


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('Name,Depth (m)\nLoch Awe,93.6\n"Upper, Loch\nEwan",\n',
         "Name: Loch Awe\tDepth (m): 93.6\n\nName: Upper, Loch Ewan"),
        ("\ufeffName;Depth\r\nAwe;93,6;deep\r\n", "Name: Awe\tDepth: 93,6\tdeep"),
        ("Lake,2019,2020\nAwe,1,2", "Lake\t2019\t2020\n\nAwe\t1\t2"),
        ("one\ntwo", "one\n\ntwo"),
    ],
)  # fmt: skip
def test_a_row_of_a_csv_file_names_its_columns(source: str, text: str):
    extracted = extract_text(source.encode(), "text/csv", "file:///notes/lakes.csv")
    assert (extracted.title, extracted.text) == ("lakes.csv", text)


def test_a_tsv_file_is_parted_by_tabs():
    extracted = extract_text(b"Name\tOil, l\nLamp\t3", "text/tab-separated-values", "file:///a.tsv")
    assert extracted.text == "Name: Lamp\tOil, l: 3"


@pytest.mark.parametrize("content", [b"", b",,\n", b'"' + b"x" * 200_000])
def test_a_table_that_holds_nothing_is_empty(content):
    with pytest.raises(EmptyPageError):
        extract_text(content, "text/csv", "file:///notes/lakes.csv")


def test_an_open_fence_ends_with_the_file():
    assert markdown("```\n# code").text == "```\n# code"


@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_nothing_is_empty(content):
    with pytest.raises(EmptyPageError):
        extract_text(content, "text/plain", FILE)


def test_notes_without_an_ending_may_be_markdown() -> None:
    link = "[the log](https://a.example/log)"
    text = (
        f'# Changes\n\n* General:\n    * See {link}.\n    * With <span class="x">{link}</span>.\n'
    )
    told = extract_text(f"{text}\n{link} ends.\n".encode(), "text/plain", "file:///changelog").text
    assert "* See the log." in told and "* With the log." in told and told.endswith("the log ends.")
    plain = extract_text(text.encode(), "text/plain", "file:///changelog").text
    assert link in plain, "two links make no Markdown"


def test_what_is_struck_out_is_said_to_be_so() -> None:
    told = extract_text(b"It is ~~not~~ paid, 5 ~~ 6.", "text/markdown", "file:///a.md").text
    assert told == "It is [struck out: not] paid, 5 ~~ 6."
    page = b"<main><p>It costs <del>50 <b>euros</b></del> 40 euros, not <s>much</s>.</p></main>"
    shown = extract_text(page, "text/html", "https://a.example/").text
    assert shown == "It costs [struck out: 50 euros] 40 euros, not [struck out: much]."
