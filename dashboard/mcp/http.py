"""`/mcp`: the server over streamable HTTP, with bearer tokens and an origin check.

Each request is complete in itself (no sessions), so that several machines can answer one client.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.urls import reverse

from dashboard.api import rate_limits
from dashboard.api.rate_limits import ThrottledError, token_key
from dashboard.serving.error_bodies import rpc_error
from dashboard.serving.http_channel import BODY
from dashboard.serving.origins import may_connect
from research.runtime.db_threads import query_async
from research.services import api_tokens

Header = tuple[bytes, bytes]

PATH = "/mcp"
METADATA_PATH = f"/.well-known/oauth-protected-resource{PATH}"
CALLER = "plumbline.caller"
"""Key of the ASGI scope under which the tools find whom a request acts for."""

ANY_ORIGIN = (b"access-control-allow-origin", b"*")
BEARER = "bearer "
NOT_SERVED = "The server is starting or stopping. Try again in a moment."
FOREIGN_HOST = "The Host header names no host of this server (ALLOWED_HOSTS)."
FOREIGN_ORIGIN = "Requests of pages of other origins are refused."
NO_TOKEN = "Send 'Authorization: Bearer TOKEN' with a valid token of the page 'API tokens'."


class McpEndpoint:
    """The ASGI application between `start` and `stop`, as Daphne has no lifespan events.

    The first request imports the SDK and starts its session manager, which takes a second that
    installations without MCP clients save.
    """

    def __init__(self) -> None:
        self._is_serving = False
        self._manager: Any = None
        self._running: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._starting, self._stopping = asyncio.Lock(), asyncio.Event()
        self._context = contextvars.copy_context()
        self._is_serving = True

    async def stop(self) -> None:
        """Cancel what is being answered."""
        self._is_serving = False
        if self._running is not None:
            self._stopping.set()
            await self._running
            self._running = None

    async def _start_manager(self) -> None:
        """Start the manager unless it runs; raise if it can't be started."""
        async with self._starting:
            if self._manager is not None or not self._is_serving:
                return
            started = asyncio.Event()
            # not in the context of the first request, which ends before the manager does
            self._running = asyncio.create_task(
                self._run(started), name="mcp", context=self._context
            )
            waiting = asyncio.create_task(started.wait())
            await asyncio.wait({self._running, waiting}, return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if self._running.done():
                self._running.result()

    async def _run(self, started: asyncio.Event) -> None:
        """Enter and leave the manager's task group in one task, as it requires."""
        manager = await asyncio.to_thread(_make_manager)
        async with manager.run():
            self._manager = manager
            started.set()
            try:
                await self._stopping.wait()
            finally:
                self._manager = None

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = {name: value.decode("latin1") for name, value in scope["headers"]}
        refused = self._refusal(headers)
        if refused is not None:
            await _refuse(send, *refused)
            return
        token = await _find_token(headers.get(b"authorization", ""))
        if token is None:
            asked_at = _origin(headers.get(b"host", ""))
            await _refuse(send, HTTPStatus.UNAUTHORIZED, NO_TOKEN, _challenge(asked_at))
            return
        used, limits = await asyncio.to_thread(rate_limits.count, token_key(token.public_id))
        send = _with_headers(send, _encoded(limits.headers()))
        if used > limits.limit:
            told = str(ThrottledError(limits.reset))
            wait = _encoded({"Retry-After": str(limits.reset)})
            await _refuse(send, HTTPStatus.TOO_MANY_REQUESTS, told, *wait)
            return
        await self._start_manager()
        if self._manager is None:
            await _refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, NOT_SERVED)
            return
        known = {**scope, CALLER: token}
        await self._manager.handle_request(known, _with_body(scope, receive), send)

    def _refusal(self, headers: dict[bytes, str]) -> tuple[HTTPStatus, str] | None:
        host, origin = headers.get(b"host", ""), headers.get(b"origin")
        if not self._is_serving:
            return HTTPStatus.SERVICE_UNAVAILABLE, NOT_SERVED
        if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
            return HTTPStatus.MISDIRECTED_REQUEST, FOREIGN_HOST
        if origin is not None and not may_connect(origin, host):
            return HTTPStatus.FORBIDDEN, FOREIGN_ORIGIN
        return None


endpoint = McpEndpoint()


async def serve_metadata(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Describe `/mcp` as a protected resource (RFC 9728).

    `authorization_servers` is missing, because there is none: people make tokens on a page.
    """
    host = next((value.decode("latin1") for name, value in scope["headers"] if name == b"host"), "")
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS):
        await _refuse(send, HTTPStatus.MISDIRECTED_REQUEST, FOREIGN_HOST)
        return
    origin = _origin(host)
    metadata = {
        "resource": f"{origin}{PATH}",
        "resource_name": "Plumbline",
        "resource_documentation": f"{origin}{reverse('tokens')}",
        "bearer_methods_supported": ["header"],
        "scopes_supported": [scope.value for scope in api_tokens.Scope],
    }
    await _send_json(send, HTTPStatus.OK, json.dumps(metadata).encode(), [ANY_ORIGIN])


def _origin(host: str) -> str:
    """Return the address that clients see: https if `CSRF_TRUSTED_ORIGINS` names it, as behind a
    proxy that speaks TLS.
    """
    secure = f"https://{host}"
    return secure if may_connect(secure, "") else f"http://{host}"


def _challenge(origin: str) -> Header:
    metadata = f"{origin}{METADATA_PATH}"
    value = f'Bearer realm="plumbline", resource_metadata="{metadata}"'
    return (b"www-authenticate", value.encode("latin1"))


def _encoded(headers: Mapping[str, str]) -> list[Header]:
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


def _with_headers(send: Any, headers: Sequence[Header]) -> Any:
    """Return a `send` that adds the headers to the response."""

    async def send_with_headers(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *headers]}
        await send(message)

    return send_with_headers


def _make_manager() -> Any:
    """Import the SDK, which takes a second, outside the event loop."""
    from mcp.server.transport_security import TransportSecuritySettings

    from dashboard.mcp.server import build_server

    server = build_server(_find_caller)
    # Host and origin are checked by the endpoint, from Django's settings.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=unchecked)
    return server.session_manager


async def _find_caller(context: Any) -> Any:
    from dashboard.api.auth import Caller

    token = context.request_context.request.scope[CALLER]
    return Caller(token.owner, token)


async def _find_token(authorization: str) -> Any:
    if not authorization.lower().startswith(BEARER):
        return None
    return await query_async(api_tokens.find_token, authorization[len(BEARER) :].strip())


def _with_body(scope: dict[str, Any], receive: Any) -> Any:
    """Return a `receive` that hands out the body which the HTTP channel spooled to a file."""
    spooled = scope.get("extensions", {}).get(BODY)

    async def receive_body() -> dict[str, Any]:
        message: dict[str, Any] = await receive()
        if spooled is None or message["type"] != "http.request":
            return message
        return {**message, "body": await asyncio.to_thread(spooled.read), "more_body": False}

    return receive_body


async def _refuse(send: Any, status: HTTPStatus, detail: str, *more: Header) -> None:
    await _send_json(send, status, rpc_error(status, detail), more)


async def _send_json(send: Any, status: HTTPStatus, body: bytes, more: Iterable[Header]) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body})
