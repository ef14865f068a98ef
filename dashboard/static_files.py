"""Static files by content hash, compressed: changed files are fetched again, others never.

`ManifestStaticFilesStorage` would need `collectstatic` before each start; here the hash is computed
when a page first names a file, and the compressed content is kept in memory.
"""

from __future__ import annotations

import gzip
import os
import re
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware

DIGITS = 12
HASHED = re.compile(rf"\.[0-9a-f]{{{DIGITS}}}(?=\.\w+$)")  # "run.0123456789ab.js"
COMPRESSIBLE = ("text/", "image/svg+xml", "application/json")
LEAST_BYTES = 500
"""Smaller files don't get smaller by compression."""


class HashedStorage(StaticFilesStorage):
    """Puts the hash of a file's content into its URL; unknown files keep their plain URL."""

    def url(self, name: str | None, force: bool = False) -> str:
        found = find_path(name or "")
        if not found:
            return super().url(name)
        stem, extension = os.path.splitext(name or "")
        return super().url(f"{stem}.{content_hash(found)}{extension}")


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise with hashed URLs, compression and in-memory responses.

    Django warns about WhiteNoise's file iterators under ASGI.
    """

    def __call__(self, request: HttpRequest) -> Any:
        plain = HASHED.sub("", request.path_info)
        if plain != request.path_info:
            static_file = self.find_file(plain) if self.autorefresh else self.files.get(plain)
            if static_file is not None:
                return self.serve_hashed(static_file, request)
        return super().__call__(request)

    def serve_hashed(self, static_file: Any, request: HttpRequest) -> HttpResponse:
        """Serve the current content; only the URL of the current content may be cached forever."""
        response = self.serve(static_file, request)
        if content_hash(path_of(static_file)) in request.path_info:
            response.headers["Cache-Control"] = f"max-age={self.FOREVER}, public, immutable"
        return response

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        content = found.file.read() if found.file else b""
        if found.file:
            found.file.close()
        response = HttpResponse(content, status=int(found.status))
        del response["content-type"]
        for name, value in found.headers:
            response[name] = value
        return compress_response(response, request)


def compress_response(response: HttpResponse, request: HttpRequest) -> HttpResponse:
    """Compress a complete response of text, if the client accepts that."""
    kind, content = response.headers.get("Content-Type", ""), response.content
    if not kind.startswith(COMPRESSIBLE) or response.status_code != 200:
        return response
    response.headers["Vary"] = "Accept-Encoding"
    if len(content) < LEAST_BYTES or "gzip" not in request.headers.get("Accept-Encoding", ""):
        return response
    response.content = _compressed(content)
    response.headers["Content-Encoding"] = "gzip"
    response.headers["Content-Length"] = str(len(response.content))
    return response


def path_of(static_file: Any) -> str:
    """Return the path of the uncompressed file."""
    return str(static_file.alternatives[-1][1])


@lru_cache(maxsize=512)
def find_path(name: str) -> str:
    """Return the path of a static file by its plain name; '' if there is none."""
    return str(finders.find(name) or "")


def content_hash(path: str) -> str:
    return _hash_of(path, os.stat(path).st_mtime_ns)


@lru_cache(maxsize=512)
def _hash_of(path: str, _changed_ns: int) -> str:
    return sha256(Path(path).read_bytes()).hexdigest()[:DIGITS]


@lru_cache(maxsize=512)
def _compressed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
