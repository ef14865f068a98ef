from dataclasses import replace
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from dashboard import words
from research.engine.assessment.answer_status import AspectStatus, Trust
from research.engine.records import AnswerStatus
from research.models import Run
from research.notifications import composing


@pytest.mark.parametrize(
    "mark, sources, word, icon",
    [
        (AnswerStatus.ANSWERED, 3, "Answered, 3 sites", "check"),
        (AnswerStatus.ANSWERED, 0, "Answered", "check"),
        (AnswerStatus.ONE_SOURCE, 1, "One site", "half"),
        (AnswerStatus.PASSAGES, 2, "Passages from 2 sites", "half"),
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


@pytest.mark.parametrize(
    ("mark", "word"),
    [
        (AnswerStatus.ANSWERED, "Answered · 1 point open"),
        (AnswerStatus.ONE_SOURCE, "One site · 1 point open"),
        (AnswerStatus.CLOSE, "Passages come close"),
    ],
)
def test_an_answer_says_how_many_points_the_report_leaves_open(
    mark: AnswerStatus, word: str
) -> None:
    assert words.aspect_state(mark, 1, 1) == replace(words.aspect_state(mark, 1), word=word)


def test_answers_with_open_points_are_counted_with_the_others() -> None:
    found = [AspectStatus(AnswerStatus.ANSWERED, 2, number) for number in (0, 3, 1)]
    told = "3 of 3 sub-questions answered"
    assert words.count_answers(found, judged_by_model=True) == told


def test_without_a_model_an_answer_is_only_likely() -> None:
    shown = words.aspect_state(AnswerStatus.ANSWERED, 3, judged_by_model=False)
    assert (shown.word, shown.tone) == ("Likely answered", "idle")
    run = Run(status="completed")
    by_code = words.run_state(run, Trust.ANSWERED, judged_by_model=False)
    assert by_code.word == "Likely answered"
    assert words.run_state(run, Trust.ANSWERED).word == "Answered"


@pytest.mark.parametrize("analyst", ["extractive", "a-model"])
@pytest.mark.parametrize("trust", Trust)
def test_page_list_and_mail_say_the_same_of_an_answer(trust: Trust, analyst: str) -> None:
    judged = analyst != "extractive"
    on_page = words.run_state(Run(status="completed"), trust, judged_by_model=judged).word
    told = {"trust": str(trust), "analyst": analyst}
    assert composing._trust(told) == composing._trust({**told, "judged_by_model": judged})
    assert composing._trust(told) == on_page


@pytest.mark.parametrize(
    ("urls", "told"),
    [
        (["https://a.example/1", "https://a.example/2"], "2 pages from 1 site"),
        (["https://a.example/1", "https://b.example/"], "2 pages from 2 sites"),
        (["file:///a.md"], "1 document"),
        (["file:///a.md", "https://b.example/"], "2 pages"),
    ],
)
def test_pages_are_counted_with_their_sites(urls: list[str], told: str) -> None:
    assert words.describe_pages(urls) == told


def test_days_ago_are_those_of_the_calendar_in_the_time_zone() -> None:
    now = datetime(2026, 11, 26, 0, 30, tzinfo=UTC)
    evening, morning = datetime(2026, 11, 25, 22, tzinfo=UTC), datetime(2026, 11, 24, 9, tzinfo=UTC)
    assert words.time_ago(evening, now) == "yesterday"
    assert words.time_ago(morning, now) == "2 days ago"
    assert words.time_ago(datetime(2026, 11, 26, 0, 5, tzinfo=UTC), now) == "25 min ago"
    with timezone.override("America/New_York"):
        assert words.time_ago(evening, now) == "2 h ago"
        assert words.format_day(now) == "25 November 2026"
