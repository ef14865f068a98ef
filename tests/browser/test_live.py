"""A run watched in a real browser: what arrives, and what happens when the line is cut."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import WHOLE, Open, Watch
from tests.browser.serving import Server
from tests.support.installation import Installation
from tests.support.model_server import Answer
from tests.support.world import CHAINED, DESIGNED, TRAINED, World

SAMPLES = (
    "How does Plumbline decide when to stop?",
    "How to make scrambled eggs?",
    "Impact of quantum computing on cryptocurrency security",
)
SHOWN = ".verdict-sentence, .verdict-line, .aspect, .gaps li, .evidence-item, .round > div, .report"


def slow(world: World, seconds: float = 0.5) -> None:
    def later(answer: Answer) -> Answer:
        time.sleep(seconds)
        return answer

    for task in ("intake", "read", "assess", "draft"):
        world.model.twists[task] = later


def ask(page: Page, question: str) -> None:
    page.get_by_label("What do you want to know?").fill(question)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")
    page.evaluate("window.notReloaded = true")


def ask_and_start(page: Page, question: str) -> None:
    """Where a model costs nobody knows how much, the plan is shown first."""
    ask(page, question)
    with page.expect_navigation():
        page.get_by_role("button", name="Start").click()
    page.evaluate("window.notReloaded = true")


def was_not_reloaded(page: Page) -> bool:
    return bool(page.evaluate("window.notReloaded === true"))


def shown(page: Page) -> list[str]:
    return page.locator(SHOWN).all_inner_texts()


def hold_after_round_one(world: World, page: Page) -> None:
    """Ask, and keep the model from judging the first round until it is let go."""
    world.model.hold("assess")
    ask_and_start(page, CHAINED)
    assert world.model.held.wait(20)
    expect(page.locator(".evidence-item")).to_have_count(1)


# --- what arrives -------------------------------------------------------------------------------


@pytest.mark.requirement("A11", "A12", "F14")
def test_everything_arrives_without_a_reload(
    model_server: Server, world: World, open_page: Open
) -> None:
    slow(world)
    page = open_page(model_server)
    ask_and_start(page, CHAINED)
    expect(page.locator(".now time").first).to_be_visible()
    expect(page.locator(".aspect")).to_have_count(2)
    expect(page.locator(".verdict-line")).to_contain_text("round 1 of up to")
    expect(page.locator(".evidence-item")).not_to_have_count(0)
    expect(page.locator(".round")).to_have_count(1)
    expect(page.locator(".gaps li.open")).to_have_count(1)
    expect(page.locator(".verdict-sentence")).to_contain_text("Going on")
    expect(page.locator(".round")).to_have_count(2)
    expect(page.locator(".chart-point")).to_have_count(2)
    report = page.locator(".column")
    expect(report).to_contain_text(DESIGNED)
    expect(report).to_contain_text(TRAINED)
    expect(page.locator(".verdict-sentence")).to_contain_text("Stopped")
    expect(page).to_have_title(re.compile("^✓ "))
    expect(page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("favicon-done"))
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator(".gaps li")).to_have_count(0)
    assert was_not_reloaded(page)


@pytest.mark.parametrize("question", SAMPLES)
def test_a_sample_ends_in_a_report_whose_citations_show_their_quotes(
    server: Server, open_page: Open, question: str
) -> None:
    page = open_page(server)
    page.get_by_role("button", name=question).click()
    page.wait_for_url("**/runs/*/")
    page.evaluate("window.notReloaded = true")
    expect(page.locator(".report")).to_be_visible()
    expect(page).to_have_title(re.compile("^[○✓◐] "))
    assert was_not_reloaded(page)
    expect(page.locator(".contents .in-view b").first).to_be_visible()
    page.get_by_role("link", name="How this was researched").click()
    for part in (".account", ".aspect", ".evidence-item", ".round"):
        expect(page.locator(part).first).to_be_visible()
    quote = page.locator(".evidence-item blockquote").first.inner_text()
    assert quote
    page.get_by_role("link", name="Report", exact=True).click()
    page.locator(".cite a").first.hover()  # waits until nothing moves it any more
    place = page.locator(".cite a").first.bounding_box()
    page.locator(".cite a").first.click()
    panel = page.locator("#citation-panel")
    expect(panel.locator("mark").first).to_be_visible()
    expect(panel).to_contain_text("word for word in the stored copy")
    assert page.locator(".cite a").first.bounding_box() == place
    page.keyboard.press("Escape")
    expect(panel).to_be_empty()
    expect(page.locator(".cite a").first).to_be_focused()
    report = page.url
    for _ in range(30):  # faster than the panel loads
        page.keyboard.press("j")
    page.wait_for_timeout(500)
    assert page.url == report and panel.inner_text().startswith("Citation")
    page.goto(page.url + "citations/1/")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator("mark#quote")).to_be_in_viewport(ratio=1)
    page.get_by_text("more paragraph").first.click()
    expect(page.locator(".stored details[open] > :not(summary)").first).to_be_visible()


def test_a_report_that_arrives_again_stays_in_view(server: Server, open_page: Open) -> None:
    """Somebody reads it already: the page must not go back to how it was researched."""
    page = open_page(server)
    page.get_by_role("button", name=SAMPLES[0]).click()
    page.wait_for_url("**/runs/*/")
    expect(page.locator(".report")).to_be_visible()
    page.locator(".report p").first.select_text()
    page.evaluate("""() => {
      const target = document.querySelector(".outcome");
      const fragment = document.createElement("div");
      fragment.append(target.cloneNode(true));
      const detail = { target, fragment, shouldSwap: true };
      document.dispatchEvent(new CustomEvent("htmx:oobBeforeSwap", { detail }));
    }""")
    expect(page.locator(".report")).to_be_visible()
    assert page.locator(".run").get_attribute("data-tab") != "research"


def test_a_sample_without_javascript_ends_the_same(server: Server, open_page: Open) -> None:
    page = open_page(server, java_script_enabled=False)
    page.goto(server.url)
    page.get_by_role("button", name=SAMPLES[0]).click()
    expect(page.locator(".report")).to_be_visible()
    page.get_by_role("link", name="How this was researched").click()
    expect(page.locator(".aspect").first).to_be_visible()
    page.get_by_role("link", name="Report", exact=True).click()
    page.locator(".cite a").first.click()
    page.wait_for_url("**/citations/**")
    expect(page.locator("mark#quote")).to_be_visible()
    expect(page.get_by_text("word for word in the stored copy").first).to_be_visible()


def test_two_windows_agree(model_server: Server, world: World, open_page: Open) -> None:
    first = open_page(model_server)
    second = first.context.new_page()
    hold_after_round_one(world, first)
    second.goto(first.url)
    assert shown(first) == shown(second)
    world.model.let_go()
    for page in (first, second):
        expect(page.locator(".report")).to_be_visible()
    assert shown(first) == shown(second)


# --- the report while it is written ---------------------------------------------------------------

SHIFTS = """
window.shifts = [];
window.grown = [];
new PerformanceObserver((seen) => {
  for (const each of seen.getEntries()) window.shifts.push(each.value);
}).observe({type: "layout-shift", buffered: false});
new MutationObserver(() => window.grown.push(performance.now())).observe(
  document.querySelector(".drafted [data-rows]"), {childList: true});
