"""A person's own documents in a real browser: uploaded, watched, tried, asked, cited."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import Server
from tests.browser.test_looks import DESK, PHONE, check
from tests.research.collections import GRANARY, LEASE
from tests.support.retrieval.folders import write
from tests.support.retrieval.papers import pdf

QUESTION = "How much is the rent of the mill?"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    content = {"lease.md": LEASE, "granary.pdf": pdf(GRANARY), "broken.pdf": b"no", "b.xlsx": b"x"}
    return write(tmp_path / "files", content)


def choose(page: Page, files: Path, *names: str) -> None:
    page.locator("input[type=file]").set_input_files([files / name for name in names])


def make_collection(page: Page, files: Path, *names: str) -> None:
    page.get_by_role("link", name="Documents").click()
    page.get_by_role("textbox", name="Name").first.fill("The mill")
    choose(page, files, *names)
    page.get_by_role("button", name="Create collection").click()


def test_two_files_are_uploaded_watched_searched_asked_about_and_cited(
    server: Server, open_page: Open, files: Path
) -> None:
    page = open_page(server)
    make_collection(page, files, "lease.md", "granary.pdf")
    page.evaluate("window.notReloaded = true")
    expect(page.locator(".collection-state")).to_contain_text("2 documents")
    assert page.evaluate("window.notReloaded === true")
    page.get_by_placeholder("Words to look for").fill("paying the rent")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".passages li")).to_have_count(1)
    expect(page.locator(".passages mark").first).to_have_text("Rent")
    page.get_by_role("link", name="Ask about these").click()
    expect(page.get_by_label("My documents")).to_be_checked()
    page.get_by_label("What do you want to know?").fill(QUESTION)
    page.get_by_role("button", name="Research").click()
    expect(page.locator("main")).to_contain_text("1,200 crowns")
    page.locator(".cite a").first.click()
    panel = page.locator("#citation-panel")
    expect(panel).to_contain_text("The mill/lease.md")
    expect(panel).to_contain_text("word for word in the stored copy")


def test_what_cannot_be_read_is_not_offered_to_ask_once_that_is_known(
    server: Server, open_page: Open, files: Path
) -> None:
    page = open_page(server)
    make_collection(page, files, "broken.pdf")
    page.evaluate("window.notReloaded = true")
    expect(page.locator(".collection-state")).to_contain_text("None of its files could be read")
    expect(page.get_by_role("link", name="Ask about these")).to_have_count(0)
    assert page.evaluate("window.notReloaded === true")
    check(page)


def test_the_line_on_what_is_searched_follows_the_choice(
    server: Server, open_page: Open, files: Path
) -> None:
    page = open_page(server)
    page.get_by_role("button", name="Read the report").first.click()
    make_collection(page, files, "lease.md")
    page.get_by_role("link", name="Ask about these").click()
    line = page.locator(".at-work [data-of]:visible")
    expect(line).to_have_text("Search: your documents")
    page.get_by_text("Samples", exact=True).click()
    expect(line).to_have_text("Search: the bundled sample library")


def test_the_pages_of_documents_in_every_state(
    server: Server, open_page: Open, files: Path, tmp_path: Path
) -> None:
    page = open_page(server)
    page.goto("/documents/")
    check(page)
    make_collection(page, files, "lease.md", "broken.pdf", "b.xlsx")
    expect(page.get_by_role("alert")).to_contain_text("b.xlsx: only HTML")
    expect(page.locator(".collection-state")).to_contain_text("Ready, 1 unread")
    for details in page.locator("main details").all():
        details.evaluate("one => { one.open = true }")
    check(page)
    page.goto(f"{page.url}?q=rent")
    check(page)
    page.get_by_text("Rename, share or delete").click()
    page.get_by_role("link", name="Delete collection").click()
    check(page)
    page.get_by_role("link", name="Keep").click()
    folder = write(tmp_path / "papers", {"lease.md": LEASE})
    page.get_by_role("link", name="All documents").click()
    page.get_by_text("Use a folder on this server").click()
    page.get_by_label("Full path").fill(str(folder))
    page.get_by_role("button", name="Use the folder").click()
    expect(page.locator(".collection-state")).to_contain_text("1 document")
    check(page)
    page.goto("/documents/")
    check(page)
    page.goto("/")
    expect(page.get_by_role("group", name="In which documents")).to_be_visible()
    check(page)
    page.get_by_text("Samples", exact=True).click()
    expect(page.get_by_role("group", name="In which documents")).to_be_hidden()


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_nothing_stands_beyond_the_edge(
    server: Server, open_page: Open, files: Path, size: dict[str, int]
) -> None:
    page = open_page(server, viewport=size)
    make_collection(page, files, "lease.md", "granary.pdf")
    expect(page.locator(".collection-state")).to_contain_text("2 documents")
    for address in ("/documents/", page.url, f"{page.url}?q=rent", f"{page.url}delete/", "/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"], address
        for link in page.locator("header a").all():
            box = link.bounding_box()
            assert box is not None and box["x"] + box["width"] <= size["width"]


def test_it_all_works_without_javascript(server: Server, open_page: Open, files: Path) -> None:
    page = open_page(server, java_script_enabled=False)
    make_collection(page, files, "lease.md", "b.xlsx")
    expect(page.get_by_role("alert")).to_contain_text("b.xlsx: only HTML")
    for _ in range(50):
        if "1 document" in page.locator(".collection-state").inner_text():
            break
        page.wait_for_timeout(200)
        page.get_by_role("link", name="Update").click()
    choose(page, files, "granary.pdf")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("1 file added, reading it now.")).to_be_visible()
    page.locator("summary", has_text="Remove granary.pdf").click()
    page.get_by_role("button", name="Remove granary.pdf").click()
    expect(page.get_by_text("granary.pdf was removed.")).to_be_visible()
    page.get_by_placeholder("Words to look for").fill("rent")
    page.get_by_role("button", name="Search").click()
    expect(page.locator(".passages li")).to_have_count(1)
    page.get_by_role("link", name="Ask about these").click()
    page.get_by_label("What do you want to know?").fill(QUESTION)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")
