"""Extraction of texts for fetched pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.in_process import InProcessPool


@pytest.fixture(scope="module")
def pool() -> Iterator[InProcessPool]:
    with InProcessPool() as pool:
        yield pool