"""


def test_the_report_is_seen_growing_until_the_checked_one_takes_its_place(
    model_server: Server, world: World, open_page: Open
) -> None:
    world.model.pace_seconds = 0.7
    page = open_page(model_server)
    ask_and_start(page, CHAINED)
    drafting, first = page.locator(".drafting"), page.locator(".drafted [data-rows] > *").first
    expect(drafting).to_be_hidden()
    expect(first).to_be_visible()
    expect(drafting).to_contain_text("Nothing in it is checked yet")
    page.evaluate(SHIFTS)
    sentence = first.text_content()
    first.select_text()
    expect(page.locator(".drafted [data-rows] > *")).not_to_have_count(1)
    assert first.text_content() == sentence
    selected = page.evaluate("getSelection().toString()")
    assert "".join(selected.split()) == "".join((sentence or "").split())
    assert page.evaluate("window.shifts") == []
    assert drafting.locator("xpath=ancestor-or-self::*[@aria-live]").count() == 0
    expect(page.locator(".report")).to_be_visible()
    expect(drafting).to_be_hidden()
    times = page.evaluate("window.grown")
    assert len(times) <= 1 + (times[-1] - times[0]) / 100
    assert was_not_reloaded(page)


def test_nothing_moves_for_an_onlooker_until_the_report_is_there(
    model_server: Server, world: World, open_page: Open
) -> None:
    """From the first round through the second one to the last sentence of the draft."""
    world.model.pace_seconds = 0.7
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.wait_for_timeout(500)
    page.evaluate(SHIFTS)
    world.model.let_go()
    expect(page.locator(".steps [aria-current]")).to_contain_text("Writing")
    expect(page.locator(".drafted [data-rows] > *")).not_to_have_count(0)
    assert sum(page.evaluate("window.shifts")) <= 0.01
    expect(page.locator(".report")).to_be_visible()


def test_the_growing_report_opens_folded_where_somebody_reads(
    model_server: Server, world: World, open_page: Open
) -> None:
    world.model.pace_seconds = 0.7
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.locator(".aspect-text").first.select_text()
    world.model.let_go()
    drafting = page.locator(".drafting")
    expect(drafting).to_be_visible()
    expect(drafting.locator(".drafted")).to_be_hidden()
    drafting.locator("summary").click()
    expect(drafting.locator(".drafted")).to_be_visible()
    expect(page.locator(".report")).to_be_visible()


def test_the_frame_shows_the_newest_piece_first_and_all_of_them_on_demand(
    model_server: Server, world: World, open_page: Open
) -> None:
    world.model.hold("draft")
    page = open_page(model_server)
    ask_and_start(page, CHAINED)
    assert world.model.held.wait(20)
    pieces = page.locator(".evidence-item")
    expect(pieces).to_have_count(2)
    page.wait_for_timeout(500)
    tops = page.locator(".evidence-list, .evidence-item").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().top)"
    )
    assert tops[0] <= tops[1] < tops[2]
    assert TRAINED in pieces.first.inner_text()
    page.locator(".all summary").focus()
    page.keyboard.press("Enter")
    expect(pieces.last).to_be_in_viewport()
    positions = "each => getComputedStyle(each).position"
    assert pieces.last.evaluate(positions) == "static"
    world.model.let_go()
    expect(page.get_by_role("link", name="Report", exact=True)).to_be_visible()
    expect(pieces.last).to_be_visible()


def test_without_javascript_the_growing_report_is_there_too(
    model_server: Server, world: World, open_page: Open
) -> None:
    world.model.pace_seconds = 1.2
    page = open_page(model_server, java_script_enabled=False)
    page.get_by_label("What do you want to know?").fill(CHAINED)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".drafting")).to_contain_text(DESIGNED, timeout=60_000)
    expect(page.locator(".report")).to_be_visible(timeout=60_000)
    expect(page.locator(".drafting")).to_be_hidden()


# --- what a reader does stays -------------------------------------------------------------------


def test_what_was_opened_focused_and_typed_stays(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.locator(".round summary").first.click()
    page.locator(".made-of summary").click()
    page.locator(".made-of summary").focus()
    page.locator(".aspect-text").first.select_text()
    chosen = page.evaluate("getSelection().toString()")
    assert chosen
    world.model.let_go()
    expect(page.locator(".round")).to_have_count(2)
    expect(page.get_by_role("link", name="How this was researched")).to_be_visible()
    expect(page.locator(".report")).to_be_hidden()
    assert page.locator(".round details").first.get_attribute("open") is not None
    assert page.locator(".made-of").get_attribute("open") is not None
    expect(page.locator(".made-of summary")).to_be_focused()
    assert page.evaluate("getSelection().toString()") == chosen
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.locator(".report")).to_be_visible()


def test_new_evidence_waits_while_somebody_reads(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.locator(".aspect-text").first.select_text()
    world.model.let_go()
    expect(page.get_by_role("button", name="1 new")).to_be_visible()
    expect(page.locator(".evidence-item:visible")).to_have_count(1)
    page.get_by_role("button", name="1 new").click()
    expect(page.locator(".evidence-item:not([hidden])")).to_have_count(2)
    expect(page.locator(".newer")).to_be_hidden()


# --- when the line is cut -------------------------------------------------------------------------


def test_a_dropped_socket_comes_back_to_the_present(
    model_server: Server, world: World, open_page: Open, watch: Watch
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    watch.excused = True
    page.context.set_offline(True)
    world.model.let_go()
    time.sleep(2)
    page.context.set_offline(False)
    expect(page.locator(".report")).to_be_visible()
    assert was_not_reloaded(page)


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_restarted_server_is_found_again(
    model_server: Server, world: World, open_page: Open, watch: Watch, how: str
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    watch.excused = True
    getattr(model_server, how)()
    world.model.let_go()
    model_server.start()
    expect(page.locator(".report")).to_be_visible(timeout=40_000)
    assert was_not_reloaded(page)
    expect(page.locator(".evidence-item")).to_have_count(2)


PLACES_WITH_AND_WITHOUT = """() => {
  const lost = document.querySelector(".lost");
  const place = () => document.getElementById("aspects-title").getBoundingClientRect().top;
  const without = place();
  lost.textContent = lost.dataset.text;
  const moved = place() - without;
  lost.textContent = "";
  return moved;
}"""


def test_a_lost_connection_is_told_until_it_is_back(
    model_server: Server, world: World, open_page: Open, watch: Watch
) -> None:
    """What is being done is not said to go on while nobody knows; saying so moves nothing."""
    page = open_page(model_server)
    hold_after_round_one(world, page)
    lost, age = page.get_by_role("status"), page.locator(".now time").first
    expect(lost).to_be_empty()
    assert page.evaluate(PLACES_WITH_AND_WITHOUT) == 0
    watch.excused = True
    model_server.kill()
    expect(lost).to_have_text(re.compile(r"^No connection since \d\d:\d\d; trying again\.$"))
    stood = age.inner_text()
    page.wait_for_timeout(2500)
    assert age.inner_text() == stood
    world.model.hold("assess")  # the new process takes the run over at once
    model_server.start()
    expect(lost).to_be_empty(timeout=40_000)
    expect(age).not_to_have_text(stood)
    world.model.let_go()
    expect(page.locator(".report")).to_be_visible(timeout=40_000)
    assert was_not_reloaded(page)


COMPLAIN_OF_LOSS = """
new MutationObserver(() => console.error("told as lost")).observe(
  document.querySelector(".lost"), {childList: true});
