"""Comforts of the question form: keys, templates, files by drop and paste, earlier questions."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Watch
from tests.browser.serving import Server
from tests.browser.test_looks import check

ASK = "What do you want to know?"
DROP = """(form) => {
  const data = new DataTransfer();
  data.items.add(new File(["The rent of the mill is 1,200 crowns."], "lease.md"));
  const told = { dataTransfer: data, bubbles: true, cancelable: true };
  for (const type of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(type, told));
}"""
PASTE = """(field) => {
  const data = new DataTransfer();
  data.items.add(new File(["The granary holds 900 sacks."], "granary.md"));
  field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
}"""


def attached(page: Page) -> list[str]:
    names: list[str] = page.evaluate(
        "[...document.getElementById('id_files').files].map((file) => file.name)"
    )
    return names


def test_a_template_keeps_what_was_typed_and_selects_the_next_gap(
    server: Server, open_page: Open
) -> None:
    page = open_page(server)
    page.get_by_label(ASK).fill("SQLite")
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_label(ASK)).to_have_value("Compare SQLite with …")
    page.keyboard.type("PostgreSQL")
    expect(page.get_by_label(ASK)).to_have_value("Compare SQLite with PostgreSQL")


def test_a_missing_question_is_named_until_there_is_one(
    server: Server, open_page: Open, watch: Watch
) -> None:
    page = open_page(server)
    watch.excused = True  # the browser tells that the form was refused
    told = page.get_by_text("Write a question first.")
    for way in ("typing", "template"):
        page.goto("/")
        page.locator(".ask-form").evaluate("(form) => { form.noValidate = true; form.submit(); }")
        expect(told).to_be_visible()
        if way == "typing":
            page.get_by_label(ASK).press_sequentially(" W")
        else:
            page.get_by_role("link", name="Compare").click()
        expect(told).to_have_count(0)
        expect(page.get_by_label(ASK)).not_to_have_attribute("aria-invalid", "true")


def test_dropped_and_pasted_files_are_sent_with_ctrl_enter(server: Server, open_page: Open) -> None:
    page = open_page(server)
    page.locator(".ask-form").evaluate(DROP)
    page.get_by_label(ASK).evaluate(PASTE)
    assert attached(page) == ["lease.md", "granary.md"]
    check(page)
    page.get_by_label(ASK).fill("What is the rent of the mill?")
    page.get_by_text("Quick", exact=True).click()
    page.get_by_label(ASK).press("Control+Enter")
    page.wait_for_url("**/runs/*/")
    expect(page.locator("main")).to_contain_text("1,200 crowns")
    page.goto("/")
    page.get_by_label(ASK).press_sequentially("the rent of")
    expect(page.locator("#asked-before a")).to_have_text("What is the rent of the mill?")
    check(page)


def test_files_are_attached_without_a_script(server: Server, open_page: Open) -> None:
    page = open_page(server, java_script_enabled=False)
    page.get_by_label(ASK).fill("What is the rent of the mill?")
    page.get_by_text("Attach files").click()
    lease = {
        "name": "lease.md",
        "mimeType": "text/markdown",
        "buffer": b"The rent is 1,200 crowns.",
    }
    page.get_by_label("Files to attach").set_input_files(lease)  # type: ignore[arg-type]
    page.get_by_text("Quick", exact=True).click()
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")
    page.goto("/documents/")
    expect(page.locator("main")).to_contain_text("What is the rent of the mill?")


def test_the_tools_of_a_line_cover_none_of_its_text(server: Server, open_page: Open) -> None:
    page = open_page(server)
    page.get_by_role("button", name="Read the report").last.click()
    page.goto("/runs/")
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(".run-answer").hover()
    tools, shown = (page.locator(each).bounding_box() for each in (".run-tools", ".run-answer"))
    assert tools is not None and shown is not None
    assert tools["x"] >= shown["x"] + shown["width"]


def test_keys_search_ask_step_and_help(server: Server, open_page: Open) -> None:
    page = open_page(server)
    for number in (1, 2):
        page.goto("/")
        page.get_by_role("button", name="Read the report").nth(number).click()
        page.wait_for_url("**/runs/*/")
    page.goto("/runs/")
    page.keyboard.press("j")
    expect(page.locator(".run-question").nth(0)).to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".run-question").nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator(".run-question").nth(0)).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page)
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("n eggs")
    expect(page.get_by_role("searchbox")).to_have_value("n eggs")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    expect(page.locator(".run-question").nth(-1)).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    page.keyboard.press("j")
    expect(page.locator(".run-question").nth(0)).to_be_focused()
    page.locator(".run-actions summary").first.click()
    check(page)
    page.keyboard.press("n")
    page.wait_for_url(server.url + "/")


def test_a_setting_is_found_counted_and_reset(server: Server, open_page: Open) -> None:
    page = open_page(server)
    page.goto("/settings/")
    page.get_by_role("searchbox").fill("ends every rounds")
    expect(page.locator(".knob:visible label")).to_have_text(["Maximum rounds (rounds)"])
    page.get_by_role("searchbox").press("Enter")
    page.get_by_role("searchbox").fill("nothing like it")
    expect(page.get_by_text("No setting has these words.")).to_be_visible()
    page.get_by_role("searchbox").fill("")
    page.get_by_text("Thresholds for stopping").click()
    page.get_by_label("Maximum rounds").fill("7")
    expect(page.locator(".knobs .changed:visible")).to_have_text("1 changed")
    expect(page.locator(".changed-all")).to_have_text("1 changed")
    expect(page.get_by_text("ADAPTIVE_MAX_DEPTH")).to_be_hidden()
    page.get_by_label("Show variable names").check()
    expect(page.get_by_text("ADAPTIVE_MAX_DEPTH")).to_be_visible()
    check(page)
    page.get_by_role("button", name="Reset all").click()
    expect(page.get_by_label("Maximum rounds")).to_have_value("5")
    expect(page.locator(".changed:visible")).to_have_count(0)
