"""OpenAI's own client drives whole runs, without a model."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import openai
import pytest

from tests.browser.serving import Server
from tests.dashboard.openai_api.conftest import QUESTION

pytestmark = [pytest.mark.subprocess, pytest.mark.slow]

ELSEWHERE = "Which county does Cheddar cheese come from?"
ANSWER = "lives for about 600 years"
SEARCHES = [{"type": "web_search_preview"}]


def plain(text: str) -> str:
    return text.replace("**", "")


def ask(client: openai.OpenAI, question: str = QUESTION, **options: Any) -> Any:
    messages = [{"role": "user", "content": question}]
    options = {"model": "plumbline-quick", **options}
    return client.chat.completions.create(messages=messages, **options)


def wait(client: openai.OpenAI, id: str) -> Any:
    for _ in range(600):
        now = client.responses.retrieve(id)
        if now.status not in ("queued", "in_progress"):
            return now
        time.sleep(0.05)
    raise TimeoutError(id)


def until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise TimeoutError


def check_annotations(text: str, annotations: list[Any]) -> None:
    assert annotations
    for each in annotations:
        marker = text[each.start_index : each.end_index]
        assert marker.startswith("[") and marker[1:-1].isdigit() and each.url and each.title


def run_ids(server: Server, client: openai.OpenAI) -> list[str]:
    headers = {"Authorization": f"Bearer {client.api_key}"}
    answer = httpx.get(f"{server.url}/api/v1/runs?limit=100", headers=headers, trust_env=False)
    return [run["id"] for run in answer.json()["items"]]


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    names = [model.id for model in client.models.list()]
    assert names == ["plumbline-quick", "plumbline-standard", "plumbline-thorough"]
    assert client.models.retrieve("plumbline-quick").id == "plumbline-quick"


def test_a_completion_is_the_report_and_a_retry_the_same_run(
    server: Server, client: openai.OpenAI
) -> None:
    done = ask(client)
    message = done.choices[0].message
    assert ANSWER in plain(message.content) and done.usage.total_tokens == 0
    check_annotations(message.content, [each.url_citation for each in message.annotations])
    again = ask(client)
    assert again.id == done.id and again.choices[0].message.content == message.content
    assert f"chatcmpl-{run_ids(server, client)[0]}" == done.id


def test_a_streamed_completion_shows_progress_then_the_report(client: openai.OpenAI) -> None:
    options = {"include_usage": True}
    stream = list(ask(client, f"{QUESTION} Streamed.", stream=True, stream_options=options))
    deltas = [chunk.choices[0].delta for chunk in stream if chunk.choices]
    kinds = ["reasoning" if hasattr(each, "reasoning_content") else "content" for each in deltas
             if hasattr(each, "reasoning_content") or each.content]  # fmt: skip
    assert kinds == sorted(kinds, reverse=True) and set(kinds) == {"reasoning", "content"}
    assert ANSWER in plain("".join(each.content or "" for each in deltas))
    assert stream[-2].choices[0].finish_reason == "stop" and stream[-1].usage.total_tokens == 0


def test_requests_of_chat_clients_start_no_research(server: Server, client: openai.OpenAI) -> None:
    before = run_ids(server, client)
    task = (
        "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history."
        f"\n### Chat History:\n<chat_history>\nUSER: {QUESTION}\nASSISTANT: Long.\n</chat_history>"
    )
    made = ask(client, task)
    assert made.choices[0].message.content == f'{{"title": "{QUESTION.rstrip("?")}"}}'
    streamed = list(ask(client, task, stream=True))
    assert streamed[0].choices[0].delta.content == made.choices[0].message.content
    assert run_ids(server, client) == before


def test_the_next_question_of_a_conversation_follows_up(
    server: Server, client: openai.OpenAI
) -> None:
    first = ask(client)
    messages = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": "What was its wood used for?"},
    ]
    following = client.chat.completions.create(model="plumbline-quick", messages=messages)
    headers = {"Authorization": f"Bearer {client.api_key}"}
    address = f"{server.url}/api/v1/runs/{following.id.removeprefix('chatcmpl-')}"
    run = httpx.get(address, headers=headers, trust_env=False).json()
    assert run["kind"] == "follow_up"
    assert run["parent"] == first.id.removeprefix("chatcmpl-")


def read_run(server: Server, client: openai.OpenAI, id: str) -> Any:
    headers = {"Authorization": f"Bearer {client.api_key}"}
    address = f"{server.url}/api/v1/runs/{id.partition('-')[2] or id.removeprefix('resp_')}"
    return httpx.get(address, headers=headers, trust_env=False).json()


def test_another_topic_of_a_chat_starts_anew(server: Server, client: openai.OpenAI) -> None:
    first = ask(client)
    said = ("user", QUESTION), ("assistant", first.choices[0].message.content), ("user", ELSEWHERE)
    messages: Any = [{"role": role, "content": text} for role, text in said]
    following = client.chat.completions.create(model="plumbline-quick", messages=messages)
    assert following.choices[0].finish_reason == "stop"
    run = read_run(server, client, following.id)
    assert (run["kind"], run["status"]) == ("follow_up", "completed")


def test_another_topic_after_a_response_starts_anew(server: Server, client: openai.OpenAI) -> None:
    first = client.responses.create(model="plumbline-quick", input=QUESTION)
    asked = {"model": "plumbline-quick", "input": ELSEWHERE, "previous_response_id": first.id}
    following = wait(client, client.responses.create(**asked, background=True).id)
    assert following.status == "completed" and following.previous_response_id == first.id
    assert read_run(server, client, following.id)["kind"] == "follow_up"


def test_a_turn_after_a_run_whose_plan_was_approved_waits_for_nobody(
    server: Server, client: openai.OpenAI
) -> None:
    question = f"{QUESTION} As planned."
    headers = {"Authorization": f"Bearer {client.api_key}"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, trust_env=False) as api:
        asked = api.post("/runs", json={"question": question, "ask_first": True}).json()
        until(lambda: api.get(f"/runs/{asked['id']}").json()["status"] == "awaiting_approval")
        api.post(f"/runs/{asked['id']}/commands", json={"kind": "approve"})
        until(lambda: api.get(f"/runs/{asked['id']}").json()["status"] == "completed")
    said: Any = [{"role": "user", "content": text} for text in (question, "And its wood?")]
    following = client.responses.create(model="plumbline-quick", input=said)
    assert following.status == "completed"
    assert read_run(server, client, following.id)["parent"] == asked["id"]


def test_a_later_turn_with_a_key_is_researched_once(client: openai.OpenAI) -> None:
    first = client.responses.create(model="plumbline-quick", input=QUESTION)
    asked = {"model": "plumbline-quick", "previous_response_id": first.id}
    keyed = {"extra_headers": {"Idempotency-Key": "later-1"}}
    made = client.responses.create(**asked, input="And its wood?", **keyed)
    again = client.responses.create(**asked, input="And its wood, please?", **keyed)
    assert again.id == made.id


def test_files_are_searched_as_a_whole_run(server: Server, client: openai.OpenAI) -> None:
    headers = {"Authorization": f"Bearer {client.api_key}"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, trust_env=False) as api:
        store = api.post("/collections", json={"name": "Beeches"}).json()["id"]
        beech = ("beech.md", b"# Beeches\n\nA beech lives for about 300 years.\n")
        api.post(f"/collections/{store}/files", files={"files": beech}).raise_for_status()
    files: Any = [{"type": "file_search", "vector_store_ids": [store]}]
    question = "For how many years does a beech live?"
    with client.responses.stream(model="plumbline-quick", input=question, tools=files) as stream:
        kinds = [event.type for event in stream]
        done = stream.get_final_response()
    assert done.status == "completed" and "about 300 years" in plain(done.output_text)
    searches, message = done.output[:-1], done.output[-1]
    assert searches and {each.type for each in searches} == {"file_search_call"}
    assert all(each.queries and each.id.startswith("fs_") for each in searches)
    check_annotations(message.content[0].text, message.content[0].annotations)
    steps = ["in_progress", "searching", "completed"]
    told = [f"response.file_search_call.{step}" for step in steps]
    assert [kind for kind in kinds if "search_call" in kind] == told * len(searches)
    following = client.responses.create(
        model="plumbline-quick", input="And an oak?", tools=files, previous_response_id=done.id
    )
    assert "600" not in following.output_text, "only the chosen files are searched"


def test_a_program_for_deep_research_runs_whole(client: openai.OpenAI) -> None:
    """As in OpenAI's examples: roles, parts, a summary of the reasoning, the background."""
    told = {"role": "developer", "content": [{"type": "input_text", "text": "Cite everything."}]}
    said = {"role": "user", "content": [{"type": "input_text", "text": f"{QUESTION} Deeply."}]}
    asked: Any = {"model": "o3-deep-research", "input": [told, said], "background": True}
    asked |= {"reasoning": {"summary": "auto"}, "tools": [{"type": "web_search_preview"}]}
    done = wait(client, client.responses.create(**asked).id)
    assert done.status == "completed" and ANSWER in plain(done.output_text)
    assert done.reasoning.summary == "auto"
    assert next(each for each in done.output if each.type == "file_search_call").queries
    reasoning = next(each for each in done.output if each.type == "reasoning")
    assert reasoning.summary[0].text.startswith("Round 1: ")
    events = list(client.responses.retrieve(done.id, stream=True))
    written = [each for each in events if each.type == "response.reasoning_summary_text.done"]
    assert [each.text for each in written] == [each.text for each in reasoning.summary]
    places = [each.output_index for each in events if each.type == "response.output_item.done"]
    assert places == list(range(len(done.output)))


