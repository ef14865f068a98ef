"""The single account of a new installation."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser

LOCAL = "local"


def local_admin() -> AbstractUser:
    """Return the superuser of this machine, who signs in by link and has no password."""
    people = get_user_model()._default_manager
    admin, created = people.get_or_create(
        username=LOCAL, defaults={"is_staff": True, "is_superuser": True}
    )
    if created:
        admin.set_unusable_password()
        admin.save(update_fields=("password",))
    return admin
