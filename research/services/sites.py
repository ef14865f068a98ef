"""A person's own list of sites that no new run of theirs reads."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser

from research.engine.config import ResearchConfig
from research.engine.knobs import ConfigError
from research.models import NeverSite
from research.services.errors import ServiceError

MOST_SITES = 200


def of(actor: AbstractUser) -> list[str]:
    """The list, by name."""
    return list(NeverSite.objects.filter(owner=actor).values_list("site", flat=True))


def never(actor: AbstractUser, written: str) -> list[str]:
    """Put one or more sites, with commas between, on the list; what is there already stays.

    Returns them as they are stored. Raises `ServiceError` for what names no site.
    """
    try:
        named = ResearchConfig.from_strings({"never_sites": written}).never_sites
    except ConfigError:
        named = ()
    if not named:
        raise ServiceError("Name sites such as example.org, with commas between.")
    if len({*of(actor), *named}) > MOST_SITES:
        raise ServiceError(f"The list holds {MOST_SITES} sites at most.")
    NeverSite.objects.bulk_create(
        (NeverSite(owner=actor, site=site) for site in named), ignore_conflicts=True
    )
    return list(named)


def allow(actor: AbstractUser, site: str) -> None:
    """Take a site off the list; runs that were asked before keep what they were frozen with."""
    NeverSite.objects.filter(owner=actor, site=site).delete()


def without(config: ResearchConfig, actor: AbstractUser) -> ResearchConfig:
    """The knobs with the person's list; a site that the question itself keeps to stays in."""
    own = [site for site in of(actor) if site not in config.only_sites]
    both = tuple(dict.fromkeys((*config.never_sites, *own)))
    return config.model_copy(update={"never_sites": both})
