"""A server that imitates a search provider's API with scripted responses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from research.engine.ports import SearchAnswer, SearchFailedError

MEGABYTE = 1024 * 1024
KEY = "secret-key-1234"


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class SearchApi:
    """A scripted server; the last response repeats.

    With `hang` it never responds, with `drip` it sends the body byte by byte and never ends in
    time.
    """

    def __init__(self) -> None:
        self.script: list[tuple[int, dict[str, str], bytes]] = []
        self.asked: list[Asked] = []
        self.times: list[float] = []
        self.hang = False
        self.drip = False
        self.port = 0
        self.busy = 0
        self.most_busy = 0
        self.sent = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answers(self, status: int, body: object = "", **headers: str) -> None:
        content = body if isinstance(body, str | bytes) else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = content.encode() if isinstance(content, str) else content
        self.script.append((status, named, sent))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            self.times.append(asyncio.get_running_loop().time())
            self.asked.append(await _read(reader))
            place = len(self.asked)
            if self.hang:
                await reader.read()
            else:
                await asyncio.sleep(0.01)
                await self._answer(writer, place)
        except ConnectionError:
            pass  # the client disconnected
        finally:
            self.busy -= 1
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, place: int) -> None:
        status, headers, body = self.script[min(place, len(self.script)) - 1]
        lines = [f"HTTP/1.1 {status} X", "Connection: close", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        for start in range(0, len(body), step := 1 if self.drip else MEGABYTE):
            writer.write(body[start : start + step])
            await writer.drain()
            self.sent += step
            await asyncio.sleep(0.05 if self.drip else 0)


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").strip().split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:])}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method, target, headers, body)


@asynccontextmanager
async def serving() -> AsyncIterator[SearchApi]:
    api = SearchApi()
    listener = await asyncio.start_server(api.serve, "127.0.0.1", 0)
    api.port = listener.sockets[0].getsockname()[1]
    async with listener:
        yield api


async def reason(search: Awaitable[SearchAnswer]) -> SearchFailedError:
    """Why a search failed, without the key or the address of the server."""
    with pytest.raises(SearchFailedError) as failure:
        await search
    assert KEY not in failure.value.reason and "127.0.0.1" not in failure.value.reason
    return failure.value
