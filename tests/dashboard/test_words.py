import pytest

from dashboard import words
from research.engine.records import Mark


@pytest.mark.parametrize(
    "mark, sources, word, icon",
    [
        (Mark.ANSWERED, 3, "Answered, 3 sources", "check"),
        (Mark.ANSWERED, 0, "Answered", "check"),
        (Mark.ONE_SOURCE, 1, "One source", "half"),
        (Mark.PASSAGES, 2, "Passages from 2 sources", "half"),
        (Mark.CLOSE, 2, "Passages come close", "circle"),
        (Mark.DISPUTED, 2, "Sources disagree", "split"),
        (Mark.OPEN, 0, "Open", "circle"),
        (Mark.NOT_FOUND, 0, "Not found", "none"),
        (Mark.NOT_SEARCHED, 0, "Not searched", "circle"),
    ],
)
def test_a_sub_question_says_what_it_rests_on(
    mark: Mark, sources: int, word: str, icon: str
) -> None:
    shown = words.aspect(mark, sources)
    assert (shown.word, shown.icon) == (word, icon)
