"""Above-the-fold content and stability of a run's page in a browser during 200 updates.

Measured in Chromium on a run with six sub-questions, open gaps and long words (`changes.py`),
served by the product's server.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

from bench.dashboard.processes import DESK, PHONE, served

UPDATES = 200
FIRST_STEPS = 25
STEPS, LONGEST = 50, 12
"""Steps per batch, and batches: steps in quick succession are sent as one update."""

FOLD = {
    "verdict": ".verdict-sentence",
    "round, score and gaps": ".verdict-line",
    "states of the sub-questions": ".aspect-state .state",
}
SAYS = ("round ", " of up to ", " of 10", "stop at 7", "missing")

READ = """() => {
  for (const each of document.querySelectorAll("details")) {
    if (each.offsetParent && each.querySelector("summary")) each.open = true;
  }
  const focused = document.querySelector(".made-of summary");
  focused.focus({preventScroll: true});
  scrollTo(0, 240);
  const range = document.createRange();
  range.selectNodeContents(document.querySelectorAll(".aspect-text")[2]);
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  window.kept = {
    focused: document.activeElement,
    opened: [...document.querySelectorAll("details[open]")].filter(each => each.offsetParent),
    chosen: getSelection().toString(),
    scrolled: scrollY,
    place: range.getBoundingClientRect().top,
  };
}"""
KEPT = """() => ({
  focus: document.activeElement === kept.focused && kept.focused.isConnected,
  selection: getSelection().toString() === kept.chosen && kept.chosen !== "",
  scroll: scrollY === kept.scrolled && scrollY > 0,
  "opened details": kept.opened.every(each => each.open && each.isConnected),
  "place of what is read":
    Math.abs(getSelection().getRangeAt(0).getBoundingClientRect().top - kept.place) < 1,
})"""
SHIFTS = """run => {
  window.shifted = 0;
  window.moved = [];
  window.updates = new Set();
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) {
      shifted += entry.value;
      moved.push([entry.value, entry.sources.map(each => each.node?.id || each.node?.className)]);
    }
  }).observe({type: "layout-shift", buffered: false});
  const sequence = () => document.getElementById(`run-${run}-sequence`).value;
  new MutationObserver(() => updates.add(sequence()))
    .observe(document.body, {childList: true, subtree: true});
}"""


VIEW = """() => {
  const controls = document.querySelector(".controls");
  const covers = getComputedStyle(controls).position === "fixed";
  return covers ? controls.getBoundingClientRect().top : innerHeight;
}"""
"""Height of the visible area: on a phone, buttons are fixed to the bottom of the window."""


@dataclass
class Looked:
    """Measurements.

    `below` names elements that are not above the fold, by window size; `lost` what a reader lost;
    `shift` is the sum of all layout shifts over `updates`, including those soon after an input;
    `onlookers` the same without any input, by window size.
    """

    below: dict[str, list[str]]
    updates: int
    lost: list[str]
    shift: float
    onlookers: dict[str, float]
    moved: list[Any]


def look(browser: Browser, state: Path | None = None) -> Looked:
    """Measure on a new database, or on a copy of that of a state folder."""
    with served(1, state=state) as server:
        server.steps(FIRST_STEPS)
        session = server.sessions[0]
        below = {}
        for size in (DESK, PHONE):
            page = server.page(browser, session, size)
            below[named(size)] = below_the_fold(page)
            page.context.close()
        reader = server.page(browser, session)
        onlookers = {named(size): server.page(browser, session, size) for size in (DESK, PHONE)}
        onlookers["phone, at the evidence"] = at_the_evidence(server.page(browser, session, PHONE))
        pages = [reader, *onlookers.values()]
        for page in pages:
            page.wait_for_timeout(1000)
            page.evaluate(SHIFTS, server.run)
        reader.evaluate(READ)
        reader.wait_for_timeout(500)
        reader.evaluate("window.shifted = 0; window.moved = []")
        for _ in range(LONGEST):
            server.steps(STEPS)
            if min(page.evaluate("updates.size") for page in pages) >= UPDATES:
                break
        kept = reader.evaluate(KEPT)
        return Looked(
            below=below,
            updates=min(page.evaluate("updates.size") for page in pages),
            lost=[what for what, holds in kept.items() if not holds],
            shift=reader.evaluate("shifted"),
            onlookers={name: page.evaluate("shifted") for name, page in onlookers.items()},
            moved=[moved for page in pages for moved in page.evaluate("moved")],
        )


def named(size: dict[str, int]) -> str:
    return f"{size['width']} × {size['height']}"


def at_the_evidence(page: Page) -> Page:
    page.locator(".tabs label").nth(1).click()
    page.wait_for_selector(".evidence-item")
    return page


def below_the_fold(page: Page) -> list[str]:
    """Return the elements of `FOLD` that are hidden, below the first view, or incomplete."""
    page.wait_for_selector(".aspect-state")
    height = page.evaluate(VIEW)
    missing = []
    for name, selector in FOLD.items():
        boxes = [part.bounding_box() for part in page.locator(selector).all()]
        seen = [box for box in boxes if box and box["y"] >= 0]
        if not boxes or len(seen) < len(boxes):
            missing.append(f"{name} (hidden)")
        elif (lowest := max(box["y"] + box["height"] for box in seen)) > height:
            missing.append(f"{name} (ends at {lowest:.0f})")
    line = page.locator(".verdict-line").text_content() or ""
    return missing + [f"“{part.strip()}”" for part in SAYS if part not in line]
