"""A faulty model server: forwards calls to another server and corrupts some of them at random.

All kinds of faults seen on real servers have the same probability. They are drawn from a seed, so
that measurements are repeatable.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import httpx

SLOW_SECONDS = 4.0
Spoil = Callable[[dict[str, Any]], tuple[int, bytes, dict[str, str]]]


def _message(said: dict[str, Any], **message: Any) -> tuple[int, bytes, dict[str, str]]:
    choice = {**said["choices"][0], "message": {"role": "assistant", **message}}
    return 200, json.dumps({**said, "choices": [choice]}).encode(), {}


def _text(said: dict[str, Any]) -> str:
    return str(said["choices"][0]["message"]["content"])


def _error(status: int, message: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    return status, json.dumps({"error": {"message": message}}).encode(), headers


def _wrong_types(said: dict[str, Any]) -> tuple[int, bytes, dict[str, str]]:
    answer = json.loads(_text(said))
    return _message(said, content=json.dumps(dict.fromkeys(answer, "many")))


FAULTS: dict[str, Spoil] = {
    "429": lambda said: _error(429, "slow down", **{"Retry-After": "1"}),
    "500": lambda said: _error(500, "internal error"),
    "slow": lambda said: (200, json.dumps(said).encode(), {}),
    "cut": lambda said: (200, json.dumps(said).encode(), {}),
    "wrong JSON": lambda said: _message(said, content=_text(said)[: len(_text(said)) // 2]),
    "wrong types": _wrong_types,
    "refusal": lambda said: _message(said, content=None, refusal="I can't help with that."),
    "empty choices": lambda said: (200, json.dumps({**said, "choices": []}).encode(), {}),
    "reasoning only": lambda said: _message(said, content="<think>Let me see. Perhaps {this}"),
    "fenced": lambda said: _message(said, content=f"Sure!\n```json\n{_text(said)}\n```"),
    "context too long": lambda said: _error(400, "the maximum context length is 4096 tokens"),
}


class FaultyModel:
    """A server on loopback within its `async with` block; `share` of the calls are corrupted."""

    def __init__(self, model_url: str, share: float, seed: int) -> None:
        self.share = share
        self.spoilt: Counter[str] = Counter()
        self.calls = 0
        self._behind = model_url
        self._chance = random.Random(seed)
        self._client = httpx.AsyncClient(timeout=30)

    async def __aenter__(self) -> FaultyModel:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=10_000_000)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._client.aclose()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                await self._answer(head, await reader.readexactly(_length(head)), writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()

    async def _answer(self, head: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        if not head.startswith("POST") or "/chat/completions" not in head:
            await _send(writer, *_error(404, "no such path"))
            return
        self.calls += 1
        kind = self._drawn()
        request = {**json.loads(body), "stream": False}
        request.pop("stream_options", None)
        said = (await self._client.post(f"{self._behind}/chat/completions", json=request)).json()
        if kind is None:
            await _send(writer, 200, json.dumps(said).encode(), {})
            return
        self.spoilt[kind] += 1
        status, answer, headers = FAULTS[kind](said)
        if kind == "slow":
            await asyncio.sleep(SLOW_SECONDS)
        await _send(writer, status, answer, headers, cut=kind == "cut")

    def _drawn(self) -> str | None:
        if self._chance.random() >= self.share:
            return None
        return self._chance.choice(list(FAULTS))


def _length(head: str) -> int:
    lines = (line.partition(":") for line in head.splitlines())
    return next((int(value) for name, _, value in lines if name.lower() == "content-length"), 0)


async def _send(
    writer: asyncio.StreamWriter,
    status: int,
    body: bytes,
    headers: dict[str, str],
    cut: bool = False,
) -> None:
    """Send a response; a truncated one closes the connection in the middle."""
    lines = [f"HTTP/1.1 {status} Answer", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(body)}", *(f"{k}: {v}" for k, v in headers.items())]
    sent = body[: len(body) // 2] if cut else body
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + sent)
    await writer.drain()
    if cut:
        writer.close()
