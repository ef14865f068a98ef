"""What a question may be looked for in, as people choose it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dashboard import queries
from research.at_work import NOTHING_ELSE, SAMPLE_LIBRARY, search
from research.installation import Installation
from research.models import Collection
from research.source_choices import chosen_sources, source_choices

Sources = dict[str, Any]

AS_SET_UP = ""
LABELS = {
    AS_SET_UP: "As set up",
    "web": "Web",
    "documents": "My documents",
    "both": "Both",
    "samples": "Samples",
}


def choices(now: Installation, collections: Sequence[Collection] = ()) -> dict[str, Sources]:
    """Name → the `sources` of a run; what the installation prefers is among them."""
    found = source_choices(now, collections=bool(collections))
    preferred = chosen_sources(now)
    return found if preferred in found.values() else {AS_SET_UP: preferred, **found}


def default(found: Mapping[str, Sources], now: Installation) -> str:
    """The name of what is searched where nobody chooses; documents come before samples."""
    preferred = chosen_sources(now)
    name = next(name for name, chosen in found.items() if chosen == preferred)
    return "documents" if name == "samples" and "documents" in found else name


def initial(
    viewer: queries.Viewer,
    found: Mapping[str, Sources],
    collections: Sequence[Collection],
    now: Installation,
) -> dict[str, Any]:
    """What the person chose last, as far as it is still there; else the default, and all."""
    last = queries.last_sources(viewer)
    name = next((n for n, each in found.items() if each["search"] == last.get("search")), None)
    offered = [row.public_id for row in collections]
    chosen = {each["id"] for each in last.get("collections", ())}
    return {
        "sources": default(found, now) if name is None else name,
        "collections": [key for key in offered if key in chosen] or offered,
    }


def at_work(now: Installation, collections: Sequence[Collection]) -> str:
    """What is searched here, in a line."""
    if collections and chosen_sources(now)["search"] == ["samples"]:
        said = f"your documents, or {SAMPLE_LIBRARY}"
        return said if now["SEARCH_PROVIDER"] else f"{said} ({NOTHING_ELSE})"
    return search(now)


def with_collections(chosen: Sources, collections: Sequence[Mapping[str, str]]) -> Sources:
    """Documents are searched in these collections, in the place of whole folders."""
    return {**chosen, "documents": [], "collections": list(collections)}


def searches_documents(chosen: Sources) -> bool:
    return "documents" in chosen["search"]
