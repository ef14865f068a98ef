"""The pages in German, and mirrored for a language that is written from right to left."""

from __future__ import annotations

import os

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import Server
from tests.browser.test_looks import DESK, PHONE, check_as_it_is

PICTURES = os.environ.get("PICTURES", "")
"""A folder for screenshots of every page in German, to be looked at."""

WIDTH = "document.documentElement.scrollWidth"
TURN = "document.documentElement.dir = 'rtl'"
LEFTOVERS = ("Sign out", "Sources", "Evidence", "Rounds", "Ask a follow-up", "Save", "Review")
"""English labels that the pages would have."""


def addresses(run: str) -> tuple[str, ...]:
    return (
        "/", "/settings/", "/runs/", "/documents/", "/review/", "/sites/", "/installation/",
        "/installation/?preset=openai", "/queue/", "/tokens/", run, f"{run}research/",
        f"{run}activity/", f"{run}sources/", f"{run}evidence/", f"{run}delete/",
        f"{run}citations/1/",
    )  # fmt: skip


def run_sample(page: Page, name: str) -> str:
    """Run a sample and return the address of its page."""
    page.get_by_role("button", name=name).click()
    expect(page.locator(".report")).to_be_visible(timeout=60_000)
    return page.url.split("#")[0]


def test_every_page_is_german_for_a_german_browser(server: Server, open_page: Open) -> None:
    page = open_page(server, locale="de-DE", viewport=DESK)
    expect(page.locator("html")).to_have_attribute("lang", "de")
    run = run_sample(page, "Quantencomputer")
    for address in addresses(run):
        page.goto(address)
        take_pictures(page, address)
        report = ".report *, .contents *, .contents-fold ol *"
        ours = f":is(h1, h2, nav a, button, summary, label):not({report})"
        labels = page.locator(ours).all_inner_texts()
        assert not set(LEFTOVERS) & {label.strip() for label in labels}, address
        page.set_viewport_size(PHONE)
        assert page.evaluate(WIDTH) <= PHONE["width"], address
        page.evaluate(AXE_SCRIPT)
        check_as_it_is(page, "html", {})
        page.set_viewport_size(DESK)


def test_what_is_pushed_is_in_the_language_of_its_page(server: Server, open_page: Open) -> None:
    """A run that ends while its page is open is worded in German; changing it reloads the page."""
    german = open_page(server, locale="de-DE")
    german.get_by_role("button", name="Quantencomputer").click()
    address = german.url
    expect(german.locator(".verdict .state")).to_contain_text("beantwortet", timeout=60_000)
    expect(german.locator(".run-tabs")).to_contain_text("So wurde recherchiert")
    german.get_by_role("button", name="English").click()
    expect(german.locator("html")).to_have_attribute("lang", "en")
    assert german.url.rstrip("/") == address.rstrip("/")
    expect(german.locator(".verdict .state")).to_contain_text("answered")


def test_a_page_from_right_to_left_is_mirrored_and_fits(
    sample_server: Server, open_page: Open
) -> None:
    page = open_page(sample_server, viewport=DESK)
    for address in addresses(sample_server.report):
        page.goto(address)
        page.evaluate(TURN)
        for size in (PHONE, DESK):
            page.set_viewport_size(size)
            assert page.evaluate(WIDTH) <= size["width"], address
            hidden = page.evaluate(
                "[...document.querySelectorAll('main :is(a, button, h1, h2, p)')]"
                ".filter((one) => one.checkVisibility())"
                ".filter((one) => !one.closest('.hidden, .skip, table, .contents ol'))"
                ".map((one) => one.getBoundingClientRect())"
                ".filter((box) => box.width > 1 && (box.left < -1 || box.right > innerWidth + 1))"
                ".length"
            )
            assert hidden == 0, address
        brand, leave = page.locator(".brand"), page.locator(".sign-out")
        first, last = brand.bounding_box(), leave.bounding_box()
        assert first and last and first["x"] > last["x"] + last["width"], address


def take_pictures(page: Page, address: str) -> None:
    if not PICTURES:
        return
    name = address.rstrip("/").rpartition("/")[2] or "start"
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            page.screenshot(path=f"{PICTURES}/{name}-{scheme}-{size['width']}.png", full_page=True)
    page.set_viewport_size(DESK)
