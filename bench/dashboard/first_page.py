"""The first page in a browser: bytes transferred, hosts contacted, and use without JavaScript."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Request

from bench.dashboard.processes import Served

QUESTION = "How old do oaks get?"


@dataclass
class FirstPage:
    """Measurements; `kilobytes` are those of all responses with headers, as transferred."""

    kilobytes: float
    other_hosts: int
    works_without_script: bool


def first_page(server: Served, browser: Browser, session: str) -> FirstPage:
    context = server.context(browser, session)
    requests: list[Request] = []
    context.on("requestfinished", lambda request: requests.append(request))
    context.new_page().goto("/", wait_until="networkidle")
    hosts = {urlsplit(request.url).netloc for request in requests}
    sizes = [request.sizes() for request in requests]
    context.close()
    return FirstPage(
        kilobytes=sum(each["responseBodySize"] + each["responseHeadersSize"] for each in sizes)
        / 1024,
        other_hosts=len(hosts - {f"127.0.0.1:{server.port}"}),
        works_without_script=asks_without_script(server, browser, session),
    )


def asks_without_script(server: Served, browser: Browser, session: str) -> bool:
    """Return whether submitting a question leads to its run without JavaScript."""
    context = server.context(browser, session, java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    page.get_by_label("What do you want to know?").fill(QUESTION)
    page.get_by_role("button", name="Research").click()
    asked = "/runs/" in page.url and QUESTION in page.content()
    context.close()
    return asked
