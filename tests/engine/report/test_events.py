"""Events of sentences: their dates, and how short they are told."""

from __future__ import annotations

import pytest

from research.engine.report.draft import Statement
from research.engine.report.events import Event, agree, events_of, shorten, without_opening_date

MAY, JUNE = (2010, 5, None), (2013, 6, None)


def told(text: str, language: str = "en") -> list[tuple[object, ...]]:
    found = events_of(Statement(text, ("E1",)), language)
    return [(event.date, event.until, event.text) for event in found]


@pytest.mark.parametrize(
    ("sentence", "events"),
    [
        # two dated clauses with subjects of their own
        (
            "The mill opened in May 2010, and in June 2013 the barn was sold.",
            [
                (MAY, None, "The mill opened in May 2010."),
                (JUNE, None, "In June 2013 the barn was sold."),
            ],
        ),
        (
            "However, the mill opened in May 2010; the barn burnt in June 2013.",
            [
                (MAY, None, "The mill opened in May 2010."),
                (JUNE, None, "The barn burnt in June 2013."),
            ],
        ),
        # the second has no subject, no verb, or one that nobody understands alone
        *(
            (sentence, [(MAY, None, sentence)])
            for sentence in (
                "The mill opened in May 2010 and closed in June 2013.",
                "The mill burnt in May 2010, and the barn in June 2013.",
                "The mill opened in May 2010, and it was closed in June 2013.",
                "The archive says that the mill opened in May 2010 and the inn burnt in June 2013.",
                "After the mill burnt in May 2010, the barn was sold in June 2013.",
                "When the mill burnt in May 2010 and the barn was sold in June 2013, nobody cared.",
            )
        ),
        # spans
        (
            "The strike lasted from May 2010 to June 2013.",
            [(MAY, JUNE, "The strike lasted from May 2010 to June 2013.")],
        ),
        (
            "Between May 2010 and June 2013 the mill stood still.",
            [(MAY, JUNE, "Between May 2010 and June 2013 the mill stood still.")],
        ),
        (
            "The fair was held on 3 to 5 May 2010.",
            [((2010, 5, 3), (2010, 5, 5), "The fair was held on 3 to 5 May 2010.")],
        ),
        # the month again with its day
        *(
            (sentence, [((2010, 5, 3), None, sentence)])
            for sentence in (
                "May 2010: the mill opened on 3 May 2010.",
                "The mill, whose month was May 2010, opened on 3 May 2010.",
            )
        ),
        # a date that something dates from
        (
            "The mill dates from 3 May 2010, and the barn was sold in June 2013.",
            [
                ((2010, 5, 3), None, "The mill dates from 3 May 2010."),
                (JUNE, None, "The barn was sold in June 2013."),
            ],
        ),
        ("The mill opened in 2010.", [((2010, None, None), None, "The mill opened in 2010.")]),
        ("The mill opened in May.", []),
    ],
)
def test_a_sentence_tells_the_events_of_its_dates(
    sentence: str, events: list[tuple[object, ...]]
) -> None:
    assert told(sentence) == events


def test_a_sentence_in_another_language_is_one_event() -> None:
    sentence = "Am 3.5.2010 wurde die Mühle eröffnet; am 4.6.2013 wurde sie verkauft."
    assert told(sentence, "de") == [((2010, 5, 3), None, sentence)]


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        ("However, in May 2010 the mill closed.", "In May 2010 the mill closed."),
        ("But in May 2010 the mill closed.", "In May 2010 the mill closed."),
        ("In the same year, the mill closed, in May 2010.", "The mill closed, in May 2010."),
        ("Two years later, in May 2010, the mill closed.", "In May 2010, the mill closed."),
        ("Später, im Mai, am 3.5.2010, schloss sie.", "Später, im Mai, am 3.5.2010, schloss sie."),
        (
            "The following year saw the mill close in May 2010.",
            "The following year saw the mill close in May 2010.",
        ),
        (
            "In the same year as the fire, in May 2010, the mill closed.",
            "In the same year as the fire, in May 2010, the mill closed.",
        ),
    ],
)
def test_an_event_goes_without_its_connective(sentence: str, short: str) -> None:
    assert [text for _, _, text in told(sentence)] == [short]


