"""Origin check for WebSockets, against cross-site WebSocket hijacking (the counterpart of CSRF)."""

from __future__ import annotations

from typing import Any
from urllib.parse import SplitResult, urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import is_same_domain, split_domain_port, validate_host

PORTS = {"http": "80", "https": "443"}


def same_origin(application: Any) -> Any:
    """Wrap an ASGI application so that it refuses WebSockets of other origins.

    The session cookie is no proof, because browsers share it between all ports of a host.
    """

    async def checked(scope: dict[str, Any], receive: Any, send: Any) -> None:
        headers = {name: value.decode("latin1") for name, value in scope["headers"]}
        allowed = may_connect(headers.get(b"origin", ""), headers.get(b"host", ""))
        await (application if allowed else WebsocketDenier())(scope, receive, send)

    return checked


def may_connect(origin: str, host: str) -> bool:
    """Return whether a page of `origin` may connect to `host`, the value of the Host header.

    A missing port defaults to that of the origin's scheme, as a TLS proxy may precede the server.
    """
    try:
        page = urlsplit(origin.lower())
        place = _place(page)
    except ValueError:
        return False
    if page.scheme not in PORTS or not page.hostname:
        return False
    return _is_asked_for(host, page, place) or any(
        _is_trusted(page, place, urlsplit(trusted.lower()))
        for trusted in settings.CSRF_TRUSTED_ORIGINS
    )


def _place(page: SplitResult) -> str:
    """Return the port of an origin. Raise `ValueError` if it is invalid."""
    return PORTS.get(page.scheme, "") if page.port is None else str(page.port)


def _is_asked_for(host: str, page: SplitResult, place: str) -> bool:
    name, port = split_domain_port(host)
    if not name or not validate_host(name, settings.ALLOWED_HOSTS):
        return False
    return name.strip("[]") == page.hostname and (port or PORTS[page.scheme]) == place


def _is_trusted(page: SplitResult, place: str, trusted: SplitResult) -> bool:
    """Match as CSRF_TRUSTED_ORIGINS does: `https://*.example.org` covers all subdomains."""
    pattern = (trusted.hostname or "").removeprefix("*")
    same = is_same_domain(page.hostname or "", pattern)
    return same and page.scheme == trusted.scheme and place == _place(trusted)
