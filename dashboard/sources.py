"""What a question may be looked for in, as people choose it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from research.installation import Installation

Sources = dict[str, Any]

AS_SET_UP = ""
LABELS = {
    AS_SET_UP: "As set up",
    "web": "Web",
    "documents": "My documents",
    "both": "Both",
    "samples": "Samples",
}


def choices(now: Installation) -> dict[str, Sources]:
    """Name → the `sources` of a run; what the installation prefers is among them."""
    from research import assembly  # heavy: only a page that asks should wait for it

    found, preferred = assembly.source_choices(now), assembly.chosen_sources(now)
    return found if preferred in found.values() else {AS_SET_UP: preferred, **found}


def default(found: Mapping[str, Sources], now: Installation) -> str:
    """The name of what is searched where nobody chooses."""
    from research import assembly

    preferred = assembly.chosen_sources(now)
    return next(name for name, chosen in found.items() if chosen == preferred)
