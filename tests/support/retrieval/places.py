"""The storage backends of index tests."""

from collections.abc import Callable
from pathlib import Path

from research.fulltext.index_store import IndexStore

Place = Callable[[], Path | IndexStore]
