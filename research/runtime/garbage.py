"""Collection of garbage in a process that works for long."""

from __future__ import annotations

import gc

YOUNG_OBJECTS = 10_000
"""New objects after which the youngest are looked at, instead of 700."""


def spare_what_is_loaded() -> None:
    """Leave the objects of modules, models and settings out of all further collections.

    There are hundreds of thousands of them, and none becomes garbage. A collection of all objects
    holds up every thread, and with the event loop all runs.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])
