import pytest
from hypothesis import given

from research.engine.extractive.passages import passages, reads_well
from research.engine.quotes import MAX_QUOTE
from research.engine.text import normalise
from tests.engine.scripted import page
from tests.engine.test_sentences import PAGES


def told(text: str) -> list[str]:
    return [passage.claim for passage in passages(page("https://a.example/", text, "Title"))]


def told_whole(text: str) -> list[str]:
    return [passage.text for passage in passages(page("https://a.example/", text, "Title"))]


@given(PAGES)
def test_a_passage_is_verbatim_and_no_longer_than_a_quote(text: str) -> None:
    for passage in passages(page("https://a.example/", text, "Title")):
        assert 0 <= passage.start < passage.end <= len(text)
        assert passage.end - passage.start <= MAX_QUOTE
        assert passage.text == normalise(text[passage.start : passage.end]) != ""
        opening = passage.text[: min(len(passage.text), len(passage.claim))]
        assert passage.claim.startswith(opening)


@pytest.mark.parametrize(
    "text",
    [
        "Why does the lamp go out in storms?",
        "I think that the lamp is the best one.",
        "See table 5 for all lamps of the coast.",
        "Three words only.",
        "New in version 3.9.",
        "The lamps of the coast are listed in Table 5.",
        "Chapter 12 provides all that is known of lamps.",
        "(It is said that the lamp burns oil.)",
        "There are several kinds of lamps:",
        "A detailed description can be found in most books on lamps.",
        "Written by Ines Vale",
        "    code = that.is(never, a, passage)",
    ],
)
def test_what_cannot_stand_alone_opens_no_passage(text: str) -> None:
    assert told(text) == []


def test_a_sentence_without_spaces_opens_a_passage_and_a_question_does_not() -> None:
    assert told("天文台は1978年4月に開館した。初代台長は誰が務めたのでしょうか？") == [
        "天文台は1978年4月に開館した。"
    ]


def test_a_loose_pronoun_takes_along_the_sentence_that_it_refers_to() -> None:
    text = "The lamp burns whale oil. It goes out in every storm."
    assert told(text)[1] == text


def test_a_sentence_that_is_too_short_is_taken_along_as_head() -> None:
    text = "Makes 2 loaves. Each loaf weighs about 750 grams when it leaves the oven."
    assert told_whole(text) == [text]
    assert told_whole("Two loaves?" + text.removeprefix("Makes 2 loaves.")) == [
        text.removeprefix("Makes 2 loaves. ")
    ]
    assert told_whole(text.replace(". Each", ".\n\nEach")) == [
        text.removeprefix("Makes 2 loaves. ")
    ]


def test_a_pronoun_without_what_it_refers_to_opens_no_passage() -> None:
    found = passages(
        page("https://a.example/", "The lamp burns oil.\n\n## Next\n\nIt goes out at night.")
    )
    assert [p.text for p in found] == ["The lamp burns oil."]


def test_items_of_a_list_stand_alone() -> None:
    text = "1. Beat the five eggs well.\n2. Melt the cold butter slowly."
    found = passages(page("https://a.example/", text))
    assert [p.text for p in found] == ["Beat the five eggs well.", "Melt the cold butter slowly."]
    assert all(p.is_item for p in found)


def test_a_definition_knows_its_term() -> None:
    text = "###### timeout\n\nThe seconds that a page may take."
    [passage] = passages(page("https://a.example/", text))
    assert passage.label is not None and text[slice(*passage.label)] == "timeout"


def test_a_sentence_with_a_colon_takes_along_its_list() -> None:
    text = "The lamp burns two oils:\n\n- the oil of the whale\n- the oil of the olive"
    assert told_whole(text)[0] == normalise(text)


def test_an_identifier_may_open_a_sentence() -> None:
    text = "A lamp was lit by hand before. lamp_light() lights every lamp of the coast at once."
    assert told(text)[1].startswith("lamp_light() lights")


def test_this_in_a_definition_is_the_term() -> None:
    text = "###### wick\n\nThis controls how far the flame stands out."
    assert told(text) == ["This controls how far the flame stands out."]


def test_a_short_row_stands_alone_and_its_head_comes_along() -> None:
    text = "Who to call.\n\nRole\tName\tCall\nFirst aider\tRavi\t012\ncaretaker\tPete\t013"
    found = passages(page("https://a.example/", text))
    assert [p.text for p in found] == ["First aider Ravi 012", "caretaker Pete 013"]
    for passage in found:
        assert passage.label is not None and text[slice(*passage.label)] == "Role\tName\tCall"
        assert {"role", "call"} <= passage.subject


@pytest.mark.parametrize(
    "text, rows",
    [
        ("Open\t9 to 17\nCall\t012", ["Open 9 to 17", "Call 012"]),
        ("Age\tFare 2\nK3\t9", ["Age Fare 2", "K3 9"]),
        ("Lamp\tK3\tK5\nOil\t9 l\t8 l", ["Oil 9 l 8 l"]),
        ("Age\tFare\nAdult\t9\nChild\t4", ["Adult 9", "Child 4"]),
        ("Keeper\tAnn Lee\nLamp\toil\nYear\t1901", ["Lamp oil", "Year 1901"]),
        ("Keeper\tAnn Lee", ["Keeper Ann Lee"]),
        ("A\tB\tC\n\nAdult\t9\t4", ["A B C", "Adult 9 4"]),
        ("Age\tFare\n9\tWhy not?\n8\tSee table 5", []),
    ],
)
def test_rows_that_tell_something_are_told_from_names_of_columns(
    text: str, rows: list[str]
) -> None:
    assert told_whole(text) == rows


def test_a_long_row_is_cut_at_a_word() -> None:
    [passage] = passages(page("https://a.example/", "lamp\t" + "oil and wick " * 40))
    assert len(passage.text) <= MAX_QUOTE and passage.text.endswith(("oil", "and", "wick"))


@pytest.mark.parametrize(
    "text, well",
    [
        ("The lamp of the lighthouse burns whale oil in winter.", True),
        ("It burns whale oil in winter and in summer too.", False),
        ("However, the lamp burns whale oil in winter nights.", False),
        ("The lamp (a large one burns whale oil in winter.", False),
        ("Lamps burn oil.", False),
        ("The pen holds 1.4 ml of ink.", True),
        ("The lamp of the lighthouse burns whale oil in", False),
        ("lamps of the lighthouse burn whale oil in winter.", False),
    ],
)
def test_a_quotation_reads_well_when_it_is_whole(text: str, well: bool) -> None:
    assert reads_well(text) is well
