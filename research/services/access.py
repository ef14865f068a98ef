"""Whose run it is."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied

from research.models import Run


def require(actor: AbstractUser, run: Run) -> None:
    """Raises `PermissionDenied` where the run is another's; staff may change any."""
    if not (actor.is_staff or run.owner_id == actor.pk):
        raise PermissionDenied("This run belongs to somebody else.")
