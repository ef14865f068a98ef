"""Plumbline as a library: the public engine, pages in memory, and research in one call.

Every public name of `research.engine` is a name of this package, too. Importing it loads neither
Django nor a model client.
"""

from __future__ import annotations

import research.engine as _engine
from plumbline.library import Pages, research, research_async
from research.engine import *  # noqa: F403 - the same public names
from research.runtime.program import SystemClock

__all__ = [
    *_engine.__all__,
    "Pages",
    "SystemClock",
    "research",
    "research_async",
]
