"""List the files that a run enters until its first search: `python -m scripts.entered_files`.

The worker executes two runs of a sample question without a model, in an empty installation. The
first imports what is needed. In the second, calls of all threads are recorded from the claim of the
run to its first search; modules and class bodies that are only imported don't count.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "How are eggs scrambled?"
FOLDERS = tuple(f"{ROOT / name}{os.sep}" for name in ("research", "dashboard", "config"))
FIRST, LAST = "claim_run", "search"


class Recorder:
    """Collects the files of the functions called between the claim and the first search."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self._phase = "before"

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(FOLDERS):
            return
        if self._phase == "before" and code.co_name == FIRST:
            self._phase = "between"
        if self._phase != "between" or code.co_name == "<module>":
            return
        path = Path(code.co_filename).relative_to(ROOT).as_posix()
        if path not in self.files:
            self.files.append(path)
        if code.co_name == LAST and path.startswith("research/search/"):
            self._phase = "after"


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "config.settings",
            "PLUMBLINE_HOME": home,
            "NETWORK_PROBE": "none",
            "RESEARCH_MODEL": "",
            "SEARCH_PROVIDER": "samples",
            "DATABASE_URL": "",
        }
        import django

        django.setup()
        for number, path in enumerate(entered_files(), 1):
            print(f"{number:3} {path}")


def entered_files() -> list[str]:
    """Return the files in the order in which they are entered."""
    from research.runtime.schema import migrate_database
    from research.services import people, runs

    migrate_database()
    person = people.local_admin()
    first, second = (runs.ask_question(person, QUESTION, agreed=True).pk for _ in range(2))
    recorder = Recorder()
    asyncio.run(_execute(first))
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        asyncio.run(_execute(second))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return recorder.files


async def _execute(run_id: int) -> None:
    from research.runtime import tool_factory
    from research.worker.run_executor import advance_run

    await advance_run(run_id, tool_factory.build_tools)
    await tool_factory.close_tools()


if __name__ == "__main__":
    main()
