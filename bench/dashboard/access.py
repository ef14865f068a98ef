"""Accessibility checks (axe-core) of every page: light and dark, desktop and phone.

Django's admin is excluded; `tests/browser` covers states that need a longer journey.
"""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from bench.dashboard.processes import DESK, PHONE, Served

PAGES = (
    "/", "/settings/", "/runs/", "/runs/?text=nothing+like+it", "/documents/", "/sites/",
    "/installation/", "/runs/RUN/", "/runs/RUN/activity/", "/runs/RUN/sources/", "/nowhere/",
)  # fmt: skip
SIGN_IN = "/sign-in/"


def violations(server: Served, browser: Browser, session: str) -> list[str]:
    """Return `address, scheme, width: rule` for each violation."""
    page = server.context(browser, session).new_page()
    found = []
    for path in (*PAGES, SIGN_IN):
        if path == SIGN_IN:
            page.context.clear_cookies()
        page.goto(path.replace("RUN", server.run))
        for details in page.locator("details:visible").all():
            details.evaluate("one => { one.open = true }")
        found += [f"{path}, {each}" for each in of_page(page)]
    page.context.close()
    return found


def of_page(page: Page) -> list[str]:
    """Return `scheme, width: rule` for each violation of the page in its current state."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for size in (DESK, PHONE):
            page.set_viewport_size(size)  # type: ignore[arg-type]
            rules = [each["id"] for each in Axe().run(page).response["violations"]]
            found += [f"{scheme}, {size['width']}: {rule}" for rule in rules]
    return found
