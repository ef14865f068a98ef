"""A search provider's server on loopback, and a client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.support.retrieval.search_api import SearchApi, serving


@pytest.fixture
async def api() -> AsyncIterator[SearchApi]:
    async with serving() as api:
        yield api


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client
