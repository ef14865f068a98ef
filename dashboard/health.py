"""`/healthz`: whether the process answers. Needs no session, database or thread."""

from __future__ import annotations

from typing import Any

HEALTH = "/healthz"
METHODS = ("GET", "HEAD")
HEADERS = [(b"content-type", b"text/plain; charset=utf-8"), (b"cache-control", b"no-store")]


async def health(scope: dict[str, Any], receive: Any, send: Any) -> None:
    allowed = scope["method"] in METHODS
    body = b"ok\n" if allowed else b"GET only\n"
    headers = [*HEADERS, (b"content-length", str(len(body)).encode())]
    status = 200 if allowed else 405
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
