from research.engine.report.rendering.statements import group_quotes

PANS, OVEN = "**Eggs › Pans:** ", "**Eggs › Oven:** "


def paragraphs(*statements: tuple[str, str]) -> list[str]:
    return [group.paragraph() for group in group_quotes(statements)]


def test_quotes_of_one_section_are_a_list_behind_one_lead_in() -> None:
    assert paragraphs((PANS, "“One.” [1]"), (PANS, "“Two.” [2]")) == [
        "**Eggs › Pans:**\n\n- “One.” [1]\n- “Two.” [2]"
    ]


def test_another_section_of_the_same_page_is_named_without_its_title() -> None:
    assert paragraphs((PANS, "“One.”"), (OVEN, "“Two.”")) == [
        "**Eggs › Pans:** “One.”",
        "**Oven:** “Two.”",
    ]
    assert paragraphs(("**Eggs:** ", "“One.”"), (OVEN, "“Two.”"))[1] == "**Oven:** “Two.”"


def test_another_page_is_named_in_full_and_so_is_the_page_after_it() -> None:
    tea = ("**Tea › Pans:** ", "“Three.”")
    assert paragraphs((PANS, "“One.”"), tea, (OVEN, "“Two.”")) == [
        "**Eggs › Pans:** “One.”",
        "**Tea › Pans:** “Three.”",
        "**Eggs › Oven:** “Two.”",
    ]


def test_sentences_without_a_lead_in_stay_as_they_are() -> None:
    assert paragraphs(("", "One. [1]"), ("", "Two. [2]")) == ["One. [1]", "Two. [2]"]


def test_in_running_text_quotes_follow_their_lead_in() -> None:
    [group] = group_quotes([(PANS, "“One.” [1]"), (PANS, "“Two.” [2]")])
    assert group.inline() == "**Eggs › Pans:** “One.” [1] “Two.” [2]"
