"""The choice of sources that a question is searched in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.queries import queries
from dashboard.stored_texts import worded
from research.models import Collection
from research.runtime.installation import Installation
from research.runtime.source_choices import (
    DOCUMENTS,
    NONE,
    SAMPLES,
    chosen_sources,
    source_choices,
)
from research.runtime.status_summary import (
    NOTHING_ELSE,
    SAMPLE_LIBRARY,
    describe_analyst,
    describe_search,
)
from research.services import documents

Sources = dict[str, Any]

AS_SET_UP = ""
NOT_BESIDE = frozenset({DOCUMENTS, SAMPLES, NONE})
LABELS = {
    AS_SET_UP: _("As set up"),
    "web": _("Web"),
    "documents": _("My documents"),
    "both": _("Both"),
    "samples": _("Samples"),
}


def available_sources(
    now: Installation, collections: Sequence[Collection] = ()
) -> dict[str, Sources]:
    """Return the `sources` of a run by option name, including the installation's default."""
    found = source_choices(now, collections=bool(collections))
    preferred = chosen_sources(now)
    return found if preferred in found.values() else {AS_SET_UP: preferred, **found}


def default_source(found: Mapping[str, Sources], now: Installation) -> str:
    """Return the preselected option. Collections of the user take precedence over the samples."""
    preferred = chosen_sources(now)
    name = next(name for name, chosen in found.items() if chosen == preferred)
    return "documents" if name == "samples" and "documents" in found else name


def initial_choice(
    viewer: queries.Viewer,
    found: Mapping[str, Sources],
    collections: Sequence[Collection],
    now: Installation,
) -> dict[str, Any]:
    """Return the user's last choice as far as it is still available, else the default."""
    last = queries.last_sources(viewer)
    name = next((n for n, each in found.items() if each["search"] == last.get("search")), None)
    offered = [row.public_id for row in collections]
    chosen = {each["id"] for each in last.get("collections", ())}
    return {
        "sources": default_source(found, now) if name is None else name,
        "collections": [key for key in offered if key in chosen] or offered,
    }


def describe_model(now: Installation) -> str:
    """Return the model in use with its server."""
    if not now["RESEARCH_MODEL"]:
        return worded(describe_analyst(now))
    values = {"model": now["RESEARCH_MODEL"], "host": now.model_host}
    return gettext("%(model)s at %(host)s") % values


def at_work(now: Installation, collections: Sequence[Collection]) -> str:
    """Return a line that describes what is searched."""
    if collections and chosen_sources(now)["search"] == ["samples"]:
        said = f"your documents, or {SAMPLE_LIBRARY}"
        return said if now["SEARCH_PROVIDER"] else f"{said} ({NOTHING_ELSE})"
    return describe_search(now)


def at_work_by_choice(
    now: Installation, found: Mapping[str, Sources], collections: Sequence[Collection]
) -> dict[str, str]:
    """Return by option name a line that describes what it searches; which collections is for the
    form to choose.
    """
    preferred = chosen_sources(now)
    names = {DOCUMENTS: gettext("your documents"), SAMPLES: worded(SAMPLE_LIBRARY)}

    def describe(chosen: Sources) -> str:
        is_all = not collections or chosen["search"] != [SAMPLES]
        if chosen == preferred and is_all and not searches_documents(chosen):
            return worded(describe_search(now))
        return ", ".join(names.get(name, name) for name in chosen["search"])

    return {option: describe(chosen) for option, chosen in found.items()}


def resolve_choice(
    viewer: queries.Viewer, chosen: Sources | None, collection_ids: Sequence[str]
) -> Sources | None:
    """Return the sources of an option, with the viewer's selected collections if it has any."""
    if chosen is None or not collection_ids or not searches_documents(chosen):
        return chosen
    return with_collections(chosen, documents.chosen_collections(viewer, collection_ids))


def with_collections(chosen: Sources, collections: Sequence[Mapping[str, str]]) -> Sources:
    """Return the sources with document search restricted to these collections."""
    return {**chosen, "documents": [], "collections": list(collections)}


def with_attached(
    chosen: Sources | None, attached: Mapping[str, str], now: Installation, *, alone: bool
) -> Sources:
    """Return the sources with the attached files added; `alone` searches nothing else.

    The sample library is not searched beside somebody's own files.
    """
    base = chosen or chosen_sources(now)
    others = [] if alone else [name for name in base["search"] if name not in NOT_BESIDE]
    kept = [] if alone else base.get("collections", ())
    folders = [] if alone else base.get("documents", [])
    return {
        "search": [DOCUMENTS, *others],
        "documents": folders,
        "collections": [*kept, attached],
    }


def searches_documents(chosen: Sources) -> bool:
    return "documents" in chosen["search"]
