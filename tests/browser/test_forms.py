"""What a run asks of a person: the forms come by themselves, and what is sent is heard."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import WHOLE, Open
from tests.browser.serving import Server
from tests.browser.test_looks import PHONE
from tests.support.world import LIT, SCRIPTS, SIMPLE, World

ANOTHER = "Who keeps the Harrow Point lighthouse?"
QUESTIONS = ("Which lighthouse do you mean?", "First lit, or rebuilt?")


@pytest.fixture
def asks_back(world: World) -> World:
    world.model.scripts = {SIMPLE: replace(SCRIPTS[SIMPLE], clarifying=QUESTIONS)}
    return world


def ask_first(page: Page) -> None:
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    page.wait_for_url("**/runs/*/")


@pytest.mark.requirement("F7")
def test_questions_come_by_themselves_and_an_answer_leads_to_the_plan(
    model_server: Server, asks_back: World, open_page: Open
) -> None:
    page = open_page(model_server)
    asks_back.model.hold("intake")
    ask_first(page)
    page.evaluate("window.notReloaded = true")
    asks_back.model.let_go()
    page.get_by_label(QUESTIONS[0]).fill("The one at Harrow Point")
    assert page.evaluate("window.notReloaded === true")
    expect(page).to_have_title("? When was the Harrow Point lighthouse first lit? · Plumbline")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()
    assert "The one at Harrow Point" in asks_back.model.requests[-1].prompt
    expect(page.locator(".estimate")).to_have_text(
        re.compile(r"^No cost, about \d+–\d+ (s|min)\.$")
    )
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".column")).to_contain_text(LIT)


def test_questions_can_be_skipped(model_server: Server, asks_back: World, open_page: Open) -> None:
    page = open_page(model_server)
    ask_first(page)
    page.get_by_role("button", name="Skip the questions").click()
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()


def test_a_plan_is_sent_back_and_then_started_with_other_words(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    ask_first(page)
    page.get_by_text("Send back with a comment").click()
    page.get_by_label("Sub-question 1", exact=True).fill("When was it built?")
    page.get_by_label("What should be different?").fill("Look for the year only")
    world.model.hold("intake")
    page.get_by_role("button", name="Send back").click()
    expect(page.locator(".now")).to_be_visible()
    world.model.let_go()
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()
    assert "Look for the year only" in world.model.requests[-1].prompt
    assert "- When was it built?" in world.model.requests[-1].prompt
    page.get_by_label("Sub-question 1", exact=True).fill("In which year was it first lit?")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".aspect-text")).to_have_text("In which year was it first lit?")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=15_000)


def test_a_plan_s_order_and_terms_are_changed_before_it_starts(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    ask_first(page)
    first = page.get_by_label("Sub-question 1", exact=True).input_value()
    lines = page.get_by_role("textbox", name="Sub-question")
    expect(lines).to_have_count(3)
    lines.nth(2).fill("How tall is it?")
    page.get_by_label("Sub-question 2").fill(ANOTHER)
    expect(lines).to_have_count(5)
    lines.nth(2).fill("")
    page.get_by_role("button", name="Move up: Sub-question 2").click()
    page.get_by_text("Scope, evidence and output").click()
    page.get_by_label("Scope").fill("The lighthouse alone")
    page.get_by_label("Output").fill("One sentence with the year")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".aspect-text")).to_have_text([ANOTHER, first])
    expect(page.locator(".report")).to_be_visible(timeout=20_000)
    asked = {request.task: request.prompt for request in world.model.requests}
    assert "The lighthouse alone" in asked["assess"]
    assert "One sentence with the year" in asked["draft"]


def test_a_plan_on_a_phone_is_started_from_where_one_reads(
    model_server: Server, open_page: Open
) -> None:
    """Price and Start are in reach, nothing covers them, and they leave the last field free."""
    page = open_page(model_server, viewport=PHONE)
    ask_first(page)
    start = page.get_by_role("button", name="Start")
    for part in (start, page.locator(".estimate")):
        expect(part).to_be_in_viewport(ratio=1)
    start.click(trial=True)
    cancel = page.get_by_role("button", name="Cancel").bounding_box()
    assert cancel and cancel["y"] < PHONE["height"] / 3
    page.get_by_text("Scope, evidence and output").click()
    page.get_by_label("Output").focus()
    field, row = page.get_by_label("Output").bounding_box(), start.bounding_box()
    assert field and row and field["y"] + field["height"] <= row["y"]
    start.click()
    expect(page.locator(".report")).to_be_visible(timeout=20_000)


def test_a_waiting_run_survives_a_restart_and_what_was_typed_stays(
    model_server: Server, asks_back: World, open_page: Open, watch: object
) -> None:
    page = open_page(model_server)
    ask_first(page)
    page.get_by_label(QUESTIONS[0]).fill("The one at Harrow Point")
    watch.excused = True  # type: ignore[attr-defined]
    model_server.kill()
    model_server.start()
    page.wait_for_timeout(3000)
    expect(page.get_by_label(QUESTIONS[0])).to_have_value("The one at Harrow Point")
    page.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("heading", name="The plan", exact=True)).to_be_visible()


def test_stop_and_report_ends_with_what_was_found(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    world.model.hold("assess")
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    assert world.model.held.wait(20)
    page.get_by_role("button", name="Stop and report").click()
    expect(page.locator(".verdict-sentence")).to_contain_text("Stopp")
    world.model.let_go()
    expect(page.locator(".column")).to_contain_text(LIT)


def test_a_reviewer_rejects_a_citation_in_place(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    page.get_by_role("button", name="Research").click()
    page.get_by_role("button", name="Start").click()
    page.locator(".cite a").first.click()
    panel = page.locator("#citation-panel")
    panel.get_by_role("button", name="Doesn’t").click()
    expect(panel).to_contain_text("does not support it")
    page.goto("/admin/research/evidence/?review=reject")
    expect(page.locator("#result_list tbody tr")).not_to_have_count(0)


@WHOLE
def test_another_question_from_the_page_that_the_way_back_shows_is_another_run(
    server: Server, whole_browser: Browser
) -> None:
    """Browsers keep the page as it was left, with all that its form holds."""
    page = whole_browser.new_page()
    page.goto(server.link)
    page.evaluate("window.kept = true")
    asked = []
    for question in ("How to make scrambled eggs?", "How does Plumbline decide when to stop?"):
        page.get_by_label("What do you want to know?").fill(question)
        page.get_by_role("button", name="Research").click()
        page.wait_for_url("**/runs/*/")
        expect(page.get_by_role("heading", level=1)).to_have_text(question)
        asked.append(page.url)
        page.go_back(wait_until="commit")
        assert page.evaluate("window.kept")
    assert len(set(asked)) == 2