def test_a_response_has_searches_and_citations(client: openai.OpenAI) -> None:
    done = client.responses.create(model="plumbline-quick", input=QUESTION, tools=SEARCHES)
    assert done.status == "completed" and ANSWER in plain(done.output_text)
    assert done.tools[0].type == "web_search_preview"
    searches, message = done.output[:-1], done.output[-1]
    assert searches and all(each.type == "file_search_call" for each in searches)
    assert all(each.queries and each.status == "completed" for each in searches)
    check_annotations(message.content[0].text, message.content[0].annotations)


def test_a_response_is_streamed_and_resumed_anywhere(client: openai.OpenAI) -> None:
    question = f"{QUESTION} As events."
    with client.responses.stream(
        model="plumbline-quick", input=question, tools=SEARCHES, background=True
    ) as stream:
        events = list(stream)
        final = stream.get_final_response()
    kinds = [event.type for event in events]
    assert kinds[:2] == ["response.created", "response.in_progress"]
    assert kinds[-1] == "response.completed"
    assert kinds.index("response.output_item.added") < kinds.index("response.output_text.delta")
    assert [event.sequence_number for event in events] == list(range(len(events)))
    text = "".join(each.delta for each in events if each.type == "response.output_text.delta")
    assert text == final.output_text and ANSWER in plain(text)
    for place in (-1, 0, len(events) // 2, len(events) - 2):
        rest = client.responses.retrieve(final.id, stream=True, starting_after=place)
        assert [event.type for event in rest] == kinds[place + 1 :]


def test_a_response_in_the_background_is_polled(client: openai.OpenAI) -> None:
    asked = {"model": "o4-mini-deep-research", "input": f"{QUESTION} Later.", "background": True}
    begun = client.responses.create(**asked, tools=SEARCHES)
    assert begun.status in ("queued", "in_progress") and begun.background
    assert client.responses.create(**asked, tools=SEARCHES).id == begun.id
    done = wait(client, begun.id)
    assert done.status == "completed" and ANSWER in plain(done.output_text)
    assert done.model == "o4-mini-deep-research"


def test_a_response_that_a_budget_cut_short_is_incomplete(client: openai.OpenAI) -> None:
    done = client.responses.create(
        model="plumbline-standard",
        input="How old do oaks get, who planted the oldest ones, and what are yews used for?",
        max_tool_calls=1,
    )
    assert (done.status, done.incomplete_details.reason) == ("incomplete", "max_output_tokens")


def test_a_response_in_the_background_is_cancelled(client: openai.OpenAI) -> None:
    question = f"{QUESTION} Cancelled."
    begun = client.responses.create(model="plumbline-thorough", input=question, background=True)
    assert client.responses.cancel(begun.id).status == "cancelled"
    assert wait(client, begun.id).status == "cancelled"
    events = list(client.responses.retrieve(begun.id, stream=True))
    assert events[-1].type == "response.failed"
    done = client.responses.create(model="plumbline-quick", input=QUESTION, tools=SEARCHES)
    with pytest.raises(openai.BadRequestError, match="background"):
        client.responses.cancel(done.id)


def test_errors_are_those_of_openai(server: Server, client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as unknown:
        ask(client, model="gpt-4o")
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    tools: Any = [*SEARCHES, {"type": "computer_use_preview"}]
    with pytest.raises(openai.BadRequestError) as unsupported:
        client.responses.create(model="plumbline-quick", input=QUESTION, tools=tools)
    assert unsupported.value.param == "tools[1].type"
    tools = [*SEARCHES, {"type": "code_interpreter", "container": {"type": "auto"}}]
    with pytest.raises(openai.BadRequestError, match="code_interpreter") as code:
        client.responses.create(model="plumbline-quick", input=QUESTION, tools=tools)
    assert code.value.param == "tools[1].type"
    image: Any = [{"type": "image_url", "image_url": {"url": "data:"}}]
    with pytest.raises(openai.BadRequestError) as picture:
        ask(client, image)
    assert picture.value.param == "messages"
    with pytest.raises(openai.NotFoundError):
        client.responses.retrieve("resp_missing")
    with pytest.raises(openai.AuthenticationError):
        ask(client.with_options(api_key="wrong"))


def test_no_tool_can_be_required_in_a_chat(client: openai.OpenAI) -> None:
    tool = {"type": "function", "function": {"name": "ask", "parameters": {"type": "object"}}}
    with pytest.raises(openai.BadRequestError) as refused:
        client.chat.completions.create(
            model="plumbline-quick",
            messages=[{"role": "user", "content": QUESTION}],
            tools=[tool],  # type: ignore[list-item]
            tool_choice="required",
        )
    assert refused.value.param == "tool_choice"


def test_a_wrong_value_in_the_query_is_named(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.get("/responses/resp_x?stream=perhaps", cast_to=object)
    assert refused.value.param == "stream"
