"""Document folders for index tests, and a pool that reads them in the same process."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from research.extract.pool import WorkerLostError


class InProcess:
    """The interface of the pool without processes; `lost` are files whose reader crashes."""

    def __init__(self, lost: str = "") -> None:
        self.read: list[str] = []
        self._lost = lost

    async def map(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        timeout_seconds: float,
    ) -> AsyncIterator[tuple[Any, Any]]:
        for item in items:
            self.read.append(item.path)
            await asyncio.sleep(0)
            yield item, WorkerLostError("lost") if item.path == self._lost else function(item)


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
