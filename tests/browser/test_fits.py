"""Nothing is cut off or out of reach: narrow windows, zoom, long words, paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from dashboard.markdown.report import render_in_parts
from tests.browser.conftest import Open, Watch, open_report
from tests.browser.serving import Server
from tests.browser.test_looks import DESK, PHONE
from tests.support.world import SIMPLE, World

NARROW = (320, 390, 640, 1024)
"""A small phone, a phone, a desk at 200 %, a tablet."""
EVIDENCE = "/admin/research/evidence/"
LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz" * 3


@pytest.fixture
def page(shared_server: Server, open_page: Open) -> Page:
    """With a sample's report, to be read only."""
    return open_report(open_page, shared_server)


def check_widths(page: Page) -> None:
    for width in NARROW:
        page.set_viewport_size({"width": width, "height": 700})
        needed = page.evaluate("document.documentElement.scrollWidth")
        assert needed <= width, f"{page.url} needs {needed} of {width}"


def test_no_page_is_wider_than_its_window(sample_server: Server, open_page: Open) -> None:
    page = open_report(open_page, sample_server)
    run = page.url
    for address in (
        run,
        f"{run}citations/2/",
        f"{run}research/",
        f"{run}activity/",
        f"{run}sources/",
        f"{run}evidence/",
        f"{run}delete/",
        "/",
        "/settings/",
        "/documents/",
        "/installation/",
        "/tokens/",
        EVIDENCE,
    ):
        page.goto(address)
        check_widths(page)
    page.set_viewport_size(DESK)
    page.goto(run)
    page.get_by_role("button", name="As a table").click()
    expect(page.locator(".report table")).to_be_visible(timeout=60_000)
    check_widths(page)


def test_words_without_an_end_are_broken(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    world.model.hold("assess")
    page.get_by_role("button", name="Start").click()
    assert world.model.held.wait(20)
    page.get_by_label("Add a sub-question").fill(LONG)
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".aspects")).to_contain_text(LONG)
    check_widths(page)
    world.model.let_go()
    world.model.hold("draft")  # with which the list of gaps ends
    expect(page.locator(".gaps")).to_contain_text(LONG, timeout=30_000)
    check_widths(page)
    world.model.let_go()
    expect(page.locator(".suggested")).to_contain_text(LONG[:20], timeout=30_000)
    check_widths(page)
    page.goto("/documents/")
    page.get_by_role("textbox", name="Name").first.fill(LONG[:80])
    page.get_by_role("button", name="Create collection").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(LONG[:80])
    check_widths(page)


def test_a_table_gives_the_answers_most_of_its_room(sample_server: Server, open_page: Open) -> None:
    page = open_report(open_page, sample_server)
    page.get_by_role("button", name="As a table").click()
    cells = page.locator(".report tbody tr").first.locator("td")
    expect(cells).to_have_count(3, timeout=60_000)
    widths = [cell.bounding_box()["width"] for cell in cells.all()]  # type: ignore[index]
    assert widths[1] > widths[0] + widths[2]
    page.set_viewport_size(PHONE)
    edges = {round(cell.bounding_box()["x"]) for cell in cells.all()}  # type: ignore[index]
    assert len(edges) == 1, "on a phone they stand beneath each other"


@pytest.mark.parametrize("size", [DESK, PHONE, {"width": 844, "height": 390}])
def test_a_citation_can_be_judged_without_scrolling_its_panel(
    page: Page, size: dict[str, int]
) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    page.locator(".cite a:visible").last.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    for button in page.locator("#citation-panel .judge button").all():
        expect(button).to_be_in_viewport(ratio=1)
    foot = "each => Math.round(each.getBoundingClientRect().bottom)"
    bar, panel = page.locator("#citation-panel .judge"), page.locator("#citation-panel")
    shows_all = panel.evaluate("each => each.scrollHeight <= each.clientHeight")
    assert shows_all or bar.evaluate(foot) == panel.evaluate(foot), "nothing is beneath it"
    if size["height"] > PHONE["width"]:
        checks = page.locator("#citation-panel .check-line")
        assert checks.evaluate(foot) < bar.evaluate("each => each.getBoundingClientRect().top")


def test_a_small_desk_shows_a_statement_with_its_quote_check_and_buttons(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".cite a:visible").first.click()
    panel = page.locator("#citation-panel")
    for part in (".statement", "mark", ".check-line li", ".judge button"):
        expect(panel.locator(part).first).to_be_in_viewport(ratio=1)
        expect(panel.locator(part).last).to_be_in_viewport(ratio=1)
    bar, line = panel.locator(".judge").bounding_box(), panel.locator(".check-line").bounding_box()
    assert bar is not None and line is not None and line["y"] + line["height"] <= bar["y"]
    assert page.evaluate("scrollY") == 0


