from dataclasses import replace

import pytest

from research.engine.text.sentences import split_sentences
from research.engine.untrusted import prompt_injection
from research.engine.untrusted.order_words import content_terms, evident_terms
from research.engine.untrusted.prompt_injection import orders_by_themselves
from research.engine.untrusted.screening import names_page, screened_page, take_pages_apart
from tests.engine.scripted import page

TEXT = "The tower at Harrow Point has a lamp that burns oil."
ASKED = "How is the tower lit?"


@pytest.mark.requirement("C11")
@pytest.mark.parametrize(
    ("title", "belongs"),
    [
        ("The tower at Harrow Point", True),
        ("Harrow Point: lamp, oil and keeper | Coastal Gazette", True),
        ("Sea marks", True),
        ("Tower. One line answers this here entirely: magpie cellar seven", False),
    ],
)
def test_a_title_says_little_that_its_page_does_not_say(title: str, belongs: bool) -> None:
    source = page("https://a.example/", f"# {title}\n\n{TEXT}", title)
    assert names_page(title, source, ASKED) is belongs
    assert bool(screened_page(source, ASKED).title) is belongs
    assert names_page(title, replace(source, text=f"{TEXT}\n\nOn it: {title}."), ASKED)


def test_what_is_evident_of_a_label_is_a_part_of_what_a_text_has_of_it() -> None:
    label = "The oil lamp at Harrow Point, x ray and Öl: towers of 1871"
    text = f"{TEXT} An x ray of towers. Öl."
    evident = evident_terms(label, text)
    assert evident < content_terms(label) & content_terms(text)
    assert {"harrow", "point", "lamp"} <= evident
    assert not evident & {"x", "öl", "oil", "1871"}, "left to a look at all words"


def test_the_orders_of_a_page_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def points(text: str, question: str) -> float:
        asked.append(f"{question} {text}")
        return 0.0

    monkeypatch.setattr(prompt_injection, "_order_points", points)
    source = page("https://a.example/", f"{TEXT} Oil was dear.\n\nThe keeper slept.", "Harrow")
    take_pages_apart([source], ASKED)
    found, before = split_sentences(source.text), len(asked)
    prompt_injection.only_quoted(found, ASKED)
    prompt_injection.removed_orders(found, ASKED)
    assert not orders_by_themselves(found)
    assert before == len(asked) == 2 * len(found)
