"""Regenerate docs/screenshots: `python -m scripts.screenshots`.

Each page is captured four times: desktop and phone, light and dark.

Needs the test environment and Chromium, which encodes the files as WebP in the best quality that
stays below `MOST_BYTES`.
"""

from __future__ import annotations

import os
import tempfile
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import FilePayload, Page, ViewportSize, sync_playwright

from tests.browser.serving import Server
from tests.support.installation import ROOT, Installation
from tests.support.world import CHAINED, SCRIPTS, SIMPLE, WIDE, World, opened

FOLDER = ROOT / "docs" / "screenshots"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage"]
DESK: ViewportSize = {"width": 1280, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}
MOST_BYTES = 40_000
QUALITIES = (75, 60, 50, 40, 30)
QUANTUM = "Impact of quantum computing"
DOMAIN = "example"
"""The sites of the simulated web are below it, so that pictures show names and not addresses."""
RESOLVER = f"""import socket
system = socket.getaddrinfo
def resolve(host, *rest, **options):
    named = str(host).endswith(".{DOMAIN}")
    return system("127.0.0.1" if named else host, *rest, **options)
socket.getaddrinfo = resolve
"""
"""Runs at the start of the server's Python, as `sitecustomize`."""
ASKED_FIRST = "Object.defineProperty(Notification, 'permission', { get: () => 'default' })"
"""Headless browsers block notifications; those of readers ask."""
MAIL = {"EMAIL_URL": "smtp://mail.example:25"}
DOCUMENTS = {
    "lease.md": "# The mill\n\n## Rent\n\nThe rent of the mill is 1,200 crowns a year. "
    "Paying the rent falls due on the first day of May.\n",
    "granary.md": "# The granary\n\nThe granary holds 900 sacks of barley and 300 of oats.\n",
}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, opened(DOMAIN) as world:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("PLUMBLINE_CHROMIUM", "/usr/bin/chromium"), args=OPTIONS
        )
        page = browser.new_page()
        page.add_init_script(ASKED_FIRST)
        with serving({}) as server:
            page.goto(server.link)
            take_samples(page, server)
        with serving(world.environment() | MAIL) as server:
            page.goto(server.link)
            take_live(page, server, world)
        browser.close()


@contextmanager
def serving(settings: dict[str, str]) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(RESOLVER)
        installation = Installation(Path(folder) / "state", {**settings, "PYTHONPATH": folder})
        server = Server(installation)
        server.start()
        try:
            yield server
        finally:
            server.stop()


def take_samples(page: Page, server: Server) -> None:
    """Capture pages that need no model: a sample run and its follow-ups, documents, settings."""
    page.goto(server.url)
    take(page, "ask")
    page.get_by_role("button", name="Deutsch").click()
    take(page, "ask-german")
    page.get_by_role("button", name="English").click()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    take(page, "keys")
    page.keyboard.press("Escape")
    page.get_by_role("button", name=QUANTUM).click()
    page.locator(".report").wait_for()
    page.locator(".ask-on").wait_for()
    run = page.url
    take(page, "report")
    page.get_by_text("Save or copy").click()
    take(page, "save")
    page.keyboard.press("Escape")
    page.locator(".cite a").first.click()
    page.locator("#citation-panel mark").first.wait_for()
    take(page, "citation-panel")
    page.goto(f"{run}research/")
    take(page, "evidence")
    for name, address in (
        ("citation", f"{run}citations/1/"),
        ("activity", f"{run}activity/"),
        ("sources", f"{run}sources/"),
        ("settings", f"{server.url}/settings/"),
        ("installation", f"{server.url}/installation/"),
        ("sites", f"{server.url}/sites/"),
        ("documents-empty", f"{server.url}/documents/"),
        ("not-found", f"{server.url}/runs/nothing/"),
        ("admin-evidence", f"{server.url}/admin/research/evidence/"),
    ):
        page.goto(address)
        take(page, name)
    page.locator("#result_list th a").first.click()
    take(page, "admin-record")
    take_mistake(page, server)
    take_thread(page, run)
    take_documents(page, server)


