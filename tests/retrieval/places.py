"""Where a test's index is kept."""

from collections.abc import Callable
from pathlib import Path

from research.retrieval.index_store import IndexStore

Place = Callable[[], Path | IndexStore]
