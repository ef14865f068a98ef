"""The review of evidence: from verdict to verdict, and its filters on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, open_report
from tests.browser.serving import Server
from tests.browser.test_looks import DESK, PHONE

EVIDENCE = "/admin/research/evidence/"
FILTERS = "review=none&key__exact=1"


@pytest.fixture
def page(sample_server: Server, open_page: Open) -> Page:
    """With a sample's evidence."""
    return open_report(open_page, sample_server)


def test_a_reviewer_goes_on_from_verdict_to_verdict(page: Page) -> None:
    page.set_viewport_size(DESK)
    page.goto(f"{EVIDENCE}?{FILTERS}")
    left = page.locator("#result_list tbody tr").count()
    page.locator("#result_list th a").first.click()
    seen = set()
    for _ in range(left):
        address = page.url
        seen.add(address.partition("?")[0])
        page.get_by_role("button", name="Save and go to next unreviewed").click()
        expect(page.get_by_role("radio", name="Accept")).to_be_focused()  # a verdict is needed
        page.keyboard.press("Space")
        page.keyboard.press("Enter")
        # the record before has the same message: only the next page's counts
        expect(page).not_to_have_url(address)
        expect(page.locator(".messagelist")).to_contain_text("1 accepted.")
    assert len(seen) == left > 1
    expect(page.locator(".messagelist")).to_contain_text("Nothing unreviewed is left in this list.")
    expect(page).to_have_url(re.compile(rf"\?{FILTERS}$"))


def test_on_a_phone_the_filters_are_folded_away_above_the_list(page: Page) -> None:
    page.set_viewport_size(PHONE)
    page.goto(EVIDENCE)
    filters, listed = page.locator("#changelist-filter"), page.locator("#result_list")
    expect(filters).to_be_hidden()
    page.get_by_role("link", name="Filter").click()
    expect(filters).to_be_visible()
    above, below = filters.bounding_box(), listed.bounding_box()
    assert above and below and above["y"] + above["height"] <= below["y"]
    page.get_by_role("link", name="Back to the list").click()
    expect(filters).to_be_hidden()
    page.get_by_role("link", name="Filter").click()
    filters.get_by_role("link", name="rejected").click()
    expect(page).to_have_url(re.compile(r"\?review=reject$"))
    expect(filters).to_be_hidden()
    expect(listed).to_have_count(0)
    page.get_by_role("link", name="Filter (in use)").click()
    filters.get_by_role("link", name="Clear all filters").click()
    expect(listed).to_be_visible()
    page.set_viewport_size(DESK)
    expect(filters).to_be_visible()
    expect(page.get_by_role("link", name="Filter", exact=True)).to_be_hidden()
