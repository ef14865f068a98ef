"""The ASGI application: pages, and the sockets of runs."""

from __future__ import annotations

import os

from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.core.asgi import get_asgi_application
from django.urls import path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

pages = get_asgi_application()

from dashboard.consumers import watch_run  # noqa: E402 - needs the apps, which are loaded now

sockets = URLRouter([path("live/<slug:public_id>/", watch_run, name="socket")])

application = ProtocolTypeRouter(
    {"http": pages, "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(sockets))}
)
