"""What is at work here, in words for people: which analyst, which search, which store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from research import installation
from research.installation import Installation
from research.source_choices import DOCUMENTS, NONE, SAMPLES, chosen_sources

if TYPE_CHECKING:
    from research.llm.settings import ModelSettings


def describe() -> list[str]:
    """One line each, as the server prints them when it starts."""
    now = installation.current()
    return [f"Model       {analyst(now)}", f"Search      {search(now)}", f"Store       {store()}"]


def analyst(now: Installation) -> str:
    if not now["RESEARCH_MODEL"]:
        return "none, so passages are quoted and nothing is rephrased"
    return f"{now['RESEARCH_MODEL']} at {now.model_host}"


def search(now: Installation) -> str:
    from research.retrieval.providers import KEYLESS_WEB

    names = chosen_sources(now)["search"]
    if names == [SAMPLES]:
        return "the bundled sample library (nothing else is configured)"
    if names == [NONE]:
        return "none"
    if names == KEYLESS_WEB and not settings.SEARCH_PROVIDER:
        return f"the web without a key ({', '.join(names)}; nothing else is configured)"
    folders = ", ".join(Path(folder).name for folder in settings.DOCUMENTS)
    return ", ".join(f"your documents ({folders})" if n == DOCUMENTS else n for n in names)


def price_known(model: ModelSettings) -> bool:
    from research.llm.prices import price

    return price(model.research_model, model.base_url, model.prices) is not None


def store() -> str:
    engine = settings.DATABASES["default"]["ENGINE"].rsplit(".", 1)[-1]
    return f"{'SQLite' if engine == 'sqlite3' else 'PostgreSQL'} ({settings.STATE_DIR.name}/)"
