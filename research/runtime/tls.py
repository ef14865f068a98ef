"""TLS contexts, each created once: reading the certificates takes 20 ms of the event loop's time,
and a megabyte.
"""

from __future__ import annotations

import ssl
from functools import cache

import httpx


@cache
def tls_context() -> ssl.SSLContext:
    """Return the context of what pages, searches and properties of servers are asked with."""
    return httpx.create_ssl_context()


@cache
def model_tls_context() -> ssl.SSLContext:
    """Return the context of what models are called with, by the client that `openai` uses."""
    import httpx2  # with a model only

    return httpx2.create_ssl_context()
