"""A model's window, from servers that tell it in their own ways."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from time import monotonic
from typing import Any

import pytest

from research.llm.window import OLLAMA_DEFAULT, Window, find_window
from tests.support.serving import LoopbackServer, Reply, closed_place, json_reply, path_of


class Tells(LoopbackServer):
    """Answers by path, 404 elsewhere."""

    def __init__(self, answers: Mapping[str, Any]) -> None:
        super().__init__()
        self.answers = answers

    def reply(self, path: str, body: bytes) -> Reply:
        found = self.answers.get(path_of(path))
        return json_reply({}, 404) if found is None else json_reply(found)


SHOWN = {"model_info": {"llama.context_length": 131072}, "parameters": ""}


@pytest.mark.parametrize(
    "answers, window",
    [
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 8192, "owned_by": "vllm"}]}},
         Window(8192, "vLLM")),
        ({"/v1/models": {"data": [{"id": "m", "context_length": 32000}]}}, Window(32000)),
        ({"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx": 2048}}]}}, Window(2048)),
        ({"/props": {"default_generation_settings": {"n_ctx": 4096}}}, Window(4096, "llama.cpp")),
        ({"/api/show": SHOWN}, Window(OLLAMA_DEFAULT, "Ollama", 131072)),
        ({"/api/show": {**SHOWN, "parameters": "stop x\nnum_ctx 16384"}},
         Window(16384, "Ollama", 131072)),
        ({"/api/show": SHOWN,
          "/api/ps": {"models": [{"name": "m:latest", "context_length": 8192}]}},
         Window(8192, "Ollama", 131072)),
        ({"/api/v0/models": {"data": [{"id": "m", "max_context_length": 32768,
                                       "loaded_context_length": 4096}]}},
         Window(4096, "LM Studio", 32768)),
        ({"/v1/models": {"data": [{"id": "another", "max_model_len": 8192}]}}, None),
        ({"/v1/models": {"data": [{"id": "m"}]}, "/props": {"x": []}}, None),
        ({"/v1/models": {"data": 7}, "/api/show": SHOWN, "/api/ps": {"models": 7}},
         Window(OLLAMA_DEFAULT, "Ollama", 131072)),
    ],
)  # fmt: skip
def test_the_window_is_found(answers: dict[str, Any], window: Window | None) -> None:
    with Tells(json.loads(json.dumps(answers))) as server:
        assert asyncio.run(find_window(server.url("/v1"), "key", "m")) == window


def test_a_server_that_is_not_there_tells_nothing() -> None:
    assert asyncio.run(find_window(f"http://{closed_place()}/v1", "", "m")) is None


class Drips(LoopbackServer):
    """Sends a space from time to time, without end."""

    def reply(self, path: str, body: bytes) -> Reply:
        return Reply(b" \n\n" * 100, pace_seconds=0.1)


def test_a_server_that_tells_it_in_drops_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("research.llm.window.ASK_SECONDS", 0.3)
    started = monotonic()
    with Drips() as server:
        assert asyncio.run(find_window(server.url("/v1"), "", "m")) is None
        assert monotonic() - started < 8, "the whole answer takes ten seconds"
