"""The same run in another process: nothing may hang on the order in which a set is walked."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from research.engine.journal import digest_of
from tests.engine.scripted import CHAIN, SIMPLE, harbour

ROOT = Path(__file__).resolve().parents[2]


async def digests() -> list[str]:
    """A digest of all records of a few runs."""
    found = []
    for script in (SIMPLE, CHAIN, None):
        ran = await harbour(script).ask((script or CHAIN).question)
        found.append(digest_of([repr(record) for record in ran.records]))
    return found


@pytest.mark.subprocess
def test_another_process_with_another_hash_seed_gives_the_same_records() -> None:
    code = (
        "import asyncio, json; from tests.engine.test_determinism import digests; "
        "print(json.dumps(asyncio.run(digests())))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for seed in ("1", "2")
    ]
    found = [json.loads(process.communicate(timeout=30)[0]) for process in running]
    assert found[0] == found[1] == asyncio.run(digests())