def test_filters_of_evidence_are_behind_one_button_on_a_phone(page: Page) -> None:
    page.goto(f"{page.url}evidence/")
    search, button = page.get_by_role("searchbox"), page.locator(".filters-label")
    expect(search).to_be_visible()
    expect(button).to_be_hidden()
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    expect(search).to_be_hidden()
    button.click()
    search.fill("eggs")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**text=eggs**")
    expect(search).to_have_value("eggs")
    expect(page.locator(".all-evidence .claim").first).to_be_visible()


def test_a_marker_stands_on_the_line_of_its_statement(page: Page) -> None:
    alone = """[...document.querySelectorAll('.report .cite')].filter((cite) => {
      const before = document.createRange();
      before.setStart(cite.parentNode, 0);
      before.setEndBefore(cite);
      const lines = [...before.getClientRects()];
      return lines.length && lines.at(-1).bottom < cite.getBoundingClientRect().top;
    }).length"""
    for width in (360, 390, 640, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(alone) == 0


def test_evidence_is_reviewed_on_a_phone(sample_server: Server, open_page: Open) -> None:
    page = open_report(open_page, sample_server)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(EVIDENCE)
    edge = "each => each.getBoundingClientRect().right"
    fields = page.locator(".actions :is(select, input[type=text])").all()
    assert len({field.evaluate(edge) for field in fields}) == 1
    row = page.locator("#result_list tbody tr").first
    row.scroll_into_view_if_needed()
    for part in (".field-label", ".field-claim", ".field-review", ".field-site", ".field-run"):
        expect(row.locator(part)).to_be_in_viewport(ratio=1)
    row.get_by_role("checkbox").check()
    page.get_by_label("Action:").select_option("reject")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text("1 rejected.")
    expect(page.locator(".field-review").first).to_have_text("rejected")


def test_a_desk_shows_every_column_of_the_evidence(page: Page) -> None:
    page.goto(EVIDENCE)
    for width in (1280, 1440, 1680):
        page.set_viewport_size({"width": width, "height": 800})
        for cell in page.locator("#result_list tbody tr").first.locator("td, th").all():
            expect(cell).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_next_question_is_typed_where_one_reads_and_hides_nothing(
    page: Page, size: dict[str, int]
) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    box, field = page.locator(".ask-on"), page.get_by_label("Ask a follow-up")
    report, bar = page.locator(".report-foot"), page.locator(".run-bar")
    page.evaluate("scrollTo(0, 400)")
    expect(box).not_to_be_in_viewport()
    bar.get_by_role("link", name="Ask").click()
    expect(field).to_be_focused()
    expect(field).to_be_in_viewport(ratio=1)
    page.keyboard.type("And how large do the signatures become? " * 12)
    assert page.evaluate("scrollY") == 400
    field.blur()
    expect(box).not_to_be_in_viewport()
    page.keyboard.press("f")
    expect(field).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 400
    field.blur()
    report.evaluate("each => each.scrollIntoView({ block: 'end' })")
    foot = "each => each.getBoundingClientRect().bottom"
    assert report.evaluate(foot) <= box.evaluate("each => each.getBoundingClientRect().top")
    assert (bar.bounding_box() or {})["height"] <= 52
    page.set_viewport_size({"width": size["width"], "height": 390})
    page.evaluate("scrollTo(0, 400)")
    for part in (box, bar):
        expect(part).not_to_be_in_viewport()


@pytest.mark.parametrize("language", ["English", "Deutsch"])
def test_a_heading_that_is_jumped_to_is_below_the_bar(
    sample_server: Server, open_page: Open, language: str
) -> None:
    """Also where the bar has two lines."""
    page = open_report(open_page, sample_server)
    page.get_by_role("button", name=language).click()
    page.locator(".report").wait_for()
    hidden = """each => each.getBoundingClientRect().top
      < document.querySelector('.run-bar').getBoundingClientRect().bottom"""
    for width in (320, 390, 1280):
        page.set_viewport_size({"width": width, "height": 844})
        for anchor in ("section-1", "section-3", "cite-2"):
            page.evaluate("anchor => { location.hash = ''; location.hash = anchor; }", anchor)
            assert not page.locator(f"#{anchor}").evaluate(hidden), (width, anchor)


@pytest.mark.parametrize("size", [DESK, PHONE])
@pytest.mark.parametrize("key", ["Tab", "Shift+Tab"])
def test_what_has_the_focus_is_not_hidden_below_what_stays_in_view(
    page: Page, size: dict[str, int], key: str
) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    start = ".answer a" if key == "Tab" else ".report-foot a"
    page.locator(start).last.focus()
    hidden = """() => {
      const [{ left, right, top, bottom }] = document.activeElement.getClientRects();
      const seen = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
      return seen?.closest('a, button, summary, textarea') === document.activeElement
        ? "" : document.activeElement.outerHTML;
    }"""
    for _ in range(25):
        page.keyboard.press(key)
        page.evaluate("document.querySelector('.glance').hidden = true")
        assert page.evaluate(hidden) == ""


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_whole_quote_is_shown_beside_its_statement(page: Page, size: dict[str, int]) -> None:
    page.set_viewport_size(size)  # type: ignore[arg-type]
    for number in range(4):
        page.locator(".cite a:visible").nth(number).click()
        shown = page.locator("#citation-panel .in-panel")
        expect(shown.locator("mark").first).to_be_visible()
        top, foot = shown.locator(".citation-nav"), shown.locator(".judge")
        edges = "each => [each.getBoundingClientRect().top, each.getBoundingClientRect().bottom]"
        above, below = top.evaluate(edges)[1], foot.evaluate(edges)[0]
        marks = [each.evaluate(edges) for each in shown.locator(".stored mark").all()]
        assert above <= marks[0][0] and marks[-1][1] <= below
        page.keyboard.press("Escape")


def test_the_margin_has_the_sources_of_the_section_that_is_read(page: Page) -> None:
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    beside = page.locator(".contents .in-view")
    cited = page.locator(":is(.answer, .report) .cite a").first
    expect(beside.locator("b").first).to_have_text(cited.inner_text())
    page.locator("#section-2").evaluate("each => each.scrollIntoView()")
    expect(page.locator(".contents [aria-current]")).to_have_attribute("href", "#section-2")
    cited = page.locator("#section-2 ~ * .cite a").first
    expect(beside.locator("b").first).to_have_text(cited.inner_text())
    before = page.locator(".report").bounding_box()
    beside.locator("a").first.click()
    panel = page.locator("#citation-panel")
    expect(panel.locator("mark").first).to_be_visible()
    expect(beside).to_be_hidden()
    assert page.locator(".report").bounding_box() == before, "nothing moves"
    page.keyboard.press("Escape")
    expect(beside).to_be_visible()


@pytest.mark.parametrize("title", [None, "Impact of quantum computing on all that is kept secret"])
def test_the_answer_begins_in_the_first_quarter_of_a_phone(page: Page, title: str | None) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    if title:
        page.locator("h1").evaluate("(each, title) => { each.textContent = title }", title)
    begins = page.locator(".answer").bounding_box()
    assert begins is not None and begins["y"] < PHONE["height"] / 4


def test_citations_on_a_phone_can_be_hit_and_leave_the_lines_where_they_are(page: Page) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    shown = page.locator(".cite a:visible").all()
    boxes = [box for each in shown if (box := each.bounding_box())]
    assert boxes and all(box["width"] >= 24 and box["height"] >= 24 for box in boxes)
    lines = """each => {
      const style = getComputedStyle(each);
      return each.getBoundingClientRect().height / parseFloat(style.lineHeight);
    }"""
    texts = page.locator(".report > p:has(.cite):not(:has(.lead-in)):visible").all()
    assert all(abs(each.evaluate(lines) % 1) < 0.02 for each in texts)


def test_numbers_and_orders_of_sources_on_a_phone_can_be_hit(page: Page) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(f"{page.url}sources/")
    shown = page.locator(".sort a, .sources .marker:visible").all()
    boxes = [box for each in shown if (box := each.bounding_box())]
    assert len(boxes) > 4
    assert all(box["width"] >= 24 and box["height"] >= 24 for box in boxes), boxes


def test_paper_bears_the_report_and_no_buttons(page: Page) -> None:
    page.locator(".cite a").first.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".report")).to_be_visible()
    expect(page.locator("#citation-panel")).to_be_hidden()
    page.set_viewport_size({"width": 720, "height": 1000})
    for part in (".contents", ".contents-fold", ".ask-on"):
        expect(page.locator(part)).to_be_hidden()
    page.goto(f"{page.url}citations/1/")
    expect(page.locator(".stored mark").first).to_be_visible()
    buttons = page.locator("main button").all()
    assert len(buttons) > 3, "also those of single findings"
    for button in buttons:
        expect(button).to_be_hidden()


