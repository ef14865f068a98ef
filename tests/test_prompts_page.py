"""`docs/prompts.md` shows the prompts as they are, and names all of their sections."""

from __future__ import annotations

import re

from scripts import prompts_page


def test_the_shown_prompts_are_the_rendered_ones() -> None:
    written = prompts_page.PAGE.read_text()
    assert written == prompts_page.page(), "run: python -m scripts.prompts_page"


def test_every_task_of_a_run_is_shown() -> None:
    shown = set(re.findall(r"^### \d+\. (\w+)$", prompts_page.PAGE.read_text(), re.MULTILINE))
    assert shown == {
        "intake", "read", "assess", "draft", "repair", "verify", "section", "summary", "last_look",
    }  # fmt: skip


def test_every_section_of_a_prompt_is_described() -> None:
    folder = prompts_page.PAGE.parent.parent / "research/engine/llm_tasks/prompts"
    texts = [file.read_text() for file in folder.rglob("*.md")]
    used = {name for text in texts for name in re.findall(r"^# ([A-Z ,-]+)$", text, re.M)}
    described = prompts_page.PAGE.read_text().partition(prompts_page.MARK)[0]
    assert {name for name in used if f"`# {name}`" not in described} == set()
