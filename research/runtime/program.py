"""The running program's name, for advice that can be typed as printed."""

from __future__ import annotations

import sys
from pathlib import Path


def program_name(python: str = "") -> str:
    """Return `plumbline` if that was started, else `manage.py`, after `python` if it is given."""
    if Path(sys.argv[0]).name == "plumbline":
        return "plumbline"
    return f"{python} manage.py".strip()
