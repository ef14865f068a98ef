"""A loopback web server that answers every path with given bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

ROBOTS = "/robots.txt"
Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Site:
    """A site. `requests` has the lines of each request; `connections` includes silent ones.

    A site without a robots.txt in `answers` responds 404 to it and doesn't log the request.
    """

    port: int = 0
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[list[str]] = field(default_factory=list)
    connections: int = 0
    busy: int = 0
    most_busy: int = 0

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = head.split(" ")[1]
            if path == ROBOTS and ROBOTS not in self.answers:
                await reply(status=404)(writer)
                return
            self.requests.append(head.strip().split("\r\n"))
            await self._answer(path, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, path: str, writer: asyncio.StreamWriter) -> None:
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            await self.answers[path](writer)
            await writer.drain()
        finally:
            self.busy -= 1


@asynccontextmanager
async def open_site(answers: dict[str, Answer] | None = None) -> AsyncIterator[Site]:
    site = Site(answers=answers or {})
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await server.wait_closed()


def reply(
    body: bytes | str = b"",
    *,
    status: int = 200,
    content_type: str | None = "text/html; charset=utf-8",
    headers: tuple[str, ...] = (),
    delay_seconds: float = 0.0,
) -> Answer:
    """Return a response with a Content-Length."""
    content = body.encode() if isinstance(body, str) else body

    async def answer(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay_seconds)
        lines = [f"HTTP/1.1 {status} Some", f"Content-Length: {len(content)}", "Connection: close"]
        if content_type:
            lines.append(f"Content-Type: {content_type}")
        writer.write("\r\n".join([*lines, *headers, "", ""]).encode() + content)

    return answer


def redirect(location: str, status: int = 302) -> Answer:
    return reply(status=status, headers=(f"Location: {location}",))


def endless(chunk: bytes, *, pause_seconds: float = 0.0) -> Answer:
    """Return a response that continues until the client disconnects."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n")
        while not writer.is_closing():
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(pause_seconds)

    return answer


def raw(content: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(content)

    return answer
