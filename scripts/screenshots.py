"""Make docs/screenshots anew from the pages as they are: `python -m scripts.screenshots`.

Needs the test environment and a Chromium, which writes the files itself: as WebP, of the best
quality that keeps one below `MOST_BYTES`.
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.serving import Server
from tests.support.installation import ROOT, Installation
from tests.support.world import CHAINED, SCRIPTS, SIMPLE, World, opened

FOLDER = ROOT / "docs" / "screenshots"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"]
DESK = {"width": 1280, "height": 720}
PHONE = {"width": 390, "height": 844}
MOST_BYTES = 60_000
QUALITIES = (80, 65, 50, 40, 30)
QUANTUM = "Impact of quantum computing"


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, opened() as world:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("PLUMBLINE_CHROMIUM", "/usr/bin/chromium"), args=OPTIONS
        )
        page = browser.new_page()
        with serving({}) as server:
            page.goto(server.link)
            take_samples(page, server)
        with serving(world.environment()) as server:
            page.goto(server.link)
            take_live(page, server, world)
        browser.close()


@contextmanager
def serving(settings: dict[str, str]) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Installation(Path(folder) / "state", settings))
        server.start()
        try:
            yield server
        finally:
            server.stop()


def take_samples(page: Page, server: Server) -> None:
    page.get_by_role("button", name=QUANTUM).click()
    page.locator(".report").wait_for()
    run = page.url
    take(page, "report-phone-dark", PHONE, "dark")
    page.set_viewport_size(DESK)
    page.locator(".cite a").first.click()
    page.locator("#citation-panel mark").first.wait_for()
    take(page, "report", DESK, "light")
    page.goto(f"{run}citations/1/")
    take(page, "citation-dark", DESK, "dark")
    page.goto(run)
    page.locator(".columns").scroll_into_view_if_needed()
    page.evaluate("document.querySelector('.columns').scrollIntoView()")
    take(page, "evidence-phone", PHONE, "light")
    page.goto(server.url)
    take(page, "ask", DESK, "light")
    take(page, "ask-phone", PHONE, "light")
    page.goto(f"{server.url}/admin/research/evidence/")
    take(page, "admin-evidence", DESK, "light")


def take_live(page: Page, server: Server, world: World) -> None:
    world.model.hold("draft")
    ask(page, server, CHAINED)
    world.model.held.wait(20)
    page.locator(".evidence-item").nth(1).wait_for()
    page.wait_for_timeout(500)
    take(page, "live", DESK, "light")
    take(page, "live-phone-dark", PHONE, "dark")
    world.model.let_go()
    ask(page, server, SIMPLE, see_plan=True)
    page.locator("#plan-title").wait_for()
    take(page, "plan", DESK, "light")
    questions = ("Which lighthouse do you mean?", "First lit, or rebuilt?")
    world.model.scripts = {SIMPLE: replace(SCRIPTS[SIMPLE], clarifying=questions)}
    ask(page, server, SIMPLE, see_plan=True)
    page.locator("#clarify-title").wait_for()
    take(page, "question-phone", PHONE, "light")
    page.goto(f"{server.url}/runs/")
    take(page, "runs-dark", DESK, "dark")


def ask(page: Page, server: Server, question: str, *, see_plan: bool = False) -> None:
    page.goto(server.url)
    page.get_by_label("What do you want to know?").fill(question)
    page.get_by_role("checkbox").set_checked(see_plan)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")


def take(page: Page, name: str, size: dict[str, int], scheme: str) -> None:
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.wait_for_timeout(150)
    (FOLDER / f"{name}.webp").write_bytes(picture(page))
    page.emulate_media(reduced_motion="no-preference")
    page.set_viewport_size(DESK)


def picture(page: Page) -> bytes:
    devtools = page.context.new_cdp_session(page)
    for quality in QUALITIES:
        asked = {"format": "webp", "quality": quality}
        taken = b64decode(devtools.send("Page.captureScreenshot", asked)["data"])
        if len(taken) <= MOST_BYTES:
            break
    return taken


if __name__ == "__main__":
    main()