def take_mistake(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/settings/")
    page.get_by_label("What do you want to know?").fill("Who designed the Harrow Point lighthouse?")
    page.get_by_label("Find a setting").fill("maximum rounds")
    page.get_by_label("Maximum rounds").fill("90")
    page.get_by_role("button", name="Research").click()
    page.locator(".problem-box").wait_for()
    take(page, "settings-mistake")


def take_thread(page: Page, run: str) -> None:
    """Capture a rejected citation, the revised report and its thread."""
    page.goto(run)
    page.set_viewport_size(DESK)
    page.locator(".cite a").first.click()
    page.locator("#citation-panel mark").first.wait_for()
    page.get_by_role("button", name="Doesn’t").first.click()
    page.locator(".in-panel").wait_for()
    take(page, "rejected")
    page.goto(run)
    page.get_by_role("button", name="Revise").first.click()
    page.wait_for_url(lambda url: url != run)
    page.locator(".report").wait_for()
    page.locator(".ask-on").wait_for()
    page.locator("[data-ended]").first.wait_for(state="attached")
    page.evaluate("document.querySelector('.onward').scrollIntoView()")
    take(page, "after-the-report")
    page.get_by_label("Ask a follow-up").fill("And how large do the signatures become?")
    before = page.url
    page.get_by_role("button", name="Ask", exact=True).click()
    page.wait_for_url(lambda url: url != before)
    page.locator(".report, .asks").first.wait_for()
    take(page, "thread")


def take_documents(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/documents/")
    page.get_by_role("textbox", name="Name").first.fill("Leases")
    files: list[FilePayload] = [
        {"name": name, "mimeType": "text/markdown", "buffer": text.encode()}
        for name, text in DOCUMENTS.items()
    ]
    page.locator("input[type=file]").set_input_files(files)
    page.get_by_role("button", name="Create collection").click()
    page.get_by_text(f"{len(files)} documents").first.wait_for()
    page.get_by_placeholder("Words to look for").fill("paying the rent")
    page.get_by_role("button", name="Search").click()
    page.locator(".passages mark").first.wait_for()
    page.evaluate("scrollTo(0, 0)")
    take(page, "collection")
    page.goto(f"{server.url}/documents/")
    take(page, "documents")


def take_live(page: Page, server: Server, world: World) -> None:
    """Capture a run with a model before, during and after its work, and pages about all runs."""
    world.model.hold("draft")
    ask(page, server, CHAINED)
    page.get_by_role("button", name="Start").click()
    world.model.held.wait(20)
    page.locator(".evidence-item").nth(1).wait_for()
    page.wait_for_timeout(500)
    take(page, "live")
    world.model.let_go()
    ask(page, server, WIDE)
    page.locator("#plan-title").wait_for()
    take(page, "plan")
    page.get_by_role("button", name="Start").click()
    page.locator(".report").wait_for()
    page.locator(".ask-on").wait_for()
    take(page, "report-model")
    run = page.url
    page.goto(f"{run}sources/")
    take(page, "sources-model")
    page.goto(run)
    page.get_by_role("button", name="As a table").click()
    page.wait_for_url(lambda url: url != run)
    page.locator(".report table").wait_for()
    page.locator(".report").scroll_into_view_if_needed()
    take(page, "report-table")
    questions = ("Which lighthouse do you mean?", "First lit, or rebuilt?")
    world.model.scripts = {SIMPLE: replace(SCRIPTS[SIMPLE], clarifying=questions)}
    ask(page, server, SIMPLE)
    page.locator("#clarify-title").wait_for()
    take(page, "question")
    world.model.scripts = SCRIPTS
    take_steering(page, server, world)
    take_failed(page, server, world)
    add_webhook(page, server)
    for name in ("runs", "review", "notifications", "schedules"):
        page.goto(f"{server.url}/{name}/")
        take(page, name)
    page.get_by_role("button", name="Sign out").click()
    take(page, "sign-out")
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.goto(f"{server.url}/sign-in/")
    page.get_by_role("heading", name="Sign in").wait_for()
    take(page, "sign-in")


def take_steering(page: Page, server: Server, world: World) -> None:
    """Capture a run under way after a sub-question was added."""
    world.model.hold("assess")
    ask(page, server, CHAINED)
    page.get_by_role("button", name="Start").click()
    world.model.held.wait(20)
    page.get_by_label("Add a sub-question").fill("When was the lighthouse first lit?")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Added after this round").wait_for()
    take(page, "steering")
    world.model.let_go()


def take_failed(page: Page, server: Server, world: World) -> None:
    """Capture a run whose searches and pages all fail."""
    world.search.down = True
    ask(page, server, SIMPLE)
    page.get_by_role("button", name="Start").click()
    page.locator("[data-ended]").wait_for(state="attached")
    take(page, "failed")
    world.search.down = False


def add_webhook(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/notifications/?new=webhook")
    page.get_by_label("Address").fill("https://chat.example.org/hooks/research")
    page.get_by_role("button", name="Add the webhook").click()
    page.get_by_role("button", name="Send a test").wait_for()


def ask(page: Page, server: Server, question: str) -> None:
    page.goto(server.url)
    page.get_by_label("What do you want to know?").fill(question)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")


def take(page: Page, name: str) -> None:
    """Capture a page four times: `name`, `name-dark`, `name-phone`, `name-phone-dark`."""
    for size, form in ((DESK, ""), (PHONE, "-phone")):
        for scheme in ("light", "dark"):
            page.set_viewport_size(size)
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.wait_for_timeout(150)
            ending = "-dark" if scheme == "dark" else ""
            (FOLDER / f"{name}{form}{ending}.webp").write_bytes(picture(page))
    page.emulate_media(color_scheme="light", reduced_motion="no-preference")
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
