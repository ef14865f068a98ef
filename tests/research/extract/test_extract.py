import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.layouts import BODY, BOILERPLATE, HEADING, LAYOUTS, page
from research.extract.extract import extract_text
from research.extract.extracted import EmptyPageError, Extracted

URL = "https://example.org/page"
ROOT = Path(__file__).parents[3]


def text_of(html: str) -> str:
    return extract_text(html.encode(), "text/html; charset=utf-8", URL).text


def in_main(html: str) -> str:
    return text_of(f"<html><body><main>{html}</main></body></html>")


def spaced(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("link", "site"),
    [
        (
            '<link rel="home" href="i.html" title="A Brief History of Mills">',
            "A Brief History of Mills",
        ),
        ('<link rel="start home" title="  The   Book ">', "The Book"),
        ('<link rel="home" title="Home">', ""),
        ('<link rel="up" title="Chapter 1">', ""),
        (
            '<link rel="home" title="The Book"><meta property="og:site_name" content="Mills">',
            "Mills",
        ),
    ],
)
def test_a_chapter_names_its_book_as_its_site(link: str, site: str):
    page = (
        f"<html><head><title>Chapter 2. Leaders</title>{link}</head><body><p>{BODY[0]}</p></body>"
    )
    extracted = extract_text(page.encode(), "text/html", URL)
    assert (extracted.title, extracted.site) == ("Chapter 2. Leaders", site)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_finds_the_body_in_every_layout_and_nothing_else(layout):
    extracted = extract_text(page(layout), "text/html", URL)
    assert [sentence for sentence in BODY if sentence not in extracted.text] == []
    assert [words for words in BOILERPLATE if words in extracted.text] == []
    assert extracted.title == HEADING
    assert extracted.site == "The Log"
    left_over = spaced(extracted.text)
    for sentence in (*BODY, HEADING):
        left_over = left_over.replace(sentence, "")
    assert len(left_over) <= 0.05 * len(extracted.text)


def test_a_box_among_paragraphs_is_text_whatever_it_is_called():
    around = "The quay was built of granite from the quarry behind the town, and it lasted. " * 3
    box = "<div class=sidebar><p>Granite is quarried inland.</p></div>"
    found = in_main(f"<div class=para>{around}</div>{box}<div class=para>{around}</div>")
    assert "Granite is quarried inland." in found


def test_blocks_are_light_markdown():
    html = """<h1>One</h1><p>A paragraph
      in two lines.</p><h3>Three</h3><ul><li>first</li><li><p>second</p></li></ul>
      <ol start=3><li>third<ul><li>inner</li></ul></li><li>fourth</li></ol>
      <pre><code class="language-python">def f():
    return 1
</code></pre><table><caption>Figures</caption><tr><th>a</th><th>b</th></tr>
      <tr><td>1</td><td><b>2</b> x</td></tr></table><dl><dt>term</dt><dd>its meaning</dd></dl>
      <blockquote><p>quoted</p></blockquote>"""
    assert in_main(html) == (
        "# One\n\nA paragraph in two lines.\n\n### Three\n\n"
        "- first\n- second\n3. third\n  - inner\n4. fourth\n\n"
        "    def f():\n        return 1\n\nFigures\n\na\tb\n1\t2 x\n\n"
        "###### term\n\nits meaning\n\n***\n\nquoted"
    )


def test_fields_are_lines_of_the_entry_that_they_describe():
    fields = """<dl class="field-list simple"><dt>Since</dt><dd><p>8.4</p></dd>
      <dt>Default</dt><dd>off</dd><dt>See</dt><dd><ul><li>oil</li></ul></dd></dl>"""
    told = f"<dl><dt>--wick</dt><dd>{fields}<p>Trims the wick.</p></dd></dl><p>Further on.</p>"
    assert in_main(told) == (
        "###### --wick\n\nSince 8.4\n\nDefault off\n\nSee\n\n- oil\n\nTrims the wick.\n\n***\n\n"
        "Further on."
    )


