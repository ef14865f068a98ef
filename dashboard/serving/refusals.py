"""Errors that the server sends before a request reaches Django."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from http import HTTPStatus

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.serving.body_limits import ANONYMOUS_BYTES, in_words, size_limits, upload_bytes
from dashboard.serving.error_bodies import ErrorFormat, error_body


@dataclass(frozen=True)
class Refusal:
    """An error; the connection is closed after it."""

    status: HTTPStatus
    heading: str | Promise
    text: str | Promise


TOO_SLOW = Refusal(
    HTTPStatus.REQUEST_TIMEOUT,
    _("The request took too long to arrive"),
    _("The server stopped waiting for the rest of it. Nothing was saved. Go back and try again."),
)
CANNOT_CHECK = Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    _("The request could not be accepted"),
    _(
        "The server could not find out whether you are signed in. Nothing was saved. "
        "Try again soon."
    ),
)


def too_large(limit: int) -> Refusal:
    if limit == ANONYMOUS_BYTES:
        more = gettext("Sign in to send more.")
    elif limit == upload_bytes():
        more = gettext("Send fewer files.")
    else:
        more = gettext("Send less.")
    values = {"size": in_words(limit), "advice": more}
    return Refusal(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        gettext("The request is too large"),
        gettext("At most %(size)s can be sent at once. Nothing was saved. %(advice)s") % values,
    )


def render_refusal_pages() -> None:
    """Render every page once at startup: the first one is slow, because it imports the views."""
    for refusal in (TOO_SLOW, CANNOT_CHECK, *map(too_large, size_limits())):
        as_bytes(refusal, None)


@cache  # bounded: one refusal per limit and two others, in four formats
def as_bytes(refusal: Refusal, kind: ErrorFormat | None) -> bytes:
    """Return the complete HTTP response: a page, or an error of `error_bodies` for a program."""
    if kind is None:
        body = render_to_string("dashboard/refused.html", {"refusal": refusal}).encode()
    else:
        body = error_body(kind, refusal.status)
    headers = {
        "Content-Type": kind.content_type if kind else "text/html; charset=utf-8",
        "Content-Length": str(len(body)),
        "Content-Security-Policy": settings.CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "Cache-Control": "no-store",
        "Connection": "close",
    }
    lines = [f"HTTP/1.1 {refusal.status.value} {refusal.status.phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join((*lines, "", "")).encode() + body
