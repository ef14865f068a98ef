"""Which of a page's passages are taken, and how much of a paragraph comes along."""

from __future__ import annotations

from research.engine.offline.passages.reading import read_pages
from research.engine.records import Aspect
from tests.engine.scripted import page

KORVAN = page(
    "https://korvan.example/",
    "# Korvan K3\n\nThe Korvan K3 is a refrigerator for small kitchens.\n\n## Warranty\n\n"
    "The warranty lasts 36 months from the date of purchase. The compressor is covered for five"
    " years. The warranty does not cover damage from frost.",
    "Korvan K3",
)


def test_a_paragraph_comes_whole_where_that_is_nearly_as_good_as_its_end() -> None:
    asked = "How long is the warranty of the Korvan K3?"
    found = read_pages([KORVAN], [Aspect("A1", asked, asked, "plan", 0)], 5)
    warranty = [each.passage.text for each in found if each.passage.section == "Warranty"]
    assert [text[:26] for text in warranty] == ["The warranty lasts 36 mont"]
