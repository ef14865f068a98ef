"""Each page of ours, light and dark: axe-core finds nothing, and the first view answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT, AxeResults
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Open, Watch, open_report
from tests.browser.serving import Server
from tests.support.world import CHAINED, SIMPLE, World

DESK, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 844}
SIZES = (DESK, PHONE)
STATIC = Path(__file__).resolve().parents[2] / "static"
VIOLATIONS = """async ([part, options]) => {
  const {violations} = await axe.run(part, options);
  return {violations};
}"""
DISTINCT_ONLY = """() => {
  const known = new Map(), counts = [];
  const number = (one, around) => {
    const style = getComputedStyle(one);
    const looks = [around, one.localName, style.color, style.backgroundColor,
      style.backgroundImage, style.opacity, style.fontSize, style.fontWeight].join();
    if (!known.has(looks)) known.set(looks, known.size);
    const found = known.get(looks);
    counts[found] = (counts[found] ?? 0) + 1;
    one.toggleAttribute("data-distinct", counts[found] <= 2);
    for (const child of one.children) number(child, found);
  };
  number(document.documentElement, -1);
  axe.configure({rules: [{id: "color-contrast", selector: "[data-distinct]"}]});
}"""
DEPENDS = """() => {
  const selectors = (text) => {
    const parts = [""];
    let depth = 0;
    for (const sign of text) {
      depth += (sign === "(") - (sign === ")");
      if (sign === "," && !depth) parts.push("");
      else parts[parts.length - 1] += sign;
    }
    return parts;
  };
  return [...document.styleSheets[0].cssRules]
    .flatMap((rule) => [rule, ...(rule.cssRules ?? [])])
    .flatMap((rule) => selectors(rule.selectorText ?? ""))
    .filter((selector) => selector.includes(":has("))
    .map((selector) => selector.split(":has(")[0].replace(/:not\\($/, ""))
    .filter((beginning) => document.querySelector(beginning));
}"""
"""Elements of a live page that no `:has()` may select by: each update would restyle the page."""
SCRIPT_BYTES = {
    "run.js": 8_500, "report.js": 6_900, "ask.js": 4_000, "settings.js": 3_000, "keys.js": 2_100,
    "citations.js": 5_100, "notifications.js": 1_500, "back.js": 500, "schedules.js": 700,
    "share.js": 700, "setup.js": 1_000,
}  # fmt: skip
FIRST_PAGE_BYTES = 150_000
RUN_PAGE_BYTES = 100_000


def check(page: Page, part: str = "html") -> None:
    """Axe-core finds nothing at either size, and in the dark no contrast that is too low.

    `part` selects what changed since the page was checked. In the dark, elements whose colours and
    sizes are those of two others, as are those of all around them, are not looked at again.
    """
    page.evaluate(AXE_SCRIPT)
    page.emulate_media(color_scheme="light")
    for size in SIZES:
        page.set_viewport_size(size)
        check_as_it_is(page, part, {})
    page.emulate_media(color_scheme="dark")
    for size in SIZES:
        page.set_viewport_size(size)
        page.evaluate(DISTINCT_ONLY)
        check_as_it_is(page, part, {"runOnly": ["color-contrast"]})


def check_as_it_is(page: Page, part: str, rules: Mapping[str, Any]) -> None:
    """Axe-core, which the page has loaded, finds nothing at its size and in its colours."""
    options = {"resultTypes": ["violations"], **rules}
    found = AxeResults(page.evaluate(VIOLATIONS, [part, options]))
    assert found.violations_count == 0, f"{page.url}: {found.generate_report()}"


def test_the_pages_before_and_after_a_run(
    sample_server: Server, open_page: Open, watch: Watch
) -> None:
    page = open_page(sample_server)
    check(page)
    page.goto(sample_server.report)
    expect(page.locator(".report")).to_be_visible()
    for details in page.locator("details:visible").all():
        details.evaluate("one => { one.open = true }")
    check(page)
    page.keyboard.press("Escape")  # the open menu lies above the report
    page.locator(".cite a").first.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    check(page, "#citation-panel")
    run = page.url.split("#")[0]
    for address in (
        "/settings/",
        "/runs/",
        "/runs/?text=nothing+like+it",
        "/documents/",
        "/review/",
        "/sites/",
        "/installation/",
        "/queue/",
        "/tokens/",
        f"{run}research/",
        f"{run}activity/",
        f"{run}sources/",
        f"{run}evidence/",
        f"{run}delete/",
        f"{run}citations/1/",
    ):
        page.goto(address)
        check(page)
    watch.excused = True
    page.goto("/nowhere/")
    check(page)
    page.get_by_role("button", name="Sign out").click()
    check(page)
    page.goto(sample_server.link)
    expect(page.get_by_role("heading", level=1)).to_contain_text("link")
    check(page)


def test_the_pages_of_a_shared_report(sample_server: Server, open_page: Open, watch: Watch) -> None:
    page = open_report(open_page, sample_server, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Share", exact=True).click()
    check(page)
    page.get_by_role("button", name="Create link").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    check(page)
    address = page.evaluate("navigator.clipboard.readText()")
    assert address == page.locator("#share-address").input_value()
    page.context.clear_cookies()
    page.goto(address)
    for details in page.locator("details:visible").all():
        details.evaluate("one => { one.open = true }")
    check(page)
    page.keyboard.press("Escape")
    page.locator(".cite a").first.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    check(page, "#citation-panel")
    page.goto(f"{address}citations/1/")
    check(page)
    watch.excused = True
    page.goto("/s/nothing/")
    check(page)


def test_a_report_is_shared_and_read_without_scripts(
    sample_server: Server, open_page: Open
) -> None:
    page = open_page(sample_server, java_script_enabled=False)
    page.goto(sample_server.report)
    page.get_by_role("link", name="Share", exact=True).click()
    page.get_by_role("button", name="Create link").click()
    expect(page.get_by_role("button", name="Copy link")).to_be_hidden()
    address = page.get_by_label("Link", exact=True).input_value()
    page.context.clear_cookies()
    page.goto(address)
    page.locator(".answer .cite a").first.click()
    expect(page.locator(".stored mark").first).to_be_visible()
    page.get_by_role("link", name="Back to the report").click()
    expect(page.locator(".report")).to_be_visible()


def test_the_page_of_a_form_that_came_too_late(
    server: Server, open_page: Open, watch: Watch
) -> None:
    page = open_page(server)
    watch.excused = True
    page.context.clear_cookies(name="plumbline_csrf")
    page.get_by_role("button", name="How to make scrambled eggs?").click()
    expect(page.locator(".notice-page")).to_be_visible()
    check(page)


def test_the_pages_of_a_run_under_way(model_server: Server, world: World, open_page: Open) -> None:
    page = open_page(model_server)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()
    check(page)
    world.model.hold("assess")
    page.goto("/")
    page.get_by_label("What do you want to know?").fill(CHAINED)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    assert world.model.held.wait(20)
    expect(page.locator(".evidence-item")).to_have_count(1)
    check(page)
    assert page.evaluate(DEPENDS) == []
    world.model.pace_seconds = 0.6
    world.model.let_go()
    expect(page.locator(".drafting")).to_be_visible(timeout=20_000)
    check(page)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_view_says_how_far_how_good_and_what_is_missing(
    model_server: Server, world: World, open_page: Open, size: Any
) -> None:
    page = open_page(model_server, viewport=size)
    world.model.hold("draft")
    page.get_by_label("What do you want to know?").fill(CHAINED)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    assert world.model.held.wait(20)
    expect(page.locator(".verdict-line")).to_contain_text("of 10")
    expect(page.locator(".steps [aria-current]")).to_contain_text("Writing")
    expect(page.locator(".now")).to_contain_text("From 2 claims and 5 pages")
    for part in (".verdict-sentence", ".verdict-line", ".steps", ".now", ".aspect-state >> nth=0"):
        expect(page.locator(part)).to_be_visible()
        box = page.locator(part).bounding_box()
        assert box is not None and box["y"] + box["height"] <= size["height"], part
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]


def test_the_first_page_is_light(server: Server, open_page: Open) -> None:
    page = open_page(server)
    sizes = []
    page.on("response", lambda answer: sizes.append(len(answer.body())))
    page.goto("/")
    page.wait_for_load_state("networkidle")
    assert sum(sizes) <= FIRST_PAGE_BYTES


def test_the_page_of_a_finished_run_is_light(
    shared_server: Server, open_page: Open, browser: Browser
) -> None:
    page = open_report(open_page, shared_server)
    expect(page.locator(".report")).to_be_visible()
    fresh = browser.new_page(storage_state=page.context.storage_state())
    sizes: list[int] = []
    fresh.on("requestfinished", lambda each: sizes.append(each.sizes()["responseBodySize"]))
    fresh.goto(page.url)
    fresh.wait_for_load_state("networkidle")
    fresh.context.close()
    assert 0 < sum(sizes) <= RUN_PAGE_BYTES


def test_the_scripts_of_ours_are_small_and_leave_the_socket_alone() -> None:
    scripts = {path.name: path.read_text("utf-8") for path in STATIC.glob("*.js")}
    assert scripts.keys() == SCRIPT_BYTES.keys()
    for name, script in scripts.items():
        assert 0 < len(script.encode()) <= SCRIPT_BYTES[name], name
        assert "WebSocket" not in script


def test_a_citation_can_be_glanced_at_by_pointer_and_by_key(
    shared_server: Server, open_page: Open
) -> None:
    page = open_report(open_page, shared_server)
    marker = page.locator(".cite a").first
    for look in (marker.hover, marker.focus):
        look()
        expect(page.locator(".glance")).to_contain_text("Ledger Lab · ")
        page.mouse.move(0, 0)
        marker.evaluate("one => one.blur()")
        expect(page.locator(".glance")).to_be_hidden()


def test_keys_of_a_report_ask_on_switch_tabs_and_open_the_menu(
    shared_server: Server, open_page: Open
) -> None:
    page = open_page(shared_server)
    page.keyboard.press("e")  # nothing to save here
    page.goto(shared_server.report)
    expect(page.locator(".report")).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_role("link", name="Word")).to_be_visible()
    check(page)
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    expect(page.get_by_label("Ask a follow-up")).to_be_focused()
    page.get_by_label("Ask a follow-up").blur()
    page.keyboard.press("t")
    page.wait_for_url("**/research/")


def test_a_phone_folds_the_contents_above_the_report(
    shared_server: Server, open_page: Open
) -> None:
    page = open_page(shared_server, viewport=PHONE)
    scriptless = page.context.browser.new_context(  # type: ignore[union-attr]
        viewport=PHONE, java_script_enabled=False, storage_state=page.context.storage_state()
    )
    with scriptless:
        page = scriptless.new_page()
        page.goto(shared_server.url + shared_server.report)
        parts = (".answer", ".contents-fold", ".report")
        places = [page.locator(each).bounding_box() for each in parts]
        heights = [place["y"] for place in places if place]
        assert heights == sorted(heights) and len(heights) == 3
        expect(page.locator(".contents")).to_be_hidden()
        expect(page.locator(".contents-fold a").first).to_be_hidden()
        page.locator(".contents-fold summary").click()
        page.locator(".contents-fold a").nth(1).click()
        expect(page.locator("#section-2")).to_be_in_viewport()
        page.set_viewport_size(DESK)  # type: ignore[arg-type]
        expect(page.locator(".contents")).to_be_visible()
        expect(page.locator(".contents-fold")).to_be_hidden()


def test_a_phone_shows_sub_questions_or_evidence(shared_server: Server, open_page: Open) -> None:
    page = open_report(open_page, shared_server, viewport=PHONE)
    expect(page.locator(".report")).to_be_visible()
    page.get_by_role("link", name="Research", exact=True).click()
    needs, evidence = page.locator(".needs"), page.locator(".columns > .evidence")
    expect(needs).to_be_visible()
    expect(evidence).to_be_hidden()
    page.get_by_role("group", name="Show").get_by_text("Evidence").click()
    expect(evidence).to_be_visible()
    expect(needs).to_be_hidden()


def test_a_site_that_is_never_wanted_again(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("link", name="All sources").click()
    page.get_by_role("button", name="Block site").first.click()
    expect(page.locator(".notice")).to_contain_text("New runs leave out")
    expect(page.get_by_role("button", name="Undo").first).to_be_visible()
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true }")
    check(page)
    page.get_by_role("link", name="Blocked sites").click()
    check(page)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("No blocked sites.")).to_be_visible()


def test_more_opens_with_a_mistake_beside_its_field(
    model_server: Server, tmp_path: Path, open_page: Open, watch: Watch
) -> None:
    model_server.kill()
    model_server.installation.settings = {
        **model_server.installation.settings,
        "DOCUMENTS": str(tmp_path),
    }
    model_server.start()
    page = open_page(model_server)
    expect(page.locator(".more-fields")).to_be_hidden()
    page.get_by_text("More options").click()
    check(page)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.locator('input[name="sources"][value="documents"]').check(force=True)
    expect(page.get_by_label("Only these sites")).to_be_hidden()
    page.get_by_text("Both").click()
    page.get_by_label("Only these sites").fill("not a site")
    watch.excused = True
    page.get_by_role("button", name="Research").click()
    expect(page.locator(".more .problem")).to_contain_text("Enter names of sites")
    expect(page.get_by_label("Only these sites")).to_have_value("not a site")
    expect(page.get_by_label("Both")).to_be_checked()
    check(page)


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_the_number_of_disputes_leads_to_their_list(
    sample_server: Server, open_page: Open, size: Any, script: bool
) -> None:
    """Also from the research, and where the list is folded."""
    contradict(sample_server)
    page = open_page(sample_server, viewport=size, java_script_enabled=script)
    for address in (sample_server.report, f"{sample_server.report}research/"):
        page.goto(address)
        entries = page.locator(".disputes a")
        expect(entries.first).to_be_hidden()
        page.get_by_role("link", name="2 points disputed").click()
        for place in (0, 1):
            expect(entries.nth(place)).to_be_in_viewport(ratio=0.9)
        expect(page.locator(".answer")).to_be_in_viewport()
    entries.last.click()
    expect(page.locator("#dispute-2")).to_be_in_viewport()


def contradict(server: Server) -> None:
    """Let the report of a server tell of two disputes."""
    said = "{}\n\nOne says {}, one doesn’t. [1] (⚠ Sources disagree)\n\n"
    with closing(sqlite3.connect(server.installation.home / "plumbline.sqlite3")) as database:
        [(text,)] = database.execute("SELECT markdown FROM research_report")
        opening, *sections = text.split("\n## ")
        for place, word in enumerate(("old", "tall"), 1):
            heading, _, rest = sections[place].partition("\n")
            sections[place] = said.format(heading, word) + rest
        values = ("\n## ".join([opening, *sections]), '{"disputes": 2}')
        database.execute("UPDATE research_report SET markdown = ?, checks = ?", values)
        database.commit()
