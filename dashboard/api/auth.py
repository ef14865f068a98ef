"""Authentication of API callers: a token in `Authorization: Bearer`, or a signed-in session.

Token requests need no CSRF token, since browsers never add the header by themselves; session
requests do.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.http import HttpRequest
from ninja.security import APIKeyCookie, HttpBearer

from dashboard.api.rate_limits import count_request, token_key
from research.engine.config import ResearchConfig
from research.models import ApiToken
from research.services import api_tokens
from research.services.api_tokens import Scope

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Caller:
    """A user, and the token that acts for them, if any."""

    user: AbstractUser
    token: ApiToken | None = None

    @property
    def key(self) -> str:
        """Return a name for rate limits and idempotency keys."""
        return token_key(self.token.public_id) if self.token else f"user-{self.user.pk}"

    def limit_budget(self, config: ResearchConfig) -> ResearchConfig:
        """Return the knobs, with the cost limited to that of the token."""
        return api_tokens.limit_budget(self.token, config) if self.token else config


class BearerToken(HttpBearer):
    """Checks the token, its rate limit, and the scope that the request's method needs."""

    def authenticate(self, request: HttpRequest, token: str) -> Caller | None:
        return authenticate_token(request, token)


class SignedIn(APIKeyCookie):
    """The session of a user who is signed in on the pages; requires a CSRF token."""

    param_name = settings.SESSION_COOKIE_NAME

    def _get_key(self, request: HttpRequest) -> str | None:
        """Return the session cookie; without one there is nothing to protect from forgery."""
        if self.param_name not in request.COOKIES:
            return None
        return super()._get_key(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> Caller | None:
        if key is None or not request.user.is_authenticated:
            return None
        caller = Caller(request.user)
        count_request(request, caller.key)
        return caller


def authenticate_token(request: HttpRequest, secret: str) -> Caller | None:
    """Return the caller, or None for an unknown or expired token.

    A token that was found seconds ago may read without another look-up; a change needs one. Raise
    `ThrottledError` above the rate limit, `PermissionDenied` without the required scope.
    """
    reads = request.method in SAFE_METHODS
    find = api_tokens.find_token_to_read if reads else api_tokens.find_token
    row = find(secret.strip())
    if row is None:
        return None
    caller = Caller(row.owner, row)
    count_request(request, caller.key)
    api_tokens.require_scope(row, Scope.READ if reads else Scope.WRITE)
    return caller
