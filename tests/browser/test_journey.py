"""One question from its first word to its review, in one browser, by one person."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open
from tests.browser.serving import Server
from tests.support.world import CHAINED, SCRIPTS, SIMPLE, TRAINED, TRAINING, World

QUESTION = "Which lighthouse do you mean?"
ENGINEER = "Edda Marlow"
LONG = 30_000


@pytest.fixture
def asks_back(world: World) -> World:
    asking = replace(SCRIPTS[CHAINED], clarifying=(QUESTION,))
    world.model.scripts = {CHAINED: asking, SIMPLE: SCRIPTS[SIMPLE]}
    return world


def test_a_question_from_asking_to_its_review(
    model_server: Server, asks_back: World, open_page: Open
) -> None:
    page = open_page(model_server, accept_downloads=True, reduced_motion="no-preference")
    agree_on_a_plan(page, asks_back)
    steer(page, asks_back)
    read_and_reject(page)
    export(page)
    reject_in_the_admin(page)


def agree_on_a_plan(page: Page, world: World) -> None:
    page.get_by_label("What do you want to know?").fill(CHAINED)
    press(page, "Research")
    page.get_by_label(QUESTION).fill("The one at Harrow Point")
    press(page, "Answer")
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()
    first = page.get_by_label("Sub-question 1", exact=True).input_value()
    page.get_by_label("Sub-question 1", exact=True).fill(TRAINING)
    page.get_by_label("Sub-question 2").fill(first)
    world.model.hold("assess")
    press(page, "Start")
    expect(page.locator(".aspect-text")).to_have_text([TRAINING, first])


def steer(page: Page, world: World) -> None:
    """Paused after the first round, given one more question, told to stop in a later one."""
    assert world.model.held.wait(20)
    expect(page.locator(".evidence-item")).not_to_have_count(0)
    press(page, "Pause")
    world.model.let_go()
    expect(page.locator(".verdict-sentence")).to_contain_text("Paused", timeout=LONG)
    page.get_by_label("Add a sub-question").fill(SIMPLE)
    press(page, "Add")
    world.model.hold("assess")  # keeps the run from ending by itself
    press(page, "Go on")
    own = page.locator(".aspect", has_text=SIMPLE)
    expect(own.locator(".aspect-state")).to_contain_text("raised by you", timeout=LONG)
    expect(page.locator(".evidence-item", has_text=TRAINED)).not_to_have_count(0, timeout=LONG)
    press(page, "Stop and report")
    expect(page.get_by_role("button", name="Stop and report")).to_have_count(0)
    world.model.let_go()
    expect(page.locator(".column")).to_contain_text(ENGINEER, timeout=LONG)
    expect(page).to_have_title(re.compile("^[✓◐] "))


def read_and_reject(page: Page) -> None:
    page.locator(".cite a:visible").last.click()
    panel = page.locator("#citation-panel")
    expect(panel.locator("mark").first).to_be_visible()
    panel.get_by_role("button", name="Doesn’t").click()
    expect(panel).to_contain_text("does not support it")
    page.keyboard.press("Escape")
    expect(panel).to_be_empty()


def export(page: Page) -> None:
    for name, holds in (("Markdown", ENGINEER), ("JSON", '"evidence"')):
        page.get_by_text("Save or copy").click()
        with page.expect_download() as saved:
            page.locator(".exports").get_by_role("link", name=name).click()
        assert holds in Path(saved.value.path()).read_text("utf-8")


def reject_in_the_admin(page: Page) -> None:
    """In bulk, with a note; the gate on the run's own page then counts without them."""
    run = page.url
    page.goto("/admin/research/evidence/?review=none")
    rows = page.locator("#result_list tbody tr")
    left = rows.count()
    expect(page.locator("#result_list")).to_contain_text(TRAINED)
    for row in rows.all():
        row.get_by_role("checkbox").check()
    page.get_by_label("Action:").select_option("reject")
    page.get_by_label("Note:").fill("Read by nobody else.")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator(".messagelist")).to_contain_text(f"{left} rejected.")
    expect(page.locator(".messagelist")).to_contain_text("asks for more now")
    page.goto("/admin/research/evidence/?review=reject")
    page.locator("#result_list").get_by_role("link", name=TRAINED).first.click()
    expect(page.locator("mark").first).to_have_text(TRAINED)
    expect(page.locator("body")).to_contain_text("Read by nobody else.")
    page.goto(f"{run}research/")
    page.get_by_text("Scores and budget").click()
    page.get_by_text("How the score is calculated").click()
    expect(page.locator(".gates")).to_contain_text("rejected records")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()
