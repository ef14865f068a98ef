"""A run that somebody steers in the browser: paused, added to, narrowed, stopped."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.conftest import Open, Watch
from tests.browser.serving import Server
from tests.browser.test_live import hold_after_round_one, slow, was_not_reloaded
from tests.browser.test_looks import DESK, PHONE, SIZES, check
from tests.support.model_server import Part, Script
from tests.support.world import DESIGNED, SIMPLE, TRAINING, World

LONG = 20_000
RECENT = "Only sources since 2023"


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


@pytest.mark.parametrize("script", [True, False])
def test_pause_add_a_topic_go_on_and_stop(
    model_server: Server, world: World, open_page: Open, script: bool
) -> None:
    """Without script a page that waits stands still, and a working one follows by itself."""
    page = open_page(model_server, java_script_enabled=script)
    slow(world, 1 if script else 4)
    world.model.hold("assess")
    page.get_by_label("What do you want to know?").fill(
        "Who designed the Harrow Point lighthouse, and where was that engineer trained?"
    )
    press(page, "Research")
    press(page, "Start")
    assert world.model.held.wait(20)
    press(page, "Pause")
    bar = page.locator(".now")
    expect(bar).to_contain_text("Finishing this round, then pausing")
    press(page, "Don’t pause")
    expect(bar).not_to_contain_text("then pausing")
    press(page, "Pause")
    expect(bar).to_contain_text("Finishing this round, then pausing")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    world.model.let_go()
    paused = "Paused. Nothing is searched or spent."
    expect(page.locator(".verdict-sentence")).to_have_text(paused, timeout=LONG)
    own = page.locator(".aspect", has_text=SIMPLE)
    for takes_back in (True, False):
        page.get_by_label("Add a sub-question").fill(SIMPLE)
        press(page, "Add")
        expect(own).to_contain_text("Added when it continues")
        if takes_back:
            own.get_by_role("button", name="Undo").click()
            expect(own).to_have_count(0)
    press(page, "Go on")
    expect(own).to_contain_text("raised by you", timeout=LONG)
    expect(page.locator(".heard li")).to_have_count(0)
    press(page, "Stop and report")
    expect(page.locator(".column")).to_contain_text(DESIGNED, timeout=LONG)
    expect(page.locator(".verdict-top")).to_contain_text("answered")
    expect(page.locator(".steer button")).to_have_count(0)


def test_a_row_is_left_out_and_what_was_typed_stays(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    row = page.locator(".aspect", has_text=TRAINING)
    row.get_by_role("button", name="Remove").click()
    press(page, "Pause")
    expect(row).to_contain_text("Left out after this round")
    page.evaluate("window.notReloaded = true")
    typed = page.get_by_label("Add a sub-question")
    typed.fill("A half-written")
    world.model.let_go()
    expect(page.get_by_role("button", name="Go on")).to_be_visible(timeout=LONG)
    expect(row).to_contain_text("Removed")
    expect(typed).to_have_value("A half-written")
    expect(typed).to_be_focused()
    assert was_not_reloaded(page)


@pytest.mark.parametrize("script", [True, False])
def test_research_under_way_is_cancelled_after_a_question(
    model_server: Server, world: World, open_page: Open, script: bool
) -> None:
    page = open_page(model_server, viewport=PHONE, java_script_enabled=script)
    world.model.hold("assess")
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    press(page, "Research")
    press(page, "Start")
    assert world.model.held.wait(20)
    expect(page.locator(".evidence-item")).not_to_have_count(0)
    cancel = page.get_by_role("link", name="Cancel")
    expect(cancel).to_be_in_viewport(ratio=1)
    cancel.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Cancel this research?")
    if script:
        check(page)
    page.get_by_role("link", name="Keep researching").click()
    cancel.click()
    press(page, "Cancel the research")
    world.model.let_go()
    expect(page.locator(".verdict-top")).to_contain_text("Cancelled", timeout=LONG)
    expect(cancel).to_have_count(0)


@pytest.mark.parametrize("size", [DESK, PHONE])
def test_a_sub_question_can_be_added_without_scrolling(
    model_server: Server, world: World, open_page: Open, size: ViewportSize
) -> None:
    page = open_page(model_server, viewport=size)
    hold_after_round_one(world, page)
    page.evaluate("scrollTo(0, 0)")
    for label in ("Add a sub-question", "What should this run keep in mind?"):
        expect(page.get_by_text(label, exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Add a sub-question")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Add", exact=True)).to_be_in_viewport(ratio=1)
    check(page)
    world.model.let_go()


def test_the_looks_of_what_was_heard(model_server: Server, world: World, open_page: Open) -> None:
    page = open_page(model_server)
    hold_after_round_one(world, page)
    for name in ("Pause", "Dig deeper"):
        press(page, name)
    expect(page.get_by_role("button", name="Don’t pause")).to_be_visible()
    page.get_by_label("Add a sub-question").fill(SIMPLE)
    press(page, "Add")
    expect(page.locator(".heard li")).to_have_count(1)
    expect(page.locator(".aspect")).to_have_count(3)
    check(page)
    buttons_fit(page)
    world.model.let_go()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    check(page)
    buttons_fit(page)


def buttons_fit(page: Page) -> None:
    for button in page.locator(".controls :is(button, .button)").all():
        box = button.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= PHONE["width"]


@pytest.mark.parametrize("script", [True, False])
def test_a_run_is_told_in_words_what_to_keep_in_mind(
    model_server: Server, world: World, open_page: Open, watch: Watch, script: bool
) -> None:
    """By keyboard; the model reads it in the prompts that follow."""
    page = open_page(model_server, java_script_enabled=script)
    world.model.hold("assess")
    page.get_by_label("What do you want to know?").fill(
        "Who designed the Harrow Point lighthouse, and where was that engineer trained?"
    )
    press(page, "Research")
    press(page, "Start")
    assert world.model.held.wait(20)
    if not script:
        page.get_by_role("link", name="Stop updating").click()
    field = page.get_by_label("What should this run keep in mind?")
    field.focus()
    watch.excused = True  # the browser logs that the empty form is refused
    page.keyboard.press("Enter")
    expect(page.locator("#instruction-problem")).to_have_text(
        "Write what this run should keep in mind."
    )
    expect(field).to_be_focused()
    watch.excused = False
    if script:
        check(page)
    page.keyboard.type(RECENT)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Send instruction")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".heard")).to_have_text(f"Follows “{RECENT}” after this round.")
    if script:
        check(page)
    world.model.let_go()
    row = page.locator(".round-told", has_text=f"You added: “{RECENT}”").first
    expect(row).to_contain_text("(from round 2 on)", timeout=LONG)
    expect(page.locator(".heard li")).to_have_count(0)
    expect(page.locator(".column")).to_contain_text(DESIGNED, timeout=LONG)
    shown = [asked for asked in world.model.requests if f"- {RECENT}" in asked.prompt]
    assert {"assess", "draft"} <= {asked.task for asked in shown}


FLEET = "What are the lights of the Harrow coast, and when was each of them first lit?"
LIGHTS = Script(
    tuple(Part(f"When was light {n} first lit?", f"light {n}", ("first lit",)) for n in range(12)),
    complexity="complex",
)
CUT_SHORT = """each => {
  const pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(each);
  pen.font = style.font;
  const room = each.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return pen.measureText(each.placeholder).width > room;
}"""


@pytest.mark.parametrize("script", [True, False])
def test_a_crowded_plan_is_made_deeper_and_told_what_to_keep_in_mind(
    model_server: Server, world: World, open_page: Open, script: bool
) -> None:
    """What is typed at the plan goes with the button that starts it."""
    world.model.scripts = {**world.model.scripts, FLEET: LIGHTS}
    page = open_page(model_server, java_script_enabled=script)
    page.get_by_label("What do you want to know?").fill(FLEET)
    press(page, "Research")
    expect(page.locator(".plan-depth p")).to_contain_text("12 sub-questions in a standard report")
    page.get_by_label("Thorough: 3,000–5,400 words").check()
    page.get_by_label("What should this run keep in mind?").fill(RECENT)
    if script:
        check(page)
    world.model.hold("assess")
    press(page, "Start")
    assert world.model.held.wait(20)
    [assess] = [asked for asked in world.model.requests if asked.task == "assess"]
    assert f"- {RECENT}" in assess.prompt
    if script:
        expect(page.locator(".aspect")).to_have_count(12)
        for size in SIZES:
            page.set_viewport_size(size)  # type: ignore[arg-type]
            for field in page.locator(".add-topic input:visible, .instruct input:visible").all():
                assert not field.evaluate(CUT_SHORT), (size, field.get_attribute("name"))
            expect(page.get_by_label("What should this run keep in mind?")).to_be_in_viewport()
    world.model.let_go()


def test_what_is_told_and_half_typed_during_planning_is_kept(
    model_server: Server, world: World, open_page: Open
) -> None:
    page = open_page(model_server)
    world.model.hold("intake")
    page.get_by_label("What do you want to know?").fill(SIMPLE)
    press(page, "Research")
    assert world.model.held.wait(20)
    expect(page.locator(".call")).to_contain_text("for the model: Understanding the question")
    field = page.locator(".instruct").get_by_label("What should this run keep in mind?")
    field.fill(RECENT)
    press(page, "Send instruction")
    expect(page.locator(".heard")).to_contain_text("the plan is made without it.")
    field.fill("Be br")
    world.model.let_go()
    expect(page.locator("[name=instruction]")).to_have_value("Be br", timeout=LONG)
    expect(page.locator(".heard")).to_contain_text("The plan was made without it; send it back")
    expect(page.locator("[name=comment]")).to_have_value(RECENT)
