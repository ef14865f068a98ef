"""The single account of a new installation, and access of accounts to runs."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied

from research.models import Run

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


def require_access(actor: AbstractUser, run: Run) -> None:
    """Raise `PermissionDenied` unless the actor owns the run or is staff."""
    if not (actor.is_staff or run.owner_id == actor.pk):
        raise PermissionDenied("This run belongs to another user.")