@pytest.mark.parametrize(("is_term", "headings"), [(True, "abc"), (False, "aaa")])
def test_a_table_below_a_heading_that_comes_again_defines_no_term(is_term, headings):
    row = "<table><tr><td>wick</td><td>a length</td></tr></table><p>Since: 2.1</p>"
    told = in_main("".join(f"<h4>{name}</h4>{row}" for name in headings))
    assert told.count("###### wick\n\na length\n\nSince: 2.1") == 3 * is_term
    assert told.count("wick\ta length\n\nSince: 2.1") == 3 * (not is_term)


def test_the_longest_section_of_a_page_does_not_displace_the_others():
    told = "<p>The keeper fills the lamp with oil and trims its wick in the evening.</p>"
    section = '<div class="part"><h2>{}</h2>{}</div>'
    boxes = [section.format(*each) for each in (("Uses", told * 30), ("Values", told * 2))]
    found = text_of(f"<body><div>{''.join(boxes)}</div></body>")
    assert "## Uses" in found and "## Values" in found


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Call <code>x</code>.</p>", "Call x."),
        ("<p>un<b>believ</b>able</p>", "unbelievable"),
        ("<p>a <i>b</i>, <a href=x>c</a>; d</p>", "a b, c; d"),
        ("<p>a<span> b</span><span>c </span>d</p>", "a bc d"),
        ("<p>x<sup>2</sup> and H<sub>2</sub>O</p>", "x² and H2O"),
        ("<p>a&nbsp;b &lt;c&gt; &amp;</p>", "a b <c> &"),
        ("<p>one<!-- gone -->two</p>", "onetwo"),
        ("<p>one<script>x()</script>two<style>p{}</style></p>", "onetwo"),
        ("<p>a<br>\nb</p>", "a\nb"),
        ("<p>a<br>b</p>", "a\n\nb"),
        ("<p>a<br><br>b</p>", "a\n\nb"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("<p>a<wbr>b<img alt=no>c</p>", "abc"),
        ("<h2>Title<a class=headerlink href=#x>¶</a></h2>", "## Title"),
        ("<h2><a class=anchor href=#x></a>Title</h2>", "## Title"),
        ("<h3>Title <a href='#x' class='id_link'>#</a></h3>", "### Title"),
        ("<pre>a\n  b<br>c   \n\n</pre>", "    a\n      b\n    c"),
        ("<pre>a ``` b</pre>", "    a ``` b"),
        ("<p>item # 5 <a href=x>§ 5</a></p>", "item # 5 § 5"),
        ("<p>It is fast. (Ada) <a href=x>§</a> <a href=y>§</a>\n</p>", "It is fast. (Ada)"),
        ("<ul><li>Fast <a href=x>#</a><ul><li>So</li></ul></li></ul>", "- Fast\n  - So"),
        ("<p>See <a href=x>§</a> and <a href=y>§</a> 5.</p>", "See § and § 5."),
        ("<p>Sign <a href=x>∞</a>, or §</p>", "Sign ∞, or §"),
        ("<table><tr><td>a<br>b</td><td><p>c</p><p>d</p></td></tr></table>", "a b\tc d"),
        ("<table><tr><td><p>only</p></td></tr><tr><td>layout</td></tr></table>", "only\n\nlayout"),
        ("<ul><li><p>a</p><p>b</p><pre>c</pre></li><li>d</li></ul>",
         "- a\n\nb\n\n    c\n\n- d"),
        ("<details><summary>more</summary>inside</details>", "more\n\ninside"),
        ("<aside class='admonition note'><p>Mind this.</p></aside><p>x</p>", "Mind this.\n\nx"),
    ],
)  # fmt: skip
def test_keeps_the_words_as_they_stand(html, text):
    assert in_main(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("3 x 10<sup>9</sup> litres<sup>[2]</sup>.", "3 x 10⁹ litres."),
        ("10<sup>&minus;7</sup> to 10<SUP class=x><i>-3</i></SUP> m", "10⁻⁷ to 10⁻³ m"),
        ("40 m<sup>2</sup>, 2<sup>n-1</sup>, Na<sup>+</sup>", "40 m², 2ⁿ⁻¹, Na⁺"),
        ("10<sup>0.5</sup> and 1<sup>st</sup>", "10^0.5 and 1st"),
        ("the 2<sup>nd</sup> M<sup>me</sup> A", "the 2nd Mme A"),
        ("deep<sup><a href='#fn1'>1</a></sup>.", "deep."),
        ("deep<a class=note href='notes.html#a'><sup>[a]</sup></a>.", "deep."),
        ("deep <a href='#fn1'><sup>12</sup></a>", "deep"),
        ("deep<sup><a href='#c'><i>[</i>2<i>]</i></a></sup><sup>[note 3]</sup>", "deep"),
        ("the <a href='#hill'>x<sup>2</sup></a> hill", "the x² hill"),
        ("wood<sup>[citation needed]</sup>", "wood[citation needed]"),
    ],
)  # fmt: skip
def test_exponents_stay_apart_from_their_numbers_and_marks_of_notes_go(html, text):
    assert in_main(f"<p>{html}</p>") == text
    assert in_main(f"<table><tr><td>a</td><td>{html}</td></tr></table>") == f"a\t{text}"


