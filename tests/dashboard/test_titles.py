"""What runs are called."""

from __future__ import annotations

from dashboard.titles import name_parts, title_of
from research.models import Run

LONG = f"How old do {'very ' * 30}old oaks get, and where do they stand?"
PLAN = {"title": "Old oaks", "brief": "How old oaks get."}


def test_a_long_question_is_called_by_the_title_of_its_plan() -> None:
    assert title_of(Run(question=LONG, plan=PLAN)) == "Old oaks"
    assert title_of(Run(question=LONG, plan=PLAN | {"title": ""})) == "How old oaks get"
    assert title_of(Run(question=LONG)).startswith("How old do very very")


def test_a_short_question_is_its_own_title() -> None:
    assert title_of(Run(question="How old do oaks get?", plan=PLAN)) == "How old do oaks get?"


def test_a_title_is_plain_text() -> None:
    assert title_of(Run(question="What does `work_mem` do?")) == "What does work_mem do?"
    assert title_of(Run(question=LONG, plan={"title": "`Old`  oaks"})) == "Old oaks"


def test_parts_are_called_by_the_headings_of_the_plan_or_their_words_in_short() -> None:
    asked = ["How are jurors in Morvane drawn?", "What are jurors in Morvane paid?"]
    plan = {"aspects": [{"text": asked[0], "heading": "Drawing of jurors"}, {"text": asked[1]}]}
    names = [name_parts(asked, plan)[text] for text in asked]
    assert names == ["Drawing of jurors", "What are jurors in Morvane paid?"]
    assert list(name_parts(asked, None).values()) == asked
