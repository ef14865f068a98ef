"""The ASGI application: pages, websockets of runs, `/mcp`, and probes for operators."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from dashboard.serving.handler import get_application

pages = get_application()

from dashboard.live.consumers import watch_run  # noqa: E402 - needs the apps, which are loaded now
from dashboard.mcp import http as mcp  # noqa: E402
from dashboard.serving.origins import same_origin  # noqa: E402
from dashboard.serving.probes import PROBES, serve_probe  # noqa: E402

sockets = URLRouter([path("live/<slug:public_id>/", watch_run, name="socket")])


at_paths: dict[str, Callable[..., Awaitable[None]]] = {
    **dict.fromkeys(PROBES, serve_probe),
    mcp.PATH: mcp.endpoint,
    mcp.METADATA_PATH: mcp.serve_metadata,
}


async def serve_http(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await at_paths.get(scope["path"], pages)(scope, receive, send)


application = ProtocolTypeRouter(
    {"http": serve_http, "websocket": same_origin(AuthMiddlewareStack(sockets))}
)
