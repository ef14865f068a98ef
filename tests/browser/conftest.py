from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Page,
    Playwright,
    Request,
    expect,
    sync_playwright,
)

from tests.browser.serving import Server
from tests.conftest import WHOLE_BROWSER, find_chromium, needed_services
from tests.support.installation import Installation

pytest_plugins = ["tests.support.fixtures"]

os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
WHOLE = pytest.mark.services(WHOLE_BROWSER)
LONGEST_MILLISECONDS = 30_000
SAMPLE = "Impact of quantum computing on cryptocurrency security"
STOPPING = "How does Plumbline decide when to stop?"
Open = Callable[..., Page]

expect.set_options(timeout=LONGEST_MILLISECONDS)


ABORTED = "htmx:sendAbort"
BROKEN_OFF = ("htmx:afterRequest", "htmx:sendError", ABORTED)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    browser = playwright.chromium.launch(executable_path=find_chromium(), args=OPTIONS)
    yield browser
    browser.close()


@pytest.fixture
def whole_browser(playwright: Playwright) -> Iterator[Browser]:
    """For tests marked `WHOLE`: with notifications and a back/forward cache."""
    browser = playwright.chromium.launch(
        executable_path=find_chromium(whole=True),
        args=OPTIONS,
        ignore_default_args=["--disable-back-forward-cache"],
    )
    yield browser
    browser.close()


@pytest.fixture
def server(bare_installation: Installation) -> Iterator[Server]:
    """With nothing configured: the extractive analyst over the sample library."""
    yield from serving(bare_installation)


@pytest.fixture
def model_server(installation: Installation) -> Iterator[Server]:
    """Pointed at the scripted world."""
    yield from serving(installation)


@pytest.fixture(scope="session")
def sample_state(empty_state: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return research(SAMPLE, empty_state, tmp_path_factory.mktemp("sample"))


@pytest.fixture(scope="session")
def stopping_state(empty_state: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    return research(STOPPING, empty_state, tmp_path_factory.mktemp("stopping"))


@pytest.fixture
def sample_server(sample_state: tuple[Path, str], tmp_path: Path) -> Iterator[Server]:
    """As `server`, with a report on `SAMPLE`."""
    yield from serving_copy(*sample_state, tmp_path)


@pytest.fixture(scope="session")
def shared_server(
    browser: Browser, sample_state: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """As `sample_server`, for all tests that change nothing: to start one takes longer than most
    looks at a page.
    """
    for server in serving_copy(*sample_state, tmp_path_factory.mktemp("shared")):
        with browser.new_context() as context:
            context.new_page().goto(server.link)
            server.signed_in = context.storage_state()
        yield server


@pytest.fixture
def stopping_server(stopping_state: tuple[Path, str], tmp_path: Path) -> Iterator[Server]:
    """As `server`, with a report on `STOPPING`."""
    yield from serving_copy(*stopping_state, tmp_path)


def research(question: str, empty_state: Path, folder: Path) -> tuple[Path, str]:
    """Return the state of an installation that researched one question, and the run's path.

    Done once, because it takes longer than most looks at its report.
    """
    home = Path(shutil.copytree(empty_state, folder / "state"))
    done = Installation(home, {}).manage("research", question, "--yes", "--json")
    assert done.returncode == 0, done.stderr
    return home, f"/runs/{json.loads(done.stdout)['id']}/"


def serving_copy(state: Path, report: str, folder: Path) -> Iterator[Server]:
    installation = Installation(Path(shutil.copytree(state, folder / "state")), {})
    yield from serving(installation, report)


def open_report(open_page: Open, server: Server, **options: Any) -> Page:
    page = open_page(server, **options)
    page.goto(server.report)
    page.evaluate("window.notReloaded = true")
    return page


def serving(installation: Installation, report: str = "") -> Iterator[Server]:
    server = Server(installation, report=report)
    server.start()
    yield server
    server.kill()


TRANSITION_ABORTED = "Transition was aborted"
"""Chromium reports a view transition that the next navigation interrupts as an error."""


class Watch:
    """What a page said and asked for that it must not.

    A page that is left breaks off what it was fetching, and so does a newer request for the same
    part; htmx tells each twice: no complaint. The browser may not say so of a page that is gone;
    what htmx calls an abort is the page's own doing all the same.
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.broken_off = 0
        self.hosts: set[str] = set()
        self.excused = False

    @property
    def complaints(self) -> list[str]:
        told = [n for n, text in enumerate(self.said) if text.startswith(BROKEN_OFF)]
        aborts = sum(text.startswith(ABORTED) for text in self.said)
        excused = told[: 2 * max(self.broken_off, aborts)]
        return [text for n, text in enumerate(self.said) if n not in excused]

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not self.excused:
            self.said.append(message.text)

    def fail(self, error: Error) -> None:
        if not str(error).startswith(TRANSITION_ABORTED):
            self.said.append(str(error))

    def miss(self, request: Request) -> None:
        self.broken_off += request.failure == "net::ERR_ABORTED"

    def refuse_change(self, request: Request) -> None:
        if request.method != "GET":
            self.said.append(f"{request.method} {request.url} to a server that tests share")

    def follow(self, page: Page) -> None:
        page.on("console", self.hear)
        page.on("pageerror", self.fail)
        page.on("requestfailed", self.miss)
        page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, watch: Watch) -> Iterator[Open]:
    """Opens the server's pages in a context of its own; signs in by the server's link.

    Afterwards the console must be clean, and nothing may have gone to another host.
    """
    is_whole = WHOLE_BROWSER in needed_services(request.node)
    browser: Browser = request.getfixturevalue("whole_browser" if is_whole else "browser")
    contexts: list[BrowserContext] = []
    ports: set[str] = set()

    def open_page(server: Server, **options: Any) -> Page:
        options.setdefault("reduced_motion", "reduce")
        context = browser.new_context(
            base_url=server.url, storage_state=server.signed_in, **options
        )
        if server.signed_in:
            context.on("request", watch.refuse_change)
        context.set_default_timeout(LONGEST_MILLISECONDS)
        contexts.append(context)
        ports.add(f"127.0.0.1:{server.port}")
        page = context.new_page()
        watch.follow(page)
        page.goto("/" if server.signed_in else server.link)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert watch.complaints == []
    assert watch.hosts <= ports