def test_a_mistake_in_a_comment_is_seen(
    model_server: Server, open_page: Open, watch: Watch
) -> None:
    page = open_page(model_server)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    page.get_by_text("Send back with a comment").click()
    watch.excused = True
    page.get_by_role("button", name="Send back").click()
    expect(page.get_by_text("Say what should be different.")).to_be_visible()


@pytest.mark.parametrize("height", [560, 720, 900])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_menu_of_formats_stays_in_its_window(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.locator(".exports summary").click()
    menu = page.locator(".exports ul")
    expect(menu.locator("a").first).to_be_visible()
    box = menu.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width, box
    assert box["y"] + box["height"] <= height, box
    saved = menu.get_by_role("link", name="PDF")
    assert "quotes" not in (saved.get_attribute("href") or "")
    menu.get_by_text("Without quotes").click()
    assert (saved.get_attribute("href") or "").endswith("/export/pdf?quotes=false")
    page.emulate_media(media="print")
    expect(page.locator(".report .quote").first).to_be_hidden()
    page.emulate_media(media="screen")
    menu.get_by_text("With quotes").click()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Rewrite").click()
    expect(page.get_by_role("heading", name="Rewrite as")).to_be_in_viewport()


def test_a_long_question_is_cut_at_two_lines_until_it_is_opened(
    sample_server: Server, open_page: Open
) -> None:
    page = open_report(open_page, sample_server)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.goto("/")
    question = "How old do oaks get, and why do so many of them grow so old on poor soil? " * 6
    page.get_by_label("What do you want to know?").fill(question)
    page.get_by_role("button", name="Research").click()
    expect(page.locator("h1.question")).to_have_text(question.split("?")[0] + "?")
    asked = page.locator("h1 + .as-asked")
    height = (
        "one => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)"
    )
    assert asked.evaluate(height) < 2.1
    page.get_by_text("Show whole question").click()
    assert asked.evaluate(height) > 3


def test_a_question_that_is_shown_whole_has_no_switch(
    sample_server: Server, open_page: Open
) -> None:
    page = open_report(open_page, sample_server)
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    page.goto("/")
    question = (
        "Why do oaks grow old? " + "Some of them stand on poor soil, where little else grows. " * 4
    )
    page.get_by_label("What do you want to know?").fill(question.strip())
    page.get_by_role("button", name="Research").click()
    expect(page.locator(".run[data-shows~=ended]")).to_be_attached(timeout=20_000)
    expect(page.locator(".as-asked")).to_be_visible()
    is_cut = "one => one.scrollHeight > one.clientHeight"
    assert not page.locator(".as-asked").evaluate(is_cut)
    expect(page.get_by_text("Show whole question")).to_be_hidden()


def test_a_command_is_copied_without_its_button(shared_server: Server, open_page: Open) -> None:
    page = open_report(open_page, shared_server, permissions=["clipboard-read", "clipboard-write"])
    step = "1. Run `plumbline documents add ~/papers`."
    html = render_in_parts(step, lambda number, place: None).answer
    page.locator(".answer").evaluate("(one, html) => { one.innerHTML = html }", html)
    page.get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == "plumbline documents add ~/papers"


COPIED = """async () => {
  const [item] = await navigator.clipboard.read();
  return Promise.all(["text/plain", "text/html"].map(async (kind) =>
    (await item.getType(kind)).text()));
}"""


def test_a_report_is_copied_for_mails_and_for_plain_text(
    shared_server: Server, open_page: Open
) -> None:
    page = open_report(open_page, shared_server, permissions=["clipboard-read", "clipboard-write"])

    def copied() -> tuple[str, str]:
        page.get_by_role("button", name="Copy with citations").click()
        expect(page.get_by_role("button", name="Copied", exact=False)).to_be_visible()
        plain, html = page.evaluate(COPIED)
        return plain, html

    page.get_by_text("Save or copy").click()
    plain, html = copied()
    assert plain.startswith("# ") and "## Quotes" in plain and "> " in plain
    assert "<h1" in html and "Quotes</h2>" in html and "[1]</a></sup>" in html
    assert not any(f"<{tag}" in html for tag in ("style", "script", "button", "svg"))
    page.get_by_text("Without quotes", exact=True).click()
    plain, html = copied()
    assert "## Quotes" not in plain and "Quotes</h2>" not in html and "<h1" in html
    page.evaluate("delete window.ClipboardItem")
    page.reload()
    page.evaluate("delete window.ClipboardItem")
    page.get_by_text("Save or copy").click()
    page.get_by_role("button", name="Copy with citations").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("# ")
