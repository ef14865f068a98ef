from dataclasses import replace

import pytest

from research.engine.untrusted.screening import names_page, screened_page
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