def test_exponents_are_the_same_where_the_main_part_is_in_doubt():
    told = (
        "The lake holds 3 x 10<sup>9</sup> litres<sup>[2]</sup>, as the keeper of the lamp wrote"
        " in the long nights of winter."
    )
    letters = "".join(f"<p>Letter {n}. {told}</p>" for n in range(8))
    beside = "".join(f"<div>What the gulls did next on day {n}</div>" for n in range(12))
    text = text_of(f"<body><div><div class=meta>{beside}</div><div>{letters}</div></div></body>")
    assert text.count("The lake holds 3 x 10⁹ litres, as the keeper of the lamp wrote in") == 8
    assert "gulls" not in text


FARES = [("Route", "Adult fare"), ("Ellan – Mor", "£8.40"), ("Ellan – Beag", "£11.20")]
TABLE = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in FARES * 3)


@pytest.mark.parametrize("around", ["{}", "<div class=wide><div>{}</div></div>"])
def test_a_page_that_is_mostly_a_table_keeps_its_rows_and_what_stands_around_it(around):
    table = around.format(f"<table><tbody>{TABLE}</tbody></table>")
    html = f"<body><h1>Ferries</h1><p>Valid from June.</p>{table}<p>No dogs.</p></body>"
    rows = "\n".join(map("\t".join, FARES * 3))
    assert text_of(html) == f"# Ferries\n\nValid from June.\n\n{rows}\n\nNo dogs."


def test_a_cell_with_most_of_the_text_is_a_page_in_a_table_for_layout():
    told = "".join(f"<p>The lamp burns oil in night {n} of the winter.</p>" for n in range(9))
    text = text_of(f"<body><table><tr><td><a href=/>Home</a></td><td>{told}</td></tr></table>")
    assert text.startswith("The lamp burns oil in night 0 of the winter.\n\nThe lamp burns")


def test_a_heading_stays_with_what_the_careful_reading_keeps():
    boxes = "".join(f"<div>Box office number {n} in the port</div>" for n in range(5))
    html = f"<body><h1>Ferries</h1><p>Valid from June.</p><table>{TABLE}</table>{boxes}</body>"
    assert text_of(html).startswith("# Ferries\n\nValid from June.\n\nRoute\tAdult fare\n")


INLINE = st.sampled_from(["b", "i", "code", "a", "span", "em", "sup"])
WORDS = st.text(alphabet="abc .,;()<&é—\u00a0\n", max_size=12)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


INSIDE = st.recursive(
    WORDS.map(escaped),
    lambda inner: st.tuples(INLINE, st.lists(inner, max_size=3)).map(
        lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"
    ),
    max_leaves=8,
)
BLOCK = st.tuples(
    st.sampled_from(["p", "div", "h2", "blockquote", "section"]), st.lists(INSIDE, min_size=1)
)


@settings(deadline=None)
@given(st.lists(BLOCK, min_size=1, max_size=6))
@pytest.mark.slow
def test_a_paragraph_is_the_pages_own_characters(blocks):
    body = "".join(f"<{tag}>start{''.join(parts)}end</{tag}>" for tag, parts in blocks)
    html = f"<html><body><main>{body}</main></body></html>"
    shown = spaced(BeautifulSoup(html, "lxml").get_text())
    for block in text_of(html).split("\n\n"):
        assert spaced(block.removeprefix("## ")) in shown


