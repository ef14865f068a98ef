"""The one-time sign-in link, and accounts with passwords.

A link is valid once, and only until the next one is created. It carries 256 random bits, so a plain
hash is sufficient against guessing.
"""

from __future__ import annotations

import hashlib
import secrets

from django.contrib.auth import get_user_model
from django.db import transaction

from dashboard.models import SignInLink

COMMAND = ".venv/bin/python manage.py sign_in_link"
CREATE_ACCOUNT = ".venv/bin/python manage.py createsuperuser"


def new_link_token() -> str:
    """Return the token of a new link and revoke all older links."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        void_links()
        SignInLink.objects.create(digest=_digest(token))
    return token


def void_links() -> None:
    SignInLink.objects.all().delete()


def redeem_token(token: str) -> bool:
    """Use up a token; True only for the caller whose delete found the row (no double use)."""
    used, _ = SignInLink.objects.filter(digest=_digest(token)).delete()
    return used == 1


def has_accounts() -> bool:
    """Return whether any active user has a password."""
    users = get_user_model().objects.filter(is_active=True)
    return any(user.has_usable_password() for user in users.only("password").iterator())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
