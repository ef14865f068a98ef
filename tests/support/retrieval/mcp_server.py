"""A small MCP server that searches, as a program on standard input and output or at an address."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent

from tests.browser.serving import free_port

OAK = {"url": "https://trees.example/oak", "title": "Oaks", "content": "An <b>oak</b> grows old."}
NOWHERE = {"title": "Without an address", "content": "Nowhere."}


def build_server() -> MCPServer:
    server = MCPServer(name="library", log_level="CRITICAL")

    @server.tool()
    def search(query: str) -> dict[str, Any]:
        return {"results": [{**OAK, "title": f"Oaks: {query}"}, NOWHERE]}

    @server.tool()
    def listed(words: str) -> list[dict[str, Any]]:
        return [OAK, {**OAK, "url": "http://127.0.0.1:1/private"}]

    @server.tool(structured_output=False)
    def texts(query: str) -> list[TextContent]:
        return [
            TextContent(type="text", text='{"head": {"name": "Yew"}, "at": ["https://a.example/"]}')
        ] * 2

    @server.tool(structured_output=False)
    def prose(query: str) -> str:
        return "Oaks grow old: https://trees.example/oak"

    @server.tool()
    def nothing(query: str) -> dict[str, Any]:
        return {"results": []}

    @server.tool()
    def fails(query: str) -> CallToolResult:
        return CallToolResult(
            content=[TextContent(type="text", text="the key sesame is wrong")], is_error=True
        )

    @server.tool()
    async def hangs(query: str) -> str:
        await asyncio.sleep(60)
        return ""

    @server.tool(structured_output=False)
    def environment(query: str) -> CallToolResult:
        named = [{**OAK, "title": name} for name in sorted(os.environ)]
        return CallToolResult(content=[], structured_content={"results": named})

    return server


@dataclass
class Served:
    """A server at an address; `authorized` collects the Authorization headers of requests."""

    url: str
    authorized: list[str | None] = field(default_factory=list)
    refuses: int = 0
    """Status with which every request is refused; 0 for none."""


@contextmanager
def serving() -> Iterator[Served]:
    """Serve at `/mcp` on a free port, in a thread."""
    port = free_port()
    served = Served(f"http://127.0.0.1:{port}/mcp")
    application = build_server().streamable_http_app(stateless_http=True)

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            served.authorized.append(headers.get(b"authorization", b"").decode() or None)
            if served.refuses:
                await send({"type": "http.response.start", "status": served.refuses, "headers": []})
                await send({"type": "http.response.body", "body": b"sesame"})
                return
        await application(scope, receive, send)

    config = uvicorn.Config(noted, host="127.0.0.1", port=port, log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server did not start")
        thread.join(0.01)
    try:
        yield served
    finally:
        server.force_exit = server.should_exit = True
        thread.join(10)


if __name__ == "__main__":
    print("a line for standard error", file=sys.stderr)
    build_server().run("stdio")
