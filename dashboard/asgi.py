"""The ASGI application: pages, the sockets of runs, and `/healthz`."""

from __future__ import annotations

import os
from typing import Any

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

from dashboard.handler import get_application

pages = get_application()

from dashboard.consumers import watch_run  # noqa: E402 - needs the apps, which are loaded now
from dashboard.health import HEALTH, health  # noqa: E402
from dashboard.origins import same_origin  # noqa: E402

sockets = URLRouter([path("live/<slug:public_id>/", watch_run, name="socket")])


async def http(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await (health if scope["path"] == HEALTH else pages)(scope, receive, send)


application = ProtocolTypeRouter(
    {"http": http, "websocket": same_origin(AuthMiddlewareStack(sockets))}
)
