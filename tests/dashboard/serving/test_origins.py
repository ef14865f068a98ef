"""Which pages may open a socket."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from dashboard.serving.origins import may_connect


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "localhost:8000"),
        ("http://127.0.0.1", "127.0.0.1"),
        ("http://127.0.0.1", "127.0.0.1:80"),
        ("http://127.0.0.1:80", "127.0.0.1"),
        ("https://plumbline.test", "plumbline.test"),
        ("https://plumbline.test:443", "plumbline.test"),
        ("https://Plumbline.test", "PLUMBLINE.test"),
        ("http://[::1]:8000", "[::1]:8000"),
        ("https://proxy.test", "127.0.0.1:8000"),
        ("https://one.below.test", "127.0.0.1:8000"),
    ],
)
def test_a_page_of_this_server_may(settings: Settings, origin: str, host: str) -> None:
    settings.ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", "plumbline.test"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://proxy.test", "https://*.below.test"]
    assert may_connect(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8001", "localhost:8000"),
        ("http://localhost", "localhost:8000"),
        ("http://localhost:8000", "localhost"),
        ("https://localhost:8000", "localhost"),
        ("http://127.0.0.1:8000", "localhost:8000"),
        ("https://elsewhere.test", "localhost:8000"),
        ("http://elsewhere.test:8000", "elsewhere.test:8000"),
        ("http://localhost.elsewhere.test:8000", "localhost:8000"),
        ("http://proxy.test", "localhost:8000"),
        ("https://proxy.test:8443", "localhost:8000"),
        ("https://below.test.elsewhere.test", "localhost:8000"),
        ("http://localhost:port", "localhost:8000"),
        ("http://localhost:99999", "localhost:8000"),
        ("http://localhost:0", "localhost"),
        ("http://[::1", "[::1"),
        ("file:///etc/hosts", "localhost:8000"),
        ("null", "localhost:8000"),
        ("", "localhost:8000"),
        ("http://localhost:8000", ""),
    ],
)
def test_no_other_may(settings: Settings, origin: str, host: str) -> None:
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://proxy.test", "https://*.below.test"]
    assert not may_connect(origin, host)
