"""The one-time sign-in link, and who else may sign in.

A link is good once and until the next one is made. It carries 256 random bits, so its plain
hash is enough: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import secrets

from django.contrib.auth import get_user_model
from django.db import transaction

from dashboard.models import SignInLink

COMMAND = ".venv/bin/python manage.py sign_in_link"


def new_link_token() -> str:
    """A token for a new link; every older link is void from here on."""
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        void_links()
        SignInLink.objects.create(digest=_digest(token))
    return token


def void_links() -> None:
    SignInLink.objects.all().delete()


def redeem(token: str) -> bool:
    """True for the one caller whose delete found the row: two at once cannot both win."""
    used, _ = SignInLink.objects.filter(digest=_digest(token)).delete()
    return used == 1


def has_accounts() -> bool:
    """Whether somebody can sign in with a password."""
    users = get_user_model().objects.filter(is_active=True)
    return any(user.has_usable_password() for user in users.only("password").iterator())


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
