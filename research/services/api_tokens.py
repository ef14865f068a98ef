"""API tokens: creating, listing, revoking and checking them.

A token carries 256 random bits, so a plain hash is sufficient against guessing.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import StrEnum

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.models import ApiToken
from research.services.errors import ServiceError

PREFIX = "plumbline_"
NAME_LENGTH = 80
MOST_DAYS = 3_650
MOST_TOKENS = 100
USED_AGAIN = timedelta(minutes=1)
"""Precision of `last_used_at`: requests do not write a row each."""


class Scope(StrEnum):
    READ = "read"
    WRITE = "write"


def create_token(
    actor: AbstractUser,
    name: str,
    scopes: Iterable[str] = tuple(Scope),
    *,
    days: int | None = None,
    max_cost_usd: float | None = None,
) -> tuple[ApiToken, str]:
    """Create a token; return its row and the secret, which cannot be recovered later.

    `days` None never expires; `max_cost_usd` limits the budget of each run it starts. Raise
    `ServiceError` for an invalid value.
    """
    granted = [scope.value for scope in Scope if scope in set(scopes)]
    _check_values(name.strip(), granted, days, max_cost_usd)
    if actor.api_tokens.count() >= MOST_TOKENS:
        raise ServiceError(f"You have {MOST_TOKENS} tokens; revoke one first.")
    secret = PREFIX + secrets.token_urlsafe(32)
    row = ApiToken.objects.create(
        owner=actor,
        name=name.strip(),
        digest=_digest(secret),
        hint=secret[-4:],
        scopes=granted,
        max_cost_usd=max_cost_usd,
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    return row, secret


def list_tokens(actor: AbstractUser) -> Sequence[ApiToken]:
    """Return the user's tokens, newest first, expired ones included."""
    return list(actor.api_tokens.all())


def revoke_token(actor: AbstractUser, public_id: str) -> str:
    """Delete one of the user's tokens, which is refused from now on; return its name."""
    row = actor.api_tokens.filter(public_id=public_id).first()
    if row is None:
        raise ServiceError("That token was revoked before.")
    row.delete()
    return row.name


def find_token(secret: str) -> ApiToken | None:
    """Return the valid token with its owner, and record its use; None if there is none."""
    found = ApiToken.objects.select_related("owner").filter(digest=_digest(secret))
    try:
        row = found.get(owner__is_active=True)
    except ApiToken.DoesNotExist:
        return None
    if row.has_expired:
        return None
    now = timezone.now()
    if row.last_used_at is None or now - row.last_used_at >= USED_AGAIN:
        stale = Q(last_used_at=None) | Q(last_used_at__lte=now - USED_AGAIN)
        ApiToken.objects.filter(stale, pk=row.pk).update(last_used_at=now)
        row.last_used_at = now
    return row


def require_scope(token: ApiToken, scope: Scope) -> None:
    """Raise `PermissionDenied` if the token lacks the scope."""
    if scope not in token.scopes:
        raise PermissionDenied(f"This token lacks the scope {scope.value!r}.")


def limit_budget(token: ApiToken, config: ResearchConfig) -> ResearchConfig:
    """Return the knobs with the cost limited to that of the token, if it has a limit."""
    if token.max_cost_usd is None:
        return config
    limits = [token.max_cost_usd, config.max_cost_usd]
    least = min(limit for limit in limits if limit is not None)
    return config.model_copy(update={"max_cost_usd": least})


def _check_values(
    name: str, granted: Sequence[str], days: int | None, max_cost_usd: float | None
) -> None:
    if not 0 < len(name) <= NAME_LENGTH:
        raise ServiceError(f"A token has a name of at most {NAME_LENGTH} characters.", "name")
    if not granted:
        raise ServiceError("A token has at least one scope: read or write.", "scopes")
    if days is not None and not 0 < days <= MOST_DAYS:
        raise ServiceError(f"A token is valid for 1 to {MOST_DAYS:,} days.", "days")
    if max_cost_usd is not None and not (math.isfinite(max_cost_usd) and max_cost_usd > 0):
        raise ServiceError("A budget is an amount above 0.", "max_cost_usd")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
