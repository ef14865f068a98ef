"""Per-user site blocklist, applied to new runs."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser

from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.models import NeverSite
from research.services.errors import InvalidValueError, ServiceError

MOST_SITES = 200


def list_blocked_sites(actor: AbstractUser) -> list[str]:
    """Return the blocked sites, by name."""
    return list(NeverSite.objects.filter(owner=actor).values_list("site", flat=True))


def block_sites(actor: AbstractUser, written: str) -> list[str]:
    """Block one or more sites, separated by commas; return them as stored.

    Idempotent. Raise `ServiceError` if a name is not a site.
    """
    try:
        named = ResearchConfig.from_strings({"never_sites": written}).never_sites
    except ConfigError:
        named = ()
    if not named:
        raise InvalidValueError("Name sites such as example.org, with commas between.", "sites")
    if len({*list_blocked_sites(actor), *named}) > MOST_SITES:
        raise ServiceError(f"The list is limited to {MOST_SITES} sites.")
    NeverSite.objects.bulk_create(
        (NeverSite(owner=actor, site=site) for site in named), ignore_conflicts=True
    )
    return list(named)


def unblock_site(actor: AbstractUser, site: str) -> None:
    """Unblock a site; existing runs keep their frozen list."""
    NeverSite.objects.filter(owner=actor, site=site).delete()


def exclude_blocked_sites(config: ResearchConfig, actor: AbstractUser) -> ResearchConfig:
    """Return the knobs with the user's blocklist, except sites in `only_sites`."""
    own = [site for site in list_blocked_sites(actor) if site not in config.only_sites]
    both = tuple(dict.fromkeys((*config.never_sites, *own)))
    return config.model_copy(update={"never_sites": both})
