"""Units with few pages are read in one call."""

from __future__ import annotations

from research.engine.records import Unit
from research.engine.rounds.topics import Topic
from research.engine.rounds.units import Work, read_together


def unit_of(number: int, pages: int) -> Work:
    topic = Topic(f"part {number}", (f"query {number}",), f"A{number}")
    unit = Unit(2, number, topic.text, topic.aspect_id, topic.queries)
    return Work(unit, topic, urls=[f"https://{number}.example/{page}" for page in range(pages)])


PAGES = (2, 5, 1, 3, 2, 0)


def test_few_pages_go_to_an_earlier_unit_and_many_stay() -> None:
    work = [unit_of(number, pages) for number, pages in enumerate(PAGES, 1)]
    read_together(work)
    assert [len(each.urls) for each in work] == [3, 5, 0, 5, 0, 0]
    assert work[0].asked.topic == "part 1 part 3"
    assert work[0].asked.queries == ("query 1", "query 3")


def test_a_reader_is_told_each_topic_in_a_line_of_its_own() -> None:
    work = [unit_of(1, 2), unit_of(2, 1)]
    read_together(work)
    assert work[0].asked.told == "part 1\npart 2"


def test_what_was_shown_of_a_page_is_what_earlier_rounds_were_shown() -> None:
    """Known before the round's pages are read, so that no order of answers changes a prompt."""
    work = [unit_of(1, 2), unit_of(2, 1)]
    work[0].known = {"https://1.example/0": frozenset({1, 2})}
    work[1].known = {"https://2.example/0": frozenset({5})}
    read_together(work)
    assert work[0].asked.known == work[0].known | work[1].known
