"""Request body limits, by sender and route.

Looked up once the head of a request has arrived and before any of its body is read.
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

from research.services import api_tokens

KILOBYTE = 1024
MEGABYTE = 1024 * KILOBYTE
ANONYMOUS_BYTES = 16 * KILOBYTE
"""Bytes accepted without looking up the session: enough for most forms."""

UPLOAD_ROUTES = frozenset({"ask", "collections", "add_files", "collection_files"})
MULTIPART = "multipart/form-data"


@dataclass(frozen=True)
class Head:
    """The head of a request: all that is known before its body is read."""

    method: str
    target: str
    content_type: str = ""
    cookies: str = ""
    authorization: str = ""


async def most_bytes(head: Head) -> int:
    """Return the maximum body size in bytes. Raise `DatabaseError` if sessions cannot be read."""
    if not await _is_known(head):
        return ANONYMOUS_BYTES
    return upload_bytes() if takes_files(head) else form_bytes()


def size_limits() -> tuple[int, ...]:
    return ANONYMOUS_BYTES, form_bytes(), upload_bytes()


def form_bytes() -> int:
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)


def upload_bytes() -> int:
    """Return the limit of an upload: the user's whole quota plus the other fields of the form."""
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


async def _is_known(head: Head) -> bool:
    """Return whether the request has a user's session or a valid API token.

    The lookup has a dedicated thread, because the shared executor may be busy.
    """
    key = parse_cookie(head.cookies).get(settings.SESSION_COOKIE_NAME)
    scheme, _, token = head.authorization.partition(" ")
    is_bearer = scheme.lower() == "bearer" and bool(token)
    if not key and not is_bearer:
        return False
    async with ThreadSensitiveContext():
        if is_bearer:
            return await database_sync_to_async(api_tokens.find_token)(token.strip()) is not None
        return await database_sync_to_async(_has_user)(key)


def _has_user(session_key: str) -> bool:
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    return bool(get_user(request).is_authenticated)