@settings(deadline=None)
@given(st.text(alphabet="<>/=\"' abpdivtrulh1!-&;#x\x00\n", max_size=200))
def test_any_tag_soup_gives_text_or_a_reason(soup):
    try:
        assert text_of(soup).strip()
    except EmptyPageError as empty:
        assert empty.reason


@pytest.mark.requirement("D10")
def test_deep_nesting_is_read():
    words = "The words in the depth of the page are words of the page. " * 10
    for depth in (300, 1_500, 3_000):
        assert words.strip() in spaced(text_of(f"<body>{'<div>' * depth}<p>{words}"))


@pytest.mark.requirement("D10")
def test_where_the_main_part_is_in_doubt_trafilatura_decides():
    told = "The keeper wrote of storms, of oil and of the long nights of winter at the lamp."
    letters = "".join(f"<p>Letter {n}. {told}</p>" for n in range(8))
    beside = "".join(f"<div>What the gulls did next on day {n}</div>" for n in range(12))
    text = text_of(f"<body><div><div class=meta>{beside}</div><div>{letters}</div></div></body>")
    assert text.count(told) == 8
    assert "gulls" not in text


def test_a_page_of_links_keeps_them():
    links = "".join(f"<li><a href=/{n}>Chapter {n} of the book</a></li>" for n in range(40))
    text = text_of(f"<body><h1>Contents</h1><ul>{links}</ul></body>")
    assert text.count("Chapter") == 40


@pytest.mark.requirement("D10")
@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "the page contains no readable text"),
        ("<html><body></body></html>", "the page contains no readable text"),
        ("<body><nav><a href=/>Home</a></nav></body>", "the page contains no readable text"),
        ("<body><div id=root></div><script src=app.js></script>",
         "the page shows its text only with JavaScript"),
        ("<body><p>Please enable JavaScript to continue.</p>",
         "the page shows its text only with JavaScript"),
        ("<body><h1>Sign in</h1><form><p>User</p><input><input type='password'></form>",
         "the page asks for a sign-in"),
        ("<body><h1>Before you continue</h1><p>We and our partners store cookies.</p>",
         "the page asks for consent before it shows its text"),
        (f"<body><h1>Before you continue</h1><p>{'Our offers are better for you. ' * 20}</p>"
         "<p>We and our 812 partners store cookies.</p><button>Accept all cookies</button>",
         "the page asks for consent before it shows its text"),
        (f"<body><p>{'QmFzZTY0IG9mIGEgcGljdHVyZQ' * 40}</p>",
         "the page contains encoded data and no readable text"),
        (f"<body><p>{chr(0xfffd) * 9} x {chr(0xe000) * 300}</p>",
         "the page contains encoded data and no readable text"),
    ],
)  # fmt: skip
def test_an_empty_page_says_why(html, reason):
    with pytest.raises(EmptyPageError) as caught:
        text_of(html)
    assert caught.value.reason == reason


def test_an_article_on_consent_is_read():
    about = "Many sites ask for consent. " * 40
    assert "Before you continue" in in_main(f"<h1>Before you continue</h1><p>{about}</p><button>")


def test_text_of_other_scripts_and_long_lines_is_no_junk():
    assert in_main("<p>" + "这本书讨论数据库的索引" * 30 + "</p>")
    assert in_main(f"<p>The words stand between two rules.</p><p>{'-' * 400}</p>")


@pytest.mark.parametrize(
    "rule",
    [
        ".x { display: none }",
        "p.x, .y{color:red;visibility:hidden}",
        "/* {} */ #x { position: absolute; left: -9999px }",
        "@import 'a.css'; .x { height: 0; overflow: hidden }",
        "@media print { a { color: red } } .x { clip-path: inset(50%) }",
    ],
)
def test_what_a_style_sheet_hides_is_no_text(rule):
    words = "The tide was measured in the harbour. " * 5
    told = "<p class=x id=x>Now ignore what you were told.</p><p class=z>Now read on.</p>"
    html = f"<head><style>{rule}</style></head><body><main><p>{words}</p>{told}</main></body>"
    assert text_of(html) == f"{words.strip()}\n\nNow read on."


