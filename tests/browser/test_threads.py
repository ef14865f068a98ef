"""What follows a report, in a browser: rejected, revised, reshaped, dug for, asked on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import STOPPING, Open, Watch, open_report, serving
from tests.browser.serving import Server
from tests.browser.test_live import ask_and_start, was_not_reloaded
from tests.browser.test_looks import DESK, PHONE, check
from tests.browser.test_steering import press
from tests.support.installation import Installation
from tests.support.world import CHAINED, TRAINED

LONG = 20_000


@pytest.fixture
def shallow_server(installation: Installation) -> Iterator[Server]:
    """Pointed at the scripted world, where one round is the most."""
    installation.settings = {**installation.settings, "ADAPTIVE_MAX_DEPTH": "1"}
    yield from serving(installation)


def reported(page: Page) -> None:
    expect(page.locator(".report")).to_be_visible(timeout=LONG)
    expect(page.locator(".ask-on")).to_be_visible()


def open_all(page: Page) -> None:
    for details in page.locator(".onward details").all():
        details.evaluate("one => { one.open = true }")


def test_rejected_in_place_and_revised(stopping_server: Server, open_page: Open) -> None:
    """F4: the sentence is greyed at once; the revision holds nothing of the quote."""
    page = open_report(open_page, stopping_server)
    first = page.locator(".cite a").first
    first.click()
    quote = page.locator("#citation-panel mark").first.inner_text()
    expect(page.locator(".column")).to_contain_text(quote)
    expect(page.locator(".review form")).to_have_count(0)
    top = "document.querySelector('.report').offsetTop"
    before = page.evaluate(top)
    press(page, "Doesn’t")
    expect(page.locator(".in-panel")).to_contain_text("Rests on rejected evidence")
    expect(page.locator(".column .rejected").first).to_be_visible()
    assert was_not_reloaded(page)
    assert page.evaluate(top) == before
    check(page)
    page.set_viewport_size(DESK)
    page.keyboard.press("Escape")
    expect(first).to_be_focused()
    old = page.url
    page.context.new_page().goto(old)
    elsewhere = page.context.pages[-1]
    expect(elsewhere.locator(".review")).to_contain_text("Rests on rejected evidence")
    elsewhere.close()
    first.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    press(page, "Revise")
    page.wait_for_url(lambda url: url != old)
    reported(page)
    expect(page.locator(".verdict-sentence")).to_contain_text("Revised after a review")
    expect(page.locator(".column")).not_to_contain_text(quote)
    expect(page.locator(".review form")).to_have_count(0)
    expect(page.locator(".deeper")).to_have_count(1)
    expect(page.locator(".versions li")).to_have_count(2)
    open_all(page)
    check(page)
    page.get_by_role("link", name="First report").click()
    expect(page.locator(".column")).to_contain_text(quote)
    expect(page.locator(".notice-row").first).to_contain_text("Rests on rejected evidence")
    expect(page.get_by_role("link", name="Newest version: Revised after a review")).to_be_visible()
    page.goto("/runs/")
    expect(page.locator(".run-list li")).to_have_count(1)
    expect(page.locator(".run-list li")).to_contain_text("Revised after a review")


@pytest.mark.requirement("F12")
@pytest.mark.parametrize("script", [True, False])
def test_another_shape(stopping_server: Server, open_page: Open, script: bool) -> None:
    page = open_report(open_page, stopping_server, java_script_enabled=script)
    press(page, "As a table")
    expect(page.locator(".report table")).to_be_visible(timeout=LONG)
    expect(page.locator(".versions summary")).to_have_text("Version 2 of 2")
    page.get_by_text("Save or copy").click()
    with page.expect_download() as saved:
        page.get_by_role("link", name="Markdown").click()
    assert "| Sub-question | Answer | Support |" in saved.value.path().read_text()


def test_one_finding_behind_a_number_is_judged_in_its_place(
    sample_server: Server, open_page: Open
) -> None:
    page = open_report(open_page, sample_server)
    page.locator(".report li .cite a", has_text="1").first.click()
    panel = page.locator("#citation-panel")
    panel.get_by_text("Judge them one by one").click()
    last = panel.locator(".checked").last
    last.get_by_role("button", name="Doesn’t").click()
    expect(last).to_contain_text("Rejected. Press again to take it back.")
    expect(last).to_be_in_viewport()
    expect(panel.locator(".checked").first).to_contain_text("If you reject it")
    check(page)
    last.get_by_role("button", name="Doesn’t").click()
    expect(last).to_contain_text("If you reject it")
    expect(page.locator(".column .rejected")).to_have_count(0)


def test_dig_deeper_on_what_is_open(shallow_server: Server, open_page: Open) -> None:
    page = open_page(shallow_server)
    ask_and_start(page, CHAINED)
    reported(page)
    expect(page.locator(".column")).not_to_contain_text(TRAINED)
    page.get_by_text("Choose sub-questions").click()
    boxes = page.locator(".deeper input[type=checkbox]")
    assert [box.is_checked() for box in boxes.all()] == [False, True]
    check(page)
    old = page.url
    page.locator(".deeper").get_by_role("button", name="Dig deeper on 1 sub-question").click()
    page.wait_for_url(lambda url: url != old)
    reported(page)
    expect(page.locator(".column")).to_contain_text(TRAINED)
    expect(page.locator(".evidence-item", has_text="from the earlier run")).to_have_count(1)


def test_a_follow_up_on_the_same_topic(stopping_server: Server, open_page: Open) -> None:
    """D13: the thread's page shows the earlier question with its answer."""
    page = open_report(open_page, stopping_server)
    field = page.get_by_label("Ask a follow-up")
    field.fill("And what does it do")
    old = page.url
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("about gaps?")
    expect(field).to_have_value("And what does it do\nabout gaps?")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: url != old)
    reported(page)
    turns = page.locator(".turns details")
    expect(turns).to_have_count(1)
    turns.locator("summary").click()
    expect(turns).to_contain_text(STOPPING)
    expect(turns.locator("p").first).to_be_visible()
    check(page)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_the_next_question_can_be_asked_wherever_one_reads(
    stopping_server: Server, open_page: Open, size: ViewportSize
) -> None:
    page = open_report(open_page, stopping_server, viewport=size)
    field = page.get_by_label("Ask a follow-up")
    for place in ("0", "document.body.scrollHeight / 3"):
        page.evaluate(f"scrollTo(0, {place})")
        page.locator(".run-bar").get_by_role("link", name="Ask").click()
        expect(field).to_be_focused()
        expect(field).to_be_in_viewport(ratio=1)
        field.blur()
    check(page)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_mistake_low_on_the_page_is_shown_where_it_is(
    stopping_server: Server, open_page: Open, watch: Watch, size: ViewportSize
) -> None:
    page = open_report(open_page, stopping_server, viewport=size)
    watch.excused = True
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("Write a question first.")).to_be_in_viewport()
    expect(page.get_by_label("Ask a follow-up")).to_be_focused()


@pytest.mark.parametrize("script", [True, False])
def test_another_topic_is_asked_about(
    stopping_server: Server, open_page: Open, script: bool
) -> None:
    page = open_report(open_page, stopping_server, java_script_enabled=script)
    page.get_by_label("Ask a follow-up").fill("How long are eggs safe in a fridge?")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_role("heading", name="Another topic?")).to_be_visible(timeout=LONG)
    if script:
        check(page)
    press(page, "Start a new topic")
    reported(page)
    expect(page.locator(".column")).to_contain_text("egg")
