"""Short headings of sub-questions."""

from __future__ import annotations

from research.engine.report.parts.headings import label, short_headings


def test_the_shared_subject_is_no_part_of_a_heading() -> None:
    texts = ["Vastrel dam: who paid?", "Vastrel dam: the fish?", "When was it built?"]
    assert short_headings(texts) == ["Who paid", "The fish", "When was it built?"]
    assert short_headings(texts[:1]) == ["Vastrel dam: who paid?"]
    assert short_headings(["Dam: who paid?", "Weir: what?"]) == ["Dam: who paid?", "Weir: what?"]


def test_a_long_heading_ends_with_a_clause_or_is_whole() -> None:
    clause = "What does one of the ships cost a day, and who is the owner of each of the six ships?"
    words = "Which of the many rules on dosing that the ministry of health published hold today?"
    german = "Wie viele Plätze haben die Schiffe, und wem gehört jedes der sechs Schiffe heute?"
    assert short_headings([clause, words, german]) == [
        "What does one of the ships cost a day?",
        words,
        "Wie viele Plätze haben die Schiffe?",
    ]
    assert (
        short_headings(["水の値段はいくらですか？", "誰が払いましたか？"])[1]
        == "誰が払いましたか？"
    )


def test_a_heading_has_as_many_clauses_as_fit_and_none_that_names_nothing() -> None:
    several = "Who built the dam, and in which year, and who paid for the works on the river?"
    opening = "In March 2024, which party won the elections in the north of the country?"
    long = "In which years had the islands no money of their own at all, and who decided that?"
    assert short_headings([several, opening, long]) == [
        "Who built the dam, and in which year?",
        opening,
        "In which years had the islands no money of their own at all?",
    ]


def test_what_every_sub_question_names_is_left_out() -> None:
    texts = [
        "What is the permit fee on the Ash Way, the Elm Walk, Hill End and the Oak Trail?",
        "How dangerous are the Ash Way, the Elm Walk, Hill End and the Oak Trail?",
        "Who looks after the paths in Cambrost, and for how long have they done so already?",
        "What does a night in a hut cost in Cambrost (with breakfast, in summer, for two)?",
        "How many walkers were there in Cambrost in 2025?",
    ]
    assert short_headings(texts) == [
        "What is the permit fee?",
        "How dangerous are they?",
        "Who looks after the paths?",
        "What does a night in a hut cost?",
        "How many walkers were there in 2025?",
    ]


def test_a_question_opens_a_line_without_a_colon() -> None:
    assert label("Who paid?") == "Who paid?"
    assert label("Who paid") == "Who paid:"
