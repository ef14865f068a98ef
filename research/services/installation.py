"""Changes the installation's settings on the Setup page: admins only; the environment wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from research.fetch.url_policy import is_server_address
from research.llm.prices import PriceError, parse_prices, plain_name
from research.models import InstallationSetting
from research.runtime.installation import (
    PRICES,
    PROFILE,
    SECRET,
    SERVER,
    WINDOW,
    Installation,
    Value,
    current_installation,
    from_environment,
    setting_names,
    setup_settings,
)
from research.runtime.source_choices import provider_settings
from research.search.providers import PROVIDERS, needed_settings
from research.services.errors import InvalidValueError, ServiceError

PROFILES = ("standard", "small")
OWN_SEARCHES = ("samples", "documents", "none")
ADDRESS, MODEL, EMBEDDINGS = "OPENAI_BASE_URL", "RESEARCH_MODEL", "EMBEDDING_MODEL"
MOST_DIGITS = 10


def change_settings(actor: AbstractUser, values: Mapping[str, str]) -> None:
    """Store settings; '' deletes one, and names that are missing stay unchanged.

    The API key is only ever sent to the server that it was entered for: if the address changes, the
    key is deleted unless a new one is given. Raise `ServiceError` with a sentence for the user.
    """
    with transaction.atomic():
        for name, value in _checked(actor, values, current_installation()).items():
            _store(actor, name, value)


def propose_settings(actor: AbstractUser, values: Mapping[str, str]) -> Installation:
    """Return the effective settings as `change_settings` would leave them; nothing is stored.

    Raise `ServiceError` as it does.
    """
    now = current_installation()
    changed = _checked(actor, values, now)
    stored = {name: Value(text, "stored") if text else Value() for name, text in changed.items()}
    return Installation({**now.values, **stored})


def disconnect_model(actor: AbstractUser) -> None:
    """Delete what is stored of the model: address and key of its server, and the models' names.

    An embedding model with a server of its own stays, and so do prices.
    """
    models = [name for name, each in setup_settings().items() if each.kind == "model"]
    if settings.EMBEDDING_BASE_URL:
        models.remove(EMBEDDINGS)
    now = current_installation()
    held = [name for name in (*SERVER, *models) if now.values[name].origin == "stored"]
    change_settings(actor, dict.fromkeys(held, ""))


def is_same_server(address: str, other: str) -> bool:
    """Return whether a key that was entered for an address may be sent to the other one."""
    one, two = urlsplit(address), urlsplit(other)
    return (one.scheme, one.netloc) == (two.scheme, two.netloc)


def _checked(actor: AbstractUser, values: Mapping[str, str], now: Installation) -> dict[str, str]:
    """Return what is to be stored: cleaned, and without a key that is another server's."""
    if not actor.is_staff:
        raise PermissionDenied("Settings are for admins.")
    wanted = {
        name: plain_name(value) if _kind(name) == "model" else value.strip()
        for name, value in values.items()
    }
    _check_changeable(wanted)
    moves = not is_same_server(now[ADDRESS], wanted.get(ADDRESS, now[ADDRESS]))
    if moves and not wanted.get(SECRET):
        wanted[SECRET] = ""
    is_another = moves or wanted.get(MODEL, now[MODEL]) != now[MODEL]
    if is_another and now.values[WINDOW].origin == "stored":
        wanted.setdefault(WINDOW, "")
    return wanted


def _check_changeable(wanted: Mapping[str, str]) -> None:
    given = from_environment()
    for name in wanted:
        if name not in setting_names():
            raise InvalidValueError(f"There is no setting called {name}.", name)
        if given[name] or (name in SERVER and any(given[each] for each in SERVER)):
            raise ServiceError(f"{name} is set by the environment, which wins.")
    for name, value in wanted.items():
        if value and _kind(name) == "url" and not is_server_address(value):
            raise InvalidValueError("An address looks like http://localhost:11434/v1.", about=name)
    _check_window(wanted.get(WINDOW, ""))
    try:
        parse_prices(wanted.get(PRICES, ""))
    except PriceError:
        told = "Prices look like small=0.10/0.40, with commas between models."
        raise InvalidValueError(told, PRICES) from None
    if wanted.get(PROFILE, "standard") not in ("", *PROFILES):
        raise InvalidValueError("The profile is standard or small.", PROFILE)
    _check_search(wanted.get("SEARCH_PROVIDER", ""), wanted)


def _check_window(tokens: str) -> None:
    if tokens and not (tokens.isascii() and tokens.isdigit() and len(tokens) < MOST_DIGITS):
        raise InvalidValueError("A context window is a whole number, such as 16384.", WINDOW)


def _kind(name: str) -> str:
    setting = setup_settings().get(name)
    return setting.kind if setting else ""


def _check_search(names: str, wanted: Mapping[str, str]) -> None:
    """Raise `ServiceError` for a search that is unknown, or lacks what it needs after `wanted`."""
    known = (*PROVIDERS, *OWN_SEARCHES)
    now = provider_settings(current_installation())
    changed = {each.name: wanted[each.name] for each in needed_settings() if each.name in wanted}
    there = replace(now, values={**now.values, **changed})
    for name in filter(None, (part.strip() for part in names.split(","))):
        if name not in known:
            raise InvalidValueError(
                f"There is no search called {name}; known are {', '.join(known)}.",
                about="SEARCH_PROVIDER",
            )
        provider = PROVIDERS.get(name)
        if provider and provider.needs and not provider.is_configured(there):
            missing = "address" if provider.needs.kind == "url" else "key"
            raise ServiceError(f"{provider.label} needs its {missing}.", about=provider.needs.name)


def _store(actor: AbstractUser, name: str, value: str) -> None:
    if not value:
        InstallationSetting.objects.filter(name=name).delete()
        return
    InstallationSetting.objects.update_or_create(
        name=name,
        defaults={"value": value, "changed_by": actor, "changed_at": timezone.now()},
    )
