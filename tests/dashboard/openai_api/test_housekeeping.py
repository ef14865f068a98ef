"""What chat clients ask by themselves, and questions in their templates."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dashboard.openai_api.errors import InvalidRequestError
from dashboard.openai_api.housekeeping import answer_housekeeping, short_title, unwrap_question
from dashboard.openai_api.request import Conversation, find_ready_answer, read_conversation
from tests.dashboard.openai_api import client_prompts as prompts
from tests.dashboard.openai_api.client_prompts import NEXT, QUESTION

SAID = "How old do oaks get"


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (prompts.TITLE, {"title": SAID}),
        (prompts.NEWER_TITLE, {"title": SAID}),
        (prompts.TAGS, {"tags": []}),
        (prompts.FOLLOW_UPS, {"follow_ups": []}),
        (prompts.QUERIES, {"queries": []}),
        (prompts.AUTOCOMPLETE, {"text": ""}),
        (prompts.IMAGE, {"prompt": NEXT}),
        (prompts.TOOLS, {"tool_calls": []}),
        (prompts.STRUCTURED_TITLE, {"language": "en", "title": SAID}),
    ],
)
def test_a_task_is_answered_at_once_in_its_format(prompt: str, answer: dict[str, Any]) -> None:
    assert json.loads(answer_housekeeping(prompt) or "") == answer


@pytest.mark.parametrize(
    "prompt",
    [
        prompts.COMPLETION_TITLE,
        prompts.NEWER_COMPLETION_TITLE,
        prompts.ASSISTANTS_TITLE,
        prompts.INSTRUCTED_TITLE,
    ],
)
def test_a_title_for_librechat_is_plain_text(prompt: str) -> None:
    assert answer_housekeeping(prompt) == SAID


def test_an_emoji_is_one() -> None:
    assert len(answer_housekeeping(prompts.EMOJI) or "") == 1


@pytest.mark.parametrize(
    "question",
    [
        QUESTION,
        "What is a good title for a book about oaks?",
        "How do search queries work in PostgreSQL?",
        "Which tags does HTML have, by category?",
        "Why does Open WebUI say “Generate a concise title summarizing the chat history”?",
        "### Task:\nSuggest 3-5 relevant follow-up questions for a survey among foresters.",
        "Is this concise, and would you detect a title in it? It is from a conversation.",
        prompts.RAG_AROUND,
        prompts.RAG_BEFORE,
    ],
)
def test_questions_are_researched(question: str) -> None:
    assert answer_housekeeping(question) is None


@pytest.mark.parametrize(
    "prompt",
    [
        prompts.RAG_BEFORE,
        prompts.RAG_AROUND,
        prompts.RAG_AFTER,
        prompts.RAG_AFTER_UNTAGGED,
        QUESTION,
    ],
)
def test_a_question_is_taken_out_of_the_rag_template(prompt: str) -> None:
    assert unwrap_question(prompt) == QUESTION
    messages = [{"role": "user", "content": NEXT}, {"role": "user", "content": prompt}]
    assert find_ready_answer(messages, "messages") is None
    assert read_conversation(messages, "messages") == Conversation(QUESTION, NEXT)


def test_a_task_may_be_an_instruction() -> None:
    alone = [{"role": "system", "content": prompts.INSTRUCTED_TITLE}]
    assert find_ready_answer(alone, "messages") == SAID
    asking = [
        {"role": "system", "content": prompts.TOOLS},
        {"role": "user", "content": f"Query: {QUESTION}"},
    ]
    assert find_ready_answer(asking, "messages") == '{"tool_calls": []}'


def test_what_is_asked_before_or_said_by_the_model_is_no_task() -> None:
    messages = [
        {"role": "system", "content": "Give every chapter a concise title."},
        {"role": "user", "content": prompts.TITLE},
        {"role": "assistant", "content": None},
        {"role": "user", "content": QUESTION},
    ]
    assert find_ready_answer(messages, "messages") is None


def test_a_long_title_is_cut_at_a_word() -> None:
    title = short_title("oaks and " * 30)
    assert len(title) <= 61 and title.endswith("…")


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        (prompts.COMPACTION, "Trees were discussed.\n"),
        (prompts.CHECKPOINT, ""),
        (prompts.UPDATED_CHECKPOINT, ""),
    ],
)
def test_a_summary_of_a_long_conversation_lists_its_questions(prompt: str, told: str) -> None:
    said = [(QUESTION, "user"), ("Old.", "assistant"), (NEXT, "user"), (prompt, "user")]
    messages = [{"role": role, "content": content} for content, role in said]
    expected = f"{told}Questions so far:\n- {QUESTION}\n- {NEXT}"
    assert find_ready_answer(messages, "messages") == expected


def test_a_summary_may_have_the_conversation_within() -> None:
    assert answer_housekeeping(prompts.OLDER_COMPACTION) == f"Questions so far:\n- {QUESTION}"


def test_merging_answers_researches_their_question() -> None:
    assert answer_housekeeping(prompts.MERGE) is None
    messages = [{"role": "user", "content": prompts.MERGE}]
    assert read_conversation(messages, "messages") == Conversation(QUESTION)


@pytest.mark.parametrize("place", ["earlier", "last"])
def test_an_image_is_refused_only_in_the_question_itself(place: str) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    shown = {"role": "user", "content": [{"type": "text", "text": QUESTION}, image]}
    following = {"role": "user", "content": NEXT}
    if place == "last":
        with pytest.raises(InvalidRequestError, match="Only text"):
            read_conversation([following, shown], "messages")
    else:
        read = read_conversation([shown, following], "messages")
        assert read == Conversation(NEXT, QUESTION)
