"""Access check for runs."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied

from research.models import Run


def require_access(actor: AbstractUser, run: Run) -> None:
    """Raise `PermissionDenied` unless the actor owns the run or is staff."""
    if not (actor.is_staff or run.owner_id == actor.pk):
        raise PermissionDenied("This run belongs to another user.")
