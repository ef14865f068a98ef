"""Notifications and schedules: their pages in both schemes and sizes, and a webhook tried."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Watch, serving
from tests.browser.serving import Server
from tests.browser.test_looks import check
from tests.research.notifications.receiver import Receiver
from tests.support.installation import Installation


def fits(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= 360, f"{page.url} is {width} wide"


def test_a_webhook_is_added_tried_and_rotated(
    bare_installation: Installation, open_page: Open, watch: Watch
) -> None:
    with Receiver() as receiver:
        bare_installation.settings = {"FETCH_ALLOW_PRIVATE_HOSTS": receiver.place}
        for server in serving(bare_installation):
            page = open_page(server)
            try_webhook(page, receiver, watch)
            page.close()  # it asks for deliveries, and the server ends


def try_webhook(page: Page, receiver: Receiver, watch: Watch) -> None:
    page.goto("/runs/")
    page.get_by_role("link", name="Notifications").click()
    for details in page.locator("details").all():
        details.evaluate("one => { one.open = true }")
    check(page)
    fits(page)
    page.get_by_role("link", name="Add a webhook").click()
    check(page)
    fits(page)
    page.get_by_label("Address").fill("http://10.0.0.1/")
    watch.excused = True
    page.get_by_role("button", name="Add the webhook").click()
    expect(page.locator(".problem")).to_contain_text("private network")
    check(page)
    watch.excused = False
    page.get_by_label("Address").fill(receiver.url)
    page.get_by_role("button", name="Add the webhook").click()
    secret = page.get_by_label("Copy it now").input_value()
    assert secret.startswith("whsec_")
    page.get_by_role("button", name="Send a test").click()
    expect(page.locator("#deliveries")).to_contain_text("Delivered")
    expect(page.locator("#deliveries")).to_contain_text("status 200")
    assert json.loads(receiver.received[0].body)["type"] == "test"
    receiver.status = 500
    page.get_by_role("button", name="Send again").click()
    expect(page.locator("#deliveries")).to_contain_text("status 500")
    assert receiver.received[0].headers["webhook-id"] == receiver.received[1].headers["webhook-id"]
    page.get_by_role("button", name="New secret").click()
    assert page.get_by_label("Copy it now").input_value() != secret
    page.get_by_text("Change it").click()
    check(page)
    fits(page)
    page.get_by_role("button", name="Disable").click()
    expect(page.get_by_role("alert")).to_contain_text("Disabled by its owner")
    check(page)
    page.goto("/notifications/")
    check(page)
    page.goto("/notifications/email/")
    page.get_by_label("Address").fill("ada@example.org")
    page.get_by_role("button", name="Send me e-mails").click()
    page.get_by_role("button", name="Send the link again").click()
    expect(page.locator("#deliveries")).to_contain_text("no mail server is set up")
    check(page)
    fits(page)


TOLD = """() => {
  window.told = [];
  window.Notification = class {
    static permission = "default";
    static async requestPermission() { return (Notification.permission = "granted"); }
    constructor(title, options) { told.push([title, options.body]); }
    addEventListener() {}
  };
}"""


def test_messages_of_the_browser_are_turned_on_tried_and_off(
    server: Server, open_page: Open
) -> None:
    page = open_page(server)
    page.add_init_script(f"({TOLD})()")
    page.goto("/notifications/")
    row = page.locator("#browser")
    expect(row.locator(".state:visible")).to_have_text("Off")
    row.get_by_role("button", name="Turn on").click()
    expect(row.locator(".state:visible")).to_have_text("On")
    row.get_by_role("button", name="Send a test").click()
    assert page.evaluate("told[0][0]") == "Test of notifications"
    assert page.evaluate("localStorage.getItem('tell')") == "yes", "what the page of a run reads"
    row.get_by_role("button", name="Turn off").click()
    expect(row.locator(".state:visible")).to_have_text("Off")
    page.add_init_script("Notification.permission = 'denied'")
    page.reload()
    expect(row.locator(".state:visible")).to_have_text("Blocked in the browser")
    expect(row.get_by_role("button")).to_have_count(0)


def test_a_schedule_is_added_and_paused(server: Server, open_page: Open) -> None:
    page = open_page(server)
    page.goto("/runs/")
    page.get_by_role("link", name="Schedules").click()
    check(page)
    fits(page)
    page.get_by_label("Question").fill("What is new about quantum computers?")
    page.get_by_label("How often").select_option("weekly")
    own = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    expect(page.get_by_label("Time zone")).to_have_value(own)
    page.get_by_label("Time zone").select_option("Europe/Lisbon")
    page.get_by_role("button", name="Add the schedule").click()
    expect(page.locator("main")).to_contain_text("Every week on Monday at 08:00 (Europe/Lisbon)")
    page.get_by_text("Change it").click()
    check(page)
    fits(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("link", name="Schedules").first.click()
    expect(page.locator(".run-list")).to_contain_text("Paused")
    check(page)
