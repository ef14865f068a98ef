import pytest

from dashboard import words
from research.engine.records import AnswerStatus


@pytest.mark.parametrize(
    "mark, sources, word, icon",
    [
        (AnswerStatus.ANSWERED, 3, "Answered, 3 sources", "check"),
        (AnswerStatus.ANSWERED, 0, "Answered", "check"),
        (AnswerStatus.ONE_SOURCE, 1, "One source", "half"),
        (AnswerStatus.PASSAGES, 2, "Passages from 2 sources", "half"),
        (AnswerStatus.CLOSE, 2, "Passages come close", "circle"),
        (AnswerStatus.DISPUTED, 2, "Sources disagree", "split"),
        (AnswerStatus.OPEN, 0, "Open", "circle"),
        (AnswerStatus.NOT_FOUND, 0, "Not found", "none"),
        (AnswerStatus.NOT_SEARCHED, 0, "Not searched", "circle"),
    ],
)
def test_a_sub_question_says_what_it_rests_on(
    mark: AnswerStatus, sources: int, word: str, icon: str
) -> None:
    shown = words.aspect_state(mark, sources)
    assert (shown.word, shown.icon) == (word, icon)