"""


def test_neither_the_end_nor_leaving_the_page_is_a_loss(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.evaluate(COMPLAIN_OF_LOSS)
    page.goto("/runs/")
    page.go_back()
    page.evaluate(COMPLAIN_OF_LOSS)
    page.reload()
    page.evaluate(COMPLAIN_OF_LOSS)
    world.model.let_go()
    expect(page.locator(".report")).to_be_visible()


def test_what_another_process_commits_arrives_too(
    server: Server, bare_installation: Installation, open_page: Open
) -> None:
    """Without Redis nothing announces it; the check of the tail finds it."""
    page = open_page(server)
    page.get_by_role("checkbox").check()
    ask(page, "How to make scrambled eggs?")
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    run = page.url.rstrip("/").rsplit("/", 1)[-1]
    with bare_installation.inside() as inside:
        inside("tell", run=run, command="request_cancel")
    expect(page.locator(".verdict-top")).to_contain_text("Cancelled")
    assert was_not_reloaded(page)


# --- told of the end ------------------------------------------------------------------------------

RECORD = """
window.told = [];
window.Notification = class extends Notification {
  constructor(title, options) { super(title, options); window.told.push([title, options.body]); }
};
"""


@WHOLE
@pytest.mark.requirement("F14")
def test_whoever_asked_for_it_is_told_of_the_end_once(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    page.context.grant_permissions(["notifications"])
    page.add_init_script(RECORD)
    hold_after_round_one(world, page)
    button = page.get_by_role("button", name="Notify me when done")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    world.model.let_go()
    expect(page.locator(".report")).to_be_visible()
    expect(button).to_have_count(0)
    title, body = page.evaluate("window.told.length === 1 ? window.told[0] : window.told")
    assert title.startswith("✓ Who designed") and body == "Answered"


@WHOLE
@pytest.mark.requirement("F14")
def test_nobody_is_told_unasked(model_server: Server, world: World, open_page: Open) -> None:
    page = open_page(model_server)
    page.context.grant_permissions(["notifications"])
    page.add_init_script(RECORD)
    hold_after_round_one(world, page)
    button = page.get_by_role("button", name="Notify me when done")
    button.click()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    world.model.let_go()
    expect(page.locator(".report")).to_be_visible()
    expect(button).to_have_count(0)
    assert page.evaluate("window.told") == []


def test_a_browser_that_blocks_notifications_says_so(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    page.get_by_role("button", name="Notify me when done").or_(
        page.get_by_role("button", name="This browser blocks notifications")
    ).click(force=True)
    expect(page.get_by_role("button", name="This browser blocks notifications")).to_be_disabled()
