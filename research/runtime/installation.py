"""Effective settings of the installation: from the environment, else stored on the Setup page.

Server address and API key belong together: if the environment sets either, stored values of both
are ignored, so that a key is never sent to an address that another person configured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from django.conf import settings

from research.engine.config import ResearchConfig
from research.llm.prices import Price, format_prices, parse_prices
from research.llm.settings import EmbeddingSettings, ModelSettings
from research.models import InstallationSetting
from research.search.providers import needed_settings
from research.setting import Setting

Origin = Literal["environment", "stored", "default"]

SERVER = ("OPENAI_BASE_URL", "OPENAI_API_KEY")
SECRET = "OPENAI_API_KEY"
WINDOW, PRICES = "MODEL_CONTEXT_TOKENS", "MODEL_PRICES"
PROFILE = "MODEL_PROFILE"
"""The knob that the Setup page offers, too."""
KNOWN_IN = "model-servers.json"


@dataclass(frozen=True)
class Value:
    """A setting and its origin; '' if it is not set."""

    value: str = ""
    origin: Origin = "default"


@dataclass(frozen=True)
class Installation:
    """Effective value of every setting in `setting_names()`, by name."""

    values: Mapping[str, Value]

    def __getitem__(self, name: str) -> str:
        return self.values[name].value

    @property
    def defaults(self) -> ResearchConfig:
        """Return the default knobs of a new run."""
        profile = self.values[PROFILE]
        if profile.origin != "stored":
            return settings.RESEARCH_DEFAULTS
        return settings.RESEARCH_DEFAULTS.model_copy(update={"model_profile": profile.value})

    @property
    def model_host(self) -> str:
        address = self["OPENAI_BASE_URL"]
        return urlsplit(address).netloc if address else "OpenAI"

    @property
    def model_settings(self) -> ModelSettings | None:
        """Settings of the model client; None if no model is configured."""
        if not self["RESEARCH_MODEL"]:
            return None
        return ModelSettings(
            research_model=self["RESEARCH_MODEL"],
            reader_model=self["READER_MODEL"],
            evaluator_model=self["EVALUATOR_MODEL"],
            eval_model=settings.EVAL_MODEL,
            base_url=self["OPENAI_BASE_URL"] or None,
            api_key=self["OPENAI_API_KEY"],
            timeout_seconds=settings.MODEL_TIMEOUT_SECONDS,
            first_token_seconds=settings.MODEL_FIRST_TOKEN_SECONDS,
            concurrency=settings.MODEL_CONCURRENCY,
            requests_per_minute=settings.MODEL_REQUESTS_PER_MINUTE,
            tokens_per_minute=settings.MODEL_TOKENS_PER_MINUTE,
            temperature=settings.MODEL_TEMPERATURE,
            reasoning_effort=settings.REASONING_EFFORT,
            context_tokens=int(self[WINDOW] or 0) or None,
            prices=settings.MODEL_PRICES or parse_prices(self[PRICES]),
            known_in=settings.STATE_DIR / KNOWN_IN,
        )

    @property
    def embedding_settings(self) -> EmbeddingSettings | None:
        """Settings of the embedding client; None if no embedding model is configured.

        A server of its own never gets the key of the model's server.
        """
        if not self["EMBEDDING_MODEL"]:
            return None
        apart = settings.EMBEDDING_BASE_URL
        return EmbeddingSettings(
            self["EMBEDDING_MODEL"],
            base_url=apart or self["OPENAI_BASE_URL"] or None,
            api_key=settings.EMBEDDING_API_KEY if apart else self["OPENAI_API_KEY"],
            concurrency=settings.MODEL_CONCURRENCY,
        )


def setup_settings() -> dict[str, Setting]:
    """Return the settings that the Setup page offers, by name.

    They are those declared with a label, and those that search providers need.
    """
    return {each.name: each for each in (*settings.SETUP_SETTINGS, *needed_settings())}


def setting_names() -> tuple[str, ...]:
    """Return the names of the settings that the Setup page offers, with that of the profile."""
    return (*setup_settings(), PROFILE)


def secret_names() -> frozenset[str]:
    """Return the names of the settings that no page shows."""
    return frozenset(name for name, each in setup_settings().items() if each.kind == "key")


def current_installation() -> Installation:
    """Return the effective settings, with one query."""
    given = from_environment()
    rows = InstallationSetting.objects.filter(name__in=given)
    stored = dict(rows.values_list("name", "value"))
    if any(given[name] for name in SERVER):
        stored = {name: value for name, value in stored.items() if name not in SERVER}
    return Installation({name: _value(given[name], stored.get(name, "")) for name in given})


def of_the_environment() -> Installation:
    """Return the settings of the environment alone, without a database."""
    return Installation({name: _value(text, "") for name, text in from_environment().items()})


def from_environment() -> dict[str, str]:
    """Return the values set in the environment, '' for the others."""
    given = {name: _as_text(getattr(settings, name, "")) for name in setting_names()}
    given |= {name: value for name, value in settings.PROVIDERS.values.items() if name in given}
    knobs: ResearchConfig = settings.RESEARCH_DEFAULTS
    if "model_profile" in knobs.model_fields_set:
        given[PROFILE] = knobs.model_profile
    return given


def _as_text(value: str | int | Mapping[str, Price] | None) -> str:
    """Return a value of the environment as somebody would write it; '' if it is not set."""
    return format_prices(value) if isinstance(value, Mapping) else str(value or "")


def _value(given: str, stored: str) -> Value:
    if given:
        return Value(given, "environment")
    return Value(stored, "stored") if stored else Value()
