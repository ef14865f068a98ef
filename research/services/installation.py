"""Changing the installation's settings in the browser: for admins, below the environment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from research.installation import NAMES, SECRET, SERVER, current, from_environment
from research.llm.names import plain_name
from research.models import InstallationSetting
from research.retrieval.addresses import is_server_address
from research.services.errors import ServiceError
from research.source_choices import provider_settings

ADDRESSES = ("OPENAI_BASE_URL", "SEARXNG_URL")
PROFILES = ("standard", "small")
OWN_SEARCHES = ("samples", "documents", "none")


def change(actor: AbstractUser, values: Mapping[str, str]) -> None:
    """Store settings; '' takes one back, a name that is not given stays.

    The key is only ever sent to the server that it was given for: with another address it is
    dropped, unless a new one comes along. Raises `ServiceError` with a sentence for the person.
    """
    if not actor.is_staff:
        raise PermissionDenied("Settings are for admins.")
    wanted = {
        name: plain_name(value) if name.endswith("_MODEL") else value.strip()
        for name, value in values.items()
    }
    _check(wanted)
    with transaction.atomic():
        if _moves(wanted) and not wanted.get(SECRET):
            wanted[SECRET] = ""
        for name, value in wanted.items():
            _store(actor, name, value)


def _check(wanted: Mapping[str, str]) -> None:
    given = from_environment()
    for name in wanted:
        if name not in NAMES:
            raise ServiceError(f"There is no setting called {name}.")
        if given[name] or (name in SERVER and any(given[each] for each in SERVER)):
            raise ServiceError(f"{name} is set by the environment, which wins.")
    for name in ADDRESSES:
        if wanted.get(name) and not is_server_address(wanted[name]):
            raise ServiceError("An address looks like http://localhost:11434/v1.", about=name)
    if wanted.get("MODEL_PROFILE", "standard") not in ("", *PROFILES):
        raise ServiceError("The profile is standard or small.")
    _check_search(wanted.get("SEARCH_PROVIDER", ""), wanted.get("SEARXNG_URL"))


def _check_search(names: str, address: str | None) -> None:
    """Known searches that have what they need; `address` is SearXNG's, None where it stays."""
    from research.retrieval.providers import PROVIDERS

    known = (*PROVIDERS, *OWN_SEARCHES)
    there = provider_settings(current())
    there = there if address is None else replace(there, searxng_url=address)
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in known:
            raise ServiceError(
                f"There is no search called {name}; known are {', '.join(known)}.",
                about="SEARCH_PROVIDER",
            )
        provider = PROVIDERS.get(name)
        if provider and not provider.is_configured(there):
            if provider.needs in NAMES:
                raise ServiceError(f"{provider.label} needs its address.", about=provider.needs)
            raise ServiceError(
                f"{provider.label} needs {provider.needs} to be set in the environment.",
                about="SEARCH_PROVIDER",
            )


def _moves(wanted: Mapping[str, str]) -> bool:
    """Whether the model's address becomes another server's."""
    if "OPENAI_BASE_URL" not in wanted:
        return False
    before, after = urlsplit(current()["OPENAI_BASE_URL"]), urlsplit(wanted["OPENAI_BASE_URL"])
    return (before.scheme, before.netloc) != (after.scheme, after.netloc)


def _store(actor: AbstractUser, name: str, value: str) -> None:
    if not value:
        InstallationSetting.objects.filter(name=name).delete()
        return
    InstallationSetting.objects.update_or_create(
        name=name,
        defaults={"value": value, "changed_by": actor, "changed_at": timezone.now()},
    )
