"""How large the body of a request may be: by who sends it, and where to.

Asked when the head of a request is there and nothing of its body was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from urllib.parse import unquote

from asgiref.sync import ThreadSensitiveContext
from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest, parse_cookie
from django.urls import Resolver404, resolve

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE
ANONYMOUS_BYTES = 16 * KILOBYTE
"""Bytes accepted from anyone without looking up the session: enough for most forms."""

UPLOAD_ROUTES = frozenset({"collections", "add_files"})
MULTIPART = "multipart/form-data"


@dataclass(frozen=True)
class Head:
    """What is known of a request before its body is read."""

    method: str
    target: str
    content_type: str = ""
    cookies: str = ""


async def most_bytes(head: Head) -> int:
    """Raises what the database raises where it cannot say who is asking."""
    if not await _is_signed_in(head.cookies):
        return ANONYMOUS_BYTES
    return upload_bytes() if takes_files(head) else form_bytes()


def limits() -> tuple[int, ...]:
    return ANONYMOUS_BYTES, form_bytes(), upload_bytes()


def form_bytes() -> int:
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def upload_bytes() -> int:
    """A person's whole room, and the other fields of the form."""
    return int(settings.UPLOADS_MAX_MB) * MEGABYTE + form_bytes()


def takes_files(head: Head) -> bool:
    kind = head.content_type.partition(";")[0].strip().lower()
    if head.method != "POST" or kind != MULTIPART:
        return False
    try:
        return resolve(unquote(head.target.partition("?")[0])).url_name in UPLOAD_ROUTES
    except Resolver404:
        return False


def in_words(limit: int) -> str:
    if limit < MEGABYTE:
        return f"{limit // KILOBYTE:,} KB"
    return f"{limit // MEGABYTE:,} MB"


async def _is_signed_in(cookies: str) -> bool:
    """Run in a dedicated thread, because the shared executor may be busy."""
    key = parse_cookie(cookies).get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    async with ThreadSensitiveContext():
        return await database_sync_to_async(_has_user)(key)


def _has_user(session_key: str) -> bool:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return bool(get_user(request).is_authenticated)
