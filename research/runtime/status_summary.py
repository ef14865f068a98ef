"""Human-readable summary of the active analyst, search and database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from research.runtime import installation
from research.runtime.installation import Installation
from research.runtime.source_choices import DOCUMENTS, NONE, SAMPLES, chosen_sources

if TYPE_CHECKING:
    from research.llm.settings import ModelSettings

SAMPLE_LIBRARY = "the bundled sample library"
NOTHING_ELSE = "nothing else is configured"


def describe_installation() -> list[str]:
    """Return the summary that the server prints at startup, one line each."""
    now = installation.current_installation()
    return [
        f"Model       {describe_analyst(now)}",
        f"Search      {describe_search(now)}",
        f"Store       {describe_store()}",
    ]


def describe_analyst(now: Installation) -> str:
    if not now["RESEARCH_MODEL"]:
        return "none, so passages are quoted and nothing is rephrased"
    return f"{now['RESEARCH_MODEL']} at {now.model_host}"


def describe_search(now: Installation) -> str:
    from research.search.providers import KEYLESS_WEB

    names = chosen_sources(now)["search"]
    is_chosen = bool(now["SEARCH_PROVIDER"])
    if names == [SAMPLES]:
        return SAMPLE_LIBRARY if is_chosen else f"{SAMPLE_LIBRARY} ({NOTHING_ELSE})"
    if names == [NONE]:
        return "none"
    if names == KEYLESS_WEB and not is_chosen:
        return f"the web without a key ({', '.join(names)}; {NOTHING_ELSE})"
    from research.documents.folder import folder_title

    folders = ", ".join(folder_title(Path(folder)) for folder in settings.DOCUMENTS)
    return ", ".join(f"your documents ({folders})" if n == DOCUMENTS else n for n in names)


def search_reach(now: Installation) -> str:
    """Return whether only the bundled samples are searched, or none: "samples", "none", "more"."""
    names = chosen_sources(now)["search"]
    return names[0] if names in ([SAMPLES], [NONE]) else "more"


def price_known(model: ModelSettings) -> bool:
    from research.llm.prices import find_price

    return find_price(model.research_model, model.base_url, model.prices) is not None


def describe_store() -> str:
    engine = settings.DATABASES["default"]["ENGINE"].rsplit(".", 1)[-1]
    return f"{'SQLite' if engine == 'sqlite3' else 'PostgreSQL'} ({settings.STATE_DIR.name}/)"