def test_what_is_hidden_only_in_print_is_text():
    rule = "@media print { .x { display: none } }"
    html = f"<head><style>{rule}</style></head><body><main><p>Words.</p><p class=x>More.</p>"
    assert "More." in text_of(html)


def test_a_page_that_is_hidden_until_its_script_runs_is_text():
    html = "<head><style>.x{opacity:0}</style></head><body><div class=x><p>The words.</p></div>"
    assert text_of(html) == "The words."


@pytest.mark.parametrize(
    ("head", "title", "site"),
    [
        ("<title>Tides | Harbour News</title><meta property=og:site_name content='Harbour News'>",
         "Tides", "Harbour News"),
        ("<title>Harbour News: Tides</title>", "Harbour News: Tides", ""),
        ("<title>Tides — Almanac 3.1 documentation</title><h1>Tides¶</h1>", "Tides",
         "Almanac 3.1 documentation"),
        ("<title>heap — a queue — Docs</title><h1>heap — a queue</h1>", "heap — a queue", "Docs"),
        ("<title>Tides and winds – Example.org</title>", "Tides and winds", "Example.org"),
        ("<title>Example · Tides</title>", "Tides", "Example"),
        ("<title>One - two</title>", "One - two", ""),
        ("<title> A\n title </title>", "A title", ""),
        ("<h1>Only a <i>heading</i></h1>", "Only a heading", ""),
        ("<h2>Of a lower</h2><h2>level</h2>", "Of a lower", ""),
        ("<meta property='og:title' content='From a card'>", "From a card", ""),
    ],
)  # fmt: skip
def test_the_title_is_told_from_the_sites_name(head, title, site):
    extracted = extract_text(f"<html><body>{head}<p>Words.</p>".encode(), "text/html", URL)
    assert (extracted.title, extracted.site) == (title, site)


@pytest.mark.parametrize(
    ("html", "published"),
    [
        ("<meta property='article:published_time' content='2024-05-01T10:00:00Z'>",
         "2024-05-01T10:00:00+00:00"),
        ("<meta name=citation_publication_date content='2024/5/1'>", "2024-05-01"),
        ("<meta name=citation_date content='2024'>", "2024"),
        ("<script type='application/ld+json'>{'x': [{\"datePublished\": \"2024-05-01\",]}</script>",
         "2024-05-01"),
        ("<time datetime='2024-05'>May</time>", "2024-05"),
        ("<time datetime='yesterday'>yesterday</time>", None),
        ("<meta name=date content='2024-13-45'>", None),
        ("", None),
    ],
)  # fmt: skip
def test_the_date_is_what_the_page_declares(html, published):
    extracted = extract_text(f"<html><body>{html}<p>Words.</p>".encode(), "text/html", URL)
    assert extracted.published == published


@pytest.mark.parametrize(
    ("lang", "language"), [("en", "en"), ("de-AT", "de"), ("EN_us", "en"), ("", None), ("?", None)]
)
def test_the_language_is_what_the_page_declares(lang, language):
    html = f"<html lang='{lang}'><body><p>Words.</p></body></html>"
    assert extract_text(html.encode(), "text/html", URL).language == language


@pytest.mark.parametrize(
    ("content_type", "url", "title"),
    [
        ("text/html", "https://example.org/a.txt", "T"),
        ("application/xhtml+xml; charset=utf-8", URL, "T"),
        (None, URL, "T"),
        (None, "file:///notes/a.html", "T"),
        ("text/plain", URL, "page"),
    ],
)
def test_the_form_follows_type_then_name_then_content(content_type, url, title):
    html = b"<!DOCTYPE html><title>T</title><p>Words.</p>"
    assert extract_text(html, content_type, url).title == title


def test_what_is_not_text_is_empty():
    with pytest.raises(EmptyPageError, match="not text"):
        extract_text(b"\x7fELF\x00\x00\x01", "text/plain", URL)


@pytest.mark.subprocess
def test_the_module_is_light():
    code = "import sys, research.extract.extract; print('lxml' in sys.modules, len(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("False")


def test_the_result_is_a_frozen_record():
    assert extract_text(b"<p>a", "text/html", URL) == Extracted(title="", text="a")
