"""The oracle and its hostile variants as an OpenAI-compatible server."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from bench.world import hostile, oracle
from bench.world.envelope import Envelope
from bench.world.serving import Log, Reply, Request, json_reply

FIRST_TOKEN_SECONDS = 0.6
TOKEN_SECONDS = 0.004
COMPLETIONS = "/chat/completions"


def count_tokens(text: str) -> int:
    """Count words, numbers and punctuation marks: the world's tokenizer."""
    return len(re.findall(r"\w+|[^\w\s]", text))


class ModelServer:
    """`POST …/chat/completions`.

    The variant is the model's name; a path segment before `/v1` takes precedence
    (`/oracle-inventing/v1/chat/completions`).
    """

    def __init__(self, log: Log, latency: bool) -> None:
        self._log, self._latency = log, latency
        self._turns: Counter[str] = Counter()

    async def answer(self, request: Request) -> Reply:
        start = time.time()
        if request.method != "POST" or not request.path.endswith(COMPLETIONS):
            return _refused("there is no such address", 404)
        try:
            body = json.loads(request.body)
            model = _variant(request.path, body["model"])
            prompt = _content(body["messages"][-1])
            task, schema = _task(body, prompt)
        except (ValueError, KeyError, IndexError, TypeError):
            return _refused("this is no chat completion request", 400)
        if model not in hostile.VARIANTS:
            return _refused(f"there is no model {model[:60]}", 404)
        told = hostile.tell(model, task, prompt, schema, self._turns[model])
        self._turns[model] += 1
        usage = _usage(body["messages"], told.text)
        if self._latency:
            tokens = usage["completion_tokens"]
            await asyncio.sleep(FIRST_TOKEN_SECONDS + TOKEN_SECONDS * tokens)
        self._log.add(
            "model", start, task=task, model=model, false_claims=told.false_claims, **usage,
            prompt_sha256=hashlib.sha256(prompt.encode()).hexdigest(),
        )  # fmt: skip
        whole = _completion(body["model"], told.text, usage)
        return _streamed(whole) if body.get("stream") else json_reply(whole)


def _variant(path: str, model: str) -> str:
    named = re.match(r"/([\w-]+)/v1/", path)
    return named.group(1) if named and named.group(1) in hostile.VARIANTS else str(model)


def _content(message: Mapping[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, list):
        return "\n".join(part["text"] for part in content if part.get("type") == "text")
    return str(content)


def _task(body: Mapping[str, Any], prompt: str) -> tuple[str, Mapping[str, Any]]:
    """Return name and schema of the task; without a schema, the prompt's sections identify it."""
    form = body.get("response_format") or {}
    named = form.get("json_schema") or {}
    return str(named.get("name") or oracle.guessed(Envelope.of(prompt))), named.get("schema") or {}


def _usage(messages: list[Mapping[str, Any]], text: str) -> dict[str, int]:
    prompt = sum(count_tokens(_content(message)) for message in messages)
    completion = count_tokens(text)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def _completion(model: str, text: str, usage: Mapping[str, int]) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "completion",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": dict(usage),
    }


def _streamed(whole: dict[str, Any]) -> Reply:
    """Return the completion as a stream of two chunks: the answer, then the usage."""
    [choice] = whole["choices"]
    told = {"index": 0, "delta": choice["message"], "finish_reason": "stop"}
    chunk = {**whole, "object": "chat.completion.chunk"}
    chunks = [{**chunk, "choices": [told], "usage": None}, {**chunk, "choices": []}]
    lines = [*map(json.dumps, chunks), "[DONE]"]
    body = "".join(f"data: {line}\n\n" for line in lines)
    return Reply(body.encode(), content_type="text/event-stream")


def _refused(reason: str, status: int) -> Reply:
    return json_reply({"error": {"message": reason, "type": "invalid_request_error"}}, status)
