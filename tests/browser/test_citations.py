"""From citation to citation in the order of the text, by keys and in the panel beside it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, open_report
from tests.browser.serving import Server
from tests.browser.test_looks import DESK, PHONE

IN_TEXT = """() => [...document.querySelectorAll(":is(.answer, .report) .cite a")]
  .filter((marker) => marker.dataset.note ?? marker.title)
  .map((marker) => marker.getAttribute("href"))"""
CURRENT = ".cite a[aria-current]"
SEEN = """marker => {
  const { left, right, top, bottom } = marker.getBoundingClientRect();
  const at = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
  return marker.contains(at);
}"""
CONTRAST = """marker => {
  const seen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    seen.fillStyle = colour;
    seen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...seen.getImageData(0, 0, 1, 1).data].map((each) => {
      const part = each / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const { color, backgroundColor } = getComputedStyle(marker);
  const [dark, bright] = [light(color), light(backgroundColor)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}"""


@pytest.fixture
def page(shared_server: Server, open_page: Open) -> Page:
    """With a sample's report, to be read only."""
    return open_report(open_page, shared_server)


def is_at(page: Page, address: str) -> None:
    """The marker with this address is the only current one and in view; its panel is open."""
    marker = page.locator(CURRENT)
    expect(marker).to_have_count(1)
    expect(marker).to_have_attribute("href", address)
    expect(marker).to_be_in_viewport(ratio=1)
    copy = address if "?" in address else f"{address}?place=0"
    expect(page.get_by_role("link", name="Full copy")).to_have_attribute("href", copy)
    title = page.locator("#citation-panel .small-title").first
    expect(title).to_have_text(f"Citation {marker.inner_text()}")
    assert marker.evaluate(SEEN), "below nothing"


def test_keys_walk_the_citations_as_they_stand_in_the_text(page: Page) -> None:
    page.set_viewport_size(DESK)  # type: ignore[arg-type]
    report, there = page.url, page.evaluate(IN_TEXT)
    assert len(set(there)) == len(there) > 30
    for address in there:
        page.keyboard.press("j")
        is_at(page, address)
    page.keyboard.press("j")
    is_at(page, there[-1])
    for address in there[-2:-5:-1]:
        page.keyboard.press("k")
        is_at(page, address)
    page.keyboard.press("Escape")
    expect(page.locator("#citation-panel")).to_be_empty()
    expect(page.locator(CURRENT)).to_be_focused()
    page.keyboard.press("j")
    is_at(page, there[-3])
    page.locator(f".cite a[href='{there[4]}']").click()
    page.keyboard.press("j")
    is_at(page, there[5])
    page.locator(".report li > .cite:first-child a").first.click()  # in the list of sources
    page.keyboard.press("k")
    is_at(page, there[-1])
    assert page.url == report


def test_keys_faster_than_the_panel_stay_on_the_report(page: Page) -> None:
    report, there = page.url, page.evaluate(IN_TEXT)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report)
    page.evaluate("""() => {
      for (let n = 0; n < 30; n++)
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "j", bubbles: true }));
    }""")
    assert len(there) > 30
    is_at(page, there[29])
    for key, place in (("k", 0), ("j", 30)):
        for _ in range(30):
            page.keyboard.press(key)
        is_at(page, there[place])
    assert page.url == report
    assert len([each for each in asked if "/citations/" in each]) < 60, "not one for each key"


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_arrows_of_the_panel_walk_in_the_text_as_well(page: Page, size: Any) -> None:
    page.set_viewport_size(size)
    there = page.evaluate(IN_TEXT)
    page.locator(f".cite a[href='{there[0]}']").click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    previous, following = (page.get_by_label(f"{each} citation") for each in ("Previous", "Next"))
    expect(previous).to_be_hidden()
    for address in there[1:6]:
        following.click()
        is_at(page, address)
    previous.click()
    is_at(page, there[4])
    page.keyboard.press("Escape")
    page.locator(f".cite a[href='{there[-1]}']").evaluate("""each => {
      each.closest("details").open = true;
      each.click();
    }""")
    expect(following).to_be_hidden()


HIGHLIGHTED = "() => [...CSS.highlights.get('cited') ?? []].map(String).join()"
PLACE_OF = "marker => marker.getBoundingClientRect().top + scrollY"
TABLET = {"width": 820, "height": 1180}
SMALL_DESK = {"width": 1024, "height": 768}


@pytest.mark.parametrize("size", [DESK, SMALL_DESK, TABLET, PHONE])
@pytest.mark.parametrize("place", [1, -1])
def test_the_statement_stays_in_view_beside_its_quote(page: Page, size: Any, place: int) -> None:
    """Also where the panel is a sheet over the lower part of the window, and at the end."""
    page.set_viewport_size(size)
    markers = page.locator(".report p > .cite a:visible")
    marker = markers.nth(place % markers.count())
    marker.evaluate("each => each.scrollIntoView({ block: 'end' })")
    before = marker.evaluate(PLACE_OF)
    marker.click()
    expect(page.locator("#citation-panel mark").first).to_be_visible()
    expect(marker).to_be_in_viewport(ratio=1)
    assert marker.evaluate(SEEN), "below nothing"
    assert marker.evaluate(PLACE_OF) == pytest.approx(before, abs=1), "nothing above it moved"
    said = page.evaluate(HIGHLIGHTED)
    assert said.strip() and said in marker.evaluate("each => each.closest('p').textContent")
    statement = page.locator("#citation-panel .said").first.inner_text()
    assert statement.strip("“”… ")[:40] in said
    page.keyboard.press("Escape")
    assert page.evaluate(HIGHLIGHTED) == ""


def test_the_place_outlasts_a_judgement(sample_server: Server, open_page: Open) -> None:
    page = open_report(open_page, sample_server)
    there = page.evaluate(IN_TEXT)
    for address in there[:3]:
        page.keyboard.press("j")
        is_at(page, address)
    page.locator("#citation-panel .judge").get_by_role("button", name="Doesn’t").click()
    expect(page.locator(".cite.rejected").first).to_be_visible()
    is_at(page, there[2])
    marker = page.locator(".cite.rejected a").first
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.mouse.move(0, 0)
        assert page.locator(f".rejected{CURRENT}").evaluate(CONTRAST) >= 4.5
        assert marker.evaluate(CONTRAST) >= 4.5
        marker.hover()
        assert marker.evaluate(CONTRAST) >= 4.5
    page.keyboard.press("j")
    is_at(page, there[3])