@pytest.mark.parametrize(
    ("sentence", "short"),
    [
        (
            "In October 2025 the old fine of 900 talers was raised, so that a juror who searches "
            "the web pays 3,200 talers.",
            "In October 2025 the old fine of 900 talers was raised.",
        ),
        (
            "Since January 2026 a day in court has been worth 145 talers to jurors, and it is paid "
            "within the week.",
            "Since January 2026 a day in court has been worth 145 talers to jurors.",
        ),
        # the rest would be no sentence, or lose a date
        *(
            (sentence, sentence)
            for sentence in (
                "On 3 May 2010, while the mayor and all of his guests were asleep the dam broke.",
                "The mill in the upper village, which a baker founded in May 2010 with others, "
                "was closed.",
                "The mill in the upper village was closed, which had been opened in May 2010.",
                "In May 2010 the mill closed, which many regretted.",
                "In May 2010 the fire destroyed the mill by the old river, the barn, and the inn.",
            )
        ),
    ],
)
def test_a_long_event_ends_before_a_dependent_clause(sentence: str, short: str) -> None:
    assert shorten(sentence) == short


def test_an_event_cites_the_evidence_of_its_clause() -> None:
    text = "The mill opened in May 2010, and in June 2013 the barn was sold."
    clause = ("The mill opened in May 2010", ("E1",))
    first, second = events_of(Statement(text, ("E1", "E2"), clauses=(clause,)), "en")
    assert first == Event(MAY, "The mill opened in May 2010.", ("E1",))
    assert second.evidence == ("E2",)


@pytest.mark.parametrize(
    ("sentence", "row"),
    [
        ("May 2010: the mill opened on 3 May 2010.", "The mill opened on 3 May 2010."),
        ("**May 2010:** the mill opened.", "The mill opened."),
        ("3 May 2010 – the mill opened.", "The mill opened."),
        ("2010: the mill opened.", "The mill opened."),
        ("May 2010 to June 2013: the strike went on.", "The strike went on."),
        ("1996 to 1998: the strike went on.", "The strike went on."),
        ("On 3 May 2010, the mill opened.", "The mill opened."),
        ("In May 2010 the mill opened.", "The mill opened."),
        ("In 2010, the mill opened.", "The mill opened."),
        ("On 3 to 5 May 2010 the fair was held.", "The fair was held."),
        # the rest would be no sentence, or lose what the date says besides
        *(
            (sentence, sentence)
            for sentence in (
                "3 May 2010 – the day of the flood – was quiet.",
                "Since May 2010 the mill has been open.",
                "Between May 2010 and June 2013 the mill stood still.",
                "In early May 2010 the mill opened.",
                "On 3 May 2010, a Sunday, the mill opened.",
                "In May 2010 alone, nine mills opened.",
                "On 3 May 2010, when the mill opened, nobody came.",
                "In 2009, the mayor says, it was planned; the mill opened in May 2010.",
                "The mill opened in May 2010.",
            )
        ),
    ],
)
def test_a_date_that_opens_an_event_is_left_out_beside_it(sentence: str, row: str) -> None:
    [event] = events_of(Statement(sentence, ("E1",)), "en")
    assert without_opening_date(event, "en") == row


def test_only_a_label_is_left_out_in_another_language() -> None:
    for sentence, row in (
        ("3.5.2010: Die Mühle wurde eröffnet.", "Die Mühle wurde eröffnet."),
        ("In 2010 wurde die Mühle eröffnet.", "In 2010 wurde die Mühle eröffnet."),
    ):
        [event] = events_of(Statement(sentence, ("E1",)), "de")
        assert without_opening_date(event, "de") == row


def test_dates_agree_where_one_says_less() -> None:
    day, month, year = (2010, 5, 3), (2010, 5, None), (2010, None, None)
    assert agree(day, month) and agree(year, day) and agree(month, month)
    assert not agree(day, (2010, 5, 4)) and not agree(month, (2010, 6, 4))
