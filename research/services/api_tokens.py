"""API tokens: creating, listing, revoking and checking them.

A token carries 256 random bits, so a plain hash is sufficient against guessing.
"""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from enum import StrEnum

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.utils import timezone

from research.engine.config import ResearchConfig
from research.models import ApiToken
from research.services.errors import InvalidValueError, ServiceError

PREFIX = "plumbline_"
NAME_LENGTH = 80
MOST_DAYS = 3_650
MOST_TOKENS = 100
USED_AGAIN = timedelta(minutes=1)
"""Precision of `last_used_at`: requests do not write a row each."""
KEPT_SECONDS = 5.0
"""How long a process answers reads with a token that it has found, before it looks again."""
MOST_KEPT = 1_000


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
    """Delete one of the user's tokens; return its name.

    Other processes may answer reads with it for up to `KEPT_SECONDS`.
    """
    row = actor.api_tokens.filter(public_id=public_id).first()
    if row is None:
        raise ServiceError("That token was revoked before.")
    row.delete()
    forget_tokens()
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


_kept: dict[str, tuple[float, ApiToken]] = {}
"""Valid tokens by digest, with the moment of their look-up; replaced as a whole to forget them."""


def find_token_to_read(secret: str, clock: Callable[[], float] = time.monotonic) -> ApiToken | None:
    """Return a token like `find_token`, looked up at most every `KEPT_SECONDS`; for reads only.

    What another process revokes, and a user whom it deactivates, may read for that long. Expiry
    takes effect at once, and so does a token that this process revokes. The row is shared between
    requests.
    """
    digest, kept, now = _digest(secret), _kept, clock()
    found_at, row = kept.get(digest, (0.0, None))
    if row is not None and now - found_at < KEPT_SECONDS:
        return None if row.has_expired else row
    row = find_token(secret)
    if row is None:
        kept.pop(digest, None)
        return None
    if len(kept) >= MOST_KEPT:
        kept.clear()
    # not into `_kept`: what was found before `forget_tokens` must not outlive it
    kept[digest] = now, row
    return row


def forget_tokens() -> None:
    """Look every token up again before its next use in this process."""
    global _kept
    _kept = {}


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
        raise InvalidValueError(f"A token has a name of at most {NAME_LENGTH} characters.", "name")
    if not granted:
        raise InvalidValueError("A token has at least one scope: read or write.", "scopes")
    if days is not None and not 0 < days <= MOST_DAYS:
        raise InvalidValueError(f"A token is valid for 1 to {MOST_DAYS:,} days.", "days")
    if max_cost_usd is not None and not (math.isfinite(max_cost_usd) and max_cost_usd > 0):
        raise InvalidValueError("A budget is an amount above 0.", "max_cost_usd")


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
