"""What is loaded when a process begins to work is left out of collections."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.subprocess

TOLD = """
import gc
from research.runtime.garbage import YOUNG_OBJECTS, spare_what_is_loaded
loaded = [[] for _ in range(1_000)]
spare_what_is_loaded()
assert gc.get_freeze_count() > len(loaded)
assert not any(each is loaded for each in gc.get_objects())
assert gc.get_threshold()[0] == YOUNG_OBJECTS
"""


def test_what_is_loaded_is_collected_no_more() -> None:
    subprocess.run([sys.executable, "-c", TOLD], check=True)
