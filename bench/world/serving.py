"""A small HTTP/1.1 server on asyncio, and the request log of the world's servers."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

MAX_BODY = 10_000_000
IDLE_SECONDS = 60.0
REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 500: "Internal Server Error"}


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    body: bytes
    address: str

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"


Handler = Callable[[Request], Awaitable[Reply]]


def json_reply(value: object, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status, "application/json")


@dataclass
class Log:
    """Requests with their intervals, in seconds of the machine's clock."""

    entries: list[dict[str, Any]] = field(default_factory=list)

    def add(self, server: str, start: float, **what: Any) -> None:
        self.entries.append({"server": server, "start": start, "end": time.time(), **what})

    def shown(self) -> dict[str, Any]:
        """Return all entries, the model's calls by task, and the number of requests per server."""
        tasks = Counter(e["task"] for e in self.entries if e["server"] == "model")
        servers = Counter(e["server"] for e in self.entries)
        return {"entries": self.entries, "tasks": dict(tasks), "requests": dict(servers)}

    def answering(self, handler: Handler) -> Handler:
        """Return `handler` with the log at `/log` and its reset at `/log/reset`."""

        async def answer(request: Request) -> Reply:
            if request.path == "/log/reset":
                self.entries.clear()
                return json_reply({})
            return json_reply(self.shown()) if request.path == "/log" else await handler(request)

        return answer


async def listen(handler: Handler, address: str, port: int) -> asyncio.Server:
    """Serve on one address; port 0 selects a free one. Raise OSError if the port is in use."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (request := await _request(reader, address)) is not None:
                writer.write(_head(reply := await handler(request)))
                writer.write(reply.body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError, ValueError):
            return
        finally:
            writer.close()

    return await asyncio.start_server(talk, address, port, limit=MAX_BODY)


async def _request(reader: asyncio.StreamReader, address: str) -> Request | None:
    async with asyncio.timeout(IDLE_SECONDS):
        head = await _head_lines(reader)
    if not head:
        return None
    method, target, _ = head[0].split(" ", 2)
    headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in head[1:])}
    length = int(headers.get("content-length", 0))
    if not 0 <= length <= MAX_BODY:
        raise ValueError("a body of this size is not taken")
    return Request(method, target, await reader.readexactly(length), address)


async def _head_lines(reader: asyncio.StreamReader) -> list[str]:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return []
    return head.decode("latin-1").strip().split("\r\n")


def _head(reply: Reply) -> bytes:
    return (
        f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}\r\n"
        f"Content-Type: {reply.content_type}\r\n"
        f"Content-Length: {len(reply.body)}\r\n\r\n"
    ).encode("latin-1")


def port_of(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port
