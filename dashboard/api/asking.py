"""Starts runs for programs: the same choices as the question form, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from dashboard.forms import sources
from dashboard.queries import queries
from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError, explain_refusal
from research.models import Run
from research.runtime.installation import current_installation
from research.services import runs, threads
from research.services.errors import ServiceError

if TYPE_CHECKING:
    from dashboard.api.auth import Caller

SOURCES = "sources"
COLLECTIONS = "collections"


@dataclass(frozen=True)
class Asked:
    """A question with its choices.

    `knobs` override the installation's by name, `source` is one of `source_names`, '' the default;
    `asks_first` shows clarifying questions and the plan before research begins. A follow-up that
    `keeps_searches` searches what the run before it did.
    """

    question: str
    knobs: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    collections: Sequence[str] = ()
    asks_first: bool = False
    keeps_searches: bool = False


def start_run(caller: Caller, asked: Asked, idempotency_key: str | None = None) -> Run:
    """Create a run, or return the one that the same request created before.

    Raise `ConfigError` for an invalid knob, `ServiceError` for unavailable sources, a refused
    question, or a key that was used for a different request.
    """
    config = caller.limit_budget(build_config(asked.knobs))
    if asked.asks_first:
        config = config.model_copy(update={"ask_above_usd": None})
    return runs.ask_question(
        caller.user,
        asked.question,
        agreed=not asked.asks_first,
        config=config,
        sources=find_sources(caller, asked.source, asked.collections),
        idempotency_key=f"{caller.key}/{idempotency_key}" if idempotency_key else None,
        reuses_key=False,
    )


def ask_on(caller: Caller, run: Run, asked: Asked, idempotency_key: str) -> Run:
    """Create a follow-up that asks nothing back, or return the one that the key created before.

    What `asked` doesn't name is as for the earlier run. Raise `ConfigError` and `ServiceError` like
    `start_run`.
    """
    earlier, sources = ResearchConfig.model_validate(run.config), None
    if not asked.keeps_searches:
        anywhere = {"only_sites": current_installation().defaults.only_sites}
        earlier = earlier.model_copy(update=anywhere)
        sources = find_sources(caller, asked.source, asked.collections) or {}
    return threads.follow_up(
        caller.user,
        run,
        asked.question,
        config=caller.limit_budget(build_config(asked.knobs, earlier)),
        sources=sources,
        asks_back=False,
        idempotency_key=f"{caller.key}/{idempotency_key}",
    )


def build_config(knobs: Mapping[str, Any], base: ResearchConfig | None = None) -> ResearchConfig:
    """Return the knobs of `base`, the installation's if None, with these overridden.

    Raise `ConfigError`.
    """
    defaults = base or current_installation().defaults
    unknown = sorted(set(knobs) - set(ResearchConfig.model_fields))
    if unknown:
        told = dict.fromkeys(unknown, "There is no such setting.")
        raise ConfigError(f"There is no setting called {', '.join(unknown)}.", told)
    try:
        return ResearchConfig.model_validate({**defaults.model_dump(), **knobs})
    except ValidationError as error:
        raise explain_refusal(error) from None


def source_names(caller: Caller) -> list[str]:
    """Return the names of the sources that this user may choose."""
    collections = queries.collections_to_ask(caller.user)
    return [name for name in sources.available_sources(current_installation(), collections) if name]


def find_sources(caller: Caller, name: str, collections: Sequence[str]) -> dict[str, Any] | None:
    """Return the `sources` of a run; None for the installation's default.

    Naming collections alone selects the documents. Raise `ServiceError` for what is unavailable.
    """
    there = queries.collections_to_ask(caller.user)
    missing = set(collections) - {row.public_id for row in there}
    if missing:
        text = f"There is no collection {sorted(missing)[0]!r} with documents."
        raise ServiceError(text, COLLECTIONS)
    chosen = name or ("documents" if collections else "")
    if not chosen:
        return None
    offered = sources.available_sources(current_installation(), there)
    if chosen not in offered:
        raise ServiceError(f"{chosen!r} cannot be searched here.", SOURCES)
    if collections and not sources.searches_documents(offered[chosen]):
        raise ServiceError(f"{chosen!r} does not search collections.", COLLECTIONS)
    return sources.resolve_choice(caller.user, offered[chosen], collections)
