"""Answers that are not quite what was asked for, and are read as they are meant."""

from __future__ import annotations

from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st

from research.engine.llm_tasks.answers import Answer
from research.engine.llm_tasks.assess import AssessAnswer
from research.engine.llm_tasks.draft import DraftAnswer
from research.engine.llm_tasks.prompting.ask import InvalidAnswerError, parse_answer
from research.engine.llm_tasks.prompting.parse_json import without_thoughts
from research.engine.llm_tasks.read import ReadAnswer
from research.engine.llm_tasks.small_tasks import SmallRead

FINDING = '{"claim": "It is old.", "sentences": [4], "sub_question": "A1"}'
GOOD = f'{{"findings": [{FINDING}], "leads": []}}'
OTHER = GOOD.replace("old", "new")


def claim(text: str) -> str:
    [finding] = parse_answer(text, ReadAnswer).findings
    assert (finding.sentences, finding.sub_question) == ([4], "A1")
    return finding.claim


# --- JSON that is nearly some ---------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("]}", ",],}"),
        GOOD.replace('"leads"', '\n// nothing to look up, {really}\n"leads" /* [none] */'),
        GOOD.replace('"leads"', '# none "yet"\n"leads"'),
        GOOD.replace('"', "'"),
        GOOD.replace('"claim"', "claim").replace('"sentences"', "sentences"),
        GOOD.replace('"leads": []', '"leads": [], "sure": True, "why": None, "mark": NaN'),
        GOOD.replace("old.", "old\\."),
        GOOD.replace("[4]", "[4,\n]"),
    ],
)
def test_small_faults_of_json_are_put_right(text: str) -> None:
    assert claim(text).startswith("It is old")


def test_a_quote_or_a_backslash_that_is_written_wrongly_stays_what_it_is() -> None:
    assert claim(GOOD.replace("old", "\\'old\\'")) == "It is 'old'."
    assert claim(GOOD.replace("old", "\\$5 \\alpha")) == "It is \\$5 \\alpha."
    assert claim(GOOD.replace('"', "'").replace("old", 'the "old" one')) == 'It is the "old" one.'
    assert claim(GOOD.replace("old", "// old, # {one}")) == "It is // old, # {one}."


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("}]", "}"),
        GOOD[:-2],
        GOOD.replace("old.", 'an "old" one.'),
        GOOD.replace('"It is old."', "It is old."),
        "{" * 3000,
        "{[" * 3000 + "]}" * 3000,
    ],
)
def test_what_can_be_meant_in_more_than_one_way_is_not_guessed(text: str) -> None:
    with pytest.raises(InvalidAnswerError):
        parse_answer(text, ReadAnswer)


# --- where it stands ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        f"For {{question}} I found [1, 2]:\n{GOOD}",
        f'I was shown {{"claim": "...", "sentences": [1]}} and say: {GOOD}',
        f"```json\n{GOOD}\n```\nOr perhaps:\n```json\n{OTHER}\n```",
        f"{GOOD}\n{GOOD}",
        f"[{GOOD}]",
        f'{{"name": "read", "arguments": {GOOD}}}',
        f'{{"type": "object", "properties": {GOOD}}}',
        f"<think>{OTHER}</think>{GOOD}",
        f"So {OTHER}, or not?\n</think>\n\n{GOOD}",
        f"<think>One {{}}</think>\n<think>Two</think>{GOOD}",
        f"<thinking>{OTHER}</thinking>{GOOD}",
        f"[THINK]{OTHER}[/THINK]{GOOD}",
        f"analysis<|message|>{OTHER}<|channel|>final<|message|>{GOOD}",
        f"<think>\nPerhaps {{this}}. It is:\n```json\n{GOOD}\n```\n",
    ],
)
def test_the_answer_is_found_beside_other_things(text: str) -> None:
    assert claim(text) == "It is old."


@pytest.mark.parametrize(
    "word", ["</think>", "<think>", "<think> and </think>", "<reasoning>", "[THINK]"]
)
def test_an_answer_may_speak_of_thoughts(word: str) -> None:
    assert claim(GOOD.replace("old", word)) == f"It is {word}."


def test_an_object_among_thoughts_that_go_on_is_no_answer() -> None:
    with pytest.raises(InvalidAnswerError, match="no JSON object"):
        parse_answer(f"<think>Perhaps {GOOD}, but then", ReadAnswer)


def test_thoughts_are_left_out_of_a_text_that_grows() -> None:
    assert without_thoughts('<think>Hm, {"statements"') == ""
    assert without_thoughts("<think>Hm</think> So") == " So"


# --- what was meant -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("findings", "Findings").replace("sub_question", "subQuestion"),
        GOOD.replace("sub_question", "sub-question").replace("claim", "CLAIM"),
        GOOD.replace("[4]", '["4"]'),
        GOOD.replace("[4]", '["[4]"]'),
        GOOD.replace("[4]", "4"),
        GOOD.replace("[4]", '"4"'),
        GOOD.replace('"leads": []', '"leads": null'),
        GOOD.replace(f"[{FINDING}]", FINDING),
    ],
)
def test_names_and_kinds_are_read_as_meant(text: str) -> None:
    assert claim(text) == "It is old."


def test_the_only_list_may_come_without_its_object() -> None:
    found = parse_answer('[{"sentence": "3", "claim": "It is old."}]', SmallRead)
    assert [finding.sentence for finding in found.findings] == [3]


def test_numbers_stand_for_their_words() -> None:
    found = parse_answer('{"statements": "It is old. [E1]", "short_answer": [1]}', DraftAnswer)
    assert (found.statements, found.short_answer) == (["It is old. [E1]"], ["1"])


@pytest.mark.parametrize("mark", ["NaN", "Infinity", '"high"', "null"])
def test_a_mark_that_is_no_number_is_an_error(mark: str) -> None:
    marks = '{"completeness": 5, "depth": 6, "reliability": 4, "actionability": 5}'
    text = (
        f'{{"dimensions": {marks}, "overall": {mark}, "reasoning": "", "unanswered": [], '
        '"gaps": [], "directions": [], "ready": "true"}'
    )
    with pytest.raises(InvalidAnswerError, match="overall"):
        parse_answer(text, AssessAnswer)
    assert parse_answer(text.replace(f'"overall": {mark}', '"overall": "5"'), AssessAnswer).ready


@pytest.mark.parametrize("text", ['{"findings": []}', '{"leads": []}', "{}", '{"finding": []}'])
def test_what_is_left_out_is_an_error(text: str) -> None:
    with pytest.raises(InvalidAnswerError, match="Field required"):
        parse_answer(text, ReadAnswer)


def test_the_exact_name_goes_before_another_spelling() -> None:
    class Named(Answer):
        text: str

    assert parse_answer('{"Text": "no", "text": "yes", "TEXT": "no"}', Named).text == "yes"


PIECES = ["{", "}", "[", "]", ",", ":", '"', "'", "\\", "//", "/*", "*/", "#", "\n", " ", "a", "1",
          "-", "NaN", "True", "null", '"findings"', '"leads"', "[]", "<think>", "</think>",
          "\ud800", FINDING, GOOD]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_any_text_is_an_answer_or_a_fault_in_words(text: str) -> None:
    try:
        assert isinstance(parse_answer(text, ReadAnswer), ReadAnswer)
    except InvalidAnswerError as invalid:
        assert str(invalid)


def test_much_prose_with_braces_is_read_in_no_time() -> None:
    started = monotonic()
    with pytest.raises(InvalidAnswerError):
        parse_answer("{ So it says here, {and} there, in many words. " * 3000, ReadAnswer)
    assert monotonic() - started < 2
